// Owns the two clocks: one that only goes forward and measures, one that tells the time of day and may jump.
// It must not know what is timed. Pure machines never read a clock: the shell hands them a moment.
// Failure: none.
import Glibc
import Time

/// The clocks of the machine. `clock_gettime(2)`
public enum SystemClock {
  /// Now, on the clock that never goes back. It stands still while the machine sleeps.
  public static func monotonic() -> MonotonicTime {
    if let kernel = Kernel.simulated { return kernel.monotonic }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Now, in the calendar. It jumps when somebody sets the clock: never measure with it.
  public static func wall() -> WallTime {
    if let kernel = Kernel.simulated { return kernel.wall }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Both clocks, read now.
  public static func moment() -> Moment { Moment(monotonic: monotonic(), wall: wall()) }
}
