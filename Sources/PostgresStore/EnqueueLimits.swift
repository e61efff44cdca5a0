// Limits on the size of requests for tickets.
// Invariant: a request that is sent under the intake lock is small, so that the lock is not held during a long
// transfer.

/// Largest request that is sent as a whole, and size of the slices of a larger request.
public struct EnqueueLimits: Sendable {
  /// Maximum size in bytes of a request that is sent as a whole instead of in slices.
  public var whole = 8 << 10
  /// Maximum size of one slice, in bytes. A larger customer is a slice of its own.
  public var slice = 128 << 10
  /// Maximum number of customers in one slice.
  public var customers = 2_000
  /// Maximum number of slices in flight.
  public var maxSlicesInFlight = 2

  public init() {}
}
