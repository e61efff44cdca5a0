// Owns the shapes of this program's JSON about juices and the stock.
// Invariant: see JSONReports. Amounts are whole numbers, items are called by their names in commands.
import BankModel

extension JSONValue {
  /// `juice menu`: what a juice is made of, whether it can be made now, and what is missing where it cannot.
  static func menu(_ assortment: Assortment, _ picture: StockPicture) -> JSONValue {
    let juices = assortment.juices.map { juice -> JSONValue in
      let shortages = juice.shortages(from: picture.items)
      return [
        "juice": .string(juice.id.name), "name": .string(juice.korean),
        "recipe": .object(juice.recipe.map { Field(name: $0.item.name, value: .integer($0.quantity)) }),
        "available": .bool(shortages.isEmpty), "missing": missing(shortages),
      ]
    }
    return ["version": 1, "juices": .array(juices), "items": items(picture)]
  }

  /// A line of `juice order`: what became of one juice.
  static func juice(
    _ order: OrderID, _ juice: Juice, _ outcome: String, _ shortages: [Shortage], message: String
  ) -> JSONValue {
    [
      "version": 1, "order": .string(order.text), "juice": .string(juice.id.name),
      "outcome": .string(outcome), "missing": missing(shortages), "message": .string(message),
    ]
  }

  static func stock(_ picture: StockPicture) -> JSONValue { ["version": 1, "items": items(picture)] }

  /// The first line of `stock watch`, and any later one where changes could not be told one by one.
  static func picture(_ picture: StockPicture) -> JSONValue {
    [
      "version": 1, "event": "snapshot", "ledger": .integer(picture.ledger),
      "sequence": .integer(picture.sequence), "items": items(picture),
    ]
  }

  /// Every other line of `stock watch`: `sequence` counts on by one, without a gap.
  static func change(_ change: StockChange) -> JSONValue {
    [
      "event": "change", "sequence": .integer(change.sequence), "item": .string(change.item.name),
      "kind": .string(change.kind.name), "difference": .integer(change.difference),
      "quantity": .integer(change.present), "order": .init(change.order?.text),
      "at": .instant(change.at.milliseconds),
    ]
  }

  private static func items(_ picture: StockPicture) -> JSONValue {
    .array(picture.items.map { ["item": .string($0.item.name), "quantity": .integer($0.quantity)] })
  }
}
