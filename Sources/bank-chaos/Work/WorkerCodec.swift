// The two encodings of a chaos run's worker: frames, and lines, which are encoded here independently, as a program in
// another language would encode them.
// Errors: an undecodable message ends the connection.
import BankModel
import JSON
import Time
import Wire

/// Encoding of a worker's messages.
enum WorkEncoding: String, Sendable { case lines, frames }

struct WorkerCodec {
  /// A message that a worker cannot decode.
  struct UndecodableMessage: Error {}

  let encoding: WorkEncoding
  private var frames = FrameDecoder(maximumBodyLength: FrameLimits.teller)
  /// Received bytes that do not yet end a line.
  private var line: [UInt8] = []

  init(_ encoding: WorkEncoding) { self.encoding = encoding }

  // MARK: Sending

  func bytes(of message: TellerMessage) -> [UInt8] {
    switch encoding {
    case .lines: return Array("\(Self.line(message))\n".utf8)
    case .frames:
      var bytes: [UInt8] = []
      try? FrameEncoder().append(message, to: &bytes, limit: FrameLimits.teller)
      return bytes
    }
  }

  /// A message as one line of JSON, without the line break.
  private static func line(_ message: TellerMessage) -> String {
    switch message {
    case .hello(let hello):
      var parts = [#""version":\#(hello.version),"role":"worker""#]
      if let names = hello.offer?.services {
        parts.append("\"services\":[\(names.map { "\"\($0.text)\"" }.joined(separator: ","))]")
      }
      if let count = hello.offer?.inFlight { parts.append("\"in_hand\":\(count)") }
      return "{\"hello\":{\(parts.joined(separator: ","))}}"
    case .worked(let lease, let result):
      let bytes = result.output.bytes
      let isPlain = bytes.allSatisfy { (0x20...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c || $0 == 0x0a }
      let text = String(decoding: bytes, as: UTF8.self).replacing("\n", with: "\\n")
      let member = isPlain ? "\"result\":\"\(text)\"" : "\"result_b64\":\"\(Base64.encode(bytes))\""
      return object("done", lease, member)
    case .failed(let lease, let failure):
      let after = failure.after.map { ",\"after_ms\":\($0.milliseconds)" } ?? ""
      return object("failed", lease, "\"reason\":\"\(failure.words)\"\(after)")
    case .progressed(let lease, let progress):
      return object("beat", lease, "\"percent\":\(progress.percent ?? 0)")
    case .done(let lease): return object("done", lease)
    case .beat(let lease): return object("beat", lease)
    case .returned(let lease): return object("returned", lease)
    case .ready, .outOfStock: return "{\"ready\":{}}"
    }
  }

  /// A message about a lease as JSON: its kind, the lease, and a further member as JSON text.
  private static func object(_ kind: String, _ lease: Lease, _ member: String? = nil) -> String {
    let rest = member.map { ",\($0)" } ?? ""
    let own = "\"ticket\":\(lease.ticket),\"attempt\":\(lease.attempt),\"generation\":\(lease.generation)"
    return "{\"\(kind)\":{\(own)\(rest)}}"
  }

  // MARK: Receiving

  /// Decodes the complete messages received so far.
  mutating func take(_ bytes: some Collection<UInt8>) throws(UndecodableMessage) -> [MessageToTeller] {
    var messages: [MessageToTeller] = []
    do {
      switch encoding {
      case .frames:
        frames.append(bytes)
        while let body = try frames.next() {
          messages.append(try CBORDecoder().decode(MessageToTeller.self, from: body))
        }
      case .lines:
        line += bytes
        while let end = line.firstIndex(of: UInt8(ascii: "\n")) {
          if let message = try Self.message(Array(line[..<end])) { messages.append(message) }
          line.removeSubrange(...end)
        }
      }
    } catch {
      throw UndecodableMessage()
    }
    return messages
  }

  /// Decodes a line. Returns nil for a kind that may be ignored.
  private static func message(_ line: [UInt8]) throws -> MessageToTeller? {
    guard case .object(let members) = try JSONReader.read(line).content, members.count == 1,
      case .object(let parts) = members[0].value.content
    else { throw UndecodableMessage() }
    let values = Dictionary(parts.map { ($0.key, $0.value.content) }) { first, _ in first }
    /// The number under a key of the message; throws an error if there is none.
    func number<Number: FixedWidthInteger>(_ key: String) throws -> Number {
      guard case .number(let text) = values[key], let number = Number(text) else {
        throw UndecodableMessage()
      }
      return number
    }
    /// The text under a key of the message; nil if there is none.
    func text(_ key: String) -> String? { if case .string(let text) = values[key] { text } else { nil } }
    func lease() throws -> Lease {
      Lease(
        ticket: try number("ticket"), attempt: try number("attempt"), generation: try number("generation"))
    }
    switch members[0].key {
    case "welcome":
      return .workerAccepted(
        WorkerTimeouts(leaseMilliseconds: try number("lease_ms"), beatMilliseconds: try number("beat_ms")))
    case "assign":
      guard let key = text("key"), let service = text("service").flatMap({ ServiceName($0) }) else {
        throw UndecodableMessage()
      }
      let payload =
        try text("payload").map { Array($0.utf8) } ?? text("payload_b64").map { try Base64.decode($0) }
      return .assignWork(
        WorkItem(
          day: try number("day"), lease: try lease(), service: service, priority: try number("priority"),
          payload: payload, key: key))
    case "recall": return .recall(try lease())
    case "close": return .close
    case "refused": return .refused(Refusal(reason: .malformed, build: "", detail: text("text") ?? ""))
    default: return nil
    }
  }
}
