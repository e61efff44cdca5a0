// Owns the layout of a frame: four bytes of length, most significant first, and the body. Invariant: a frame's body is
// never empty and never longer than the limit that both ends share. A body that breaks this is refused before a byte
// of it is written.

/// The layout of a frame, and the writing of a finished body into one.
public enum Frame {
  /// The length of the prefix, in bytes: a big-endian unsigned 32-bit count of the bytes of the body.
  public static let headerLength = 4

  /// Appends one frame to a buffer.
  ///
  /// - Parameters:
  ///   - body: One encoded message.
  ///   - buffer: Where the frame goes; unchanged on an error.
  ///   - limit: The longest body, in bytes; one of ``FrameLimits``.
  /// - Throws: ``FrameError`` when the body is empty or longer than the limit.
  public static func append(
    body: some Collection<UInt8>, to buffer: inout [UInt8], limit: Int
  ) throws(FrameError) {
    let length = body.count
    try check(length: length, limit: limit)
    buffer.append(contentsOf: header(length: length))
    buffer.append(contentsOf: body)
  }

  static func check(length: Int, limit: Int) throws(FrameError) {
    guard length > 0 else { throw .emptyBody }
    guard length <= min(limit, Int(UInt32.max)) else { throw .bodyTooLong(length: length, maximum: limit) }
  }

  static func header(length: Int) -> [UInt8] {
    (0..<headerLength).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
  }
}
