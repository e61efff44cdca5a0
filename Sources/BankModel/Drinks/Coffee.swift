// Owns the coffees: their caffeine, how warm they are kept, and what tells the one from the other.
// See Beverage for why they may cross threads.

/// Coffee: of the second level.
public class Coffee: Beverage, @unchecked Sendable {
  /// A coffee is hot above this many degrees Celsius, unless somebody says otherwise.
  public static let hotAbove: Int64 = 30
  /// Caffeine, in milligrams.
  public let caffeine: Int64
  /// How warm it is kept, in degrees Celsius.
  public let temperature: Int64

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64) {
    (self.caffeine, self.temperature) = (caffeine, temperature)
    super.init(label, dates)
  }

  /// Whether it is kept warmer than this.
  public final override func isHot(above degrees: Int64 = Coffee.hotAbove) -> Bool { temperature > degrees }
  override var remark: String { ", \(caffeine)mg" }
}

/// Coffee that may be black.
public final class Top: Coffee, @unchecked Sendable {
  /// Whether nothing but coffee is in it.
  public let isBlack: Bool

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, isBlack: Bool) {
    self.isBlack = isBlack
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// Whether there is milk in it.
  public var hasMilk: Bool { !isBlack }
}

/// Coffee in the manner of a café.
public final class Cantata: Coffee, @unchecked Sendable {
  /// How it was made, such as `sweet americano`.
  public let style: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, style: String) {
    self.style = style
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// Whether it is sweetened.
  public var isSweet: Bool { style.hasPrefix("sweet") }
}

/// Coffee of one blend or another.
public final class Georgia: Coffee, @unchecked Sendable {
  /// The blend, such as `original`.
  public let blend: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, temperature: Int64, blend: String) {
    self.blend = blend
    super.init(label, dates, caffeine: caffeine, temperature: temperature)
  }

  /// Whether it is the blend that there was first.
  public var isOriginal: Bool { blend == "original" }
}
