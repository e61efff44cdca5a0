// The two clocks: a monotonic one for measurements, and the wall clock, which may jump.
// A simulated machine has its own.
import Glibc
import Time

/// The clocks of the machine. `clock_gettime(2)`
public enum SystemClock {
  /// Time of the monotonic clock. It stops while the machine is suspended.
  public static func monotonic() -> MonotonicTime {
    if let kernel = Kernel.simulated { return kernel.monotonic }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Time of day. The clock jumps when it is set, so do not measure with it.
  public static func wall() -> WallTime {
    if let kernel = Kernel.simulated { return kernel.wall }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Reads both clocks now. The listening time is set to the monotonic one.
  public static func moment() -> Moment { Moment(monotonic: monotonic(), wall: wall()) }
}
