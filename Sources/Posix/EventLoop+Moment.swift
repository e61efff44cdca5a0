// Owns the moments of a loop: what all clocks say, and how much of it the loop has attended.
// It must not know what the time is for. Nothing here can fail.
import Time

extension EventLoop {
  /// All clocks, read now, with the time that this loop has attended.
  public func moment() -> Moment {
    let now = SystemClock.monotonic()
    attend(until: now)
    return moment(at: now)
  }

  /// All clocks as of the last time something was fetched.
  public func momentOfWaking() -> Moment { moment(at: wokeAt) }

  private func moment(at now: MonotonicTime) -> Moment {
    Moment(monotonic: now, wall: SystemClock.wall(), attended: attended.now)
  }

  /// When to wake by the steady clock for a deadline of the attended one.
  public func wake(for deadline: MonotonicTime) -> MonotonicTime { attended.wake(for: deadline) }
}
