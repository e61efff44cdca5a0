// Contract of messages in frames: a Codable value with an optional fast path to its bytes and back.
// Invariant: the fast path writes the same bytes as `CBOREncoder`, and reads the same value as `CBORDecoder`.

/// One message of a connection.
///
/// `Codable` defines the bytes. Frequent messages also have a fast path, because `Codable` is slower.
public protocol FrameMessage: Codable {
  /// Appends the message's bytes, without a frame, by the fast path.
  ///
  /// - Returns: false if there is no fast path for this message; the buffer is then unchanged.
  func appendDirectly(to buffer: inout [UInt8]) -> Bool

  /// Reads a message, without a frame, by the fast path.
  ///
  /// - Returns: nil if the fast path does not cover the input, or if the input is invalid.
  static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self?

  /// Parses one line of JSON, without its newline, as a message.
  static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineParseError) -> Self

  /// Appends the message as a line without a newline. Appends nothing if the message has no line form.
  func appendLine(to buffer: inout [UInt8])
}

extension FrameMessage {
  /// False: there is no fast path.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool { false }
  /// Nil: there is no fast path.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self? { nil }
  /// Throws: there is no line form.
  public static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineParseError) -> Self {
    throw LineParseError(.noLines, at: 0)
  }
  /// Appends nothing: there is no line form.
  public func appendLine(to buffer: inout [UInt8]) {}
}
