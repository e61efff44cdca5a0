// Owns the energy drinks: their caffeine, and what tells the one from the other.
// See Beverage for why they may cross threads.

/// Energy drink: of the second level.
public class EnergyDrink: Beverage, @unchecked Sendable {
  /// Caffeine, in milligrams.
  public let caffeine: Int64

  init(_ label: Label, _ dates: LotDates, caffeine: Int64) {
    self.caffeine = caffeine
    super.init(label, dates)
  }

  /// Whether it holds more than so many milligrams of caffeine.
  public final func isStrong(above milligrams: Int64) -> Bool { caffeine > milligrams }
}

/// The energy drink in editions.
public final class Hot6: EnergyDrink, @unchecked Sendable {
  /// The edition, such as `power`.
  public let edition: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, edition: String) {
    self.edition = edition
    super.init(label, dates, caffeine: caffeine)
  }

  /// Whether it is the edition with more in it.
  public var isPower: Bool { edition == "power" }
}

/// The energy drink in tastes.
public final class Monster: EnergyDrink, @unchecked Sendable {
  /// What it tastes of, such as `original`.
  public let taste: String

  init(_ label: Label, _ dates: LotDates, caffeine: Int64, taste: String) {
    self.taste = taste
    super.init(label, dates, caffeine: caffeine)
  }

  /// Whether it is the taste that there was first.
  public var isOriginal: Bool { taste == "original" }
}
