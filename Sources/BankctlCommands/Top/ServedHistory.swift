// Number of served customers in each of the last seconds, from cumulative counts.
// Invariant: a second is reported after its end, so that a plot moves once a second and not with each
// count. A lower count means a restart from zero, as on another day or in another process.

/// Numbers of served customers in the last seconds, for a plot.
struct ServedHistory: Sendable, Equatable {
  /// Counts per second, the oldest first; the last one is the running second.
  private var counts: [Int64]
  /// The running second, in seconds since 1970.
  private var second: Int64?
  private var total: Int64?

  init(seconds: Int) { counts = [Int64](repeating: 0, count: seconds + 1) }

  /// Adds the number of customers served in total at this time. The first one only sets the start.
  mutating func handle(total: Int64, at milliseconds: Int64) {
    let before = self.total
    self.total = total
    pass(to: milliseconds)
    guard let before else { return }
    let (difference, isOver) = total < before ? (total, false) : total.subtractingReportingOverflow(before)
    let (sum, isFull) = counts[counts.count - 1].addingReportingOverflow(isOver ? .max : max(0, difference))
    counts[counts.count - 1] = isFull ? .max : sum
  }

  /// The counts of the seconds that had ended at this time, the oldest first.
  func seconds(by milliseconds: Int64) -> ArraySlice<Int64> {
    var history = self
    history.pass(to: milliseconds)
    return history.counts.dropLast()
  }

  /// True if the plot changes as time passes.
  func isMoving(at milliseconds: Int64) -> Bool {
    var history = self
    history.pass(to: milliseconds)
    return history.counts.contains { $0 > 0 }
  }

  /// Advances the time. A clock that was set back changes nothing.
  private mutating func pass(to milliseconds: Int64) {
    let now = milliseconds / 1_000
    guard let second else { return self.second = now }
    guard now > second else { return }
    let passed = now.subtractingReportingOverflow(second)
    let count = passed.overflow ? counts.count : Int(min(passed.partialValue, Int64(counts.count)))
    counts.removeFirst(count)
    counts += [Int64](repeating: 0, count: count)
    self.second = now
  }
}
