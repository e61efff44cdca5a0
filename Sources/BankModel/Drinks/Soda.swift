// Sodas: containers, and the properties of each product. See Beverage for `@unchecked Sendable`.

/// Soda: second level of the hierarchy.
public class Soda: Beverage, @unchecked Sendable {
  public enum Container: String, Sendable, CaseIterable {
    case can
    case bottle
  }

  public let container: Container

  init(_ label: Label, _ dates: LotDates, container: Container) {
    self.container = container
    super.init(label, dates)
  }

  /// True if the container can be closed again.
  public final var isResealable: Bool { container == .bottle }
}

public final class Coke: Soda, @unchecked Sendable {
  public enum Flavour: String, Sendable, CaseIterable {
    case cherry
    case vanilla
  }

  public let flavour: Flavour

  init(_ label: Label, _ dates: LotDates, container: Container, flavour: Flavour) {
    self.flavour = flavour
    super.init(label, dates, container: container)
  }

  public var isCherry: Bool { flavour == .cherry }
}

public final class Sprite: Soda, @unchecked Sendable {
  public let isLowSugar: Bool

  init(_ label: Label, _ dates: LotDates, container: Container, isLowSugar: Bool) {
    self.isLowSugar = isLowSugar
    super.init(label, dates, container: container)
  }
}
