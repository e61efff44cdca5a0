// Coffees: caffeine, temperature, and the properties of each product. The head of Beverage.swift explains `@unchecked
// Sendable`.

/// Base class of all coffees.
public class Coffee: Beverage, @unchecked Sendable {
  /// Default limit above which a coffee is hot, in degrees Celsius.
  public static let hotAbove: Int64 = 30
  /// Caffeine in milligrams.
  public let caffeine: Int64
  /// Temperature at which the coffee is kept, in degrees Celsius.
  public let temperature: Int64

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64) {
    (self.caffeine, self.temperature) = (caffeine, temperature)
    super.init(label, dates)
  }

  /// True if the coffee is kept warmer than this many degrees Celsius.
  public final override func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool { temperature > degrees }
  override var descriptionSuffix: String { ", \(caffeine)mg" }
}

/// Coffee that may be black.
public final class Top: Coffee, @unchecked Sendable {
  /// True for black coffee.
  public let isBlack: Bool

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, isBlack: Bool) {
    self.isBlack = isBlack
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// True if the coffee contains milk.
  public var hasMilk: Bool { !isBlack }
}

/// Café-style coffee.
public final class Cantata: Coffee, @unchecked Sendable {
  /// Style of preparation, such as `sweet americano`.
  public let style: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, style: String) {
    self.style = style
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// True if the style starts with `sweet`.
  public var isSweet: Bool { style.hasPrefix("sweet") }
}

/// Coffee of a certain blend.
public final class Georgia: Coffee, @unchecked Sendable {
  /// Blend, such as `original`.
  public let blend: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, blend: String) {
    self.blend = blend
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// True if the blend is `original`.
  public var isOriginal: Bool { blend == "original" }
}
