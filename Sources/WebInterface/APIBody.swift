// Owns the body of a request that a script sends: one JSON object. It knows no request.
// Invariant: a key that appears twice, a fraction, or a number that is too large is no value; nothing is rounded.
import JSON

struct APIBody {
  private let members: [JSONNode.Member]

  /// The object of a body; an empty body is an empty one. Nil where it is something else.
  init?(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else {
      members = []
      return
    }
    guard let node = try? JSONReader.read(bytes), case .object(let members) = node.content,
      Set(members.map(\.key)).count == members.count
    else { return nil }
    self.members = members
  }

  /// Whether every key is one of these: one that is not understood may have been meant.
  func hasOnly(_ names: Set<String>) -> Bool { members.allSatisfy { names.contains($0.key) } }

  /// Whether a key is there, with something else than null.
  func has(_ name: String) -> Bool { content(name) != nil }

  func text(_ name: String) -> String? { if case .string(let text)? = content(name) { text } else { nil } }

  func number(_ name: String) -> Int64? {
    if case .number(let digits)? = content(name) { Int64(digits) } else { nil }
  }

  /// Whole numbers; nil where the key is not there, or holds anything else.
  func numbers(_ name: String) -> [Int64]? {
    guard case .array(let nodes)? = content(name) else { return nil }
    var numbers: [Int64] = []
    for node in nodes {
      guard case .number(let digits) = node.content, let number = Int64(digits) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  private func content(_ name: String) -> JSONNode.Content? {
    guard let content = members.first(where: { $0.key == name })?.value.content, content != .null else {
      return nil
    }
    return content
  }
}
