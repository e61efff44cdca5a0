// Energy drinks: caffeine, and the properties of each product. The head of Beverage.swift explains `@unchecked
// Sendable`.

/// Base class of all energy drinks.
public class EnergyDrink: Beverage, @unchecked Sendable {
  /// Caffeine in milligrams.
  public let caffeine: Int64

  init(_ label: Label, _ dates: LotDates, caffeine: Int64) {
    self.caffeine = caffeine
    super.init(label, dates)
  }

  /// True if the drink contains more than this many milligrams of caffeine.
  public final func isStrong(above milligrams: Int64) -> Bool { caffeine > milligrams }
}

/// Energy drink with editions.
public final class Hot6: EnergyDrink, @unchecked Sendable {
  /// Edition, such as `power`.
  public let edition: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, edition: String) {
    self.edition = edition
    super.init(label, dates, caffeine: caffeine)
  }

  /// True if the edition is `power`.
  public var isPower: Bool { edition == "power" }
}

/// Energy drink with flavours.
public final class Monster: EnergyDrink, @unchecked Sendable {
  /// Flavour, such as `original`.
  public let taste: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, taste: String) {
    self.taste = taste
    super.init(label, dates, caffeine: caffeine)
  }

  /// True if the flavour is `original`.
  public var isOriginal: Bool { taste == "original" }
}
