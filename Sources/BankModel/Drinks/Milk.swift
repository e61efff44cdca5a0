// Milks: fat content, and the properties of each product.
// The head of Beverage.swift explains `@unchecked Sendable`.

/// Base class of all milks.
public class Milk: Beverage, @unchecked Sendable {
  /// True for low-fat milk.
  public let isLowFat: Bool

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool) {
    self.isLowFat = isLowFat
    super.init(label, dates)
  }

  /// Suffix of the description of a flavoured milk: `, (1.0%)` for a content of 10 thousandths.
  final func descriptionSuffix(ofPermille content: Int64) -> String { ", (\(content / 10).\(content % 10)%)" }
}

/// Strawberry-flavoured milk.
public final class StrawberryMilk: Milk, @unchecked Sendable {
  /// Strawberry content in thousandths.
  public let strawberryPermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, strawberryPermille: Int64) {
    self.strawberryPermille = strawberryPermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// True if the milk contains strawberries.
  public var hasRealStrawberries: Bool { strawberryPermille > 0 }
  override var descriptionSuffix: String { descriptionSuffix(ofPermille: strawberryPermille) }
}

/// Chocolate-flavoured milk.
public final class ChocolateMilk: Milk, @unchecked Sendable {
  /// Chocolate content in thousandths.
  public let chocolatePermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, chocolatePermille: Int64) {
    self.chocolatePermille = chocolatePermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// True if the chocolate content is at least `permille` thousandths.
  public func isChocolaty(from permille: Int64) -> Bool { chocolatePermille >= permille }
  override var descriptionSuffix: String { descriptionSuffix(ofPermille: chocolatePermille) }
}

/// Banana-flavoured milk.
public final class BananaMilk: Milk, @unchecked Sendable {
  /// Banana content in thousandths.
  public let bananaPermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, bananaPermille: Int64) {
    self.bananaPermille = bananaPermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// Banana content of the whole carton, in millilitres.
  public var bananaMillilitres: Int64 { label.volume * bananaPermille / 1_000 }
  override var descriptionSuffix: String { descriptionSuffix(ofPermille: bananaPermille) }
}
