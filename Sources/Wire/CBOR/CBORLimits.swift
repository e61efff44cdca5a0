// Owns the bounds within which an input is looked at, whatever it claims about itself. Invariant: a bound is checked
// before memory or stack is spent on what it bounds. An input beyond a bound is refused with a `CBORDecodingError`.

/// The bounds that a ``CBORDecoder`` puts on its input.
public struct CBORLimits: Sendable, Equatable {
  /// How many arrays and maps may stand one inside the other; a lone number has depth 0. At least 1.
  public let maximumDepth: Int

  /// How long an input may be, in bytes. At most 2³² − 2, because offsets are kept in 32 bits.
  public let maximumByteCount: Int

  /// Bounds of a caller's own.
  ///
  /// - Precondition: `maximumDepth` is in `1...64`, so that recursion stays shallow, and `maximumByteCount` is in
  ///   `1...4_294_967_294`.
  public init(maximumDepth: Int, maximumByteCount: Int) {
    precondition((1...64).contains(maximumDepth), "maximumDepth is in 1...64")
    precondition((1...Int(UInt32.max) - 1).contains(maximumByteCount), "maximumByteCount is in 1...2^32-2")
    self.maximumDepth = maximumDepth
    self.maximumByteCount = maximumByteCount
  }

  /// Depth 16, and 2³² − 2 bytes: the frame has bounded the length long before. The encoder keeps to this depth too.
  public static let standard = CBORLimits(maximumDepth: 16, maximumByteCount: Int(UInt32.max) - 1)
}
