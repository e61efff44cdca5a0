// Owns a glance into a JSON document for one text at its top level, without understanding the rest.
// It must not know what the document is for: whoever depends on it reads it properly.
// Invariant: any bytes give a text or nil, in one pass and without recursion.
// Failure: nil.

/// Finds a text in a JSON document.
enum JSONGlance {
  /// The text of a field of the outermost object, where it has one and it is written without escapes.
  static func text(of name: String, in bytes: [UInt8]) -> String? {
    var depth = 0
    var index = 0
    var lastString: Range<Int>?
    var isNamed = false
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        isNamed = false
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","): isNamed = false
      case UInt8(ascii: ":"):
        isNamed = depth == 1 && lastString.map { bytes[$0].elementsEqual(name.utf8) } == true
      case UInt8(ascii: "\""):
        guard let end = endOfString(from: index + 1, in: bytes) else { return nil }
        let content = index + 1..<end
        if isNamed { return String(decoding: bytes[content], as: UTF8.self) }
        lastString = content
        index = end
      default: break
      }
      index += 1
    }
    return nil
  }

  /// Where the closing quote stands.
  private static func endOfString(from start: Int, in bytes: [UInt8]) -> Int? {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\"): index += 2
      case UInt8(ascii: "\""): return index
      default: index += 1
      }
    }
    return nil
  }
}
