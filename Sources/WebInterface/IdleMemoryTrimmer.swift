// Schedule for returning memory to the system: at intervals while there is work, and once more afterwards. This type
// only decides when; the caller returns the memory.
// Invariant: after the last return that follows work, no timer wakes an idle process.
import Time

/// Decides when the process returns memory to the system.
struct IdleMemoryTrimmer {
  /// Kind of memory to return to the system.
  enum Part: Equatable {
    /// Mapped pages of the program's files. The kernel loads them again on demand.
    case program
    /// Mapped pages of the program's files, and free pages of the heap. A busy process would only allocate the free
    /// pages again.
    case all
  }

  /// Start of the pause before the next return of memory; nil if no return is scheduled.
  private var beganAt: MonotonicTime?
  /// Time of the last work.
  private var workedAt = MonotonicTime(nanoseconds: 0)
  /// Time of the last return of memory.
  private var returnedAt = MonotonicTime(nanoseconds: 0)

  private static let pause = TimeSpan.seconds(1)

  /// Time of the next return; nil for none.
  var nextDeadline: MonotonicTime? { beganAt.map { $0 + Self.pause } }

  /// Returns which memory to return to the system now.
  ///
  /// - Parameter hasWorked: false if only work such as keep-alives was done.
  /// - Returns: the memory to return now; nil for none.
  mutating func finishIteration(_ now: MonotonicTime, hasWorked: Bool) -> Part? {
    let isDue = nextDeadline.map { $0 <= now } ?? false
    if hasWorked {
      workedAt = now
      beganAt = beganAt ?? now
    }
    // Work such as keep-alives does not justify a timer, so the memory is returned in the same iteration.
    guard isDue || beganAt == nil && now.since(returnedAt) >= Self.pause else { return nil }
    returnedAt = now
    guard isDue else { return .program }
    let isCalm = now.since(workedAt) >= Self.pause
    beganAt = isCalm ? nil : now
    return isCalm ? .all : .program
  }
}
