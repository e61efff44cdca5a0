// Owns what the pages of the juice maker and of the vending machine show. Names are in the language of the reader already.
// Invariant: a page is a value; what can be made or bought is told and not worked out here.
import BankModel

/// A fruit in stock.
public struct FruitRow: Sendable, Equatable {
  /// Its name in commands.
  public var id: ItemID
  /// What it is called.
  public var name: String
  /// One character as its picture.
  public var emoji: String
  /// How many there are.
  public var quantity: Quantity

  public init(id: ItemID, name: String, emoji: String = "", quantity: Quantity) {
    (self.id, self.name, self.emoji, self.quantity) = (id, name, emoji, quantity)
  }
}

/// A part of a recipe.
public struct RecipePart: Sendable, Equatable {
  /// Of what.
  public var fruit: ItemID
  /// What it is called.
  public var name: String
  /// How many are needed.
  public var needed: Quantity
  /// How many there are.
  public var available: Quantity

  public init(fruit: ItemID, name: String, needed: Quantity, available: Quantity) {
    (self.fruit, self.name, self.needed, self.available) = (fruit, name, needed, available)
  }
}

/// A juice that can be ordered.
public struct JuiceRow: Sendable, Equatable {
  /// Its name in commands.
  public var id: ItemID
  /// What it is called.
  public var name: String
  /// What it is made of.
  public var recipe: [RecipePart]
  /// Whether it can be made now.
  public var isAvailable: Bool

  public init(id: ItemID, name: String, recipe: [RecipePart] = [], isAvailable: Bool = false) {
    (self.id, self.name, self.recipe, self.isAvailable) = (id, name, recipe, isAvailable)
  }
}

/// `/juice`: the order screen.
public struct JuicePage: WebPage {
  /// Every fruit.
  public var fruits: [FruitRow]
  /// Every juice, in the order of the assortment.
  public var juices: [JuiceRow]
  /// Whether the stock answers.
  public var isOpen: Bool

  public init(fruits: [FruitRow] = [], juices: [JuiceRow] = [], isOpen: Bool = true) {
    (self.fruits, self.juices, self.isOpen) = (fruits, juices, isOpen)
  }
}

/// `/juice/stock`: the stock editor.
public struct StockPage: WebPage {
  /// Every fruit.
  public var fruits: [FruitRow]
  /// Whether the stock answers.
  public var isOpen: Bool

  public init(fruits: [FruitRow] = [], isOpen: Bool = true) {
    (self.fruits, self.isOpen) = (fruits, isOpen)
  }
}

/// A drink in the machine.
public struct DrinkRow: Sendable, Equatable {
  /// Its name in commands.
  public var id: ItemID
  /// What it is called.
  public var name: String
  /// Who makes it.
  public var brand: String
  /// Millilitres.
  public var volume: Int64
  /// What one costs.
  public var price: Won
  /// How many may be sold.
  public var stock: Quantity
  /// How many may not be sold any more.
  public var expired: Quantity
  /// Whether one can be bought now.
  public var isBuyable: Bool
  /// Whether it is hot.
  public var isHot: Bool
  /// Its kind.
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

/// Something that was bought.
public struct PurchaseRow: Sendable, Equatable {
  /// Its place in the order of the changes of money: grows, and names the purchase.
  public var number: Int64
  /// What.
  public var product: ItemID
  /// What it is called.
  public var name: String
  /// What it cost.
  public var price: Won
  /// When, in milliseconds since 1970.
  public var time: Int64

  public init(number: Int64, product: ItemID, name: String, price: Won, time: Int64) {
    (self.number, self.product, self.name, self.price, self.time) = (number, product, name, price, time)
  }
}

/// `/vending`: cards, money, and the purchase strip.
public struct VendingPage: WebPage {
  /// Won in the machine.
  public var balance: Won
  /// Every product.
  public var drinks: [DrinkRow]
  /// Purchases, oldest first: the latest, or a page before.
  public var purchases: [PurchaseRow]
  /// Purchases since the machine was first filled.
  public var total: Int64
  /// `before` of the page with earlier purchases; nil where there are none.
  public var older: Int64?
  /// `before` of the page with later ones, 0 for the latest; nil on the latest.
  public var newer: Int64?
  /// Whether the machine answers.
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
  /// When they were made.
  public var made: DayNumber?
  /// Until when they are good.
  public var expires: DayNumber?
  /// How many.
  public var quantity: Quantity
  /// One of them, described.
  public var description: String
  /// Whether they may not be sold any more.
  public var isExpired: Bool

  public init(
    made: DayNumber? = nil, expires: DayNumber? = nil, quantity: Quantity, description: String,
    isExpired: Bool = false
  ) {
    (self.made, self.expires, self.quantity, self.description) = (made, expires, quantity, description)
    self.isExpired = isExpired
  }
}

/// A drink and its lots.
public struct DrinkShelf: Sendable, Equatable {
  /// Which.
  public var drink: DrinkRow
  /// The lots in the order in which they are sold.
  public var lots: [DrinkLot]
  /// How many were ever bought.
  public var sold: Int64

  public init(drink: DrinkRow, lots: [DrinkLot] = [], sold: Int64 = 0) {
    (self.drink, self.lots, self.sold) = (drink, lots, sold)
  }
}

/// `/vending/admin`: the manager's side.
public struct VendingAdminPage: WebPage {
  /// Every product.
  public var shelves: [DrinkShelf]
  /// Won in the machine.
  public var balance: Won
  /// The day that decides what has expired.
  public var today: DayNumber
  /// Whether the machine answers.
  public var isOpen: Bool

  public init(shelves: [DrinkShelf] = [], balance: Won, today: DayNumber, isOpen: Bool = true) {
    (self.shelves, self.balance, self.today, self.isOpen) = (shelves, balance, today, isOpen)
  }
}

/// What stands at `/vending/admin` for whoever is not the manager.
public struct ManagerLoginPage: WebPage {
  /// Whether the code that was given is none.
  public var wasWrong: Bool
  /// True if no code is looked at for a while.
  public var isPaused: Bool

  public init(wasWrong: Bool = false, isPaused: Bool = false) {
    (self.wasWrong, self.isPaused) = (wasWrong, isPaused)
  }
}
