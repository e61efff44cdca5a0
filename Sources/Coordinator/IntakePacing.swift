// Owns when a large request rests, because others are served or come in beside it.
// Invariant: whoever is alone does not rest, and others keep more than half of what they had, also where the disk or a core
// that both need is the slower part: after a turn in which customers were taken in and committed beside others, these
// have the coordinator for themselves for twice as long as that took.

import Time

struct IntakePacing {
  /// The rest after a turn, in durations of that turn.
  private static let restFactor: Int64 = 2
  /// What took less held nobody up.
  private static let unnoticed = TimeSpan.milliseconds(1)

  /// In a turn in which customers of a large request are taken in, or out: since when.
  private(set) var began: MonotonicTime?
  /// Until then nobody of a large request is taken in, or out.
  private(set) var restsUntil: MonotonicTime?
  /// Somebody came in beside it since its last turn.
  private var cameBeside = false

  func isDue(at now: MonotonicTime) -> Bool { restsUntil.map { $0 <= now } ?? true }
  /// Whether some were taken in in this turn, beside others who came in or are being served.
  func isShared(serving: Int64) -> Bool { began != nil && (serving > 0 || cameBeside) }
  mutating func begin(at moment: MonotonicTime) { began = began ?? moment }
  mutating func someoneCame() { cameBeside = true }

  /// The turn has ended in which some were taken in and, perhaps, committed.
  mutating func end(at moment: MonotonicTime, serving: Int64) {
    guard let began else { return }
    let isShared = isShared(serving: serving)
    let span = moment.since(began)
    self = IntakePacing()
    guard isShared, span >= Self.unnoticed else { return }
    rest(until: moment + span * Self.restFactor)
  }

  /// Nobody is taken in, or out, before a moment, and this turn does not count.
  mutating func rest(until moment: MonotonicTime?) { (began, restsUntil) = (nil, moment) }
}
