// Text display of the juice shop: the stock, and the juices that can be made of it.
// Invariant: a juice that cannot be made is marked by text as well as by colour, for terminals without
// colours.
import BankModel

/// Makes the text lines about the stock and the juices.
struct MenuRenderer {
  let assortment: Assortment
  let picture: StockSnapshot
  let messages: MessageCatalog
  let palette: Palette
  var columns: Int?

  /// Title, stock and juices.
  var lines: [String] {
    Screen.sentence(messages.phrases.juiceTitle, columns: columns).map { palette.paint($0, .heading) } + [""]
      + shelves + [""] + juices
  }

  /// The stock: one line for each item with its amount.
  var shelves: [String] {
    var table = TextTable([.left, .right, .left])
    for (name, quantity, id) in items {
      table.add([
        .init(name), .init(MessageCatalog.grouped(quantity), quantity == 0 ? .alarm : nil),
        .init(id.name, .quiet),
      ])
    }
    return table.lines(palette, within: columns)
  }

  var shelvesInOneLine: String {
    items.map { "\($0.name) \(MessageCatalog.grouped($0.quantity))" }.joined(separator: " · ")
  }

  /// Items in stock: the fruits in the order of the assortment, then all others.
  private var items: [(name: String, quantity: Quantity, id: ItemID)] {
    let fruits = assortment.fruits.map { fruit in
      (
        [fruit.emoji, fruit.name(in: messages.language)].filter { !$0.isEmpty }.joined(separator: " "),
        picture.quantity(of: fruit.id), fruit.id
      )
    }
    let known = Set(assortment.fruits.map(\.id))
    return fruits
      + picture.items.filter { !known.contains($0.item) }.map { ($0.item.name, $0.quantity, $0.item) }
  }

  /// One line for each juice: recipe, and whether it can be made.
  private var juices: [String] {
    var table = TextTable([.left, .left, .left])
    for juice in assortment.juices {
      let shortages = juice.shortages(from: picture.items)
      let role: Palette.Role? = shortages.isEmpty ? nil : .quiet
      let recipe = juice.recipe.map { "\(name(of: $0.item)) \($0.quantity)" }.joined(separator: " + ")
      let state =
        shortages.isEmpty
        ? messages.canBeMade
        : messages.cannotBeMade(shortages.map { messages.missingText($0, of: name(of: $0.item)) })
      table.add([
        .init(juice.name(in: messages.language), role), .init(recipe, role), .init(state, role ?? .waiting),
      ])
    }
    return table.lines(palette, within: columns)
  }

  private func name(of item: ItemID) -> String { assortment.name(of: item, in: messages.language) }
}
