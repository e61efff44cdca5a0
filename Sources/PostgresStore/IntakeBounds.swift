// Owns how much of a request for tickets goes to the server at once. It decides nothing else.
// Invariant: what goes under the lock of the intake is a few packets long, so no line is waited for while it is held.

/// How large a request may be that goes as a whole, and how large the slices of a larger one are.
public struct IntakeBounds: Sendable {
  /// Bytes of the requests that get their tickets by one transaction without having arrived before.
  public var whole = 8 << 10
  /// Bytes and customers of one slice.
  public var slice = 128 << 10
  /// See ``slice``.
  public var customers = 2_000
  /// Slices on their way at once.
  public var slicesUnderWay = 2

  public init() {}
}
