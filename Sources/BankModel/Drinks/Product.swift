// Owns one line of the product table: what a machine sells, as data, and the class of drinks that it is an instance of.
// It must not know a file nor how much of it there is. Invariant: a product carries exactly the properties of its class,
// so whatever stands in a table can be made.

/// A class of drinks with the properties that every instance of one product has.
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

  /// The kinds of the second level.
  public enum Kind: UInt8, Named {
    case milk = 1
    case soda = 2
    case coffee = 3
    case energyDrink = 4

    /// The names in JSON, in the order of the numbers.
    public static let names = ["milk", "soda", "coffee", "energy_drink"]
  }

  /// The kind of the second level that it is of.
  public var kind: Kind {
    switch self {
    case .strawberryMilk, .chocolateMilk, .bananaMilk: .milk
    case .coke, .sprite: .soda
    case .top, .cantata, .georgia: .coffee
    case .hot6, .monster: .energyDrink
    }
  }

  /// How warm it is kept, in degrees Celsius; nil for whatever is not kept warm.
  public var temperature: Int64? {
    switch self {
    case .top(_, let degrees, _), .cantata(_, let degrees, _), .georgia(_, let degrees, _): degrees
    default: nil
    }
  }
}

/// A line of the product table.
public struct Product: Hashable, Sendable {
  /// Its name in commands, and in the stock.
  public var id: ItemID
  /// The class, with the properties of its instances.
  public var drinkClass: DrinkClass
  /// Who makes it.
  public var brand: String
  /// Millilitres.
  public var volume: Int64
  /// What one costs.
  public var price: Won
  /// What it is called.
  public var name: String
  /// What it is called in English.
  public var english: String
  /// One character as its picture.
  public var emoji: String
  /// Days from making to the last day on which it may be sold, unless somebody says otherwise.
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

  /// What the label of each of them says.
  public var label: Beverage.Label {
    Beverage.Label(product: id, brand: brand, volume: volume, price: price, name: name)
  }

  /// The dates of what is made on a day: good for so long as the product is, unless a day is named.
  ///
  /// - Returns: nil where these are no days, or in the wrong order.
  public func dates(made: DayNumber, expires: DayNumber? = nil) -> LotDates? {
    guard StockLimits.days.contains(made) else { return nil }
    let dates = LotDates(made: made, expires: expires ?? min(made + shelfLife, StockLimits.days.upperBound))
    return dates.isValid ? dates : nil
  }
}
