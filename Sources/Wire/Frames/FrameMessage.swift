// Owns the contract of what stands in frames: a Codable value that may know a shorter way to its bytes and back.
// It must not know any message. Invariant: the shorter way is never another way: it writes the very bytes of
// `CBOREncoder`, and what it reads `CBORDecoder` reads as the same value. Whatever is unusual takes the long way.
// Failure: none here; an input that is refused is refused by the long way, with its reason and offset.
// Where a peer may speak in lines instead of frames, its messages know their lines themselves.

/// One message of a connection.
///
/// `Codable` says what the bytes are. The few messages that are exchanged for each customer also come without it,
/// because Codable costs several microseconds a message, more than everything else that is done with it.
public protocol FrameMessage: Codable {
  /// Appends the message's bytes, without a frame, if it knows a shorter way.
  ///
  /// - Returns: false where it does not, and then the buffer is unchanged.
  func appendDirectly(to buffer: inout [UInt8]) -> Bool

  /// The message that these bytes hold, without a frame, if there is a shorter way.
  ///
  /// - Returns: nil for everything else, also for what is no message at all.
  static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self?

  /// The message of a line of JSON, which comes without its end.
  static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineFault) -> Self

  /// Appends the message's line without its end; nothing where it has none, and is not said in lines.
  func appendLine(to buffer: inout [UInt8])
}

extension FrameMessage {
  /// There is no shorter way.
  public func appendDirectly(to buffer: inout [UInt8]) -> Bool { false }
  /// There is no shorter way.
  public static func readDirectly(_ body: UnsafeBufferPointer<UInt8>) -> Self? { nil }
  /// It is not said in lines.
  public static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineFault) -> Self {
    throw LineFault(.noLines, at: 0)
  }
  /// It is not said in lines.
  public func appendLine(to buffer: inout [UInt8]) {}
}
