// Format of one value in a log line: plain, or quoted with escapes. `LogLine` parses it.
// Invariant: the output contains no byte below 0x20, no DEL, and no character that a terminal or editor
// treats as a line end or change of direction. One event is therefore one line for any value.
// Errors: none; a value that is too long is cut and marked.

import BankModel

/// Appends single values to a log line.
///
/// | written | for |
/// |---|---|
/// | as it is | one or more ASCII characters from `!` to `~` except `"`, `=` and `\` |
/// | in `"…"` | everything else; `\"`, `\\`, `\n`, `\r`, `\t` as in JSON |
/// | `\u0000` | other control characters (C0, DEL, C1), line and paragraph separators, marks of direction, BOM |
/// | `\x00` | a byte that is not part of valid UTF-8 |
enum LogValue {
  /// Maximum length of a value in bytes before escaping. The rest is replaced by `…`.
  static let longest = 4096

  /// Appends a text, in quotes if necessary.
  static func append(_ text: String, to line: inout [UInt8]) {
    var text = text
    text.withUTF8 { append(bytes: $0, to: &line) }
  }

  /// Appends bytes, usually UTF-8. Invalid bytes are escaped.
  static func append(bytes: UnsafeBufferPointer<UInt8>, to line: inout [UInt8]) {
    if !bytes.isEmpty, bytes.count <= longest, isPlain(bytes) {
      line.append(contentsOf: bytes)
    } else {
      appendQuoted(bytes, to: &line)
    }
  }

  /// Maximum length of a whole number in bytes: nineteen digits and a sign.
  static let longestNumber = 20

  /// Appends a whole number without allocating a string.
  static func append(_ number: Int64, to line: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestNumber) { room in
      let start = write(number, endingAt: room.count, in: room)
      line.append(contentsOf: UnsafeBufferPointer(rebasing: room[start...]))
    }
  }

  /// Writes a whole number into `room` before the index `end`. Returns its start index.
  static func write(
    _ number: Int64, endingAt end: Int, in room: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    var position = end
    var rest = number.magnitude
    repeat {
      position -= 1
      room[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if number < 0 {
      position -= 1
      room[position] = UInt8(ascii: "-")
    }
    return position
  }

  /// Returns a text in quotes, even if it needs none.
  static func quoted(_ text: String) -> [UInt8] {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { appendQuoted($0, to: &bytes) }
    return bytes
  }

  private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    !ByteScanner.containsByte(
      in: text,
      {
        $0.hasNonASCIIByte || $0.hasByte(below: 0x21) || $0.hasByte(0x7f)
          || $0.hasByte(UInt8(ascii: "\"")) || $0.hasByte(UInt8(ascii: "="))
          || $0.hasByte(UInt8(ascii: "\\"))
      }, or: { !isPlain($0) })
  }

  /// True if a byte is allowed in a value without quotes.
  @inline(__always)
  static func isPlain(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "=")
      && byte != UInt8(ascii: "\\")
  }

  /// Appends a value in quotes. ASCII parts without escapes are copied in one piece, not byte by byte.
  private static func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>, to line: inout [UInt8]) {
    line.append(UInt8(ascii: "\""))
    var position = 0
    while position < bytes.count {
      let run = plainRun(bytes, from: position)
      if run > position {
        line.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[position..<run]))
        position = run
        continue
      }
      let byte = bytes[position]
      let length = byte < 0x80 ? 1 : scalarLength(bytes, at: position)
      if position + max(length, 1) > longest {
        line.append(contentsOf: "…".utf8)
        break
      }
      switch length {
      case 0: appendEscape(UInt8(ascii: "x"), UInt32(byte), digits: 2, to: &line)
      case 1: appendASCII(byte, to: &line)
      default: appendScalar(bytes, at: position, length: length, to: &line)
      }
      position += max(length, 1)
    }
    line.append(UInt8(ascii: "\""))
  }

  /// End of the ASCII bytes from `begin` that need no escape between quotes; `begin` if the first byte is not one of
  /// them.
  private static func plainRun(_ bytes: UnsafeBufferPointer<UInt8>, from begin: Int) -> Int {
    let end = min(bytes.count, longest)
    var position = begin
    while position < end,
      isPlain(bytes[position]) || bytes[position] == 0x20 || bytes[position] == UInt8(ascii: "=")
    {
      position += 1
    }
    return position
  }

  /// Appends a byte with the escapes for quoted values and JSON.
  static func appendASCII(_ byte: UInt8, to line: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      line.append(UInt8(ascii: "\\"))
      line.append(byte)
    case UInt8(ascii: "\n"): line.append(contentsOf: "\\n".utf8)
    case UInt8(ascii: "\r"): line.append(contentsOf: "\\r".utf8)
    case UInt8(ascii: "\t"): line.append(contentsOf: "\\t".utf8)
    case 0x20..<0x7f: line.append(byte)
    default: appendEscape(UInt8(ascii: "u"), UInt32(byte), digits: 4, to: &line)
    }
  }

  /// Appends a multi-byte character, or its escape if it is misleading.
  private static func appendScalar(
    _ bytes: UnsafeBufferPointer<UInt8>, at position: Int, length: Int, to line: inout [UInt8]
  ) {
    var scalar = UInt32(bytes[position]) & (0x7f >> UInt32(length))
    for offset in 1..<length { scalar = scalar << 6 | UInt32(bytes[position + offset] & 0x3f) }
    if isMisleading(scalar) {
      appendEscape(UInt8(ascii: "u"), scalar, digits: 4, to: &line)
    } else {
      for offset in 0..<length { line.append(bytes[position + offset]) }
    }
  }

  /// True for the characters beyond ASCII that are escaped: C1 controls, line and paragraph separators, marks of
  /// direction, and the byte order mark. All of them have at most four hexadecimal digits.
  static func isMisleading(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x80...0x9f, 0x2028...0x202e, 0x2066...0x2069, 0x200e, 0x200f, 0x061c, 0xfeff: true
    default: false
    }
  }

  /// Appends a backslash, a letter and hexadecimal digits.
  static func appendEscape(_ kind: UInt8, _ value: UInt32, digits: Int, to line: inout [UInt8]) {
    line.append(UInt8(ascii: "\\"))
    line.append(kind)
    for position in (0..<digits).reversed() {
      let digit = UInt8(truncatingIfNeeded: value >> UInt32(4 * position)) & 0xf
      line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }

  /// Length of the multi-byte character at `position`; 0 if the bytes are not a valid character (RFC 3629, section 4).
  private static func scalarLength(_ bytes: UnsafeBufferPointer<UInt8>, at position: Int) -> Int {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xbf
    switch bytes[position] {
    case 0xc2...0xdf: length = 2
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: length = 3
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: length = 4
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    default: return 0
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { return 0 }
    for offset in 2..<max(length, 2) where bytes[position + offset] & 0xc0 != 0x80 { return 0 }
    return length
  }
}
