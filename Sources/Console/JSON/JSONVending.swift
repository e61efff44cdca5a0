// Owns the shapes of this program's JSON about the vending machine.
// Invariant: see JSONReports. Money is a whole number of won, products are called by their names in commands.
import BankModel
import Wire

extension JSONValue {
  /// `vending`: everything that is shown to customers.
  static func vending(_ picture: VendingPicture) -> JSONValue {
    JSONValue.balance(picture.balance).adding(["products": list(picture)])
  }

  static func products(_ picture: VendingPicture) -> JSONValue { ["version": 1, "products": list(picture)] }
  /// The beginning of whatever tells the balance.
  static func balance(_ balance: Won) -> JSONValue { ["version": 1, "balance": .integer(balance)] }

  /// A line of `vending history`.
  static func purchase(_ purchase: MoneyChange) -> JSONValue {
    [
      "product": .init(purchase.product?.name), "price": .integer(purchase.amount),
      "bought_at": .instant(purchase.at.milliseconds),
      "expires": .init(purchase.dates.map { CalendarDate($0.expires).dashed }),
      "sequence": .integer(purchase.sequence),
    ]
  }

  static func lot(_ dates: LotDates?, _ quantity: Quantity, today: DayNumber) -> JSONValue {
    [
      "quantity": .integer(quantity), "made": .init(dates.map { CalendarDate($0.made).dashed }),
      "expires": .init(dates.map { CalendarDate($0.expires).dashed }),
      "expired": .bool(dates.map { $0.expires < today } ?? false),
    ]
  }

  private static func list(_ picture: VendingPicture) -> JSONValue {
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
