// Values of the pages of the juice maker and the vending machine. Names are already in the viewer's
// language.
// Invariant: a page is a value; equal pages give equal documents.
import BankModel

/// A fruit and its amount in stock.
public struct FruitRow: Sendable, Equatable {
  /// Name in commands.
  public var id: ItemID
  /// Display name.
  public var name: String
  /// Emoji for a fruit without a drawing.
  public var emoji: String
  /// Pieces in stock.
  public var quantity: Quantity

  public init(id: ItemID, name: String, emoji: String = "", quantity: Quantity) {
    (self.id, self.name, self.emoji, self.quantity) = (id, name, emoji, quantity)
  }
}

/// One fruit of a recipe, with the pieces that are needed and those in stock.
public struct RecipePart: Sendable, Equatable {
  /// Fruit of the part.
  public var fruit: ItemID
  /// Display name.
  public var name: String
  /// Needed pieces.
  public var needed: Quantity
  /// Pieces in stock.
  public var available: Quantity

  public init(fruit: ItemID, name: String, needed: Quantity, available: Quantity) {
    (self.fruit, self.name, self.needed, self.available) = (fruit, name, needed, available)
  }
}

/// A juice of the order screen, with its recipe and whether the stock suffices for it.
public struct JuiceRow: Sendable, Equatable {
  /// Name in commands.
  public var id: ItemID
  /// Display name.
  public var name: String
  /// Recipe of the juice.
  public var recipe: [RecipePart]
  /// True if the stock answers and has enough fruit.
  public var isAvailable: Bool

  public init(id: ItemID, name: String, recipe: [RecipePart] = [], isAvailable: Bool = false) {
    (self.id, self.name, self.recipe, self.isAvailable) = (id, name, recipe, isAvailable)
  }
}

/// `/juice`: the order screen.
public struct JuicePage: WebPage {
  /// All fruits.
  public var fruits: [FruitRow]
  /// All juices, in the order of the assortment.
  public var juices: [JuiceRow]
  /// True if the stock answers.
  public var isOpen: Bool

  public init(fruits: [FruitRow] = [], juices: [JuiceRow] = [], isOpen: Bool = true) {
    (self.fruits, self.juices, self.isOpen) = (fruits, juices, isOpen)
  }
}

/// `/juice/stock`: the stock editor.
public struct StockPage: WebPage {
  /// All fruits.
  public var fruits: [FruitRow]
  /// True if the stock answers.
  public var isOpen: Bool

  public init(fruits: [FruitRow] = [], isOpen: Bool = true) {
    (self.fruits, self.isOpen) = (fruits, isOpen)
  }
}

/// A drink in the vending machine, with its price and its pieces.
public struct DrinkRow: Sendable, Equatable {
  /// Name in commands.
  public var id: ItemID
  /// Display name.
  public var name: String
  /// Brand of the drink.
  public var brand: String
  /// Volume in millilitres.
  public var volume: Int64
  /// Price in won.
  public var price: Won
  /// Pieces that may be sold.
  public var stock: Quantity
  /// Pieces that have expired.
  public var expired: Quantity
  /// True if a customer can buy one piece now.
  public var isBuyable: Bool
  /// True for a hot drink.
  public var isHot: Bool
  /// Kind of drink.
  public var kind: DrinkClass.Kind

  public init(
    id: ItemID, name: String, brand: String, volume: Int64, price: Won, stock: Quantity,
    expired: Quantity = 0, isBuyable: Bool = false, isHot: Bool = false, kind: DrinkClass.Kind
  ) {
    (self.id, self.name, self.brand, self.volume, self.price) = (id, name, brand, volume, price)
    (self.stock, self.expired, self.isBuyable, self.isHot) = (stock, expired, isBuyable, isHot)
    self.kind = kind
  }
}

/// A purchase at the vending machine.
public struct PurchaseRow: Sendable, Equatable {
  /// Position in the order of money changes, which identifies the purchase.
  public var number: Int64
  /// Bought product.
  public var product: ItemID
  /// Display name.
  public var name: String
  /// Paid price in won.
  public var price: Won
  /// Time in milliseconds since 1970.
  public var time: Int64

  public init(number: Int64, product: ItemID, name: String, price: Won, time: Int64) {
    (self.number, self.product, self.name, self.price, self.time) = (number, product, name, price, time)
  }
}

/// `/vending`: a card for each drink, the inserted money, and the list of purchases.
public struct VendingPage: WebPage {
  /// Inserted money in won.
  public var balance: Won
  /// All products.
  public var drinks: [DrinkRow]
  /// The listed purchases, oldest first.
  public var purchases: [PurchaseRow]
  /// Number of all purchases at the machine.
  public var total: Int64
  /// Value of the query field `before` for the page with earlier purchases; nil if there are none.
  public var older: Int64?
  /// Value of the query field `before` for the page with later purchases, 0 for the latest page; nil on the latest
  /// page.
  public var newer: Int64?
  /// True if the machine answers.
  public var isOpen: Bool

  public init(
    balance: Won, drinks: [DrinkRow] = [], purchases: [PurchaseRow] = [], total: Int64 = 0,
    older: Int64? = nil, newer: Int64? = nil, isOpen: Bool = true
  ) {
    (self.balance, self.drinks, self.purchases, self.total) = (balance, drinks, purchases, total)
    (self.older, self.newer, self.isOpen) = (older, newer, isOpen)
  }
}

/// One lot of a drink.
public struct DrinkLot: Sendable, Equatable {
  /// Production date.
  public var made: DayNumber?
  /// Expiry date.
  public var expires: DayNumber?
  /// Number of drinks.
  public var quantity: Quantity
  /// Description of one drink.
  public var description: String
  /// True if the drinks of the lot must not be sold any more.
  public var isExpired: Bool

  public init(
    made: DayNumber? = nil, expires: DayNumber? = nil, quantity: Quantity, description: String,
    isExpired: Bool = false
  ) {
    (self.made, self.expires, self.quantity, self.description) = (made, expires, quantity, description)
    self.isExpired = isExpired
  }
}

/// A drink with its lots and the number sold, for the manager.
public struct DrinkShelf: Sendable, Equatable {
  /// The drink.
  public var drink: DrinkRow
  /// Lots in the order of sale.
  public var lots: [DrinkLot]
  /// Number of all pieces sold.
  public var sold: Int64

  public init(drink: DrinkRow, lots: [DrinkLot] = [], sold: Int64 = 0) {
    (self.drink, self.lots, self.sold) = (drink, lots, sold)
  }
}

/// `/vending/admin`: the manager's side of the vending machine, with the lots and the sales of each drink.
public struct VendingAdminPage: WebPage {
  /// All products.
  public var shelves: [DrinkShelf]
  /// Inserted money in won.
  public var balance: Won
  /// Date on which the expiry of each lot is judged.
  public var today: DayNumber
  /// True if the machine answers.
  public var isOpen: Bool

  public init(shelves: [DrinkShelf] = [], balance: Won, today: DayNumber, isOpen: Bool = true) {
    (self.shelves, self.balance, self.today, self.isOpen) = (shelves, balance, today, isOpen)
  }
}

/// `/vending/admin` without the manager's rights: entry of the code.
public struct ManagerLoginPage: WebPage {
  /// True after a wrong code.
  public var wasWrong: Bool
  /// True while the server checks no codes because of too many wrong ones.
  public var isPaused: Bool

  public init(wasWrong: Bool = false, isPaused: Bool = false) {
    (self.wasWrong, self.isPaused) = (wasWrong, isPaused)
  }
}
