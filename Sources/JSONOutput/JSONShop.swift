// JSON of juices, stock and vending machine.
// Invariant: see JSONReports. Amounts are whole numbers; an amount of money is in won.
import BankModel
import Wire

extension JSONValue {
  /// JSON of `juice menu`: recipe and availability of each juice, with missing ingredients.
  package static func menu(_ assortment: Assortment, _ picture: StockSnapshot) -> JSONValue {
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

  /// JSON line of `juice order`: result for one juice.
  package static func juice(
    _ order: OrderID, _ juice: Juice, _ outcome: String, _ shortages: [Shortage], message: String
  ) -> JSONValue {
    [
      "version": 1, "order": .string(order.text), "juice": .string(juice.id.name),
      "outcome": .string(outcome), "missing": missing(shortages), "message": .string(message),
    ]
  }

  /// JSON of `stock`.
  package static func stock(_ picture: StockSnapshot) -> JSONValue {
    ["version": 1, "items": items(picture)]
  }

  /// JSON line of `stock watch` with a snapshot.
  package static func picture(_ picture: StockSnapshot) -> JSONValue {
    [
      "version": 1, "event": "snapshot", "ledger": .integer(picture.ledger),
      "sequence": .integer(picture.sequence), "items": items(picture),
    ]
  }

  /// JSON line of `stock watch` with a change.
  package static func change(_ change: StockChange) -> JSONValue {
    [
      "event": "change", "sequence": .integer(change.sequence), "item": .string(change.item.name),
      "kind": .string(change.kind.name), "difference": .integer(change.difference),
      "quantity": .integer(change.present), "order": .init(change.order?.text),
      "at": .instant(change.at.milliseconds),
    ]
  }

  private static func items(_ picture: StockSnapshot) -> JSONValue {
    .array(picture.items.map { ["item": .string($0.item.name), "quantity": .integer($0.quantity)] })
  }

  /// JSON of `vending`.
  package static func vending(_ picture: VendingSnapshot) -> JSONValue {
    JSONValue.balance(picture.balance).adding(["products": list(picture)])
  }

  /// JSON of the products without the balance.
  package static func products(_ picture: VendingSnapshot) -> JSONValue {
    ["version": 1, "products": list(picture)]
  }
  /// First fields of a document with the balance of the vending machine.
  package static func balance(_ balance: Won) -> JSONValue { ["version": 1, "balance": .integer(balance)] }

  /// JSON line of `vending history`.
  package static func purchase(_ purchase: MoneyChange) -> JSONValue {
    [
      "product": .init(purchase.product?.name), "price": .integer(purchase.amount),
      "bought_at": .instant(purchase.at.milliseconds),
      "expires": .init(purchase.dates.map { CalendarDate($0.expires).dashed }),
      "sequence": .integer(purchase.sequence),
    ]
  }

  /// One lot of a drink.
  package static func lot(_ dates: LotDates?, _ quantity: Quantity, today: DayNumber) -> JSONValue {
    [
      "quantity": .integer(quantity), "made": .init(dates.map { CalendarDate($0.made).dashed }),
      "expires": .init(dates.map { CalendarDate($0.expires).dashed }),
      "expired": .bool(dates.map { $0.expires < today } ?? false),
    ]
  }

  private static func list(_ picture: VendingSnapshot) -> JSONValue {
    .array(
      picture.products.map { product in
        let one: JSONValue = [
          "product": .string(product.id.name), "name": .string(product.name), "brand": .string(product.brand),
          "volume_ml": .integer(product.volume), "price": .integer(product.price),
          "stock": .integer(product.stock), "buyable": .bool(picture.isBuyable(product)),
          "hot": .bool(product.isHot()), "expired": .integer(product.expired),
          "kind": .string(product.kind.name), "degrees": .init(product.temperature),
          "picture": .string(product.emoji),
        ]
        guard let lots = product.lots else { return one }
        let shown = lots.map { lot in
          JSONValue.lot(lot.dates, lot.quantity, today: picture.today)
            .adding(["description": .string(lot.description)])
        }
        return one.adding(["lots": .array(shown)])
      })
  }
}
