// Layout of the manager's screen of the vending machine on a terminal of any size: lots, and a pie chart of
// the products' shares of the purchases.
// Invariant: the lines fit the terminal in number and width. The selected line is shown. Names are cut before amounts
// and shares. Without room for the pie, the shares are shown as numbers.
import Arguments
import BankModel
import Posix
import Wire

/// Makes the lines of the manager's screen.
struct AdminBoardRenderer {
  let board: AdminBoard
  let palette: Palette

  /// All lines of the screen for a terminal of this size.
  func lines(size: Terminal.Size?) -> [String] {
    let (rows, columns) = (size?.rows ?? 24, size?.columns ?? 80)
    let pie = SharePie(board.picture, board.messages)
    let isWide = columns >= 60 + pie.width
    let title = Screen.sentence(board.messages.phrases.vendingAdminTitle, columns: columns)
    let frame = ScreenFrame(
      title: title.map { palette.paint($0, .heading) },
      extra: isWide || rows < 14 ? [] : pie.legend(rows: rows < 24 ? 2 : 4, columns: columns) + [""],
      notice: board.notice.lines(hasSnapshot: board.picture != nil, columns: columns, palette),
      keys: Screen.hints(board.messages.managerKeys, columns: columns).map { palette.paint($0, .quiet) })
    let (head, foot) = frame.fitted(rows: rows, leaving: 4)
    let room = max(1, rows - head.count - foot.count)
    let width = isWide ? columns - pie.width - 2 : columns
    let chosen = min(board.chosen, board.products.count)
    var shown = Screen.window(
      entries(columns: width, room: room), around: chosen, room: room, board.messages, palette)
    if isWide { shown = beside(shown, pie.lines(rows: room), at: columns - pie.width, room) }
    return (head + shown + foot).map { Screen.cut($0, to: size?.columns) }
  }

  /// Minimum number of rows for products of several lines. With fewer rows a product takes one line, and its name is
  /// cut on a narrow terminal.
  private static let roomForSeveralLines = 9

  /// The products, each in one line, or in several on a terminal too narrow for the amounts beside the names;
  /// then the line that closes the screen.
  private func entries(columns: Int, room: Int) -> [[String]] {
    let heads = board.products.enumerated().map { place, product in
      "\(place == board.chosen ? "▸" : " ") \(product.emoji) \(product.name(in: board.messages.language))"
    }
    let width = heads.map { DisplayWidth.of($0) }.max() ?? 0
    let fits = board.products.allSatisfy {
      width + 2 + DisplayWidth.of(amounts($0).joined(separator: "  ")) + 2 <= columns
    }
    let products = board.products.enumerated().map { place, product in
      if fits { return [line(product, DisplayWidth.padded(heads[place], to: width), place, columns)] }
      if room >= Self.roomForSeveralLines { return lines(product, heads[place], place, columns) }
      let amount =
        amounts(product).count > 1 || product.lots?.isEmpty == false
        ? "\(amounts(product)[0]) …" : amounts(product)[0]
      return [palette.paint(Screen.row(heads[place], amount, columns: columns), role(place))]
    }
    let close = (board.isCloseSelected ? "▸ " : "  ") + board.messages.phrases.close
    return products + [[palette.paint(close, board.isCloseSelected ? .heading : nil)]]
  }

  /// Colour of the product at this index: bold if it is selected.
  private func role(_ place: Int) -> Palette.Role? { place == board.chosen ? .heading : nil }

  /// Number of drinks, and number of expired ones if there are any.
  private func amounts(_ product: ProductReport) -> [String] {
    [board.messages.pieces(product.stock)]
      + (product.expired > 0 ? [board.messages.expiredPieces(product.expired)] : [])
  }

  /// One product in one line: name, amounts, and the lots that fit.
  private func line(_ product: ProductReport, _ head: String, _ place: Int, _ columns: Int) -> String {
    let amounts = amounts(product)
    let expired = amounts.dropFirst().map { "  " + palette.paint($0, .alarm) }.joined()
    let text = palette.paint(head + "  " + amounts[0], role(place)) + expired
    let lots = lots(of: product, columns: columns - Screen.width(of: text))
    return lots.isEmpty ? text : text + palette.paint(lots, .quiet)
  }

  /// One product in several lines. The selected product shows its lots, each in a line: at most `fewLots`, and the
  /// number of the others.
  private func lines(_ product: ProductReport, _ head: String, _ place: Int, _ columns: Int) -> [String] {
    let isChosen = place == board.chosen
    let lots = lots(of: product)
    let hasMore = !isChosen && !lots.isEmpty
    var amounts = amounts(product)
    if hasMore { amounts[amounts.count - 1] += " …" }
    let cells = zip(amounts, [role(place), .alarm]).map { TextTable.Cell($0, $1) }
    let rows = cells.flatMap { cell in
      Screen.sentence(cell.text, columns: columns - 2).map { "  " + palette.paint($0, cell.role) }
    }
    let few =
      lots.count > Self.fewLots
      ? lots.prefix(Self.fewLots) + [board.messages.more(lots.count - Self.fewLots)] : lots
    return Screen.sentence(head, columns: columns).map { palette.paint($0, role(place)) } + rows
      + (isChosen ? few.flatMap { Screen.sentence($0, columns: columns - 2) } : []).map {
        "  " + palette.paint($0, .quiet)
      }
  }

  /// Maximum number of lots that are shown for a product.
  private static let fewLots = 3

  /// Texts of the lots of a product: expiry date and amount.
  private func lots(of product: ProductReport) -> [String] {
    (product.lots ?? []).map { lot in
      (lot.dates.map { CalendarDate($0.expires).dashed } ?? "-") + " ×\(MessageCatalog.grouped(lot.quantity))"
    }
  }

  /// The lots that fit, none of them cut, and the number of hidden ones.
  private func lots(of product: ProductReport, columns: Int) -> String {
    let lots = lots(of: product)
    for count in stride(from: min(lots.count, Self.fewLots), through: 0, by: -1) {
      let rest = count < lots.count ? [board.messages.more(lots.count - count)] : []
      let text = (lots.prefix(count) + rest).joined(separator: "  ")
      if DisplayWidth.of(text) + 2 <= columns { return text.isEmpty ? "" : "  " + text }
    }
    return " …"
  }

  /// Puts two blocks of lines beside each other, the right one at a column.
  private func beside(_ left: [String], _ right: [String], at column: Int, _ room: Int) -> [String] {
    (0..<min(room, max(left.count, right.count))).map { row in
      let text = Screen.cut(left[safely: row] ?? "", to: column - 2)
      let gap = String(repeating: " ", count: max(0, column - Screen.width(of: text)))
      return text + gap + (right[safely: row] ?? "")
    }
  }
}

/// Pie chart and legend of the products' shares of the purchases.
struct SharePie {
  /// Width of the pie and its legend in columns.
  var width: Int { max(40, legend(rows: slices.count).map { DisplayWidth.of($0) }.max() ?? 0) }

  private static let signs = Array("█▓▒░●○◆◇■□▲△+x*#@%&=")
  private static let radius = 4

  private let slices: [(sign: Character, name: String, count: Int64)]
  /// Share of each slice in tenths of a percent: 1,000 in all.
  private let tenths: [Int64]
  private let total: Int64
  private let messages: MessageCatalog

  init(_ picture: VendingSnapshot?, _ messages: MessageCatalog) {
    self.messages = messages
    let sales = (picture?.sales ?? []).filter { $0.count > 0 }.sorted {
      ($1.count, $0.product) < ($0.count, $1.product)
    }
    total = sales.reduce(0) { $0 + $1.count }
    tenths = Self.shares(of: sales.map(\.count), in: 1_000)
    slices = sales.enumerated().map { place, sale in
      let name = picture?.products.first { $0.id == sale.product }?.name(in: messages.language)
      return (Self.signs[place % Self.signs.count], name ?? sale.product.name, sale.count)
    }
  }

  /// The pie above its legend. Without room for both the pie is dropped, then the end of the legend.
  func lines(rows: Int = .max) -> [String] {
    guard total > 0 else { return Array([messages.shares, messages.noProducts].prefix(max(0, rows))) }
    let pie = pie
    let room = rows - pie.count - 2
    if room >= min(3, slices.count) { return [messages.shares] + pie + [""] + legend(rows: room) }
    return rows > 0 ? [messages.shares] + legend(rows: rows - 1) : []
  }

  /// Each product with its share, the largest first. Without room for both, the name is cut.
  func legend(rows: Int, columns: Int? = nil) -> [String] {
    let lines = zip(slices, tenths).map { slice, tenths in
      let (name, share) = (
        "\(slice.sign) \(slice.name)",
        "\(MessageCatalog.grouped(slice.count)) (\(tenths / 10).\(tenths % 10)%)"
      )
      return columns.map { Screen.row(name, share, columns: $0) } ?? name + " " + share
    }
    guard lines.count > rows else { return lines }
    return rows > 0 ? lines.prefix(rows - 1) + [messages.more(lines.count - rows + 1)] : []
  }

  /// Largest remainder method: integer shares that add up to the whole. Each count gets its integer part,
  /// and those with the largest remainders one more.
  static func shares(of counts: [Int64], in whole: Int64) -> [Int64] {
    let total = counts.reduce(0) { $0 + $1 }
    guard total > 0 else { return counts.map { _ in 0 } }
    let divided = counts.map { total.dividingFullWidth($0.multipliedFullWidth(by: whole)) }
    var shares = divided.map(\.quotient)
    let missing = Int(whole - shares.reduce(0) { $0 + $1 })
    let largest = divided.indices.sorted { (divided[$1].remainder, $0) < (divided[$0].remainder, $1) }
    for place in largest.prefix(missing) { shares[place] += 1 }
    return shares
  }

  /// The rows of the pie. Two columns are as wide as a row is high, because a character cell is twice as high as wide.
  private var pie: [String] {
    (-Self.radius...Self.radius).map { row in
      String(
        (-2 * Self.radius...2 * Self.radius).map { column in
          let (x, y) = (Double(column) / 2, Double(row))
          let reach = Double(Self.radius) + 0.3
          return x * x + y * y <= reach * reach ? sign(at: Self.angle(x, y)) : " "
        })
    }
  }

  private func sign(at angle: Double) -> Character {
    var passed: Int64 = 0
    for slice in slices {
      passed += slice.count
      if angle * Double(total) < Double(passed) { return slice.sign }
    }
    return slices.last?.sign ?? " "
  }

  /// Fraction of a turn from the top, clockwise, from 0 to 1. It uses an approximation of the arc tangent
  /// within each quarter, which is exact enough at the size of a terminal's characters.
  private static func angle(_ x: Double, _ y: Double) -> Double {
    if x == 0, y == 0 { return 0 }
    let (a, b) = (x < 0 ? -x : x, y < 0 ? -y : y)
    // `quarter` is the angle from the vertical as a fraction of a quarter turn.
    let ratio = a <= b ? a / b : b / a
    // atan(r) within 0.3 degrees: https://doi.org/10.1109/MSP.2006.1628884
    let arc = ratio * (0.9724 - 0.1919 * ratio * ratio) / 1.5707963
    let quarter = a <= b ? arc : 1 - arc
    switch (x >= 0, y < 0) {
    case (true, true): return quarter / 4
    case (true, false): return (2 - quarter) / 4
    case (false, false): return (2 + quarter) / 4
    case (false, true): return (4 - quarter) / 4
    }
  }
}
