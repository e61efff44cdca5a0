// Owns the two clocks: one that only goes forward and measures, one that tells the time of day and may jump.
// It must not know what is timed. Pure machines never read a clock: the shell hands them an instant.
// Invariant: a monotonic instant compares only with instants since the same boot of the machine.
// Failure: none; arithmetic with durations stops at the ends of the range instead of trapping.
import Glibc

/// A point in time of CLOCK_MONOTONIC, in nanoseconds since an arbitrary start at the boot of the machine.
public struct MonotonicInstant: Sendable, Hashable, Comparable {
  /// Nanoseconds since that start.
  public let nanoseconds: Int64

  /// An instant so many nanoseconds after the start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The instant a duration later; the last one there is where it would lie beyond (292 years).
  public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
    let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    guard overflow else { return MonotonicInstant(nanoseconds: sum) }
    return MonotonicInstant(nanoseconds: instant.nanoseconds < 0 ? .min : .max)
  }

  /// The instant a duration earlier.
  public static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
    let (difference, overflow) = instant.nanoseconds.subtractingReportingOverflow(duration.wholeNanoseconds)
    guard overflow else { return MonotonicInstant(nanoseconds: difference) }
    return MonotonicInstant(nanoseconds: instant.nanoseconds < 0 ? .min : .max)
  }

  /// The time from `earlier` to `later`, negative where they are the other way round.
  public static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
    .nanoseconds(later.nanoseconds) - .nanoseconds(earlier.nanoseconds)
  }

  /// Moves the instant later by a duration.
  public static func += (instant: inout MonotonicInstant, duration: Duration) { instant = instant + duration }

  /// Earlier comes first.
  public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The earliest of several moments at which there may be something to do; nil where there is none.
  public static func earliest(_ moments: MonotonicInstant?...) -> MonotonicInstant? {
    var earliest: MonotonicInstant?
    for case let moment? in moments { earliest = min(earliest ?? moment, moment) }
    return earliest
  }
}

extension Duration {
  /// The duration in nanoseconds, cut towards zero, and at the ends of Int64 (292 years) kept there.
  public var wholeNanoseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000)
  }

  /// The duration in milliseconds, cut towards zero; see ``wholeNanoseconds``.
  public var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }
}

/// The clocks of the machine. `clock_gettime(2)`
public enum SystemClock {
  /// Now, on the clock that never goes back. It stands still while the machine sleeps.
  public static func monotonic() -> MonotonicInstant {
    if let kernel = Kernel.simulated { return MonotonicInstant(nanoseconds: kernel.monotonicNanoseconds) }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Now, in milliseconds since 1970 UTC. It jumps when somebody sets the clock: never measure with it.
  public static func wallMilliseconds() -> Int64 {
    if let kernel = Kernel.simulated { return kernel.realNanoseconds / 1_000_000 }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
