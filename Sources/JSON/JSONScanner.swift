// Strict scanner for JSON text (RFC 8259): no comments, no trailing commas, and only whitespace after the value.
// Invariant: any input gives a value or a typed fault with its position.

/// Error in a JSON text.
public struct JSONFault: Error, Sendable, Hashable {
  /// Rule that the text breaks.
  public enum Reason: Sendable, Hashable {
    case unexpectedEnd
    /// This character is not allowed here.
    case unexpected(String)
    case notUTF8
    /// An unescaped control character in a string.
    case controlCharacter
    /// An invalid escape in a string, or half of a surrogate pair.
    case badEscape
    /// A number such as `01`, `-.5` or `1.`.
    case badNumber
    /// Arrays and objects are nested too deep for ``JSONReader``.
    case tooDeep
    case trailing
  }

  /// The broken rule.
  public var reason: Reason
  /// Line, from 1.
  public var line: Int
  /// Column in bytes, from 1.
  public var column: Int

  public init(_ reason: Reason, line: Int, column: Int) {
    self.reason = reason
    self.line = line
    self.column = column
  }
}

/// Scans a JSON text from start to end.
public struct JSONScanner {
  private let bytes: ArraySlice<UInt8>
  private var position: Int
  /// Current line, from 1.
  public private(set) var line = 1
  private var lineStart: Int

  /// A scanner at the start of a text in UTF-8.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
    lineStart = position
  }

  /// Current byte; nil at the end.
  public var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  /// Fault for a broken rule at the current position.
  func fault(_ reason: JSONFault.Reason) -> JSONFault {
    JSONFault(reason, line: line, column: position - lineStart + 1)
  }

  /// Fault for the unexpected character at the current position.
  func unexpected() -> JSONFault {
    guard let next else { return fault(.unexpectedEnd) }
    let first = String(decoding: bytes[position...].prefix(4), as: UTF8.self).first
    return fault(.unexpected(first.map(String.init) ?? "\(next)"))
  }

  /// True for whitespace between values.
  public static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
  }

  /// Skips whitespace.
  public mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) {
      position += 1
      if byte == 0x0a {
        line += 1
        lineStart = position
      }
    }
  }

  /// Consumes this byte, or throws.
  public mutating func take(_ byte: UInt8) throws(JSONFault) {
    guard next == byte else { throw unexpected() }
    position += 1
  }

  /// Consumes these bytes and returns true if they are next.
  mutating func consumeIfNext(_ literal: some Collection<UInt8>) -> Bool {
    guard bytes[position...].starts(with: literal) else { return false }
    position += literal.count
    return true
  }

  /// Checks that only whitespace follows.
  public mutating func end() throws(JSONFault) {
    skipSpace()
    if next != nil { throw fault(.trailing) }
  }

  // MARK: Objects and arrays

  /// Reads the next key of an object whose opening brace was consumed, and moves to the value of the key.
  /// Returns the key and its line, or nil after it has consumed the closing brace.
  public mutating func nextKey(isFirst: Bool) throws(JSONFault) -> (name: String, line: Int)? {
    guard try hasNext(isFirst: isFirst, before: UInt8(ascii: "}")) else { return nil }
    let begin = line
    let name = try string()
    skipSpace()
    try take(UInt8(ascii: ":"))
    skipSpace()
    return (name, begin)
  }

  /// Consumes the closing bracket and returns false. If the bracket is not next, consumes the comma, unless
  /// this is the first element, and returns true: an element has to follow.
  mutating func hasNext(isFirst: Bool, before close: UInt8) throws(JSONFault) -> Bool {
    skipSpace()
    if next == close {
      position += 1
      return false
    }
    if !isFirst {
      try take(UInt8(ascii: ","))
      skipSpace()
    }
    return true
  }

  /// Parses `true`, `false` or `null`; nil for `null`.
  public mutating func literal() throws(JSONFault) -> Bool? {
    if consumeIfNext("true".utf8) { return true }
    if consumeIfNext("false".utf8) { return false }
    if consumeIfNext("null".utf8) { return nil }
    throw unexpected()
  }

  // MARK: Numbers

  /// Parses a number. Returns its text, so that it is not rounded.
  public mutating func number() throws(JSONFault) -> String {
    let begin = position
    if next == UInt8(ascii: "-") { position += 1 }
    let leading = position
    guard digits() > 0 else { throw fault(.badNumber) }
    if bytes[leading] == UInt8(ascii: "0"), position > leading + 1 {
      position = leading + 1
      throw fault(.badNumber)
    }
    if next == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { throw fault(.badNumber) }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { throw fault(.badNumber) }
    }
    return String(decoding: bytes[begin..<position], as: UTF8.self)
  }

  /// Consumes digits, and returns their number.
  private mutating func digits() -> Int {
    let begin = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position - begin
  }
}

// MARK: - Strings

extension JSONScanner {
  /// Parses a string. Returns its content with the escapes decoded.
  public mutating func string() throws(JSONFault) -> String {
    try take(UInt8(ascii: "\""))
    let begin = position
    // Most strings have no escape. Their content is copied once.
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    if next == UInt8(ascii: "\"") { return try text(bytes[begin..<position]) }
    var content = Array(bytes[begin..<position])
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""): return try text(content[...])
      case UInt8(ascii: "\\"): try escape(into: &content)
      case ..<0x20: throw fault(.controlCharacter)
      default:
        content.append(byte)
        position += 1
      }
    }
    throw fault(.unexpectedEnd)
  }

  /// Converts the content of a string to text, and consumes the closing quote at the current position.
  private mutating func text(_ content: ArraySlice<UInt8>) throws(JSONFault) -> String {
    guard let string = String(validating: content, as: UTF8.self) else { throw fault(.notUTF8) }
    position += 1
    return string
  }

  /// Decodes the escape at the current position, and appends it to the content.
  private mutating func escape(into content: inout [UInt8]) throws(JSONFault) {
    position += 1
    guard let kind = next else { throw fault(.unexpectedEnd) }
    let plain: UInt8? =
      switch kind {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): kind
      case UInt8(ascii: "b"): 0x08
      case UInt8(ascii: "f"): 0x0c
      case UInt8(ascii: "n"): 0x0a
      case UInt8(ascii: "r"): 0x0d
      case UInt8(ascii: "t"): 0x09
      default: nil
      }
    guard plain != nil || kind == UInt8(ascii: "u") else { throw fault(.badEscape) }
    position += 1
    if let plain { return content.append(plain) }
    content.append(contentsOf: String(try escapedScalar()).utf8)
  }

  /// Decodes the digits after `\u`, with a second escape if they are half of a surrogate pair.
  private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard (0xd800..<0xdc00).contains(first), consumeIfNext("\\u".utf8) else { throw fault(.badEscape) }
    let second = try codeUnit()
    guard (0xdc00..<0xe000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw fault(.badEscape) }
    return scalar
  }

  /// Consumes four hexadecimal digits.
  private mutating func codeUnit() throws(JSONFault) -> UInt32 {
    let digits = bytes[position...].prefix(4)
    // A sign is not a hex digit, although `UInt32(_:radix:)` would accept it.
    guard digits.count == 4, digits.allSatisfy({ $0 >= UInt8(ascii: "0") }),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw fault(.badEscape) }
    position += 4
    return unit
  }
}
