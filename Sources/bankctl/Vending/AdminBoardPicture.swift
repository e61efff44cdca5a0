// Owns how the manager's screen of the vending machine looks, on a terminal of any size: what is in the machine, lot by
// lot, and the pie of each product's share of the purchases.
// It must not know how it comes to the terminal, nor what a key does.
// Invariant: never more lines than the terminal has and none wider; the chosen line is always among them.
// Failure: none; where there is no room for the pie the shares are told in numbers.
import Arguments
import BankModel
import Posix
import Wire

/// The manager's screen.
struct AdminBoardPicture {
  let board: AdminBoard
  let palette: Palette

  /// The lines, top to bottom.
  func lines(size: Terminal.Size?) -> [String] {
    let (rows, columns) = (size?.rows ?? 24, size?.columns ?? 80)
    let pie = SharePie(board.picture, board.words)
    let isWide = columns >= 60 + pie.width
    let title = Screen.sentence(board.words.phrases.vendingAdminTitle, columns: columns)
    let frame = ScreenFrame(
      title: title.map { palette.paint($0, .heading) },
      extra: isWide || rows < 24 ? [] : pie.legend(limit: 4) + [""], notice: notice(columns),
      keys: Screen.hints(board.words.managerKeys, columns: columns).map { palette.paint($0, .quiet) })
    let (head, foot) = frame.fitted(rows: rows, leaving: 1)
    let room = max(1, rows - head.count - foot.count)
    let width = isWide ? columns - pie.width - 2 : columns
    let chosen = min(board.chosen, board.products.count)
    var shown = Screen.window(entries(columns: width), around: chosen, room: room)
    if isWide { shown = beside(shown, pie.lines, at: columns - pie.width, room) }
    return (head + shown + foot).map { Screen.cut($0, to: size?.columns) }
  }

  private func notice(_ columns: Int) -> [String] {
    let absence = board.isConnected && board.picture != nil ? "" : board.words.machineWaits
    let (text, isAlarm) = board.notice ?? (absence, true)
    return Screen.sentence(text, columns: columns).map { palette.paint($0, isAlarm ? .alarm : .waiting) }
  }

  /// The products, each in a line, or in several where the terminal is too narrow for the amounts beside the names; then
  /// the line that closes.
  private func entries(columns: Int) -> [[String]] {
    let heads = board.products.enumerated().map { place, product in
      "\(place == board.chosen ? "▸" : " ") \(product.emoji) \(product.name(in: board.words.language))"
    }
    let width = heads.map { DisplayWidth.of($0) }.max() ?? 0
    let details = board.products.map { product in
      [board.words.pieces(product.stock)]
        + (product.expired > 0 ? [board.words.expiredPieces(product.expired)] : [])
    }
    let fits = details.allSatisfy { width + 2 + DisplayWidth.of($0.joined(separator: "  ")) <= columns }
    let products = board.products.indices.map { place in
      let role: Palette.Role? = place == board.chosen ? .heading : nil
      let cells = zip(details[place], [role, .alarm]).map { TextTable.Cell($0, $1) }
      guard fits else {
        let head = Screen.sentence(heads[place], columns: columns).map { palette.paint($0, role) }
        let rows = cells.flatMap { cell in
          Screen.sentence(cell.text, columns: columns - 2).map { "  " + palette.paint($0, cell.role) }
        }
        return head + rows
      }
      let head = palette.paint(DisplayWidth.padded(heads[place], to: width) + "  " + details[place][0], role)
      let expired = details[place].dropFirst().map { "  " + palette.paint($0, .alarm) }.joined()
      return [head + expired + "  " + palette.paint(lots(of: board.products[place]), .quiet)]
    }
    let close = (board.isCloseChosen ? "▸ " : "  ") + board.words.phrases.close
    return products + [[palette.paint(close, board.isCloseChosen ? .heading : nil)]]
  }

  private func lots(of product: ProductReport) -> String {
    (product.lots ?? []).prefix(3).map { lot in
      (lot.dates.map { CalendarDate($0.expires).dashed } ?? "-") + "×\(Words.grouped(lot.quantity))"
    }.joined(separator: " ")
  }

  private func beside(_ left: [String], _ right: [String], at column: Int, _ room: Int) -> [String] {
    (0..<min(room, max(left.count, right.count))).map { row in
      let text = Screen.cut(left[safely: row] ?? "", to: column - 2)
      let gap = String(repeating: " ", count: max(0, column - Self.width(of: text)))
      return text + gap + (right[safely: row] ?? "")
    }
  }

  /// The places that a line takes, whose colours take none.
  private static func width(of line: String) -> Int {
    var (width, isEscape) = (0, false)
    for character in line {
      if character == "\u{1B}" { isEscape = true }
      if !isEscape { width += DisplayWidth.of(character) }
      if isEscape, character.isLetter { isEscape = false }
    }
    return width
  }
}

/// The pie of each product's share of the purchases.
struct SharePie {
  /// The places that the pie and its legend take.
  var width: Int { max(40, legend(limit: slices.count).map { DisplayWidth.of($0) }.max() ?? 0) }

  private static let signs = Array("█▓▒░●○◆◇■□▲△+x*#@%&=")
  private static let radius = 4

  private let slices: [(sign: Character, name: String, count: Int64)]
  /// The share of each slice in tenths of a percent: 1,000 together.
  private let tenths: [Int64]
  private let total: Int64
  private let words: Words

  init(_ picture: VendingPicture?, _ words: Words) {
    self.words = words
    let sales = (picture?.sales ?? []).filter { $0.count > 0 }.sorted {
      ($1.count, $0.product) < ($0.count, $1.product)
    }
    total = sales.reduce(0) { $0 + $1.count }
    tenths = Self.shares(of: sales.map(\.count), in: 1_000)
    slices = sales.enumerated().map { place, sale in
      let name = picture?.products.first { $0.id == sale.product }?.name(in: words.language)
      return (Self.signs[place % Self.signs.count], name ?? sale.product.name, sale.count)
    }
  }

  /// The pie above its legend.
  var lines: [String] {
    guard total > 0 else { return [words.shares, words.noProducts] }
    return [words.shares] + pie + [""] + legend(limit: slices.count)
  }

  /// Each product with its share, the largest first.
  func legend(limit: Int) -> [String] {
    zip(slices, tenths).prefix(limit).map { slice, tenths in
      "\(slice.sign) \(slice.name) \(Words.grouped(slice.count)) (\(tenths / 10).\(tenths % 10)%)"
    }
  }

  /// Whole parts of a whole that add up to it: each gets what it has in full, and those with the largest remainders one
  /// more.
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

  /// A place on a terminal is twice as high as it is wide.
  private var pie: [String] {
    (-Self.radius...Self.radius).map { row in
      String(
        (-2 * Self.radius...2 * Self.radius).map { column in
          let (x, y) = (Double(column) / 2, Double(row))
          let reach = Double(Self.radius) + 0.3
          return x * x + y * y <= reach * reach ? sign(at: Self.turn(x, y)) : " "
        })
    }
  }

  /// The slice at a part of the whole turn, clockwise from the top.
  private func sign(at turn: Double) -> Character {
    var passed: Int64 = 0
    for slice in slices {
      passed += slice.count
      if turn * Double(total) < Double(passed) { return slice.sign }
    }
    return slices.last?.sign ?? " "
  }

  /// How far around a point is, from 0 to 1, clockwise from the top.
  ///
  /// By the diamond's angle in place of the arc's within each quarter, corrected so that slices keep their share: the
  /// tangent of a quarter is as good as straight at the size of a terminal's letters.
  private static func turn(_ x: Double, _ y: Double) -> Double {
    if x == 0, y == 0 { return 0 }
    let (a, b) = (x < 0 ? -x : x, y < 0 ? -y : y)
    // From the vertical towards the horizontal, 0 to 1 of a quarter.
    let ratio = a <= b ? a / b : b / a
    // atan(r) within 0.2 degrees: https://doi.org/10.1109/MSP.2006.1628884
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
