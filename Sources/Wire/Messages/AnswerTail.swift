// The part of an answer that is the same for all its receivers: everything except the number of the request.
// It is encoded once, and each client's frame is the number and a copy of it. Replies of the coordinator and
// of the services have the same shape. Invariant: the frame has the same bytes as that of `FrameEncoder`;
// tests compare them. Errors: FrameEncodingError, with the buffer unchanged.

import BankModel

/// The bytes after the number of the request in an answer to a subscription.
public enum AnswerTail {
  /// Length of the bytes before it: the heads of the message and of the reply, and a number of one byte.
  private static let before = 5

  /// Appends the tail of an event.
  public static func append(_ event: BranchEvent, to buffer: inout [UInt8]) {
    buffer.append(2)
    buffer.appendHeads(kind: 7, fields: 8)
    buffer.appendField(1, event.happening.rawValue)
    buffer.appendField(2, event.at)
    buffer.appendField(3, event.day)
    buffer.appendField(4, event.ticket)
    buffer.appendField(5, ifPresent: event.service.text)
    buffer.appendField(6, event.priority.code)
    buffer.appendField(7, ifPresent: event.window)
    buffer.appendField(8, event.attempt)
    buffer.appendField(3, true)
  }

  /// The tail of any answer of the coordinator, by the slow path.
  public static func bytes(of answer: ControlAnswer) throws(FrameEncodingError) -> [UInt8] {
    var buffer: [UInt8] = []
    try append(tailOf: BankMessage.reply(ControlReply(number: 0, answer: answer, more: true)), to: &buffer)
    return buffer
  }

  /// Appends the tail of a service's answer; the buffer is unchanged on an error.
  public static func append<Result: Codable & Sendable & Equatable>(
    _ result: Result, to buffer: inout [UInt8]
  ) throws(FrameEncodingError) {
    try append(tailOf: ServiceAnswer.reply(NumberedReply(number: 0, result: result, more: true)), to: &buffer)
  }

  private static func append(
    tailOf message: some Encodable, to buffer: inout [UInt8]
  ) throws(FrameEncodingError) {
    let begin = buffer.count
    do { try CBOREncoder().encode(message, into: &buffer) } catch { throw .message(error) }
    buffer.removeSubrange(begin..<(begin + before))
  }

  /// Appends the frame of a tail for the request with this number.
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
