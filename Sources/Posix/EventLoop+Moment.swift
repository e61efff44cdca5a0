// Clock readings of a loop, including the time in which the loop polled for input.
// Errors: none.
import Time

extension EventLoop {
  /// Reads all clocks now, including the attended time of this loop.
  public func moment() -> Moment {
    let now = SystemClock.monotonic()
    attend(until: now)
    return moment(at: now)
  }

  /// Returns the monotonic time of the last poll for events, the present wall time, and the attended time.
  public func momentOfWaking() -> Moment { moment(at: wokeAt) }

  private func moment(at now: MonotonicTime) -> Moment {
    Moment(monotonic: now, wall: SystemClock.wall(), attended: attended.now)
  }

  /// Time of the monotonic clock at which to wake up for a deadline in attended time.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime { attended.wake(for: deadline) }
}
