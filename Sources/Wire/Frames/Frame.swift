// Owns the layout of a frame: four bytes of length, most significant first, and the body. Invariant: a frame's body is
// never empty and never longer than the limit that both ends share. A body that breaks this is refused before a byte
// of it is written.

/// The layout of a frame.
public enum Frame {
  /// The length of the prefix, in bytes: a big-endian unsigned 32-bit count of the bytes of the body.
  public static let headerLength = 4

  static func check(length: Int, limit: Int) throws(FrameError) {
    guard length > 0 else { throw .emptyBody }
    guard length <= min(limit, Int(UInt32.max)) else { throw .bodyTooLong(length: length, maximum: limit) }
  }
}
