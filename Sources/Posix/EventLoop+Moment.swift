// Clock readings of a loop, including the time in which the loop polled for input.
// Errors: none.
import Time

extension EventLoop {
  /// Reads all clocks now, including the listening time of this loop.
  public func moment() -> Moment {
    let now = SystemClock.monotonic()
    trackListening(until: now)
    return moment(at: now)
  }

  /// Returns the monotonic time of the last poll for events, the present wall time, and the listening time.
  public func momentOfLastPoll() -> Moment { moment(at: wokeAt) }

  /// The present wall and listening time, with this monotonic time.
  private func moment(at now: MonotonicTime) -> Moment {
    Moment(monotonic: now, wall: SystemClock.wall(), listeningTime: listeningTime.now)
  }

  /// Time of the monotonic clock at which to wake up for a deadline in listening time.
  public func wakeTime(for deadline: MonotonicTime) -> MonotonicTime { listeningTime.wakeTime(for: deadline) }
}
