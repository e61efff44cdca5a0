// Strings of a line. Invariant: the reader checks a string, including its escapes, when it scans the string. The
// content is decoded on request, so a string that is skipped needs no memory.

import JSON

/// A string that the reader has scanned and found valid.
struct LineText {
  /// Offsets of the content between the quotes.
  fileprivate let range: Range<Int>
  /// True if the content has escapes.
  fileprivate let isEscaped: Bool
  /// Offset of the opening quote.
  var begin: Int { range.lowerBound - 1 }
}

extension LineReader {
  /// Scans a string, and checks its escapes.
  mutating func string() throws(LineParseError) -> LineText {
    try take(UInt8(ascii: "\""))
    let begin = position
    var isEscaped = false
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        position += 1
        return LineText(range: begin..<(position - 1), isEscaped: isEscaped)
      }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        position += try escape(at: position).length
      } else {
        guard byte >= 0x20 else { throw fault(.controlCharacter) }
        position += 1
      }
    }
    throw fault(.endsEarly)
  }

  /// The string that is the value of a key.
  mutating func string(_ word: LineKey) throws(LineParseError) -> LineText {
    guard isAt(UInt8(ascii: "\"")) else { throw wanted(word, "a string") }
    return try string()
  }

  /// Decodes the escape at this offset.
  private func escape(at begin: Int) throws(LineParseError) -> (scalar: Unicode.Scalar, length: Int) {
    guard begin + 1 < bytes.count else { throw LineParseError(.endsEarly, at: bytes.count) }
    switch bytes[begin + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      return (Unicode.Scalar(bytes[begin + 1]), 2)
    case UInt8(ascii: "b"): return ("\u{8}", 2)
    case UInt8(ascii: "f"): return ("\u{c}", 2)
    case UInt8(ascii: "n"): return ("\n", 2)
    case UInt8(ascii: "r"): return ("\r", 2)
    case UInt8(ascii: "t"): return ("\t", 2)
    case UInt8(ascii: "u"): break
    default: throw LineParseError(.badEscape, at: begin)
    }
    guard let first = codeUnit(at: begin + 2) else { throw LineParseError(.badEscape, at: begin) }
    if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
    guard first < 0xdc00, begin + 7 < bytes.count, bytes[begin + 6] == UInt8(ascii: "\\"),
      bytes[begin + 7] == UInt8(ascii: "u"), let second = codeUnit(at: begin + 8), second >= 0xdc00,
      second < 0xe000, let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
    else { throw LineParseError(.badEscape, at: begin) }
    return (scalar, 12)
  }

  /// Value of four hexadecimal digits; nil if there are others.
  private func codeUnit(at begin: Int) -> UInt32? {
    guard bytes.count - begin >= 4 else { return nil }
    var unit: UInt32 = 0
    for byte in bytes[begin..<(begin + 4)] {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        digit = (byte | 0x20) - UInt8(ascii: "a") + 10
      default: return nil
      }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  // MARK: Content

  /// Calls `body` with the content of a string, with its escapes decoded.
  func withBytes<R>(of text: LineText, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    guard text.isEscaped else { return body(UnsafeBufferPointer(rebasing: bytes[text.range])) }
    return content(text).withUnsafeBufferPointer(body)
  }

  /// Content of a string, with its escapes decoded.
  private func content(_ text: LineText) -> [UInt8] {
    var content: [UInt8] = []
    content.reserveCapacity(text.range.count)
    var position = text.range.lowerBound
    while position < text.range.upperBound {
      // `string()` has checked every escape, so none is refused now.
      if bytes[position] == UInt8(ascii: "\\"), let (scalar, length) = try? escape(at: position) {
        content.append(contentsOf: UTF8.encode(scalar).unsafelyUnwrapped)
        position += length
      } else {
        content.append(bytes[position])
        position += 1
      }
    }
    return content
  }

  /// The content as text. Of content longer than `limit` bytes, only its start, cut between two scalars.
  func text(_ text: LineText, first limit: Int = .max) -> String {
    withBytes(of: text) { content in
      var end = min(content.count, limit)
      while end > 0, end < content.count, content[end] & 0xc0 == 0x80 { end -= 1 }
      return String(decoding: content[..<end], as: UTF8.self)
    }
  }

  /// The content as text. Of content longer than `limit` bytes, only its end, cut between two scalars.
  func text(_ text: LineText, last limit: Int) -> String {
    withBytes(of: text) { content in
      var begin = max(0, content.count - limit)
      while begin > 0, begin < content.count, content[begin] & 0xc0 == 0x80 { begin += 1 }
      return String(decoding: content[begin...], as: UTF8.self)
    }
  }

  /// The bytes of a base64 string; see ``Base64``.
  func base64(_ word: LineKey, _ text: LineText) throws(LineParseError) -> [UInt8] {
    guard let bytes = withBytes(of: text, { try? Base64.decode($0) }) else {
      throw LineParseError(
        .wanted(word.name, "base64 with padding and without space (RFC 4648)"), at: text.begin)
    }
    return bytes
  }
}
