// Owns chance that can be repeated: the same seed gives the same numbers on every machine and in every build.
// It never asks the system for randomness. Not for secrets.
import Time

/// A small generator after Vigna's SplitMix64 (public domain, https://prng.di.unimi.it).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The same seed gives the same sequence.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Leaves out so many numbers, however many they are.
  public mutating func skip(_ count: Int64) { state &+= 0x9E37_79B9_7F4A_7C15 &* UInt64(bitPattern: count) }

  /// A number from `range`, by multiplication and shift: one draw, no loop, a bias below 2⁻³² for ranges here.
  public mutating func draw(_ range: ClosedRange<Int64>) -> Int64 {
    let width = UInt64(bitPattern: range.upperBound &- range.lowerBound) &+ 1
    guard width != 0 else { return Int64(bitPattern: next()) }
    return range.lowerBound &+ Int64(bitPattern: next().multipliedFullWidth(by: width).high)
  }
}

/// Makes customers where a client left something to chance.
public struct CustomerDraw: Sendable {
  /// Amounts that are drawn, in won; multiples of ``amountStep``.
  public static let amounts: ClosedRange<Won> = 10_000...1_000_000
  /// The grain of a drawn amount, in won.
  public static let amountStep: Won = 1_000
  /// Accounts that are drawn.
  public static let accounts: ClosedRange<AccountNumber> = 1...1_000
  /// The fixed service, or nil for chance.
  public var service: Service?
  /// How soon the customer is served; never left to chance.
  public var priority: Priority
  /// The fixed amount, or nil for chance.
  public var amount: Won?
  /// The fixed account, or nil for chance.
  public var account: AccountNumber?
  /// The name of what is ordered; never left to chance.
  public var article: String
  /// Before this moment nobody of them is to be served; nil for at once.
  public var dueAt: WallTime?
  private var generator: SeededGenerator

  /// What is given is the same for everybody; the rest is drawn from the seed.
  public init(
    service: Service?, priority: Priority, amount: Won?, account: AccountNumber?, article: String = "",
    dueAt: WallTime? = nil, seed: UInt64
  ) {
    (self.service, self.priority, self.amount) = (service, priority, amount)
    (self.account, self.article, self.dueAt) = (account, article, dueAt)
    generator = SeededGenerator(seed: seed)
  }

  /// The next customer. Fixed parts use up no chance.
  public mutating func next() -> CustomerOrder {
    let service = service ?? (generator.next() >> 63 == 0 ? .deposit : .loan)
    guard service.movesMoney else {
      return CustomerOrder(
        service: service, priority: priority, amount: amount ?? 0, account: account ?? 0, article: article,
        dueAt: dueAt)
    }
    return CustomerOrder(
      service: service,
      priority: priority,
      amount: amount ?? drawAmount(),
      account: account ?? generator.draw(Self.accounts),
      article: article,
      dueAt: dueAt)
  }

  /// The draw from which so many customers were taken already.
  public func dropping(_ customers: Int64) -> CustomerDraw {
    var draw = self
    // One number for each part that is left to chance; see `next()`.
    var numbers: Int64 = service == nil ? 1 : 0
    if service?.movesMoney ?? true { numbers += (amount == nil ? 1 : 0) + (account == nil ? 1 : 0) }
    draw.generator.skip(customers &* numbers)
    return draw
  }

  private mutating func drawAmount() -> Won {
    let steps = Self.amounts.lowerBound / Self.amountStep...Self.amounts.upperBound / Self.amountStep
    return generator.draw(steps) * Self.amountStep
  }
}
