// Contract of messages in frames: a Codable value with an optional fast path to its bytes and back.
// Invariant: the fast path never differs in its result: it writes the same bytes as `CBOREncoder`, and
// `CBORDecoder` reads its input as the same value. Unusual messages take the slow path. Errors: none here;
// the slow path refuses invalid input, with reason and offset.
// Messages for peers that may use lines instead of frames also implement their lines.

/// One message of a connection.
///
/// `Codable` defines the bytes. The few messages exchanged for each customer also have a path without it,
/// because Codable costs several microseconds per message, more than all other handling.
public protocol FrameMessage: Codable {
  /// Appends the message's bytes, without a frame, by the fast path.
  ///
  /// - Returns: false if it has none; the buffer is unchanged then.
  func appendDirectly(to buffer: inout [UInt8]) -> Bool

  /// Reads a message, without a frame, by the fast path.
  ///
  /// - Returns: nil for everything else, including invalid input.
  static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self?

  /// Parses the message of a line of JSON, without the newline.
  static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineFault) -> Self

  /// Appends the message's line without a newline; nothing if it has no line form.
  func appendLine(to buffer: inout [UInt8])
}

extension FrameMessage {
  /// False: there is no fast path.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool { false }
  /// Nil: there is no fast path.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self? { nil }
  /// Throws: there is no line form.
  public static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineFault) -> Self {
    throw LineFault(.noLines, at: 0)
  }
  /// Appends nothing: there is no line form.
  public func appendLine(to buffer: inout [UInt8]) {}
}
