// Encodes a message directly into an output buffer, without an intermediate copy of the body. The length before
// the body is filled in last. Invariant: a call appends a whole frame or nothing. An error leaves the buffer
// unchanged.

/// Writes messages as frames into an output buffer.
public struct FrameEncoder: Sendable {
  /// A frame encoder; it has no options.
  public init() {}

  /// Appends one frame with a message to a buffer.
  ///
  /// - Parameters:
  ///   - message: the message; its type has to fit ``CBORProfile``.
  ///   - buffer: receives the frame after its content; unchanged on an error.
  ///   - limit: maximum body in bytes; one of ``FrameLimits``.
  /// - Throws: ``FrameEncodingError`` if the message does not fit the profile or the limit.
  public func append(
    _ message: some Encodable, to buffer: inout [UInt8], limit: Int
  ) throws(FrameEncodingError) {
    let begin = Self.openFrame(in: &buffer)
    do { try CBOREncoder().encode(message, into: &buffer) } catch {
      buffer.removeSubrange(begin...)
      throw .message(error)
    }
    try Self.closeFrame(at: begin, in: &buffer, limit: limit)
  }

  /// Appends one frame with a message, on the fast path of ``FrameMessage`` if the message has one. Parameters
  /// and errors are those of the overload for `Encodable`.
  public func append(
    _ message: some FrameMessage, to buffer: inout [UInt8], limit: Int
  ) throws(FrameEncodingError) {
    let begin = Self.openFrame(in: &buffer)
    guard message.appendDirectly(to: &buffer) else {
      buffer.removeSubrange(begin...)
      return try append(encodable: message, to: &buffer, limit: limit)
    }
    try Self.closeFrame(at: begin, in: &buffer, limit: limit)
  }

  /// Appends a frame by the slow path, which is Codable.
  private func append(
    encodable message: some Encodable, to buffer: inout [UInt8], limit: Int
  ) throws(FrameEncodingError) {
    try append(message, to: &buffer, limit: limit)
  }

  /// Appends four zero bytes for the length. Returns the offset of the frame.
  static func openFrame(in buffer: inout [UInt8]) -> Int {
    let begin = buffer.count
    for _ in 0..<Frame.headerLength { buffer.append(0) }
    return begin
  }

  /// Fills in the length. Removes the frame and throws if the body is empty or too long.
  static func closeFrame(at begin: Int, in buffer: inout [UInt8], limit: Int) throws(FrameEncodingError) {
    let length = buffer.count - begin - Frame.headerLength
    do { try Frame.check(length: length, limit: limit) } catch {
      buffer.removeSubrange(begin...)
      throw .frame(error)
    }
    for place in 0..<Frame.headerLength {
      buffer[begin + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * place))
    }
  }
}
