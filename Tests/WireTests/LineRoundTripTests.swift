// Random messages as lines: what a worker of any library may write is read with its meaning, and lines to a
// worker are read by a reader that shares nothing with the writer. Then the same lines with mistakes. The
// seed is printed.

import BankModel
import JSON
import Testing
import Time

@testable import Wire

@Suite("Random lines of workers") struct LineRoundTripTests {
  @Test("a line of a worker is read with its meaning") func read() throws {
    var chance = SeededGenerator.announced("lines of a worker")
    for _ in 0..<4_000 {
      let message = chance.workersMessage()
      let line = chance.line(of: message)
      #expect(try readLine(line) == message, "\(line)")
    }
  }

  @Test("a line to a worker is read by another reader with its meaning") func written() throws {
    var chance = SeededGenerator.announced("lines to a worker")
    for _ in 0..<2_000 {
      let message = chance.windowMessage()
      let line = try #require(lineTold(by: message))
      #expect(!line.utf8.contains { $0 < 0x20 }, "a line is one line: \(line)")
      let node = try JSONReader.read(Array(line.utf8))
      #expect(meaning(of: node) == meaning(of: message), "\(line)")
    }
  }

  @Test("lines with mistakes are read, or refused at one of their bytes, and never do harm")
  func mistakes() {
    var chance = SeededGenerator.announced("lines with mistakes")
    var refused = 0
    for _ in 0..<20_000 {
      let line = chance.damaged(Array(chance.line(of: chance.workersMessage()).utf8))
      do throws(LineParseError) { _ = try readLine(line) } catch {
        refused += 1
        #expect((0...line.count).contains(error.byte) && !error.description.isEmpty)
      }
      // A line that this reader accepts the other one accepts, too.
      if let message = try? readLine(line) {
        #expect((try? JSONReader.read(line)) != nil, "\(message): \(String(decoding: line, as: UTF8.self))")
      }
    }
    #expect(refused > 5_000)
  }

  @Test("any bytes are read as base 64 as they were written") func base64() {
    var chance = SeededGenerator.announced("bytes in base 64")
    for count in 0...200 {
      let bytes = chance.bytes(count)
      var text: [UInt8] = [0x21]
      Base64.append(bytes, to: &text)
      #expect(text.dropFirst().count == (count + 2) / 3 * 4)
      #expect(Array(text.dropFirst()).withUnsafeBufferPointer { try? Base64.decode($0) } == bytes)
    }
    #expect(Array("Zm9vYmE=".utf8).withUnsafeBufferPointer { try? Base64.decode($0) } == Array("fooba".utf8))
  }

  // MARK: The meaning of a line

  /// The members of the only object in a line, and its key.
  private func meaning(of node: JSONNode) -> [String: JSONNode.Content]? {
    guard case .object(let kinds) = node.content, kinds.count == 1,
      case .object(let members) = kinds[0].value.content
    else { return nil }
    var meaning = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value.content) })
    meaning["kind"] = .string(kinds[0].key)
    return meaning
  }

  private func meaning(of message: MessageToTeller) -> [String: JSONNode.Content]? {
    switch message {
    case .workerAccepted(let terms):
      return [
        "kind": .string("welcome"), "lease_ms": .number("\(terms.leaseMilliseconds)"),
        "beat_ms": .number("\(terms.beatMilliseconds)"),
      ]
    case .refused(let refusal):
      let reason = refusal.reason == .crowded ? "too_many_connections" : "\(refusal.reason)"
      return ["kind": .string("refused"), "reason": .string(reason), "text": .string(refusal.detail)]
    case .recall(let lease): return numbers(of: lease).merging(["kind": .string("recall")]) { $1 }
    case .close: return ["kind": .string("close")]
    case .assignWork(let order):
      var meaning = numbers(of: order.lease)
      meaning["kind"] = .string("assign")
      meaning["day"] = .number("\(order.day)")
      meaning["service"] = .string(order.service.text)
      meaning["priority"] = .number("\(order.priority)")
      meaning["key"] = .string(order.key)
      if let deadline = order.deadlineMilliseconds { meaning["deadline_ms"] = .number("\(deadline)") }
      if let payload = order.payload {
        if let text = String(validating: payload, as: UTF8.self) {
          meaning["payload"] = .string(text)
        } else {
          var text: [UInt8] = []
          Base64.append(payload, to: &text)
          meaning["payload_b64"] = .string(String(decoding: text, as: UTF8.self))
        }
      }
      return meaning
    case .welcome, .assign, .acknowledged, .closing: return nil
    }
  }

  private func numbers(of lease: Lease) -> [String: JSONNode.Content] {
    [
      "ticket": .number("\(lease.ticket)"), "attempt": .number("\(lease.attempt)"),
      "generation": .number("\(lease.generation)"),
    ]
  }
}

extension SeededGenerator {
  fileprivate mutating func workersLease() -> Lease {
    Lease(
      ticket: max(1, Int64(next() >> UInt64.random(in: 1...63, using: &self))),
      attempt: .random(in: 1...Int32.max, using: &self), generation: .random(in: 1...5, using: &self))
  }

  fileprivate mutating func words() -> String {
    let alphabet = Array("abc \"\\/\n\r\t\u{8}\u{c}\u{0}\u{1f}\u{7f}고객ü水𐅑🍓\u{2028}\u{FFFD}\u{10FFFF}")
    return String(
      (0..<Int.random(in: 0...30, using: &self)).map { _ in alphabet.randomElement(using: &self)! })
  }

  fileprivate mutating func workersMessage() -> TellerMessage {
    let lease = workersLease()
    switch Int.random(in: 0...7, using: &self) {
    case 0: return .done(lease)
    case 1:
      let bytes = Bool.random(using: &self) ? Array(words().utf8) : bytes(.random(in: 0...50, using: &self))
      return .worked(lease, WorkResult(duration: .zero, output: TruncatedOutput(first: bytes)!))
    case 2:
      let after: TimeSpan? =
        Bool.random(using: &self)
        ? nil : .milliseconds(.random(in: 0...(365 * 86_400_000), using: &self))
      return .failed(lease, WorkFailure(words(), after: after))
    case 3: return .failed(lease, WorkFailure(words(), .never))
    case 4: return .beat(lease)
    case 5:
      let percent: UInt8? = Bool.random(using: &self) ? nil : .random(in: 0...100, using: &self)
      return .progressed(lease, WorkProgress(percent: percent, text: words()))
    case 6: return .returned(lease)
    default:
      let services: [ServiceName]? =
        Bool.random(using: &self) ? nil : [ServiceName("thumbs")!, ServiceName("a.b_c-9")!]
      return .hello(
        Hello(
          version: UInt32.random(in: 0...9, using: &self), build: words(), role: .worker,
          offer: WorkerOffer(
            services: services, inFlight: Bool.random(using: &self) ? nil : .random(in: 1...99, using: &self))
        ))
    }
  }

  fileprivate mutating func windowMessage() -> MessageToTeller {
    switch Int.random(in: 0...6, using: &self) {
    case 0:
      return .workerAccepted(WorkerTimeouts(leaseMilliseconds: Int64(next() >> 1), beatMilliseconds: -1))
    case 1:
      return .refused(
        Refusal(reason: .init(rawValue: .random(in: 1...6, using: &self))!, build: "b", detail: words()))
    case 2: return .recall(workersLease())
    case 3: return .close
    default:
      let payload: [UInt8]?
      switch Int.random(in: 0...2, using: &self) {
      case 0: payload = nil
      case 1: payload = Array(words().utf8)
      default: payload = bytes(.random(in: 0...60, using: &self))
      }
      return .assignWork(
        WorkItem(
          day: Int64.random(in: 1...100_000, using: &self), lease: workersLease(),
          service: ServiceName("thumbs")!, priority: UInt32(truncatingIfNeeded: next()), payload: payload,
          key: words(), deadlineMilliseconds: Bool.random(using: &self) ? nil : Int64(next() >> 20)))
    }
  }

  // MARK: As some library would write it

  /// A line with this meaning: keys in any order, space anywhere, characters escaped or not, unknown keys.
  fileprivate mutating func line(of message: TellerMessage) -> String {
    var members: [(String, String)] = []
    func add(_ lease: Lease) {
      members += [
        ("ticket", "\(lease.ticket)"), ("attempt", "\(lease.attempt)"), ("generation", "\(lease.generation)"),
      ]
    }
    let kind: String
    switch message {
    case .hello(let hello):
      kind = "hello"
      members = [("version", "\(hello.version)"), ("role", quoted("worker")), ("build", quoted(hello.build))]
      if let services = hello.offer?.services {
        members.append(("services", "[\(services.map { quoted($0.text) }.joined(separator: ","))]"))
      }
      if let inFlight = hello.offer?.inFlight { members.append(("in_hand", "\(inFlight)")) }
    case .ready: kind = "ready"
    case .done(let lease):
      kind = "done"
      add(lease)
    case .worked(let lease, let result):
      kind = "done"
      add(lease)
      if let text = String(validating: result.output.first, as: UTF8.self), Bool.random(using: &self) {
        members.append(("result", quoted(text)))
      } else {
        var text: [UInt8] = []
        Base64.append(result.output.first, to: &text)
        members.append(("result_b64", quoted(String(decoding: text, as: UTF8.self))))
      }
    case .failed(let lease, let failure):
      kind = "failed"
      add(lease)
      members.append(("reason", quoted(failure.words)))
      if failure.consequence == .never { members.append(("retry", "false")) }
      if let after = failure.after { members.append(("after_ms", "\(after.milliseconds)")) }
    case .beat(let lease):
      kind = "beat"
      add(lease)
    case .progressed(let lease, let progress):
      kind = "beat"
      add(lease)
      if let percent = progress.percent {
        members.append(("percent", Bool.random(using: &self) ? "\(percent)" : "\(percent).\(next())"))
      }
      if !progress.text.isEmpty || progress.percent == nil { members.append(("text", quoted(progress.text))) }
    case .returned(let lease):
      kind = "returned"
      add(lease)
    case .outOfStock: preconditionFailure("a worker has no such result")
    }
    if Bool.random(using: &self) {
      members.append(
        ("extra", ["null", "[1,{\"a\":[]},-0.5e-7]", "{}", quoted(words())].randomElement(using: &self)!))
    }
    members.shuffle(using: &self)
    let inside = members.map { "\(quoted($0.0))\(space()):\(space())\($0.1)\(space())" }
    return
      "{\(space())\(quoted(kind)):\(space()){\(space())\(inside.joined(separator: ",\(space())"))}\(space())}\(space())"
  }

  private mutating func space() -> String {
    Int.random(in: 0...3, using: &self) > 0 ? "" : [" ", "\t", "\r", "  "].randomElement(using: &self)!
  }

  private mutating func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      let mustBeEscaped = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
      if !mustBeEscaped, Int.random(in: 0...3, using: &self) > 0 {
        quoted.unicodeScalars.append(scalar)
      } else if scalar == "\n", Bool.random(using: &self) {
        quoted += "\\n"
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16, uppercase: Bool.random(using: &self))
          quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return quoted + "\""
  }

  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    let signs = Array("{}[]\",:\\u0-.e \u{0}tfn".utf8) + [0xff, 0xc3, 0x80]
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      guard !bytes.isEmpty else { break }
      let place = Int.random(in: 0..<bytes.count, using: &self)
      switch Int.random(in: 0...4, using: &self) {
      case 0: bytes.remove(at: place)
      case 1: bytes.insert(signs.randomElement(using: &self)!, at: place)
      case 2: bytes[place] = signs.randomElement(using: &self)!
      case 3: bytes.removeSubrange(place...)
      default: bytes.insert(contentsOf: bytes[place...].prefix(.random(in: 1...20, using: &self)), at: place)
      }
    }
    return bytes
  }
}
