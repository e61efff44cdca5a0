// Known keys in a worker's lines. Invariant: every raw value is below 32, because `LineReader.Members` keeps
// one bit for each key to detect a duplicate.

/// A key of the line protocol that this build supports.
enum LineKey: UInt8 {
  /// Any other key.
  case unknown = 0
  case hello, ready, done, failed, beat, returned
  case version, role, services, inHand, build
  case ticket, attempt, generation, result, resultB64
  case reason, retry, afterMs, percent, text

  /// The key with these bytes; `unknown` for any other bytes.
  static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> LineKey {
    switch bytes.count {
    case 4:
      if bytes.equals("done") { return .done }
      if bytes.equals("beat") { return .beat }
      if bytes.equals("text") { return .text }
      if bytes.equals("role") { return .role }
    case 5:
      if bytes.equals("ready") { return .ready }
      if bytes.equals("retry") { return .retry }
      if bytes.equals("hello") { return .hello }
      if bytes.equals("build") { return .build }
    case 6:
      if bytes.equals("ticket") { return .ticket }
      if bytes.equals("result") { return .result }
      if bytes.equals("failed") { return .failed }
      if bytes.equals("reason") { return .reason }
    case 7:
      if bytes.equals("attempt") { return .attempt }
      if bytes.equals("percent") { return .percent }
      if bytes.equals("version") { return .version }
      if bytes.equals("in_hand") { return .inHand }
    case 8:
      if bytes.equals("returned") { return .returned }
      if bytes.equals("after_ms") { return .afterMs }
      if bytes.equals("services") { return .services }
    case 10:
      if bytes.equals("generation") { return .generation }
      if bytes.equals("result_b64") { return .resultB64 }
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
  /// True if the bytes are those of this word.
  @inline(__always) fileprivate func equals(_ word: StaticString) -> Bool {
    guard count == word.utf8CodeUnitCount else { return false }
    for place in 0..<count where self[place] != word.utf8Start[place] { return false }
    return true
  }
}
