// Sodas: containers, and the properties of each product.
// The head of Beverage.swift explains `@unchecked Sendable`.

/// Base class of all sodas.
public class Soda: Beverage, @unchecked Sendable {
  /// Container in which a soda is sold.
  public enum Container: String, Sendable, CaseIterable {
    case can
    case bottle
  }

  /// Container of this drink.
  public let container: Container

  init(_ label: Label, _ dates: LotDates, container: Container) {
    self.container = container
    super.init(label, dates)
  }

  /// True if the container can be closed again.
  public final var isResealable: Bool { container == .bottle }
}

/// Cola with a flavour.
public final class Coke: Soda, @unchecked Sendable {
  /// Flavour of a cola.
  public enum Flavour: String, Sendable, CaseIterable {
    case cherry
    case vanilla
  }

  /// Flavour of this cola.
  public let flavour: Flavour

  init(_ label: Label, _ dates: LotDates, container: Container, flavour: Flavour) {
    self.flavour = flavour
    super.init(label, dates, container: container)
  }

  /// True for the cherry flavour.
  public var isCherry: Bool { flavour == .cherry }
}

/// Lemonade, with a low-sugar variant.
public final class Sprite: Soda, @unchecked Sendable {
  /// True for the low-sugar variant.
  public let isLowSugar: Bool

  init(_ label: Label, _ dates: LotDates, container: Container, isLowSugar: Bool) {
    self.isLowSugar = isLowSugar
    super.init(label, dates, container: container)
  }
}
