// Owns the milks: whether one is low in fat, and how much of the real thing is in each flavour.
// See Beverage for why they may cross threads.

/// Milk: of the second level.
public class Milk: Beverage, @unchecked Sendable {
  /// Whether it is low in fat.
  public let isLowFat: Bool

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool) {
    self.isLowFat = isLowFat
    super.init(label, dates)
  }

  /// `, (1.0%)` for a flavour of ten thousandths; what flavoured milks add to their description.
  final func remark(ofPermille content: Int64) -> String { ", (\(content / 10).\(content % 10)%)" }
}

/// Strawberry milk.
public final class StrawberryMilk: Milk, @unchecked Sendable {
  /// Strawberries in it, in thousandths.
  public let strawberryPermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, strawberryPermille: Int64) {
    self.strawberryPermille = strawberryPermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// Whether there are strawberries in it, and not their taste alone.
  public var hasRealStrawberries: Bool { strawberryPermille > 0 }
  override var remark: String { remark(ofPermille: strawberryPermille) }
}

/// Chocolate milk.
public final class ChocolateMilk: Milk, @unchecked Sendable {
  /// Chocolate in it, in thousandths.
  public let chocolatePermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, chocolatePermille: Int64) {
    self.chocolatePermille = chocolatePermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// Whether there is at least so much chocolate in it, in thousandths.
  public func isChocolaty(from permille: Int64) -> Bool { chocolatePermille >= permille }
  override var remark: String { remark(ofPermille: chocolatePermille) }
}

/// Banana milk.
public final class BananaMilk: Milk, @unchecked Sendable {
  /// Bananas in it, in thousandths.
  public let bananaPermille: Int64

  init(_ label: Label, _ dates: LotDates, isLowFat: Bool, bananaPermille: Int64) {
    self.bananaPermille = bananaPermille
    super.init(label, dates, isLowFat: isLowFat)
  }

  /// Millilitres of banana in the whole carton.
  public var bananaMillilitres: Int64 { label.volume * bananaPermille / 1_000 }
  override var remark: String { remark(ofPermille: bananaPermille) }
}
