// Clock readings of a loop, including the time in which it was listening.
// Nothing here can fail.
import Time

extension EventLoop {
  /// Reads all clocks now, including the attended time of this loop.
  public func moment() -> Moment {
    let now = SystemClock.monotonic()
    attend(until: now)
    return moment(at: now)
  }

  /// The clocks as of the last poll for events.
  public func momentOfWaking() -> Moment { moment(at: wokeAt) }

  private func moment(at now: MonotonicTime) -> Moment {
    Moment(monotonic: now, wall: SystemClock.wall(), attended: attended.now)
  }

  /// Time by the monotonic clock at which to wake for a deadline in attended time.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime { attended.wake(for: deadline) }
}
