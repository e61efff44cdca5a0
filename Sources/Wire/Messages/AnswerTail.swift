// The tail of an answer: everything after the number of the request. The receivers of an answer get the same tail, so
// it is encoded once. The frame of each client gets the number of the client's request and a copy of the tail.
// Invariant: the frame has the same bytes as that of `FrameEncoder`. Errors: FrameEncodingError.

import BankModel

/// The bytes after the number of the request in an answer to a subscription. They are the same for all subscribers.
public enum AnswerTail {
  /// Length in bytes of what precedes the tail if the number is 0: the heads of the message and of the reply,
  /// and the number.
  private static let before = 5

  /// Appends the tail of the answer that reports this event to subscribers.
  public static func append(_ event: AttemptEvent, to buffer: inout [UInt8]) {
    buffer.append(2)
    buffer.appendHeads(kind: 7, fields: 8)
    buffer.appendField(1, event.phase.rawValue)
    buffer.appendField(2, event.at)
    buffer.appendField(3, event.day)
    buffer.appendField(4, event.ticket)
    buffer.appendField(5, ifPresent: event.service.text)
    buffer.appendField(6, event.priority.code)
    buffer.appendField(7, ifPresent: event.window)
    buffer.appendField(8, event.attempt)
    buffer.appendField(3, true)
  }

  /// Encodes the tail of an answer of the coordinator with Codable.
  public static func bytes(of answer: ControlAnswer) throws(FrameEncodingError) -> [UInt8] {
    var buffer: [UInt8] = []
    try append(tailOf: BankMessage.reply(ControlReply(number: 0, answer: answer, more: true)), to: &buffer)
    return buffer
  }

  /// Appends the tail of a service's answer. After an error the buffer is unchanged.
  public static func append<Result: Codable & Sendable & Equatable>(
    _ result: Result, to buffer: inout [UInt8]
  ) throws(FrameEncodingError) {
    try append(
      tailOf: ServiceServerMessage.reply(NumberedReply(number: 0, result: result, more: true)), to: &buffer)
  }

  /// Appends the bytes of an encoded answer that follow the number of the request.
  private static func append(
    tailOf message: some Encodable, to buffer: inout [UInt8]
  ) throws(FrameEncodingError) {
    let begin = buffer.count
    do { try CBOREncoder().encode(message, into: &buffer) } catch { throw .message(error) }
    buffer.removeSubrange(begin..<(begin + before))
  }

  /// Appends a frame with a tail for the request with this number. After an error the buffer is unchanged.
  ///
  /// - Parameter limit: maximum body in bytes; one of ``FrameLimits``.
  public static func appendFrame(
    to number: UInt32, _ tail: ArraySlice<UInt8>, to buffer: inout [UInt8], limit: Int
  ) throws(FrameEncodingError) {
    let begin = FrameEncoder.openFrame(in: &buffer)
    buffer.appendHeads(kind: 3, fields: 3)
    buffer.appendField(1, number)
    buffer.append(contentsOf: tail)
    try FrameEncoder.closeFrame(at: begin, in: &buffer, limit: limit)
  }
}
