// One line of the product table: data of a product of the vending machine, with the class of its drinks.
// Invariant: a product has the properties of its class, so that a drink can be made from it.

/// Class of a product's drinks, with properties of the class such as caffeine.
public enum DrinkClass: Hashable, Sendable {
  case strawberryMilk(isLowFat: Bool, permille: Int64)
  case chocolateMilk(isLowFat: Bool, permille: Int64)
  case bananaMilk(isLowFat: Bool, permille: Int64)
  case coke(Soda.Container, Coke.Flavour)
  case sprite(Soda.Container, isLowSugar: Bool)
  case top(caffeine: Int64, temperature: Int64, isBlack: Bool)
  case cantata(caffeine: Int64, temperature: Int64, style: String)
  case georgia(caffeine: Int64, temperature: Int64, blend: String)
  case hot6(caffeine: Int64, edition: String)
  case monster(caffeine: Int64, taste: String)

  /// Kind of drink.
  public enum Kind: UInt8, NameCodable {
    case milk = 1
    case soda = 2
    case coffee = 3
    case energyDrink = 4

    /// Names in JSON, in the order of the raw values.
    public static let names = ["milk", "soda", "coffee", "energy_drink"]
  }

  /// Kind to which the class belongs.
  public var kind: Kind {
    switch self {
    case .strawberryMilk, .chocolateMilk, .bananaMilk: .milk
    case .coke, .sprite: .soda
    case .top, .cantata, .georgia: .coffee
    case .hot6, .monster: .energyDrink
    }
  }

  /// Temperature at which the drink is kept, in degrees Celsius; nil for drinks other than coffee.
  public var temperature: Int64? {
    switch self {
    case .top(_, let degrees, _), .cantata(_, let degrees, _), .georgia(_, let degrees, _): degrees
    default: nil
    }
  }
}

/// A product of the vending machine.
public struct Product: Hashable, Sendable {
  /// Name in commands, and of the item in the stock.
  public var id: ItemID
  /// Class of the product's drinks.
  public var drinkClass: DrinkClass
  /// Manufacturer.
  public var brand: String
  /// Volume in millilitres.
  public var volume: Int64
  /// Price of one piece, in won.
  public var price: Won
  /// Name in Korean.
  public var name: String
  /// Name in English.
  public var english: String
  /// One character that represents the product.
  public var emoji: String
  /// Default number of days from production to the last day of sale.
  public var shelfLife: Int64

  public init(
    id: ItemID, drinkClass: DrinkClass, brand: String, volume: Int64, price: Won, name: String,
    english: String,
    emoji: String, shelfLife: Int64 = ProductTable.shelfLife
  ) {
    (self.id, self.drinkClass, self.brand) = (id, drinkClass, brand)
    (self.volume, self.price, self.name) = (volume, price, name)
    (self.english, self.emoji, self.shelfLife) = (english, emoji, shelfLife)
  }

  /// Label of a piece.
  public var label: Beverage.Label {
    Beverage.Label(product: id, brand: brand, volume: volume, price: price, name: name)
  }

  /// Dates of a drink produced on a day; nil if they are invalid. `expires` defaults to the end of the product's shelf
  /// life, or to the last valid day if that is earlier.
  public func dates(made: DayNumber, expires: DayNumber? = nil) -> LotDates? {
    guard StockLimits.days.contains(made) else { return nil }
    let dates = LotDates(made: made, expires: expires ?? min(made + shelfLife, StockLimits.days.upperBound))
    return dates.isValid ? dates : nil
  }
}
