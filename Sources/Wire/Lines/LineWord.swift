// Known keys in a worker's lines. Invariant: every raw value is below 32, because `LineReader.Members` keeps
// one bit for each key to detect a duplicate.

/// A key of the line protocol that this build supports.
enum LineWord: UInt8 {
  /// Any other key.
  case unknown = 0
  case hello, ready, done, failed, beat, returned
  case version, role, services, inHand, build
  case ticket, attempt, generation, result, resultB64
  case reason, retry, afterMs, percent, text

  /// The key with these bytes.
  static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> LineWord {
    switch bytes.count {
    case 4:
      if bytes.say("done") { return .done }
      if bytes.say("beat") { return .beat }
      if bytes.say("text") { return .text }
      if bytes.say("role") { return .role }
    case 5:
      if bytes.say("ready") { return .ready }
      if bytes.say("retry") { return .retry }
      if bytes.say("hello") { return .hello }
      if bytes.say("build") { return .build }
    case 6:
      if bytes.say("ticket") { return .ticket }
      if bytes.say("result") { return .result }
      if bytes.say("failed") { return .failed }
      if bytes.say("reason") { return .reason }
    case 7:
      if bytes.say("attempt") { return .attempt }
      if bytes.say("percent") { return .percent }
      if bytes.say("version") { return .version }
      if bytes.say("in_hand") { return .inHand }
    case 8:
      if bytes.say("returned") { return .returned }
      if bytes.say("after_ms") { return .afterMs }
      if bytes.say("services") { return .services }
    case 10:
      if bytes.say("generation") { return .generation }
      if bytes.say("result_b64") { return .resultB64 }
    default: break
    }
    return .unknown
  }

  /// The key as it appears in a line; empty for an unknown one.
  var name: String {
    switch self {
    case .unknown: ""
    case .inHand: "in_hand"
    case .resultB64: "result_b64"
    case .afterMs: "after_ms"
    default: "\(self)"
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  @inline(__always) fileprivate func say(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    for place in 0..<count where self[place] != word.utf8Start[place] { return false }
    return true
  }
}
