// Readings of the monotonic clock, the wall clock and the listening time,
// taken together.

/// One reading of each of the three clocks, taken together.
public struct Moment: Sendable, Equatable {
  /// Reading of the monotonic clock, for decisions.
  public var monotonic: MonotonicTime
  /// Reading of the wall clock, for display and for times that are stored.
  public var wall: WallTime
  /// Time for the timeouts of silent peers: it excludes the time in which this process did not poll for input.
  public var listeningTime: MonotonicTime

  /// Combines readings that the caller took together.
  ///
  /// - Parameter listeningTime: nil if this process has polled for input all the time.
  public init(monotonic: MonotonicTime, wall: WallTime, listeningTime: MonotonicTime? = nil) {
    self.monotonic = monotonic
    self.wall = wall
    self.listeningTime = listeningTime ?? monotonic
  }
}
