// Budget of bytes for the lists of one page. All viewers of the page receive the same bytes.
// Invariant: a small change needs no credit. A large change may be sent as soon as the budget allows. No user can read
// all changes of a busy list, and sending them to many viewers would take CPU time from the workers.
import Time

/// Limits the bytes per second of the changes of a page's lists.
struct ListRateLimiter {
  /// Changes up to this size need no credit: a viewer who waits for one of a few customers must see the change without
  /// delay.
  private static let small = 4 << 10
  /// Maximum credit, in bytes.
  private static let burst: Int64 = 16 << 10
  /// Credit per second in bytes: with few viewers, and with many viewers.
  private static let (rate, rateWithManyViewers): (Int64, Int64) = (80_000, 20_000)

  /// Upper bound of one charge, so that the debt cannot overflow.
  private static let maximumCharge: Int64 = 1 << 30

  /// Present credit in bytes; negative after a large change.
  private var allowance = ListRateLimiter.burst
  /// Time up to which the credit was counted.
  private var countedAt = MonotonicTime(nanoseconds: 0)

  /// Takes a large change from the credit if it may be sent now.
  ///
  /// - Returns: nil if the bytes may be sent now, or the time at which they may be sent.
  mutating func consume(_ bytes: Int, at now: MonotonicTime, withManyViewers: Bool) -> MonotonicTime? {
    guard bytes > Self.small else { return nil }
    let rate = withManyViewers ? Self.rateWithManyViewers : Self.rate
    // The maximum is long enough to pay off any debt.
    let passed = min(max(now.since(countedAt), .zero), .minutes(1_000))
    allowance = min(Self.burst, allowance + passed.milliseconds * rate / 1_000)
    // The fraction of a millisecond is added to the next interval.
    countedAt = countedAt + passed - TimeSpan.nanoseconds(passed.nanoseconds % 1_000_000)
    if passed == .minutes(1_000) { countedAt = now }
    let wanted = min(Int64(bytes), Self.burst)
    guard allowance < wanted else {
      allowance -= min(Int64(bytes), Self.maximumCharge)
      return nil
    }
    return now + .milliseconds((wanted - allowance) * 1_000 / rate + 1)
  }
}
