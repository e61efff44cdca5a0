// Owns the reading of JSON text (RFC 8259), strictly: no comments, no trailing commas, nothing behind the value.
// It must not know which keys a configuration has. Foundation's decoder is not used because the coordinator would
// grow by three megabytes, and because it hides lines and keys that appear twice.
// Invariant: any bytes give a tree or a typed fault with its line; nesting is bounded, so the stack is too.

/// What is wrong with a JSON text.
public struct JSONFault: Error, Sendable, Hashable {
  /// The rule that was broken.
  public enum Reason: Sendable, Hashable {
    /// The text ends too early.
    case unexpectedEnd
    /// This character cannot stand here.
    case unexpected(String)
    /// The bytes are not UTF-8.
    case notUTF8
    /// A control character stands in a string, where it must be escaped.
    case controlCharacter
    /// An escape in a string that JSON does not have, or half of a surrogate pair.
    case badEscape
    /// Something like `01`, `.5` or `1.`.
    case badNumber
    /// More arrays and objects inside one another than 32.
    case tooDeep
    /// Something follows the value.
    case trailing
  }

  /// The rule that was broken.
  public var reason: Reason
  /// The line, from 1.
  public var line: Int

  /// A fault on a line.
  public init(_ reason: Reason, line: Int) {
    self.reason = reason
    self.line = line
  }
}

/// A place in a JSON text that is being read.
struct JSONReader {
  private static let maximumDepth = 32

  private let bytes: [UInt8]
  private var place = 0
  private var line = 1

  /// Reads the one value of a text.
  static func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONNode {
    var reader = JSONReader(bytes: bytes)
    // Some editors put a mark of the byte order in front, which a reader may overlook (RFC 8259, section 8.1).
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.place = 3 }
    let node = try reader.value(depth: 0)
    reader.skipSpace()
    if reader.next != nil { throw reader.fault(.trailing) }
    return node
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func fault(_ reason: JSONFault.Reason) -> JSONFault { JSONFault(reason, line: line) }

  /// The fault of whatever stands here and should not.
  private func unexpected() -> JSONFault {
    guard let next else { return fault(.unexpectedEnd) }
    let end = bytes[place...].prefix(4)
    let first = String(decoding: end, as: UTF8.self).first.map(String.init) ?? "\(next)"
    return fault(.unexpected(first))
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      if byte == 0x0a { line += 1 }
      place += 1
    }
  }

  private mutating func take(_ byte: UInt8) throws(JSONFault) {
    guard next == byte else { throw unexpected() }
    place += 1
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONNode {
    skipSpace()
    let begin = line
    guard let byte = next else { throw fault(.unexpectedEnd) }
    let content: JSONNode.Content
    switch byte {
    case UInt8(ascii: "{"): content = .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): content = .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): content = .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = .number(try number())
    default: content = try word()
    }
    return JSONNode(content: content, line: begin)
  }

  private mutating func word() throws(JSONFault) -> JSONNode.Content {
    let words: [(String, JSONNode.Content)] = [
      ("true", .bool(true)), ("false", .bool(false)), ("null", .null),
    ]
    for (word, content) in words where bytes[place...].starts(with: word.utf8) {
      place += word.utf8.count
      return content
    }
    throw unexpected()
  }

  private mutating func object(depth: Int) throws(JSONFault) -> [JSONNode.Member] {
    guard depth <= Self.maximumDepth else { throw fault(.tooDeep) }
    try take(UInt8(ascii: "{"))
    var members: [JSONNode.Member] = []
    skipSpace()
    if next == UInt8(ascii: "}") {
      place += 1
      return members
    }
    while true {
      skipSpace()
      let begin = line
      let key = try string()
      skipSpace()
      try take(UInt8(ascii: ":"))
      members.append(JSONNode.Member(key: key, line: begin, value: try value(depth: depth)))
      if try isLast(before: UInt8(ascii: "}")) { return members }
    }
  }

  private mutating func array(depth: Int) throws(JSONFault) -> [JSONNode] {
    guard depth <= Self.maximumDepth else { throw fault(.tooDeep) }
    try take(UInt8(ascii: "["))
    var elements: [JSONNode] = []
    skipSpace()
    if next == UInt8(ascii: "]") {
      place += 1
      return elements
    }
    while true {
      elements.append(try value(depth: depth))
      if try isLast(before: UInt8(ascii: "]")) { return elements }
    }
  }

  private mutating func isLast(before close: UInt8) throws(JSONFault) -> Bool {
    skipSpace()
    if next == close {
      place += 1
      return true
    }
    try take(UInt8(ascii: ","))
    return false
  }

  private mutating func number() throws(JSONFault) -> String {
    let begin = place
    if next == UInt8(ascii: "-") { place += 1 }
    let leading = place
    guard digits() > 0, bytes[leading] != UInt8(ascii: "0") || place == leading + 1 else {
      throw fault(.badNumber)
    }
    if next == UInt8(ascii: ".") {
      place += 1
      guard digits() > 0 else { throw fault(.badNumber) }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      place += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { place += 1 }
      guard digits() > 0 else { throw fault(.badNumber) }
    }
    return String(decoding: bytes[begin..<place], as: UTF8.self)
  }

  private mutating func digits() -> Int {
    let begin = place
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { place += 1 }
    return place - begin
  }

  private mutating func string() throws(JSONFault) -> String {
    try take(UInt8(ascii: "\""))
    var text: [UInt8] = []
    while true {
      guard let byte = next else { throw fault(.unexpectedEnd) }
      place += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else { throw fault(.notUTF8) }
        return string
      case UInt8(ascii: "\\"): text.append(contentsOf: try escape())
      case ..<0x20: throw fault(.controlCharacter)
      default: text.append(byte)
      }
    }
  }

  private mutating func escape() throws(JSONFault) -> [UInt8] {
    guard let kind = next else { throw fault(.unexpectedEnd) }
    place += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [kind]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0c]
    case UInt8(ascii: "n"): return [0x0a]
    case UInt8(ascii: "r"): return [0x0d]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return Array(String(Character(try escapedScalar())).utf8)
    default: throw fault(.badEscape)
    }
  }

  private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xd800..<0xdc00).contains(first), bytes[place...].starts(with: [0x5c, 0x75]) else {
      throw fault(.badEscape)
    }
    place += 2
    let second = try codeUnit()
    guard (0xdc00..<0xe000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw fault(.badEscape) }
    return scalar
  }

  private mutating func codeUnit() throws(JSONFault) -> UInt32 {
    guard place + 4 <= bytes.count else { throw fault(.unexpectedEnd) }
    let digits = bytes[place..<place + 4]
    // A sign is no digit, although the number parser would take it.
    guard digits.allSatisfy({ $0 >= UInt8(ascii: "0") }),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault(.badEscape) }
    place += 4
    return unit
  }
}
