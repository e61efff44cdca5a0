// Common properties of all drinks: the label and two dates.
// Invariant: a drink is immutable: its properties are constants of sendable types. The compiler cannot verify this for
// classes that have subclasses, so the classes are `@unchecked Sendable`.

/// Base class of all drinks.
public class Beverage: @unchecked Sendable, CustomStringConvertible {
  /// Label of a drink: product, manufacturer, volume, price and name.
  public struct Label: Hashable, Sendable {
    /// Name of the product in commands.
    public var product: ItemID
    /// Manufacturer.
    public var brand: String
    /// Volume in millilitres.
    public var volume: Int64
    /// Price in won.
    public var price: Won
    /// Name in Korean.
    public var name: String
  }

  /// Data printed on the label.
  public let label: Label
  /// Production day, and last day on which the drink may be sold.
  public let dates: LotDates

  init(_ label: Label, _ dates: LotDates) { (self.label, self.dates) = (label, dates) }

  /// Name of the product in commands.
  public final var product: ItemID { label.product }
  /// True if the drink's last day of sale is before `today`.
  public final func isExpired(on today: DayNumber) -> Bool { dates.expires < today }
  /// True if the drink is kept warmer than this many degrees Celsius; false for drinks other than coffee.
  public func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool { false }
  /// Text that a kind of drink appends to ``description``.
  var descriptionSuffix: String { "" }

  /// `맥심, 275ml, 1700원, 맥심TOP, 20260301, 20260308`, followed by the suffix.
  public final var description: String {
    let (made, expires) = (CalendarDate(dates.made).compact, CalendarDate(dates.expires).compact)
    return "\(label.brand), \(label.volume)ml, \(label.price)원, \(label.name), \(made), \(expires)"
      + descriptionSuffix
  }
}

/// Constructor of drinks from products.
public enum BeverageFactory {
  /// Makes one piece of a product.
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
