// Owns when the page's server gives memory back: while there is something to do once a second, and once more when nothing has
// been done for a second. It gives nothing back itself.
// Invariant: where nothing is to be done nothing wakes for it.
import Time

struct MemoryRest {
  /// What is given back.
  enum Part: Equatable {
    /// What of the program's files is mapped and may not be needed any more; what is needed is there again at once.
    case program
    /// That, and what is free of the heap, which somebody who is at work would only have to ask for again.
    case all
  }

  /// Since when something was done, as far as nothing was given back since; nil where nothing was.
  private var beganAt: MonotonicTime?
  private var workedAt = MonotonicTime(nanoseconds: 0)
  private var gaveAt = MonotonicTime(nanoseconds: 0)

  private static let pause = TimeSpan.seconds(1)

  /// When something is to be given back; nil for never.
  var nextDeadline: MonotonicTime? { beganAt.map { $0 + Self.pause } }

  /// A turn ends.
  ///
  /// - Parameter hasWorked: Whether it did more than tell viewers that there is nothing to tell, and the like.
  /// - Returns: what is to be given back now; nil for nothing.
  mutating func endTurn(_ now: MonotonicTime, hasWorked: Bool) -> Part? {
    let isDue = nextDeadline.map { $0 <= now } ?? false
    if hasWorked {
      workedAt = now
      beganAt = beganAt ?? now
    }
    // What little was done while there was nothing to do is not worth another waking, and is over now.
    guard isDue || beganAt == nil && now.since(gaveAt) >= Self.pause else { return nil }
    gaveAt = now
    guard isDue else { return .program }
    let isCalm = now.since(workedAt) >= Self.pause
    beganAt = isCalm ? nil : now
    return isCalm ? .all : .program
  }
}
