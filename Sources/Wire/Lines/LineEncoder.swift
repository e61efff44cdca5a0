// Encodes a message, and its values, as a line in an output buffer.
// Invariant: a call appends a whole line or nothing. A line has no newline before its last byte.

/// Writes messages as lines into an output buffer.
public struct LineEncoder: Sendable {
  /// A line encoder; it has no options.
  public init() {}

  /// Appends a message as one line to a buffer. Appends nothing if the message has no line form.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - buffer: receives the line after its content; unchanged on an error.
  ///   - limit: maximum length of the line in bytes, without the newline; one of ``LineLimits``.
  /// - Throws: ``LineError`` if the line exceeds the limit.
  public func append(
    _ message: some FrameMessage, to buffer: inout [UInt8], limit: Int
  ) throws(LineError) {
    let begin = buffer.count
    message.appendLine(to: &buffer)
    guard buffer.count > begin else { return }
    guard buffer.count - begin <= limit else {
      buffer.removeSubrange(begin...)
      throw .tooLong(maximum: limit)
    }
    buffer.append(0x0a)
  }
}

extension [UInt8] {
  /// Appends the constant part of a message.
  @inline(__always) mutating func append(line literal: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  /// Appends a constant part, which ends with a key, and a number.
  mutating func append(line literal: StaticString, _ number: some FixedWidthInteger) {
    append(line: literal)
    append(decimal: number)
  }

  /// Appends a constant part, which ends with a key, and a string.
  mutating func append(line literal: StaticString, _ text: String) {
    append(line: literal)
    var text = text
    text.withUTF8 { append(quoted: $0) }
  }

  /// Appends an integer in decimal digits.
  private mutating func append(decimal number: some FixedWidthInteger) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = UInt64(number.magnitude)
    guard rest >= 10 else { return append(UInt8(rest) + 0x30) }
    let begin = count
    while rest > 0 {
      append(UInt8(truncatingIfNeeded: rest % 10) + 0x30)
      rest /= 10
    }
    self[begin...].reverse()
  }

  /// Appends a string in quotes, with escapes (RFC 8259). The caller passes valid UTF-8.
  mutating func append(quoted text: UnsafeBufferPointer<UInt8>) {
    append(UInt8(ascii: "\""))
    var begin = 0
    for position in 0..<text.count {
      let byte = text[position]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      append(contentsOf: UnsafeBufferPointer(rebasing: text[begin..<position]))
      append(escaped: byte)
      begin = position + 1
    }
    append(contentsOf: UnsafeBufferPointer(rebasing: text[begin...]))
    append(UInt8(ascii: "\""))
  }

  /// Appends the escape of a character that a string must not contain.
  private mutating func append(escaped byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0a: append(UInt8(ascii: "n"))
    case 0x0c: append(UInt8(ascii: "f"))
    case 0x0d: append(UInt8(ascii: "r"))
    case ..<0x20:
      append(line: "u00")
      append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      let low = byte & 0x0f
      append(low < 10 ? low + 0x30 : low - 10 + UInt8(ascii: "a"))
    default: append(byte)
    }
  }
}
