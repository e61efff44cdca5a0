// Owns how fast customers come and are served: the sums so far, and what they were at the last moments of two scales, a tenth
// of a second and six seconds. It knows no clock and no queue: sums and moments go in, rates come out.
// Invariant: what has happened is counted from the first look after it, and a rate is zero as soon as nothing has happened for
// its span and one step more. To be looked at costs one comparison, however often that is; what lies between two looks is as
// it was at the first of them, so nobody has to wake for it.

import BankModel
import Time
import Wire

struct Throughput {
  /// Sums that only grow.
  private struct Sums: Equatable {
    var served: Int64 = 0
    var issued: Int64 = 0
  }

  /// A rate: so many steps of a scale.
  static let steps = 10
  static let longSteps = BoardHistory.partsAtMost - 1
  static let step = TimeSpan.milliseconds(100)
  static let longStep = TimeSpan.milliseconds(BoardHistory.part)

  private let openedAt: MonotonicTime
  private var now: MonotonicTime
  private var sums = Sums()
  /// The last steps of a tenth of a second, of ten seconds.
  private var short: StepRing<Sums>
  /// The last steps of six seconds, of ten minutes, and who was served by the index of the service.
  private var long: StepRing<(sums: Sums, byService: [Int64])>
  /// When something has happened last.
  private var changedAt: MonotonicTime?

  private var day: BusinessDay
  private var served: Int64
  private var issued: Int64
  private var byService: [Int64]

  /// Nothing has happened yet; so many were served and came today, before.
  init(day: BusinessDay, served: Int64, issued: Int64, byService: [Int64], at now: MonotonicTime) {
    (self.day, self.served, self.issued, self.byService) = (day, served, issued, byService)
    (openedAt, self.now) = (now, now)
    short = StepRing(Sums(), step: Self.step, count: Self.longSteps + 1, at: now)
    long = StepRing((Sums(), byService), step: Self.longStep, count: Self.longSteps + 1, at: now)
  }

  /// Looks at the numbers of the day. Where another day has begun they begin anew, and those by service with them.
  ///
  /// - Parameter byService: customers served today, by the index of the service; it is asked for now and then.
  mutating func note(
    day: BusinessDay, served: Int64, issued: Int64, byService: @autoclosure () -> [Int64],
    at now: MonotonicTime
  ) {
    self.now = max(self.now, now)
    if day != self.day { begin(day) }
    if short.isDue(at: now) { short.advance(to: now, with: sums) }
    if long.isDue(at: now) {
      // Where somebody was served since the last look, what there was before is known from the last step.
      let present = byService()
      long.advance(to: now, with: (sums, served == self.served ? present : self.byService))
      self.byService = present
    }
    guard served != self.served || issued != self.issued else { return }
    // Tickets that a full disk has taken back were never issued.
    add(served: max(0, served - self.served), issued: max(0, issued - self.issued))
    (self.served, self.issued) = (served, issued)
  }

  /// The numbers of the day are zero again: what was served before stands below zero from now on, so that differences stay
  /// what they were.
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

  /// The rates as of the last look.
  var rates: BoardRates {
    let (second, ten, tenMinutes) = (short.back(Self.steps), short.back(Self.longSteps), longBack)
    return BoardRates(
      servedSecond: rate(sums.served - second.value.served, since: second.at),
      servedTenSeconds: rate(sums.served - ten.value.served, since: ten.at),
      servedTenMinutes: rate(sums.served - tenMinutes.value.sums.served, since: tenMinutes.at),
      issuedSecond: rate(sums.issued - second.value.issued, since: second.at),
      issuedTenSeconds: rate(sums.issued - ten.value.issued, since: ten.at),
      issuedTenMinutes: rate(sums.issued - tenMinutes.value.sums.issued, since: tenMinutes.at))
  }

  private var longBack: (value: (sums: Sums, byService: [Int64]), at: MonotonicTime) {
    long.back(Self.longSteps)
  }

  /// Customers served of each service over ten minutes, in thousandths a second.
  ///
  /// - Parameter present: customers served today, by the index of the service.
  func servedTenMinutes(of present: [Int64]) -> [Int64] {
    let (before, at) = longBack
    return Self.difference(present, before.byService).map { rate(max(0, $0), since: at) }
  }

  /// When the long step that runs has begun.
  var longStepBegan: MonotonicTime { long.back(0).at }

  /// Customers served of each service in the last long steps, the oldest first, and in the one that runs; without the zeros in
  /// front.
  ///
  /// - Parameter present: customers served today, by the index of the service.
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

  /// What is more in the first, service by service; one that is missing has none.
  private static func difference(_ now: [Int64], _ before: [Int64]) -> [Int64] {
    (0..<max(now.count, before.count)).map { index in
      (index < now.count ? now[index] : 0) - (index < before.count ? before[index] : 0)
    }
  }

  /// Thousandths a second. Over less than a second nobody can say anything.
  private func rate(_ count: Int64, since begin: MonotonicTime) -> Int64 {
    let span = max(now.since(max(begin, openedAt)), .seconds(1))
    let (thousandths, isTooMany) = count.multipliedReportingOverflow(by: 1_000_000)
    return isTooMany ? .max : thousandths / max(1, span.milliseconds)
  }

  /// When a rate is to be shown anew although nothing happens: soon after it has run out, and the slower ones now and then
  /// before. Nil where all are zero.
  func nextShow(after shown: MonotonicTime) -> MonotonicTime? {
    guard let changedAt else { return nil }
    let ends = [
      short.outlives(changedAt, by: Self.steps), short.outlives(changedAt, by: Self.longSteps),
      long.outlives(changedAt, by: Self.longSteps),
    ]
    // What has run out when it was shown was shown as zero.
    let left = ends.filter { $0 > shown }
    guard let first = left.first else { return nil }
    return left.count == 3 ? first : min(first, shown + (left.count == 2 ? .seconds(1) : .seconds(60)))
  }
}

/// What a value was at the last steps of a scale.
private struct StepRing<Value> {
  private let step: Int64
  private var values: [Value]
  /// The place of the value at the last step.
  private var last = 0
  /// The last step that has passed, counted from the origin of the clock.
  private var passed: Int64

  init(_ value: Value, step: TimeSpan, count: Int, at now: MonotonicTime) {
    self.step = step.nanoseconds
    values = Array(repeating: value, count: count)
    passed = now.nanoseconds / self.step
  }

  func isDue(at now: MonotonicTime) -> Bool { now.nanoseconds - passed * step >= step }

  /// Until now the value was this.
  mutating func advance(to now: MonotonicTime, with value: Value) {
    let new = now.nanoseconds / step
    for _ in 0..<min(max(0, new - passed), Int64(values.count)) {
      last = last + 1 == values.count ? 0 : last + 1
      values[last] = value
    }
    passed = max(passed, new)
  }

  mutating func mapAll(_ change: (Value) -> Value) {
    for place in values.indices { values[place] = change(values[place]) }
  }

  /// The value so many steps before the last one, and when that was.
  func back(_ steps: Int) -> (value: Value, at: MonotonicTime) {
    let place = (last + values.count - steps) % values.count
    return (values[place], MonotonicTime(nanoseconds: (passed - Int64(steps)) * step))
  }

  /// When what has happened at a moment is no part of so many steps any more.
  func outlives(_ moment: MonotonicTime, by steps: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: (moment.nanoseconds / step + 1) * step) + TimeSpan(nanoseconds: step)
      * Int64(steps)
  }
}
