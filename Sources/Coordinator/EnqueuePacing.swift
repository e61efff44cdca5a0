// Rest periods of a large request while other customers are served or admitted beside it.
// A rest follows an iteration that took long and delayed others, or a failed removal.

import Time

struct EnqueuePacing {
  /// Rest after an iteration, as a multiple of the duration of that iteration.
  private static let restFactor: Int64 = 2
  /// No rest follows a shorter iteration, because it delays no other work noticeably.
  private static let negligible = TimeSpan.milliseconds(1)

  /// Start of the admission or removal in this iteration; nil if there was none.
  private(set) var began: MonotonicTime?
  /// End of the rest of a large request.
  private(set) var restsUntil: MonotonicTime?
  /// True if a small request was admitted since the last iteration of the large one.
  private var hasConcurrentAdmission = false

  /// True if a large request does not rest at this time.
  func isDue(at now: MonotonicTime) -> Bool { restsUntil.map { $0 <= now } ?? true }
  /// True if customers of a large request were admitted or removed in this iteration while others are admitted or
  /// served.
  func isShared(serving: Int64) -> Bool { began != nil && (serving > 0 || hasConcurrentAdmission) }
  /// Records that the iteration admits or removes customers of a large request.
  mutating func begin(at moment: MonotonicTime) { began = began ?? moment }
  /// Records that a small request was admitted beside the large one.
  mutating func recordConcurrentAdmission() { hasConcurrentAdmission = true }

  /// Ends an iteration that worked for a large request, and starts a rest if it took long and delayed others.
  mutating func end(at moment: MonotonicTime, serving: Int64) {
    guard let began else { return }
    let isShared = isShared(serving: serving)
    let span = moment.since(began)
    self = EnqueuePacing()
    guard isShared, span >= Self.negligible else { return }
    rest(until: moment + span * Self.restFactor)
  }

  /// Suspends admission and removal until a moment. This iteration is not measured.
  mutating func rest(until moment: MonotonicTime?) { (began, restsUntil) = (nil, moment) }
}
