// Rates of arrival and service, from running totals and their values at the last steps of two scales. Totals and times
// are passed in by the caller.
// Invariant: an event counts from the first sample after it. Between two samples the values of the earlier one apply,
// so the loop need not wake up to take samples.

import BankModel
import Time
import Wire

/// Rates of issued tickets and of served customers, over the last second, ten seconds and ten minutes.
struct Throughput {
  /// Totals of served customers and issued tickets since the start of the measurement, over all days.
  private struct Sums: Equatable {
    var served: Int64 = 0
    var issued: Int64 = 0
  }

  /// Span of the one-second rate, in short steps.
  static let steps = 10
  /// Span of the ten-second rate in short steps, and of the ten-minute rate in long steps.
  static let longSteps = BoardHistory.intervalsAtMost - 1
  static let step = TimeSpan.milliseconds(100)
  static let longStep = TimeSpan.milliseconds(BoardHistory.part)

  private let openedAt: MonotonicTime
  private var now: MonotonicTime
  /// Totals up to the last sample.
  private var sums = Sums()
  /// Short steps, for the ten-second rate.
  private var short: StepRing<Sums>
  /// Long steps, for the ten-minute rate, with the number served by service index.
  private var long: StepRing<(sums: Sums, byService: [Int64])>
  private var changedAt: MonotonicTime?

  private var day: BusinessDay
  private var served: Int64
  private var issued: Int64
  /// Customers served today, by service index, as of the sample at the last long step.
  private var byService: [Int64]

  /// Starts with the present counters of the day.
  init(day: BusinessDay, served: Int64, issued: Int64, byService: [Int64], at now: MonotonicTime) {
    (self.day, self.served, self.issued, self.byService) = (day, served, issued, byService)
    (openedAt, self.now) = (now, now)
    short = StepRing(Sums(), step: Self.step, count: Self.longSteps + 1, at: now)
    long = StepRing((Sums(), byService), step: Self.longStep, count: Self.longSteps + 1, at: now)
  }

  /// Samples the day's counters. On a new day the counters start again from zero, as do the numbers by service.
  ///
  /// - Parameter byService: Customers served today, by service index; evaluated only when a long step is due.
  mutating func note(
    day: BusinessDay, served: Int64, issued: Int64, byService: @autoclosure () -> [Int64],
    at now: MonotonicTime
  ) {
    self.now = max(self.now, now)
    if day != self.day { begin(day) }
    if short.isDue(at: now) { short.advance(to: now, with: sums) }
    if long.isDue(at: now) {
      // If customers were served since the last sample, `present` may contain customers served after the end of
      // the step: use the earlier values.
      let present = byService()
      long.advance(to: now, with: (sums, served == self.served ? present : self.byService))
      self.byService = present
    }
    guard served != self.served || issued != self.issued else { return }
    // Tickets rolled back by a full disk were not issued.
    add(served: max(0, served - self.served), issued: max(0, issued - self.issued))
    (self.served, self.issued) = (served, issued)
  }

  /// Handles a new day, whose counters start at zero. The stored values become zero or negative, so that differences
  /// to the new counters are correct.
  private mutating func begin(_ day: BusinessDay) {
    let before = byService
    long.mapAll { ($0.sums, Self.difference($0.byService, before)) }
    (self.day, served, issued, byService) = (day, 0, 0, [])
  }

  private mutating func add(served: Int64, issued: Int64) {
    guard served > 0 || issued > 0 else { return }
    sums.served += served
    sums.issued += issued
    changedAt = now
  }

  /// Rates as of the last sample.
  var rates: BoardRates {
    let (second, ten, tenMinutes) = (short.back(Self.steps), short.back(Self.longSteps), oldestLongStep)
    return BoardRates(
      servedSecond: rate(sums.served - second.value.served, since: second.at),
      servedTenSeconds: rate(sums.served - ten.value.served, since: ten.at),
      servedTenMinutes: rate(sums.served - tenMinutes.value.sums.served, since: tenMinutes.at),
      issuedSecond: rate(sums.issued - second.value.issued, since: second.at),
      issuedTenSeconds: rate(sums.issued - ten.value.issued, since: ten.at),
      issuedTenMinutes: rate(sums.issued - tenMinutes.value.sums.issued, since: tenMinutes.at))
  }

  /// Totals of ten minutes ago, and the time of that step.
  private var oldestLongStep: (value: (sums: Sums, byService: [Int64]), at: MonotonicTime) {
    long.back(Self.longSteps)
  }

  /// Rate of each service over the last ten minutes: served customers in thousandths per second.
  ///
  /// - Parameter present: Customers served today, by service index.
  func servedTenMinutes(of present: [Int64]) -> [Int64] {
    let (before, at) = oldestLongStep
    return Self.difference(present, before.byService).map { rate(max(0, $0), since: at) }
  }

  /// Start of the current long step.
  var longStepBegan: MonotonicTime { long.back(0).at }

  /// Customers served per service in each long step, oldest first, including the current step, without leading zeros.
  ///
  /// - Parameter present: Customers served today, by service index.
  func servedByStep(of present: [Int64]) -> [[Int64]] {
    var parts = [[Int64]](repeating: [], count: present.count)
    for step in stride(from: Self.longSteps, through: 0, by: -1) {
      let end = step == 0 ? present : long.back(step - 1).value.byService
      for (index, served) in Self.difference(end, long.back(step).value.byService).enumerated()
      where index < parts.count && (served > 0 || !parts[index].isEmpty) {
        parts[index].append(max(0, served))
      }
    }
    return parts
  }

  /// Number served per service between two samples: `now` minus `before`; a missing entry counts as zero.
  private static func difference(_ now: [Int64], _ before: [Int64]) -> [Int64] {
    (0..<max(now.count, before.count)).map { index in
      (index < now.count ? now[index] : 0) - (index < before.count ? before[index] : 0)
    }
  }

  /// Rate in thousandths per second. Spans below a second are too short to be meaningful and count as a
  /// second.
  private func rate(_ count: Int64, since begin: MonotonicTime) -> Int64 {
    let span = max(now.since(max(begin, openedAt)), .seconds(1))
    let (thousandths, isTooMany) = count.multipliedReportingOverflow(by: 1_000_000)
    return isTooMany ? .max : thousandths / max(1, span.milliseconds)
  }

  /// Time at which the rates must be shown again although nothing has changed: when the next rate has become zero,
  /// or earlier to update the slower rates. Nil if all rates were zero at `shown`.
  func nextUpdate(after shown: MonotonicTime) -> MonotonicTime? {
    guard let changedAt else { return nil }
    let ends = [
      short.outlives(changedAt, by: Self.steps), short.outlives(changedAt, by: Self.longSteps),
      long.outlives(changedAt, by: Self.longSteps),
    ]
    // Rates whose span had ended at `shown` were shown as zero.
    let left = ends.filter { $0 > shown }
    guard let first = left.first else { return nil }
    return left.count == 3 ? first : min(first, shown + (left.count == 2 ? .seconds(1) : .seconds(60)))
  }
}

/// Values of a counter at the ends of the last steps, which are time spans of equal length, in a ring buffer.
private struct StepRing<Value> {
  private let step: Int64
  private var values: [Value]
  /// Index of the value at the last step.
  private var last = 0
  /// Number of the last step, counted from the origin of the clock.
  private var passed: Int64

  init(_ value: Value, step: TimeSpan, count: Int, at now: MonotonicTime) {
    self.step = step.nanoseconds
    values = Array(repeating: value, count: count)
    passed = now.nanoseconds / self.step
  }

  /// True if at least one step has passed since the last one.
  func isDue(at now: MonotonicTime) -> Bool { now.nanoseconds - passed * step >= step }

  /// Stores the value for all steps up to now.
  mutating func advance(to now: MonotonicTime, with value: Value) {
    let new = now.nanoseconds / step
    for _ in 0..<min(max(0, new - passed), Int64(values.count)) {
      last = last + 1 == values.count ? 0 : last + 1
      values[last] = value
    }
    passed = max(passed, new)
  }

  mutating func mapAll(_ change: (Value) -> Value) {
    for index in values.indices { values[index] = change(values[index]) }
  }

  /// Value this many steps before the last one, and the time of that step.
  func back(_ steps: Int) -> (value: Value, at: MonotonicTime) {
    let index = (last + values.count - steps) % values.count
    return (values[index], MonotonicTime(nanoseconds: (passed - Int64(steps)) * step))
  }

  /// Time at which an event at `moment` drops out of a span of this many steps.
  func outlives(_ moment: MonotonicTime, by steps: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: (moment.nanoseconds / step + 1) * step) + TimeSpan(nanoseconds: step)
      * Int64(steps)
  }
}
