// Owns how many were served in each of the last seconds, as counts that only tell how many there are by now reveal it.
// Invariant: a second is told of when it is over, so that a plot of it moves once a second and not with each count. A count
// that has fallen began anew, as with another day or another process.

struct ServedHistory: Sendable, Equatable {
  /// The second that is not over, last; before it those that are, the oldest first.
  private var counts: [Int64]
  /// Which second the last one is, since 1970.
  private var second: Int64?
  private var total: Int64?

  init(seconds: Int) { counts = [Int64](repeating: 0, count: seconds + 1) }

  /// - Parameters:
  ///   - total: how many were served by then.
  ///   - milliseconds: when, since 1970.
  mutating func hear(total: Int64, at milliseconds: Int64) {
    let before = self.total
    self.total = total
    pass(to: milliseconds)
    guard let before else { return }
    let (difference, isOver) = total < before ? (total, false) : total.subtractingReportingOverflow(before)
    let (sum, isFull) = counts[counts.count - 1].addingReportingOverflow(isOver ? .max : max(0, difference))
    counts[counts.count - 1] = isFull ? .max : sum
  }

  /// The seconds that are over by then, the oldest first.
  func seconds(by milliseconds: Int64) -> ArraySlice<Int64> {
    var history = self
    history.pass(to: milliseconds)
    return history.counts.dropLast()
  }

  /// Whether there is anything that time will take away.
  func isMoving(at milliseconds: Int64) -> Bool {
    var history = self
    history.pass(to: milliseconds)
    return history.counts.contains { $0 > 0 }
  }

  /// A clock that was set back passes no time.
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
