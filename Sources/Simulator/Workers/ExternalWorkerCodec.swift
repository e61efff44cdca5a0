// The two encodings of an external worker, as the page for authors of workers (`Workers.md` in `Wire`) describes them:
// lines of JSON, and the frames of the protocol. The lines are encoded here independently of the bank's
// encoder.
// Invariant: encoded messages obey that page; violations are made by the callers.
// Errors: an undecodable message of the bank is a failure, and breaks a promise.
import BankModel
import JSON
import Wire

/// A customer as sent to a worker.
struct ExternalAssignment: Hashable {
  var day: Int64
  var lease: Lease
  var service: String
  var payload: [UInt8]
  var key: String
}

/// A message from the bank to a worker.
enum BankToWorkerMessage {
  case welcome(beatMilliseconds: Int64)
  case refused(String)
  case assign(ExternalAssignment)
  case recall(Lease)
  case close
}

/// A message from a worker.
enum ExternalWorkerMessage {
  case hello(services: [ServiceName]?, inFlight: Int32)
  case ready
  case done(Lease, result: String?)
  /// `after` is in milliseconds.
  case failed(Lease, isRetryable: Bool, after: Int64?)
  case returned(Lease)
  case beat(Lease, percent: Int64?)
}

/// Encodes the messages of a worker, and decodes those of the bank.
struct ExternalWorkerCodec {
  let speaksFrames: Bool
  private var frames = FrameDecoder(maximumBodyLength: FrameLimits.teller)
  private var line: [UInt8] = []
  private var receivedLines: [[UInt8]] = []
  /// True if the bank sends frames; nil before its first byte. If the bank refuses the worker before the first
  /// byte of the worker has arrived, the bank does not know the encoding, and sends a line.
  private var receivesFrames: Bool?

  init(speaksFrames: Bool) { self.speaksFrames = speaksFrames }

  // MARK: - Receiving

  /// Adds bytes that the bank has sent.
  mutating func append(_ bytes: some Collection<UInt8>) {
    if receivesFrames == nil { receivesFrames = speaksFrames && bytes.first != UInt8(ascii: "{") }
    guard receivesFrames == false else { return frames.append(bytes) }
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        receivedLines.append(line)
        line.removeAll()
      } else {
        line.append(byte)
      }
    }
  }

  /// The next message of the bank; nil if there is none, and a failure if it cannot be decoded.
  mutating func next() -> Result<BankToWorkerMessage, UndecodableMessage>? {
    if receivesFrames == true {
      do {
        guard let body = try frames.next() else { return nil }
        return Self.message(try CBORDecoder().decode(MessageToTeller.self, from: body))
      } catch {
        return .failure(UndecodableMessage(message: "\(error)"))
      }
    }
    guard !receivedLines.isEmpty else { return nil }
    let line = receivedLines.removeFirst()
    let fault = UndecodableMessage(message: String(decoding: line.prefix(200), as: UTF8.self))
    guard let node = try? JSONReader.read(line), let message = Self.message(node) else {
      return .failure(fault)
    }
    return .success(message)
  }

  /// Converts a message of the protocol; a failure if it is for tellers only.
  private static func message(_ message: MessageToTeller) -> Result<BankToWorkerMessage, UndecodableMessage> {
    switch message {
    case .workerAccepted(let terms): .success(.welcome(beatMilliseconds: terms.beatMilliseconds))
    case .refused(let refusal): .success(.refused(refusal.detail))
    case .assignWork(let order):
      .success(
        .assign(
          ExternalAssignment(
            day: order.day, lease: order.lease, service: order.service.text, payload: order.payload ?? [],
            key: order.key)))
    case .recall(let lease): .success(.recall(lease))
    case .close: .success(.close)
    case .welcome, .assign, .acknowledged, .closing:
      .failure(UndecodableMessage(message: "a message for tellers only: \(message)"))
    }
  }

  /// Converts a line of JSON; nil if it is not a message to a worker.
  private static func message(_ node: JSONNode) -> BankToWorkerMessage? {
    guard case .object(let kinds) = node.content, kinds.count == 1, let kind = kinds.first,
      case .object(let members) = kind.value.content
    else { return nil }
    /// The integer under a key of the message; nil if there is none.
    func number(_ key: String) -> Int64? {
      guard case .number(let digits)? = members.first(where: { $0.key == key })?.value.content else {
        return nil
      }
      return Int64(digits)
    }
    /// The text under a key of the message; nil if there is none.
    func text(_ key: String) -> String? {
      guard case .string(let text)? = members.first(where: { $0.key == key })?.value.content else {
        return nil
      }
      return text
    }
    /// The lease that the message names; nil if it is incomplete.
    func lease() -> Lease? {
      guard let ticket = number("ticket"), let attempt = number("attempt"),
        let generation = number("generation")
      else { return nil }
      return Lease(ticket: ticket, attempt: Int32(attempt), generation: Generation(generation))
    }
    switch kind.key {
    case "welcome": return number("beat_ms").map { .welcome(beatMilliseconds: $0) }
    case "refused": return text("text").map { .refused($0) }
    case "recall": return lease().map { .recall($0) }
    case "close": return .close
    case "assign":
      guard let day = number("day"), let lease = lease(), let service = text("service"), let key = text("key")
      else { return nil }
      return .assign(
        ExternalAssignment(
          day: day, lease: lease, service: service, payload: Array((text("payload") ?? "").utf8), key: key))
    default: return nil
    }
  }

  // MARK: - Sending

  /// Returns a message in the encoding of the worker.
  func bytes(of message: ExternalWorkerMessage) -> [UInt8] {
    guard speaksFrames else { return Array((Self.line(of: message) + "\n").utf8) }
    var bytes: [UInt8] = []
    try? FrameEncoder().append(Self.message(of: message), to: &bytes, limit: FrameLimits.teller)
    return bytes
  }

  /// Returns a message as the protocol has it in frames.
  private static func message(of message: ExternalWorkerMessage) -> TellerMessage {
    switch message {
    case .hello(let services, let inFlight):
      .hello(
        Hello(build: "any", role: .worker, offer: WorkerOffer(services: services, inFlight: inFlight)))
    case .ready: .ready
    case .done(let lease, nil): .done(lease)
    case .done(let lease, let result?):
      .worked(
        lease, WorkResult(duration: .zero, output: TruncatedOutput(first: Array(result.utf8)) ?? .nothing))
    case .failed(let lease, let isRetryable, let after):
      .failed(
        lease,
        WorkFailure("no paper", isRetryable ? .again : .never, after: after.map { .milliseconds($0) }))
    case .returned(let lease): .returned(lease)
    case .beat(let lease, nil): .beat(lease)
    case .beat(let lease, let percent?):
      .progressed(lease, WorkProgress(percent: UInt8(percent), text: "at it"))
    }
  }

  /// Returns a message as a line of JSON.
  private static func line(of message: ExternalWorkerMessage) -> String {
    /// A lease as a JSON object that ends with the members in `more`.
    func lease(_ lease: Lease, _ more: String = "") -> String {
      #"{"ticket":\#(lease.ticket),"attempt":\#(lease.attempt),"generation":\#(lease.generation)\#(more)}"#
    }
    switch message {
    case .hello(let services, let inFlight):
      let names = services.map { $0.map { "\"\($0)\"" }.joined(separator: ",") }
      let offered = names.map { #","services":[\#($0)]"# } ?? ""
      return #"{"hello":{"version":1,"role":"worker"\#(offered),"in_hand":\#(inFlight)}}"#
    case .ready: return #"{"ready":{}}"#
    case .done(let who, let result):
      return #"{"done":\#(lease(who, result.map { #","result":"\#($0)""# } ?? ""))}"#
    case .failed(let who, let isRetryable, let after):
      let retry = isRetryable ? "" : #","retry":false"#
      let pause = after.map { #","after_ms":\#($0)"# } ?? ""
      return #"{"failed":\#(lease(who, #","reason":"no paper"\#(retry)\#(pause)"#))}"#
    case .returned(let who): return #"{"returned":\#(lease(who))}"#
    case .beat(let who, let percent):
      return #"{"beat":\#(lease(who, percent.map { #","percent":\#($0),"text":"at it""# } ?? ""))}"#
    }
  }
}

/// A message of the bank that the worker cannot decode.
struct UndecodableMessage: Error { var message: String }
