// Owns how much of a page's lists each of its viewers is told, as bytes that may be sent over time. It knows no list and no viewer.
// Invariant: what is small is always told; what is large is told as often as it can be afforded, and never not at all.
// At full speed everybody in a list is another one twenty times a second. Nobody can read that, and a thousand viewers who are
// told all of it take the time in which customers would be served.
import Time

struct ListPace {
  /// So few bytes may always be sent: some customers have moved on, and whoever waits for one of them sees it at once.
  private static let small = 4 << 10
  /// Bytes that may be sent at once.
  private static let burst: Int64 = 16 << 10
  /// Bytes a second, for a viewer among few and for one of a crowd: two kilobytes ten times a second.
  private static let (rate, rateInCrowd): (Int64, Int64) = (80_000, 20_000)

  /// As much as anything is counted for, so that the debt is a number in any case.
  private static let most: Int64 = 1 << 30

  /// What may be sent now; less than nothing behind a large one.
  private var allowance = ListPace.burst
  private var countedAt = MonotonicTime(nanoseconds: 0)

  /// Takes so many bytes, if they may be sent at this moment.
  ///
  /// - Returns: nil if they may; otherwise when as many may.
  mutating func take(_ bytes: Int, at now: MonotonicTime, inCrowd: Bool) -> MonotonicTime? {
    guard bytes > Self.small else { return nil }
    let rate = inCrowd ? Self.rateInCrowd : Self.rate
    // More time than it takes to be out of any debt need not be counted.
    let passed = min(max(now.since(countedAt), .zero), .minutes(1_000))
    allowance = min(Self.burst, allowance + passed.milliseconds * rate / 1_000)
    // What was not a whole millisecond counts the next time.
    countedAt = countedAt + passed - TimeSpan.nanoseconds(passed.nanoseconds % 1_000_000)
    if passed == .minutes(1_000) { countedAt = now }
    let wanted = min(Int64(bytes), Self.burst)
    guard allowance < wanted else {
      allowance -= min(Int64(bytes), Self.most)
      return nil
    }
    return now + .milliseconds((wanted - allowance) * 1_000 / rate + 1)
  }
}
