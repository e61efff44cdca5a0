// Reproducible random numbers: the same seed gives the same numbers on every machine and in every build. The numbers
// must not be used for secrets.
import Time

/// Generator of the pseudorandom numbers that a seed determines: SplitMix64 by Sebastiano Vigna (public domain,
/// https://prng.di.unimi.it).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator whose sequence the seed determines.
  public init(seed: UInt64) { state = seed }

  /// Returns the next 64 pseudorandom bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Skips `count` numbers, in constant time.
  public mutating func skip(_ count: Int64) { state &+= 0x9E37_79B9_7F4A_7C15 &* UInt64(bitPattern: count) }

  /// Returns a number from `range`. Its probability differs from the ideal one by less than 2⁻⁶⁴.
  public mutating func draw(_ range: ClosedRange<Int64>) -> Int64 {
    let width = UInt64(bitPattern: range.upperBound &- range.lowerBound) &+ 1
    guard width != 0 else { return Int64(bitPattern: next()) }
    return range.lowerBound &+ Int64(bitPattern: next().multipliedFullWidth(by: width).high)
  }
}

/// Generator of customers for requests that do not specify all properties.
public struct CustomerGenerator: Sendable {
  /// Range of random amounts in won, in multiples of ``amountStep``.
  public static let amounts: ClosedRange<Won> = 10_000...1_000_000
  /// Step of a random amount, in won.
  public static let amountStep: Won = 1_000
  /// Range of random accounts.
  public static let accounts: ClosedRange<AccountNumber> = 1...1_000
  /// Fixed service; nil for a random one.
  public var service: Service?
  /// Priority of the customers.
  public var priority: Priority
  /// Fixed amount. If it is nil, the amount is random, or 0 if ``Service/movesMoney`` is false.
  public var amount: Won?
  /// Fixed account. If it is nil, the account is random, or 0 if ``Service/movesMoney`` is false.
  public var account: AccountNumber?
  /// Name of the ordered article; empty if none.
  public var itemName: String
  /// Earliest time at which the customers may be served; nil if they may be served at once.
  public var dueAt: WallTime?
  private var generator: SeededGenerator

  /// Creates a generator.
  public init(
    service: Service?, priority: Priority, amount: Won?, account: AccountNumber?, itemName: String = "",
    dueAt: WallTime? = nil, seed: UInt64
  ) {
    (self.service, self.priority, self.amount) = (service, priority, amount)
    (self.account, self.itemName, self.dueAt) = (account, itemName, dueAt)
    generator = SeededGenerator(seed: seed)
  }

  /// Draws the next customer. A value that is not random consumes no random number.
  public mutating func next() -> CustomerOrder {
    let service = service ?? (generator.next() >> 63 == 0 ? .deposit : .loan)
    guard service.movesMoney else {
      return CustomerOrder(
        service: service, priority: priority, amount: amount ?? 0, account: account ?? 0, itemName: itemName,
        dueAt: dueAt)
    }
    return CustomerOrder(
      service: service,
      priority: priority,
      amount: amount ?? drawAmount(),
      account: account ?? generator.draw(Self.accounts),
      itemName: itemName,
      dueAt: dueAt)
  }

  /// A copy that continues after this number of customers.
  public func dropping(_ customers: Int64) -> CustomerGenerator {
    var draw = self
    // Each random value consumes one number; see `next()`.
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
