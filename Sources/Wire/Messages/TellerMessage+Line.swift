// Lines of a worker, decoded as the messages that a teller sends in frames. `LineReader` checks the rules of
// JSON.
// Invariant: a line gives a fault, or a message with numbers in their ranges and bounded texts. A result that is too
// long is truncated and not refused. `null` is equivalent to leaving out an optional key.

import BankModel
import Time

extension TellerMessage {
  /// Parses a worker's line, without the newline.
  public static func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(LineParseError) -> TellerMessage {
    var reader = try LineReader(line)
    let kind = try reader.kind()
    let message: TellerMessage
    switch kind {
    case .done: message = try reader.done()
    case .beat: message = try reader.beat()
    case .failed: message = try reader.failed()
    case .returned: message = .returned(try reader.returned())
    case .ready: message = try reader.ready()
    case .hello: message = .hello(try reader.hello())
    default: throw reader.unknownKind()
    }
    try reader.end()
    return message
  }
}

/// Collects the values of a lease while its keys are parsed.
private struct LeaseKeys {
  var ticket: Int64 = 0
  var attempt: Int32 = 0
  var generation: Int32 = 0

  /// Consumes the value of a key of the lease. Returns false for any other key.
  @inline(__always)
  mutating func consumes(_ word: LineKey, from reader: inout LineReader) throws(LineParseError) -> Bool {
    switch word {
    case .ticket: ticket = try reader.integer(word, 1...Int64.max)
    case .attempt: attempt = try reader.integer(word, 1...Int32.max)
    case .generation: generation = try reader.integer(word, 1...Int32.max)
    default: return false
    }
    return true
  }

  /// The lease. Throws a fault if a key was missing.
  func lease(in members: LineReader.Members, _ reader: LineReader) throws(LineParseError) -> Lease {
    if ticket == 0 { throw reader.missing(.ticket, in: members) }
    if attempt == 0 { throw reader.missing(.attempt, in: members) }
    if generation == 0 { throw reader.missing(.generation, in: members) }
    return Lease(ticket: ticket, attempt: attempt, generation: generation)
  }
}

extension LineReader {
  /// Maximum pause that a worker may request, in milliseconds: one year. A worker that requests more has
  /// probably used the wrong unit.
  private static let longestPause: Int64 = 365 * 86_400_000

  /// The fault for a line whose first key is not a kind of message.
  fileprivate func unknownKind() -> LineParseError {
    var copy = self
    copy.position = 0
    copy.skipSpace()
    copy.position += 1
    copy.skipSpace()
    return LineParseError(.unknownKind(keyName(at: copy.position)), at: copy.position)
  }

  fileprivate mutating func ready() throws(LineParseError) -> TellerMessage {
    var members = try open(.ready)
    while try next(&members) != nil { try skipValue() }
    return .ready
  }

  fileprivate mutating func returned() throws(LineParseError) -> Lease {
    var members = try open(.returned)
    var keys = LeaseKeys()
    while let word = try next(&members) {
      if try !keys.consumes(word, from: &self) { try skipValue() }
    }
    return try keys.lease(in: members, self)
  }

  fileprivate mutating func done() throws(LineParseError) -> TellerMessage {
    var members = try open(.done)
    var keys = LeaseKeys()
    var (result, encoded): (LineText?, LineText?)
    while let word = try next(&members) {
      if try keys.consumes(word, from: &self) { continue }
      switch word {
      case .result: if !consumesNull() { result = try string(word) }
      case .resultB64: if !consumesNull() { encoded = try string(word) }
      default: try skipValue()
      }
    }
    let lease = try keys.lease(in: members, self)
    switch (result, encoded) {
    case (nil, nil): return .done(lease)
    case (let result?, nil):
      return .worked(
        lease, WorkResult(duration: .zero, output: withBytes(of: result) { TruncatedOutput(cutting: $0) }))
    case (nil, let encoded?):
      let bytes = try base64(.resultB64, encoded)
      return .worked(
        lease,
        WorkResult(duration: .zero, output: bytes.withUnsafeBufferPointer { TruncatedOutput(cutting: $0) }))
    case (_?, let encoded?):
      throw LineParseError(.together(LineKey.result.name, LineKey.resultB64.name), at: encoded.begin)
    }
  }

  fileprivate mutating func failed() throws(LineParseError) -> TellerMessage {
    var members = try open(.failed)
    var keys = LeaseKeys()
    var reason: LineText?
    var isWorthAnother = true
    var after: TimeSpan?
    while let word = try next(&members) {
      if try keys.consumes(word, from: &self) { continue }
      switch word {
      case .reason: reason = try string(word)
      case .retry: if !consumesNull() { isWorthAnother = try flag(word) }
      case .afterMs: if !consumesNull() { after = .milliseconds(try integer(word, 0...Self.longestPause)) }
      default: try skipValue()
      }
    }
    let lease = try keys.lease(in: members, self)
    guard let reason else { throw missing(.reason, in: members) }
    // Only the end of the text is used, so the whole string need not be created.
    let words = text(reason, last: 4 * Attempt.maxFailureTextBytes)
    return .failed(
      lease, WorkFailure(words, isWorthAnother ? .again : .never, after: isWorthAnother ? after : nil))
  }

  fileprivate mutating func beat() throws(LineParseError) -> TellerMessage {
    var members = try open(.beat)
    var keys = LeaseKeys()
    var part: UInt8?
    var words: LineText?
    while let word = try next(&members) {
      if try keys.consumes(word, from: &self) { continue }
      switch word {
      case .percent: if !consumesNull() { part = try percent(word) }
      case .text: if !consumesNull() { words = try string(word) }
      default: try skipValue()
      }
    }
    let lease = try keys.lease(in: members, self)
    guard part != nil || words != nil else { return .beat(lease) }
    let text = words.map { self.text($0, first: 4 * WorkProgress.longestText) } ?? ""
    return .progressed(lease, WorkProgress(percent: part, text: text))
  }

  fileprivate mutating func hello() throws(LineParseError) -> Hello {
    var members = try open(.hello)
    var version: Int64?
    var (role, build): (LineText?, LineText?)
    var offer = WorkerOffer()
    while let word = try next(&members) {
      switch word {
      case .version: version = try integer(word, 0...Int64(UInt32.max))
      case .role:
        let name = try string(word)
        guard text(name, first: 64) == "worker" else {
          throw LineParseError(.wanted(word.name, "\"worker\": only workers use lines"), at: name.begin)
        }
        role = name
      case .build: if !consumesNull() { build = try string(word) }
      case .services: if !consumesNull() { offer.services = try services(word) }
      case .inHand: if !consumesNull() { offer.inFlight = try integer(word, 1...Int32.max) }
      default: try skipValue()
      }
    }
    guard let version else { throw missing(.version, in: members) }
    guard role != nil else { throw missing(.role, in: members) }
    return Hello(
      version: UInt32(version), build: build.map { text($0, first: Self.longestBuild) } ?? "", role: .worker,
      offer: offer)
  }

  /// Maximum number of bytes kept of a worker's build name.
  private static let longestBuild = 200

  private mutating func services(_ word: LineKey) throws(LineParseError) -> [ServiceName] {
    let begin = position
    guard isAt(UInt8(ascii: "[")) else { throw wanted(word, "a list of names") }
    position += 1
    var names: [ServiceName] = []
    while try hasNext(isFirst: names.isEmpty, before: UInt8(ascii: "]")) {
      let name = try string(word)
      guard let service = ServiceName(text(name, first: 2 * ServiceName.longest)) else {
        throw LineParseError(.wanted(word.name, "a list of service names"), at: name.begin)
      }
      guard names.count < WorkerOffer.longest else { throw tooMany(word, name.begin) }
      names.append(service)
    }
    guard !names.isEmpty else { throw tooMany(word, begin) }
    return names
  }

  /// The fault for a list that is empty or too long.
  private func tooMany(_ word: LineKey, _ begin: Int) -> LineParseError {
    LineParseError(.wanted(word.name, "a list of 1 to \(WorkerOffer.longest) names"), at: begin)
  }
}

extension TruncatedOutput {
  /// An excerpt of a stream: all of it, or the start and the end of a longer one.
  fileprivate init(cutting bytes: UnsafeBufferPointer<UInt8>) {
    let isWhole = bytes.count <= TruncatedOutput.longest
    let excerpt = TruncatedOutput(
      first: Array(isWhole ? bytes[...] : bytes.prefix(TruncatedOutput.longestEnd)),
      last: isWhole ? [] : Array(bytes.suffix(TruncatedOutput.longestEnd)), length: Int64(bytes.count))
    guard let excerpt else { preconditionFailure("an excerpt is not longer than its stream") }
    self = excerpt
  }
}
