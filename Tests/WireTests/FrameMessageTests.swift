// The fast encoding of messages, compared with the general one: the same bytes, the same values, and no input
// that only one of them accepts. Randomised: the seed is printed.

import BankModel
import Testing

@testable import Wire

@Suite("The fast encoding of messages")
struct FrameMessageTests {
  @Test("a customer of a list weighs at least what it takes in a message, with any payload")
  func weight() throws {
    let longest = ServiceName(String(repeating: "s", count: ServiceName.longest))!
    let key = String(repeating: "k", count: Limits.keyLength)
    for payload in [nil, [], [UInt8](repeating: 0, count: Limits.payloadLength)] as [[UInt8]?] {
      for (dueAt, delay) in [(nil, nil), (Int64.min, nil), (nil, Limits.delay)] as [(Int64?, Int64?)] {
        for service in [ServiceName.loan, longest] {
          let entry = EnqueueEntry(
            service: service, priority: Priority(.max), amount: Limits.amount, account: Limits.account,
            key: key,
            drawn: RandomFields(rawValue: 7), payload: payload, dueAt: dueAt, delay: delay)
          #expect(
            try CBOREncoder().encode(entry).count <= entry.weight,
            "\(service) \(dueAt as Any) \(delay as Any)")
        }
      }
    }
  }

  @Test("every sample has the bytes of the general encoding, or no fast one")
  func samples() throws {
    for sample in TellerMessage.samples { try compare(sample.message) }
    for sample in MessageToTeller.samples { try compare(sample.message) }
    for sample in ClientMessage.samples { try compare(sample.message) }
    for sample in BankMessage.samples { try compare(sample.message) }
    for sample in ControlCommand.samples {
      try compare(ClientMessage.request(ControlRequest(number: 7, command: sample.message)))
    }
    for sample in ControlAnswer.samples {
      try compare(BankMessage.reply(ControlReply(number: 7, answer: sample.message, more: true)))
    }
  }

  @Test("messages sent once for each customer have a fast encoding")
  func hotMessages() {
    let lease = Lease(ticket: 1, attempt: 1, generation: 1)
    #expect(TellerMessage.done(lease).appendDirectly(to: &scrap))
    #expect(TellerMessage.worked(lease, WorkResult(duration: .zero)).appendDirectly(to: &scrap))
    #expect(MessageToTeller.acknowledged(lease).appendDirectly(to: &scrap))
    #expect(MessageToTeller.sample(.assign).appendDirectly(to: &scrap))
    var chance = SeededGenerator.announced("messages once a customer")
    #expect(chance.order().appendDirectly(to: &scrap))
    #expect(chance.tickets().appendDirectly(to: &scrap))
  }

  @Test("numbers of every length have the bytes of the general encoding")
  func numbers() throws {
    var chance = SeededGenerator.announced("numbers of every length")
    for _ in 0..<5_000 {
      let lease = chance.lease()
      let told = [TellerMessage.done(lease), .returned(lease), .beat(lease), .worked(lease, chance.result())]
      for message in told { try compare(message) }
      for message in [MessageToTeller.acknowledged(lease), .recall(lease), .assign(chance.assignment(lease))]
      {
        try compare(message)
      }
      try compare(chance.order())
      try compare(chance.tickets())
    }
  }

  @Test("bytes with a mistake are read as by the general decoder, or not at all")
  func mistakes() throws {
    var chance = SeededGenerator.announced("bytes with a mistake")
    for _ in 0..<20_000 {
      let lease = chance.lease()
      try judge(chance.damaged(CBOREncoder().encode(TellerMessage.done(lease))), as: TellerMessage.self)
      try judge(
        chance.damaged(CBOREncoder().encode(TellerMessage.worked(lease, chance.result()))),
        as: TellerMessage.self)
      try judge(
        chance.damaged(CBOREncoder().encode(MessageToTeller.assign(chance.assignment(lease)))),
        as: MessageToTeller.self)
      try judge(chance.damaged(CBOREncoder().encode(chance.order())), as: ClientMessage.self)
      try judge(chance.damaged(CBOREncoder().encode(chance.tickets())), as: BankMessage.self)
    }
  }

  @Test("a message longer than its limit leaves the buffer unchanged, in either encoding")
  func limit() {
    let lease = Lease(ticket: .max, attempt: 1, generation: 1)
    var buffer: [UInt8] = [1, 2, 3]
    #expect(throws: FrameEncodingError.frame(.bodyTooLong(length: 17, maximum: 16))) {
      try FrameEncoder().append(TellerMessage.done(lease), to: &buffer, limit: 16)
    }
    #expect(buffer == [1, 2, 3])
  }

  private func compare<Message: FrameMessage & Equatable>(_ message: Message) throws {
    let long = try CBOREncoder().encode(message)
    var short: [UInt8] = [0xFF]
    if message.appendDirectly(to: &short) {
      #expect(Array(short.dropFirst()) == long)
      #expect(long.withUnsafeBufferPointer { Message.readDirectly($0) } == message)
    } else {
      #expect(short == [0xFF])
      #expect(long.withUnsafeBufferPointer { Message.readDirectly($0) } == nil)
    }
  }

  private func judge<Message: FrameMessage & Equatable>(_ bytes: [UInt8], as type: Message.Type) throws {
    guard let short = bytes.withUnsafeBufferPointer({ Message.readDirectly($0) }) else { return }
    #expect(try CBORDecoder().decode(type, from: bytes) == short)
  }
}

/// The buffer of a message whose bytes are not compared.
private var scrap: [UInt8] {
  get { [] }
  set {}
}

extension SeededGenerator {
  /// A number of any length, of either sign.
  fileprivate mutating func number<I: FixedWidthInteger>() -> I {
    let bits = UInt64.random(in: 0..<64, using: &self)
    return I(truncatingIfNeeded: Int64(bitPattern: next()) >> bits)
  }

  fileprivate mutating func lease() -> Lease {
    Lease(ticket: number(), attempt: number(), generation: number())
  }

  fileprivate mutating func assignment(_ lease: Lease) -> Assignment {
    var assignment = Assignment(
      day: number(), lease: lease,
      service: [BankModel.Service.deposit, .loan, .juice].randomElement(using: &self)!,
      priority: BankModel.Priority.grades.randomElement(using: &self)!, amount: number(), account: number())
    assignment.itemName = text()
    if Bool.random(using: &self) { assignment.payload = bytes() }
    return assignment
  }

  /// The result of a command or a worker.
  fileprivate mutating func result() -> WorkResult {
    let code: Int32? = Bool.random(using: &self) ? number() : nil
    return WorkResult(
      ending: ProcessEnd(code: code, signal: code == nil && Bool.random(using: &self) ? number() : nil),
      duration: .milliseconds(Int64.random(in: 0...100_000, using: &self)), output: excerpt(),
      errors: excerpt())
  }

  private mutating func excerpt() -> TruncatedOutput {
    if Int.random(in: 0..<3, using: &self) == 0 { return .nothing }
    let (first, last) = (bytes(), bytes())
    let length = Int64(first.count + last.count) + Int64.random(in: 0...70_000, using: &self)
    return TruncatedOutput(
      first: first, last: last, length: length, filed: Int64.random(in: 0...length, using: &self))!
  }

  /// Bytes of any length up to a head of three bytes.
  private mutating func bytes() -> [UInt8] {
    let length = [0, 1, 23, 24, 90, 300].randomElement(using: &self)!
    return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &self) }
  }

  /// A text of any length up to a head of three bytes, or none.
  fileprivate mutating func text() -> String? {
    guard Bool.random(using: &self) else { return nil }
    let letters = ["a", "쥬", "🍓", "\u{0}"]
    let length = [0, 1, 23, 24, 90, 300].randomElement(using: &self)!
    return (0..<length).map { _ in letters.randomElement(using: &self)! }.joined()
  }

  fileprivate mutating func order() -> ClientMessage {
    let order = EnqueueParameters(
      count: number(), service: Bool.random(using: &self) ? .loan : nil,
      priority: BankModel.Priority.grades.randomElement(using: &self)!,
      amount: Bool.random(using: &self) ? number() : nil, account: Bool.random(using: &self) ? number() : nil,
      seed: next(), key: text(), itemName: text())
    return .request(ControlRequest(number: number(), command: .enqueue(order)))
  }

  fileprivate mutating func tickets() -> BankMessage {
    let report = EnqueuedReport(
      day: number(), first: number(), last: number(), count: number(), known: number())
    return .reply(ControlReply(number: number(), answer: .enqueued(report), more: Bool.random(using: &self)))
  }

  /// The bytes with one of them changed, left out, or added.
  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let place = Int.random(in: 0..<bytes.count, using: &self)
    switch Int.random(in: 0..<4, using: &self) {
    case 0: bytes.remove(at: place)
    case 1: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
    case 2: bytes.removeSubrange(place...)
    default: bytes[place] = UInt8(truncatingIfNeeded: next())
    }
    return bytes
  }
}
