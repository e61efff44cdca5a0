// Owns reading one JSON object whose values are all texts and numbers, strictly after RFC 8259.
// It must not know which fields there should be.
// Invariant: any bytes give fields or a fault with its place; nothing recurses, and nothing is kept but one
// field.
// Failure: Fault, with the column in bytes from 1.

/// Reads the fields of a flat object one after the other.
struct FlatJSONScanner {
  /// A value.
  enum Value: Sendable, Equatable {
    /// A text, its escapes resolved.
    case text(String)
    /// A whole number within 64 bits.
    case integer(Int64)
    /// Anything else: a fraction, a number that is too large, true, false, null, an array, an object.
    case other
  }

  /// What is no flat object.
  enum Fault: Error, Sendable, Equatable {
    /// It does not begin with `{`.
    case noObject
    /// Something else was expected at this column.
    case syntax(column: Int)
    /// A text with a bad escape, a control character, or half a surrogate pair.
    case badText(column: Int)
    /// Bytes that are no UTF-8.
    case notUTF8
  }

  private let bytes: ArraySlice<UInt8>
  private var index: Int
  private var isFirst = true

  /// Begins with the opening brace.
  init(_ bytes: ArraySlice<UInt8>) throws(Fault) {
    self.bytes = bytes
    index = bytes.startIndex
    skipSpace()
    guard peek == UInt8(ascii: "{") else { throw .noObject }
    index += 1
  }

  /// The next field; nil at the end of the object, behind which there is nothing.
  mutating func next() throws(Fault) -> (name: String, value: Value)? {
    skipSpace()
    if peek == UInt8(ascii: "}") && isFirst { return try end() }
    if !isFirst {
      if peek == UInt8(ascii: "}") { return try end() }
      guard peek == UInt8(ascii: ",") else { throw syntax }
      index += 1
      skipSpace()
    }
    isFirst = false
    guard peek == UInt8(ascii: "\"") else { throw syntax }
    let name = try text()
    skipSpace()
    guard peek == UInt8(ascii: ":") else { throw syntax }
    index += 1
    skipSpace()
    return (name, try value())
  }

  private mutating func end() throws(Fault) -> (name: String, value: Value)? {
    index += 1
    skipSpace()
    guard peek == nil else { throw syntax }
    return nil
  }

  private var peek: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

  private var syntax: Fault { .syntax(column: index - bytes.startIndex + 1) }

  private mutating func skipSpace() {
    while index < bytes.endIndex, Self.isSpace(bytes[index]) { index += 1 }
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
      || byte == UInt8(ascii: "\n")
  }

  private mutating func value() throws(Fault) -> Value {
    guard let byte = peek else { throw syntax }
    switch byte {
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    case UInt8(ascii: "t"): return try word("true")
    case UInt8(ascii: "f"): return try word("false")
    case UInt8(ascii: "n"): return try word("null")
    // What is inside does not matter: no field may have such a value.
    case UInt8(ascii: "["), UInt8(ascii: "{"): return .other
    default: throw syntax
    }
  }

  private mutating func word(_ word: StaticString) throws(Fault) -> Value {
    let length = word.utf8CodeUnitCount
    let rest = bytes[index...].prefix(length)
    guard rest.elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: length)) else { throw syntax }
    index += length
    return .other
  }

  private mutating func number() throws(Fault) -> Value {
    let start = index
    if peek == UInt8(ascii: "-") { index += 1 }
    let first = index
    try digits()
    if bytes[first] == UInt8(ascii: "0") && index - first > 1 {
      index = first + 1
      throw syntax
    }
    let end = index
    if peek == UInt8(ascii: ".") {
      index += 1
      try digits()
    }
    if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
      index += 1
      if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { index += 1 }
      try digits()
    }
    guard index == end, let whole = Int64(String(decoding: bytes[start..<end], as: UTF8.self)) else {
      return .other
    }
    return .integer(whole)
  }

  private mutating func digits() throws(Fault) {
    let start = index
    while let byte = peek, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { index += 1 }
    if index == start { throw syntax }
  }
}

extension FlatJSONScanner {
  /// The text that begins at the present quote.
  private mutating func text() throws(Fault) -> String {
    index += 1
    let start = index
    // Most texts have no escape, and then they are copied once.
    while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
    if peek == UInt8(ascii: "\"") {
      defer { index += 1 }
      return try string(bytes[start..<index])
    }
    var content = Array(bytes[start..<index])
    while let byte = peek {
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return try string(content[...])
      case UInt8(ascii: "\\"): try escape(into: &content)
      case ..<0x20: throw badText
      default:
        content.append(byte)
        index += 1
      }
    }
    throw syntax
  }

  private var badText: Fault { .badText(column: index - bytes.startIndex + 1) }

  private func string(_ content: ArraySlice<UInt8>) throws(Fault) -> String {
    guard let text = String(validating: content, as: UTF8.self) else { throw .notUTF8 }
    return text
  }

  private mutating func escape(into content: inout [UInt8]) throws(Fault) {
    index += 1
    guard let byte = peek else { throw syntax }
    let plain: UInt8? =
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
      case UInt8(ascii: "b"): 0x08
      case UInt8(ascii: "f"): 0x0C
      case UInt8(ascii: "n"): 0x0A
      case UInt8(ascii: "r"): 0x0D
      case UInt8(ascii: "t"): 0x09
      default: nil
      }
    if let plain {
      index += 1
      content.append(plain)
      return
    }
    guard byte == UInt8(ascii: "u") else { throw badText }
    index += 1
    var code = try fourDigits()
    if (0xD800..<0xDC00).contains(code) {
      guard bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else { throw badText }
      index += 2
      let low = try fourDigits()
      guard (0xDC00..<0xE000).contains(low) else { throw badText }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw badText }
    content.append(contentsOf: String(scalar).utf8)
  }

  private mutating func fourDigits() throws(Fault) -> UInt32 {
    let digits = bytes[index...].prefix(4)
    // A sign would be taken for a number by the library.
    guard digits.count == 4, digits.allSatisfy({ Self.isHexadecimal($0) }),
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw badText }
    index += 4
    return code
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }
}
