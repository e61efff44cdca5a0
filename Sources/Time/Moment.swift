// Readings of all clocks that were taken together.
// Invariant: one step of a state machine sees one time.

/// One reading of all clocks at once.
public struct Moment: Sendable, Equatable {
  /// Clock for decisions.
  public var monotonic: MonotonicTime
  /// Clock for people.
  public var wall: WallTime
  /// Clock for judging silence: it excludes the time in which this process was not listening.
  public var attended: MonotonicTime

  /// Readings that were taken together.
  ///
  /// - Parameter attended: nil if this process has listened all the time.
  public init(monotonic: MonotonicTime, wall: WallTime, attended: MonotonicTime? = nil) {
    self.monotonic = monotonic
    self.wall = wall
    self.attended = attended ?? monotonic
  }
}
