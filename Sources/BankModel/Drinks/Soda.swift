// Owns the sodas: what they are filled into, and what tells the one from the other.
// See Beverage for why they may cross threads.

/// Soda: of the second level.
public class Soda: Beverage, @unchecked Sendable {
  /// What a soda is filled into.
  public enum Container: String, Sendable, CaseIterable {
    case can
    case bottle
  }

  /// What it is filled into.
  public let container: Container

  init(_ label: Label, _ dates: LotDates, container: Container) {
    self.container = container
    super.init(label, dates)
  }

  /// Whether it can be closed again.
  public final var isResealable: Bool { container == .bottle }
}

/// Cola.
public final class Coke: Soda, @unchecked Sendable {
  /// What it tastes of.
  public enum Flavour: String, Sendable, CaseIterable {
    case cherry
    case vanilla
  }

  /// What it tastes of.
  public let flavour: Flavour

  init(_ label: Label, _ dates: LotDates, container: Container, flavour: Flavour) {
    self.flavour = flavour
    super.init(label, dates, container: container)
  }

  /// Whether it tastes of cherries.
  public var isCherry: Bool { flavour == .cherry }
}

/// Lemonade.
public final class Sprite: Soda, @unchecked Sendable {
  /// Whether there is little sugar in it.
  public let isLowSugar: Bool

  init(_ label: Label, _ dates: LotDates, container: Container, isLowSugar: Bool) {
    self.isLowSugar = isLowSugar
    super.init(label, dates, container: container)
  }
}
