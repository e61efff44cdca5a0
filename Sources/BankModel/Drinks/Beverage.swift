// Owns what all drinks have in common: what the label says, and the two dates. The kinds stand in files of their own:
// Milk, Soda, Coffee, EnergyDrink. A drink knows no shelf, no price list and no calendar; today is handed in.
// Invariant: a drink never changes after it was made, which is why every class of the hierarchy may cross threads
// although a class that can be inherited from cannot prove it: all its properties are constants of sendable types.

/// A drink: the first level of the hierarchy.
public class Beverage: @unchecked Sendable, CustomStringConvertible {
  /// What the label of every drink says.
  public struct Label: Hashable, Sendable {
    /// The product, as commands call it.
    public var product: ItemID
    /// Who makes it.
    public var brand: String
    /// How much it is, in millilitres.
    public var volume: Int64
    /// What it costs.
    public var price: Won
    /// What it is called.
    public var name: String
  }

  /// What the label says.
  public let label: Label
  /// When it was made, and the last day on which it may be sold.
  public let dates: LotDates

  init(_ label: Label, _ dates: LotDates) { (self.label, self.dates) = (label, dates) }

  /// The product, as commands call it.
  public final var product: ItemID { label.product }
  /// Whether it may not be sold any more: its last day is before this one.
  public final func isExpired(on today: DayNumber) -> Bool { dates.expires < today }
  /// Whether it is kept warmer than this; only a coffee ever is.
  public func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool { false }
  /// What a kind of drink adds to the description.
  var remark: String { "" }

  /// `맥심, 275ml, 1700원, 맥심TOP, 20260301, 20260308`, and what its kind adds.
  public final var description: String {
    let (made, expires) = (CalendarDate(dates.made).compact, CalendarDate(dates.expires).compact)
    return "\(label.brand), \(label.volume)ml, \(label.price)원, \(label.name), \(made), \(expires)" + remark
  }
}

/// Makes drinks.
public enum BeverageFactory {
  /// One drink of a product.
  public static func make(_ product: Product, _ dates: LotDates) -> Beverage {
    let label = product.label
    return switch product.drinkClass {
    case .strawberryMilk(let isLowFat, let permille):
      StrawberryMilk(label, dates, isLowFat: isLowFat, strawberryPermille: permille)
    case .chocolateMilk(let isLowFat, let permille):
      ChocolateMilk(label, dates, isLowFat: isLowFat, chocolatePermille: permille)
    case .bananaMilk(let isLowFat, let permille):
      BananaMilk(label, dates, isLowFat: isLowFat, bananaPermille: permille)
    case .coke(let container, let flavour): Coke(label, dates, container: container, flavour: flavour)
    case .sprite(let container, let isLowSugar):
      Sprite(label, dates, container: container, isLowSugar: isLowSugar)
    case .top(let caffeine, let temperature, let isBlack):
      Top(label, dates, caffeine: caffeine, temperature: temperature, isBlack: isBlack)
    case .cantata(let caffeine, let temperature, let style):
      Cantata(label, dates, caffeine: caffeine, temperature: temperature, style: style)
    case .georgia(let caffeine, let temperature, let blend):
      Georgia(label, dates, caffeine: caffeine, temperature: temperature, blend: blend)
    case .hot6(let caffeine, let edition): Hot6(label, dates, caffeine: caffeine, edition: edition)
    case .monster(let caffeine, let taste): Monster(label, dates, caffeine: caffeine, taste: taste)
    }
  }
}
