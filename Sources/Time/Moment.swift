// Owns the readings of all clocks that are taken together, so that one step of a machine sees one time.
// It reads no clock.

/// One reading of all clocks at once.
public struct Moment: Sendable, Equatable {
  /// For deciding.
  public var monotonic: MonotonicTime
  /// For people.
  public var wall: WallTime
  /// For judging others by their silence: it leaves out the time in which nobody listened to them.
  public var attended: MonotonicTime

  /// Readings that were taken together.
  ///
  /// - Parameter attended: nil where everything was heard at once.
  public init(monotonic: MonotonicTime, wall: WallTime, attended: MonotonicTime? = nil) {
    self.monotonic = monotonic
    self.wall = wall
    self.attended = attended ?? monotonic
  }
}
