// The shared encoding of an answer for many clients, which has the bytes of that for one.

import BankModel
import Testing

@testable import Wire

@Suite("Answers that are the same for many")
struct AnswerTailTests {
  private static let limit = FrameLimits.control
  private static let numbers: [UInt32] = [0, 1, 23, 24, 255, 256, 65_535, 65_536, .max]

  private func compare(_ answer: ControlAnswer, _ tail: [UInt8]) throws {
    for number in Self.numbers {
      var (long, short): ([UInt8], [UInt8]) = ([7], [7])
      try FrameEncoder().append(
        BankMessage.reply(ControlReply(number: number, answer: answer, more: true)), to: &long,
        limit: Self.limit)
      try AnswerTail.appendFrame(to: number, tail[...], to: &short, limit: Self.limit)
      #expect(long == short)
    }
  }

  @Test("an event's frame has the bytes of the general encoding, with every number")
  func events() throws {
    for ticket in [1, 23, 24, 300, 70_000, Int64.max] {
      for phase in [AttemptEvent.CustomerEvent.started, .completed, .interrupted] {
        let event = AttemptEvent(
          phase: phase, at: ticket &* 3, day: ticket, ticket: ticket, service: .juice,
          priority: .vvip,
          window: "juice-\(ticket)", attempt: Int32(truncatingIfNeeded: ticket))
        var tail: [UInt8] = []
        AnswerTail.append(event, to: &tail)
        try compare(.event(event), tail)
      }
    }
  }

  @Test("any other answer has them, too")
  func samples() throws {
    for sample in ControlAnswer.samples {
      try compare(sample.message, AnswerTail.bytes(of: sample.message))
    }
  }

  private func compare<Result: Codable & Sendable & Equatable>(_ result: Result) throws {
    var tail: [UInt8] = []
    try AnswerTail.append(result, to: &tail)
    for number in Self.numbers {
      var (long, short): ([UInt8], [UInt8]) = ([7], [7])
      try FrameEncoder().append(
        ServiceServerMessage.reply(NumberedReply(number: number, result: result, more: true)), to: &long,
        limit: Self.limit)
      try AnswerTail.appendFrame(to: number, tail[...], to: &short, limit: Self.limit)
      #expect(long == short)
    }
  }

  @Test("any answer of the stock and of the vending machine has them, too")
  func services() throws {
    for sample in StockResult.samples { try compare(sample.message) }
    for sample in VendingResult.samples { try compare(sample.message) }
  }

  @Test("a frame that is too long leaves the buffer unchanged")
  func tooLong() {
    var buffer: [UInt8] = [1, 2, 3]
    #expect(throws: FrameEncodingError.self) {
      try AnswerTail.appendFrame(to: 1, [UInt8](repeating: 0, count: 64)[...], to: &buffer, limit: 32)
    }
    #expect(buffer == [1, 2, 3])
  }
}
