// Owns how the customers' screen of the vending machine looks, on a terminal of any size: products with pictures drawn
// in text, what can be bought marked, and the strip of purchases at the bottom.
// It must not know how it comes to the terminal, nor what a key does.
// Invariant: never more lines than the terminal has and none wider; the chosen product is always among them.
// Failure: none; where there is no room for pictures the products are a list.
import Arguments
import BankModel
import Posix
import Wire

/// The customers' screen.
struct CustomerBoardPicture {
  let board: CustomerBoard
  let palette: Palette

  private static let cardWidth = 16
  private static let cardHeight = 6

  /// How many products stand side by side on a terminal so wide.
  static func columns(size: Terminal.Size?) -> Int {
    guard let size else { return 5 }
    return isRoomy(size) ? max(1, size.columns / cardWidth) : 1
  }

  private static func isRoomy(_ size: Terminal.Size) -> Bool {
    size.columns >= 2 * cardWidth && size.rows >= 14
  }

  /// The lines, top to bottom.
  func lines(size: Terminal.Size?) -> [String] {
    let (rows, columns) = (size?.rows ?? 24, size?.columns ?? 80)
    var (head, foot) = ([title, ""], ["", notice, strip(columns), keys])
    for shorter in [([head[0]], [notice, foot[2], keys]), ([head[0]], [notice]), ([], [])]
      as [([String], [String])]
    where head.count + foot.count + 1 > rows {
      (head, foot) = shorter
    }
    let room = max(1, rows - head.count - foot.count)
    let isRoomy = size.map(Self.isRoomy) ?? true
    let body = isRoomy ? cards(room) : list(room)
    return (head + body + foot).map { Screen.cut($0, to: size?.columns) }
  }

  private var title: String {
    let balance = board.picture.map { board.words.balance($0.balance) } ?? ""
    return palette.paint(board.words.phrases.vendingTitle, .heading) + "   "
      + palette.paint(balance, .waiting)
  }

  private var notice: String {
    if let notice = board.notice { return palette.paint(notice.text, notice.isAlarm ? .alarm : .waiting) }
    return palette.paint(board.isConnected && board.picture != nil ? "" : board.words.machineWaits, .alarm)
  }

  private var keys: String { palette.paint(board.words.customerKeys, .quiet) }

  // MARK: - Products

  private func cards(_ room: Int) -> [String] {
    guard let picture = board.picture else { return [] }
    let side = max(1, board.columns)
    let bands = stride(from: 0, to: picture.products.count, by: side).map { start in
      Array(picture.products.enumerated())[start..<min(start + side, picture.products.count)]
    }
    let visible = max(1, room / Self.cardHeight)
    let first = min(max(0, board.chosen / side - visible + 1), max(0, bands.count - visible))
    let lines = bands[min(first, bands.count)..<min(bands.count, first + visible)].flatMap { band in
      let drawn = band.map { card($0.element, isChosen: $0.offset == board.chosen, picture) }
      return (0..<Self.cardHeight).map { row in drawn.map { $0[row] }.joined() }
    }
    return Array(lines.prefix(room))
  }

  private func card(_ product: ProductReport, isChosen: Bool, _ picture: VendingPicture) -> [String] {
    let isBuyable = picture.isBuyable(product)
    let role: Palette.Role? = isChosen ? .heading : product.stock == 0 ? .quiet : nil
    let drawing = ProductDrawing.lines(product)
    let name = Screen.cut(product.name(in: board.words.language), to: Self.cardWidth - 4)
    let price = "\(Words.grouped(product.price)) ×\(Words.grouped(product.stock))"
    return [
      place(drawing[0], role), place(drawing[1], role), place(drawing[2], role),
      place(
        (isChosen ? "▸" : " ") + (isBuyable ? "●" : " ") + name, isBuyable && !isChosen ? .waiting : role),
      place("  " + price, product.stock == 0 ? .alarm : role), place("", nil),
    ]
  }

  private func place(_ text: String, _ role: Palette.Role?) -> String {
    let cut = Screen.cut(text, to: Self.cardWidth - 1)
    let gap = String(repeating: " ", count: max(0, Self.cardWidth - DisplayWidth.of(cut)))
    return palette.paint(cut, role) + gap
  }

  private func list(_ room: Int) -> [String] {
    guard let picture = board.picture else { return [] }
    let lines = picture.products.enumerated().map { place, product in
      let mark = (place == board.chosen ? "▸" : " ") + (picture.isBuyable(product) ? "●" : " ")
      let name = product.name(in: board.words.language)
      let text =
        "\(mark)\(product.emoji) \(name) \(Words.grouped(product.price)) ×\(Words.grouped(product.stock))"
      return palette.paint(text, place == board.chosen ? .heading : product.stock == 0 ? .quiet : nil)
    }
    let first = min(max(0, board.chosen - room / 2), max(0, lines.count - room))
    return Array(lines[first..<min(lines.count, first + room)])
  }

  // MARK: - The strip

  /// The latest purchases on the right, pushed as far as somebody wants.
  private func strip(_ columns: Int) -> String {
    let all = board.purchases.dropLast(board.pushed)
    let total = board.picture?.sales.reduce(0) { $0 + $1.count } ?? 0
    let label = "\(board.words.purchases) \(Words.grouped(total)) │ "
    let end = board.pushed > 0 ? " … │" : " │"
    let room = max(0, columns - DisplayWidth.of(label) - DisplayWidth.of(end) - 2)
    var shown: [String] = []
    var width = 0
    for purchase in all.reversed() {
      let drawing = emoji(purchase)
      width += DisplayWidth.of(drawing) + 1
      if width > room { break }
      shown.append(drawing)
    }
    let begin = shown.count < all.count || Int64(board.purchases.count) < total ? "… " : ""
    return palette.paint(label, .quiet) + begin + shown.reversed().joined(separator: " ")
      + palette.paint(end, .quiet)
  }

  private func emoji(_ purchase: MoneyChange) -> String {
    board.picture?.products.first { $0.id == purchase.product }?.emoji ?? "?"
  }
}

/// The pictures of the products, drawn in text.
enum ProductDrawing {
  /// Three lines, none wider than ten places.
  static func lines(_ product: ProductReport) -> [String] {
    let sign = product.emoji + String(repeating: " ", count: max(0, 2 - DisplayWidth.of(product.emoji)))
    switch product.kind {
    case .milk: return ["    /‾‾\\", "   | \(sign) |", "   |____|"]
    case .soda: return ["   .----.", "   | \(sign) |", "   '----'"]
    case .coffee: return ["    ) ) )", "   | \(sign) |)", "   '----'"]
    case .energyDrink: return ["   .=--=.", "   |*\(sign)*|", "   |____|"]
    }
  }
}
