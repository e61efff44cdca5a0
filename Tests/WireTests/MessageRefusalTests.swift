// Differences of a message that are accepted, and those that end a connection with a typed error.

import BankModel
import Testing

@testable import Wire

@Suite("Refusals of the messages")
struct MessageRefusalTests {
  /// The bytes of a map, field by field.
  private func map(_ fields: (Int, AnyValue)...) -> AnyValue {
    .map(fields.map { AnyValue.Field(number: $0.0, value: $0.1) })
  }

  private func refusal<T: Decodable>(_ type: T.Type, _ value: AnyValue) throws -> CBORDecodingError? {
    let input = try CBOREncoder().encode(value)
    return #expect(throws: CBORDecodingError.self) { _ = try CBORDecoder().decode(type, from: input) }
  }

  private let unknownKind = "a message has exactly one known kind"

  private func isUnknownKind(_ error: CBORDecodingError?) -> Bool {
    if case .valueRefused(let words) = error?.reason { words.contains(unknownKind) } else { false }
  }

  /// Every map in a value with an unknown field.
  private func withUnknownFields(_ value: AnyValue) -> AnyValue {
    switch value {
    case .map(let fields):
      .map(
        fields.map { .init(number: $0.number, value: withUnknownFields($0.value)) }
          + [.init(number: 250, value: .array([.text("newer"), .map([.init(number: 1, value: .null)])]))])
    case .array(let values): .array(values.map(withUnknownFields))
    default: value
    }
  }

  private func expectSkipped<Message: Codable & Equatable & Sendable>(_ samples: [Sample<Message>]) throws {
    for sample in samples {
      let plain = try CBORDecoder().decode(AnyValue.self, from: CBOREncoder().encode(sample.message))
      let newer = try CBOREncoder().encode(withUnknownFields(plain))
      #expect(try CBORDecoder().decode(Message.self, from: newer) == sample.message, "\(sample.name)")
    }
  }

  @Test("a key that this build does not know is skipped, in every message and at every depth")
  func unknownKeys() throws {
    try expectSkipped(TellerMessage.samples)
    try expectSkipped(MessageToTeller.samples)
    try expectSkipped(ClientMessage.samples)
    try expectSkipped(BankMessage.samples)
    try expectSkipped(ControlCommand.samples)
    try expectSkipped(ControlAnswer.samples)
    try expectSkipped(StockMessage.samples)
    try expectSkipped(StockServiceMessage.samples)
    try expectSkipped(StockCommand.samples)
    try expectSkipped(StockResult.samples)
    try expectSkipped(VendingMessage.vendingSamples)
    try expectSkipped(VendingServiceMessage.vendingSamples)
    try expectSkipped(VendingCommand.samples)
    try expectSkipped(VendingResult.samples)
    try expectSkipped(ServiceProcessMessage.samples)
    try expectSkipped(SupervisorMessage.samples)
  }

  @Test("a kind that this build does not know is refused")
  func unknownKinds() throws {
    let stranger = map((99, map()))
    #expect(isUnknownKind(try refusal(TellerMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(MessageToTeller.self, stranger)))
    #expect(isUnknownKind(try refusal(ClientMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(BankMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(ControlCommand.self, stranger)))
    #expect(isUnknownKind(try refusal(ControlAnswer.self, stranger)))
    #expect(isUnknownKind(try refusal(StockMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(StockServiceMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(StockCommand.self, stranger)))
    #expect(isUnknownKind(try refusal(StockResult.self, stranger)))
    #expect(isUnknownKind(try refusal(VendingCommand.self, stranger)))
    #expect(isUnknownKind(try refusal(VendingResult.self, stranger)))
    #expect(isUnknownKind(try refusal(ServiceProcessMessage.self, stranger)))
    #expect(isUnknownKind(try refusal(SupervisorMessage.self, stranger)))
  }

  @Test("a message without a kind is refused")
  func noKind() throws {
    #expect(isUnknownKind(try refusal(TellerMessage.self, map())))
    #expect(isUnknownKind(try refusal(MessageToTeller.self, map())))
    #expect(isUnknownKind(try refusal(ClientMessage.self, map())))
    #expect(isUnknownKind(try refusal(BankMessage.self, map())))
    #expect(isUnknownKind(try refusal(ControlCommand.self, map())))
    #expect(isUnknownKind(try refusal(ControlAnswer.self, map())))
  }

  @Test("a message of two kinds is refused, even if each of them would be valid")
  func twoKinds() throws {
    let lease = map((1, .unsigned(1)), (2, .unsigned(1)), (3, .unsigned(1)))
    #expect(isUnknownKind(try refusal(TellerMessage.self, map((3, lease), (6, lease)))))
    #expect(isUnknownKind(try refusal(MessageToTeller.self, map((4, lease), (6, map())))))
    let welcome = map((1, .unsigned(1)), (2, .text("dev")))
    #expect(isUnknownKind(try refusal(BankMessage.self, map((1, welcome), (2, welcome)))))
    let hello = map((1, .unsigned(1)), (2, .text("dev")), (3, .unsigned(1)))
    let request = map((1, .unsigned(1)), (2, map((1, map()))))
    #expect(isUnknownKind(try refusal(ClientMessage.self, map((1, hello), (2, request)))))
    #expect(isUnknownKind(try refusal(ControlCommand.self, map((1, map()), (18, map())))))
    #expect(
      isUnknownKind(try refusal(ControlAnswer.self, map((9, .unsigned(1)), (8, map((1, .unsigned(0))))))))
  }

  @Test("the same kind twice is refused by the codec")
  func sameKindTwice() throws {
    let error = #expect(throws: CBORDecodingError.self) {
      _ = try CBORDecoder().decode(ControlCommand.self, from: [0xA2, 0x01, 0xA0, 0x01, 0xA0])
    }
    #expect(error?.reason == .duplicateField(1))
  }

  @Test("a value that an enumeration does not have is refused with a typed error")
  func unknownValues() throws {
    func isRefused(_ error: CBORDecodingError?) -> Bool {
      if case .valueRefused = error?.reason { true } else { false }
    }
    let role = map((1, map((1, .unsigned(1)), (2, .text("dev")), (3, .unsigned(77)))))
    #expect(isRefused(try refusal(ClientMessage.self, role)))
    #expect(isRefused(try refusal(TellerMessage.self, role)))
    #expect(isRefused(try refusal(ControlCommand.self, map((12, map((1, .text("No Name"))))))))
    #expect(isRefused(try refusal(ControlCommand.self, map((6, map((1, .unsigned(0))))))))
    let failure = map((1, .text("out_of_coffee")), (2, .text("")), (3, .text("")))
    #expect(isRefused(try refusal(ControlAnswer.self, map((1, failure)))))
    let progress = map((1, .unsigned(9)), (2, .unsigned(0)), (3, .unsigned(0)))
    #expect(isRefused(try refusal(ControlAnswer.self, map((10, progress)))))
  }

  @Test("a missing field and a number that does not fit are refused by name and place, not invented")
  func missingAndTooLarge() throws {
    let short = map((3, map((1, .unsigned(1)), (2, .unsigned(1)))))
    #expect(try refusal(TellerMessage.self, short)?.reason == .missingField(3))
    let large = map((3, map((1, .unsigned(1)), (2, .unsigned(1 << 31)), (3, .unsigned(1)))))
    #expect(try refusal(TellerMessage.self, large)?.reason == .integerOutOfRange)
    let text = map((15, .text("7")))
    #expect(
      try refusal(ControlCommand.self, text)?.reason == .typeMismatch(expected: .integer, found: .textString))
  }

  @Test("no truncated message is taken for a message")
  func truncated() throws {
    try expectWhole(ControlAnswer.samples)
    try expectWhole(StockMessage.samples)
    try expectWhole(StockCommand.samples)
    try expectWhole(StockResult.samples)
  }

  private func expectWhole<Message: Codable & Sendable>(_ samples: [Sample<Message>]) throws {
    for sample in samples {
      let whole = try CBOREncoder().encode(sample.message)
      for length in 0..<whole.count {
        #expect(throws: CBORDecodingError.self) {
          _ = try CBORDecoder().decode(Message.self, from: Array(whole.prefix(length)))
        }
      }
    }
  }
}
