// Text listing of the machine without a full screen: for customers, and lot by lot for the manager.
// Invariant: availability is shown by text as well as by colour, for terminals without colours.
import BankModel
import Wire

/// Makes the text lines about the products and lots of the machine.
struct VendingListing {
  let picture: VendingSnapshot
  let messages: MessageCatalog
  let palette: Palette
  var columns: Int?

  /// Title, balance and products: the customers' view.
  var lines: [String] {
    [palette.paint(messages.phrases.vendingTitle, .heading), messages.balance(picture.balance), ""] + products
  }

  /// A table of the products: price, amount, and whether the balance can buy one.
  var products: [String] {
    var table = TextTable([.left, .left, .right, .right, .left, .left])
    for product in picture.products {
      let isBuyable = picture.isBuyable(product)
      let role: Palette.Role? = product.stock == 0 ? .quiet : nil
      table.add([
        .init("\(product.emoji) \(product.name(in: messages.language))", role),
        .init("\(messages.brand(product.brand)) \(product.volume)ml", .quiet),
        .init(messages.won(product.price), role),
        .init(messages.pieces(product.stock), product.stock == 0 ? .alarm : nil),
        .init(
          isBuyable ? messages.canBeBought : messages.unavailableReason(product, picture),
          isBuyable ? .waiting : .quiet),
        .init(product.id.name, .quiet),
      ])
    }
    return table.lines(palette, within: columns)
  }

  /// Every product under its kind, with its lots: the manager's view.
  var shelves: [String] {
    DrinkClass.Kind.allCases.flatMap { kind -> [String] in
      let products = picture.products.filter { $0.kind == kind }
      if products.isEmpty { return [] }
      return [palette.paint(messages.phrases.kind(kind), .heading)] + products.flatMap(lines)
    }
  }

  /// One product with its lots.
  private func lines(_ product: ProductReport) -> [String] {
    let head: [TextTable.Cell] = [
      .init("\(product.emoji) \(product.name(in: messages.language))"), .init(messages.pieces(product.stock)),
      .init(product.expired > 0 ? messages.expiredPieces(product.expired) : "", .alarm),
      .init(product.id.name, .quiet),
    ]
    let lots = (product.lots ?? []).flatMap { lot in
      let isExpired = lot.dates.map { $0.expires < picture.today } ?? false
      let text = "\(messages.description(of: lot, product)) × \(MessageCatalog.grouped(lot.quantity))"
      return record([.init(text, isExpired ? .alarm : .quiet)], indent: 6)
    }
    return record(head, indent: 2) + lots
  }

  /// Cells in one line, or in several on a narrow terminal.
  private func record(_ cells: [TextTable.Cell], indent: Int) -> [String] {
    TextTable.record(cells, [], palette, indent: indent, columns: columns ?? .max)
  }
}
