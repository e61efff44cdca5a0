// Layout of the customers' screen of the vending machine on a terminal of any size: products with drawings,
// marks on those that can be bought, and one line with the purchases at the bottom.
// Invariant: the lines fit the terminal in number and width. The selected product is shown. Names are cut before
// prices and amounts. Without room for drawings the products are a list.
import Arguments
import BankModel
import Posix
import Wire

/// Makes the lines of the customers' screen.
struct CustomerBoardRenderer {
  let board: CustomerBoard
  let palette: Palette

  private static let cardHeight = 6
  /// Minimum number of rows for two lines for each product. With fewer rows, hardly any product would fit beside the
  /// selected one and the marks.
  private static let roomForTwoLines = 9

  /// Number of products in a row on a terminal of this size.
  static func columns(size: Terminal.Size?, of board: CustomerBoard) -> Int {
    guard let size else { return 5 }
    return isRoomy(size, board) ? max(1, size.columns / cardWidth(board)) : 1
  }

  /// Width of a product with its drawing: the longest name, or price and amount, with two signs and a gap.
  private static func cardWidth(_ board: CustomerBoard) -> Int {
    let texts = (board.picture?.products ?? []).flatMap {
      [$0.name(in: board.messages.language), price(of: $0)]
    }
    return max(16, (texts.map { DisplayWidth.of($0) }.max() ?? 0) + 3)
  }

  private static func price(of product: ProductReport) -> String {
    "\(MessageCatalog.grouped(product.price)) ×\(MessageCatalog.grouped(product.stock))"
  }

  /// True if the terminal has room for products with drawings.
  private static func isRoomy(_ size: Terminal.Size, _ board: CustomerBoard) -> Bool {
    size.columns >= max(32, cardWidth(board)) && size.rows >= 14
  }

  /// All lines of the screen for a terminal of this size.
  func lines(size: Terminal.Size?) -> [String] {
    let (rows, columns) = (size?.rows ?? 24, size?.columns ?? 80)
    let frame = ScreenFrame(
      title: title(columns), extra: [strip(columns)],
      notice: board.notice.lines(hasSnapshot: board.picture != nil, columns: columns, palette),
      keys: Screen.hints(board.messages.customerKeys, columns: columns).map { palette.paint($0, .quiet) },
      isExtraFirst: false)
    let isRoomy = size.map { Self.isRoomy($0, board) } ?? true
    let (head, foot) = frame.fitted(rows: rows, leaving: isRoomy ? Self.cardHeight : 4)
    let room = max(1, rows - head.count - foot.count)
    let body = isRoomy ? cards(room) : list(room, columns)
    return (head + body + foot).map { Screen.cut($0, to: size?.columns) }
  }

  /// Title and balance, in one line if they fit.
  private func title(_ columns: Int) -> [String] {
    let title = board.messages.phrases.vendingTitle
    let balance = board.picture.map { board.messages.balance($0.balance) } ?? ""
    let (heading, money) = (palette.paint(title, .heading), palette.paint(balance, .waiting))
    let fits = DisplayWidth.of(title) + 3 + DisplayWidth.of(balance) <= columns
    return fits ? [heading + "   " + money] : [heading, money]
  }

  // MARK: - Products

  /// Rows of products with drawings, so that the selected product is shown.
  private func cards(_ room: Int) -> [String] {
    guard let picture = board.picture else { return [] }
    let (side, width) = (max(1, board.columns), Self.cardWidth(board))
    let bands = stride(from: 0, to: picture.products.count, by: side).map { start in
      Array(picture.products.enumerated())[start..<min(start + side, picture.products.count)]
    }
    let visible = max(1, room / Self.cardHeight)
    let first = min(max(0, board.chosen / side - visible + 1), max(0, bands.count - visible))
    let shown = bands[min(first, bands.count)..<min(bands.count, first + visible)]
    var lines = shown.flatMap { band in
      let drawn = band.map { card($0.element, isChosen: $0.offset == board.chosen, picture, width) }
      return (0..<Self.cardHeight).map { row in drawn.map { $0[row] }.joined() }
    }
    // The last row of a card is empty, so the mark hides nothing.
    if shown.count < bands.count, !lines.isEmpty {
      lines[lines.count - 1] = marks(shown.startIndex * side, picture.products.count - shown.endIndex * side)
    }
    return Array(lines.prefix(room))
  }

  /// Numbers of hidden products above and below the shown ones.
  private func marks(_ above: Int, _ below: Int) -> String {
    let marks = [("↑", above), ("↓", below)].filter { $0.1 > 0 }.map { "\($0) \(board.messages.more($1))" }
    return palette.paint("  " + marks.joined(separator: "  "), .quiet)
  }

  /// The lines of one product: drawing, name, price, empty line.
  private func card(
    _ product: ProductReport, isChosen: Bool, _ picture: VendingSnapshot, _ width: Int
  ) -> [String] {
    let isBuyable = picture.isBuyable(product)
    let role: Palette.Role? = isChosen ? .heading : product.stock == 0 ? .quiet : nil
    let drawing = ProductDrawing.lines(product)
    let name = product.name(in: board.messages.language)
    let price = Self.price(of: product)
    return [
      place(drawing[0], role, width), place(drawing[1], role, width), place(drawing[2], role, width),
      place(
        (isChosen ? "▸" : " ") + (isBuyable ? "●" : " ") + name, isBuyable && !isChosen ? .waiting : role,
        width), place("  " + price, product.stock == 0 ? .alarm : role, width), place("", nil, width),
    ]
  }

  /// A text cut and padded to the width of a product.
  private func place(_ text: String, _ role: Palette.Role?, _ width: Int) -> String {
    let cut = Screen.cut(text, to: width - 1)
    let gap = String(repeating: " ", count: max(0, width - DisplayWidth.of(cut)))
    return palette.paint(cut, role) + gap
  }

  /// Each product in one line. On a terminal that is too narrow for the price beside the name, a product
  /// takes two lines. If the terminal also has too few rows, the name is cut instead.
  private func list(_ room: Int, _ columns: Int) -> [String] {
    guard let picture = board.picture else { return [] }
    let parts = picture.products.enumerated().map { place, product in
      let mark = (place == board.chosen ? "▸" : " ") + (picture.isBuyable(product) ? "●" : " ")
      return ("\(mark)\(product.emoji) \(product.name(in: board.messages.language))", Self.price(of: product))
    }
    let fits =
      room < Self.roomForTwoLines
      || parts.allSatisfy { DisplayWidth.of($0) + 1 + DisplayWidth.of($1) <= columns }
    let entries = parts.enumerated().map { place, part in
      let role: Palette.Role? =
        place == board.chosen ? .heading : picture.products[place].stock == 0 ? .quiet : nil
      let lines =
        fits
        ? [Screen.row(part.0, part.1, columns: columns)]
        : Screen.sentence(part.0, columns: columns) + ["     " + part.1]
      return lines.map { palette.paint($0, role) }
    }
    return Screen.window(entries, around: board.chosen, room: room, board.messages, palette)
  }

  // MARK: - Purchases

  /// The purchases in one line, the latest on the right, or earlier ones while scrolled back.
  private func strip(_ columns: Int) -> String {
    let all = board.purchases.dropLast(board.scrollOffset)
    let total = board.picture?.sales.reduce(0) { $0 + $1.count } ?? 0
    // Without purchases the keys , and . have no effect, so they are not shown.
    guard total > 0 else { return palette.paint("\(board.messages.purchases) 0", .quiet) }
    let label = "\(board.messages.purchases) \(MessageCatalog.grouped(total)) │ "
    let end = (board.scrollOffset > 0 ? " … │" : " │") + (columns >= 60 ? " , ." : "")
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

  /// Emoji of the bought product; `?` if it is no longer sold.
  private func emoji(_ purchase: MoneyChange) -> String {
    board.picture?.products.first { $0.id == purchase.product }?.emoji ?? "?"
  }
}

/// Drawings of products in text.
enum ProductDrawing {
  /// The drawing of a product: three lines of at most ten columns.
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
