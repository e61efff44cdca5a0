// Text that is HTML.
// Invariant: interpolated text that is not HTML is escaped for elements and quoted attributes. Text of customers
// therefore cannot become an element.

/// A piece of an HTML document. Values inserted into its literal are escaped, unless they are HTML, too.
///
///     let row: HTML = #"<li data-key="\#(ticket)">\#(name)</li>"#
public struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
  /// The text for the document.
  public private(set) var text: String

  /// HTML of a literal in the source.
  public init(stringLiteral literal: String) { text = literal }

  /// HTML of a literal with values.
  public init(stringInterpolation interpolation: Interpolation) { text = interpolation.text }

  /// Empty HTML.
  public static let nothing: HTML = ""

  /// Escaped text.
  public init(escaping text: String) {
    self.text = ""
    Self.escape(text, into: &self.text)
  }

  /// Text that is HTML already, such as the contents of a region. It is not escaped.
  init(trusted text: String) { self.text = text }

  /// Concatenates HTML without escaping.
  public static func + (left: HTML, right: HTML) -> HTML {
    var sum = left
    sum.text += right.text
    return sum
  }

  /// Appends HTML without escaping.
  public static func += (left: inout HTML, right: HTML) { left.text += right.text }

  /// Appends a text, with its special characters replaced.
  fileprivate static func escape(_ text: some StringProtocol, into escaped: inout String) {
    var plain = Substring(text).utf8[...]
    while let place = plain.firstIndex(where: isSpecial) {
      escaped += String(decoding: plain[..<place], as: UTF8.self)
      // In UTF-8 a character whose first byte is 0xE2 has three bytes.
      let count = plain[place] == 0xE2 ? 3 : 1
      let end = plain.index(place, offsetBy: count, limitedBy: plain.endIndex) ?? plain.endIndex
      escaped += replacement(plain[place..<end])
      plain = plain[end...]
    }
    escaped += String(decoding: plain, as: UTF8.self)
  }

  /// True for the five special characters of HTML, for ASCII control characters other than tab and line feed, and for
  /// 0xE2, the first byte of the characters that change the text direction.
  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
    case 0x09, 0x0A: false
    case ..<0x20, 0x7F, 0xE2: true
    default: false
    }
  }

  /// True for U+202A to U+202E and U+2066 to U+2069: embeddings, overrides and isolates (Unicode Standard Annex 9).
  private static func changesDirection(_ bytes: Substring.UTF8View.SubSequence) -> Bool {
    let (second, third) = (bytes.dropFirst().first, bytes.dropFirst(2).first ?? 0)
    return second == 0x80 && (0xAA...0xAE).contains(third) || second == 0x81 && (0xA6...0xA9).contains(third)
  }

  /// The text that replaces a special character; the character itself if it is harmless.
  private static func replacement(_ bytes: Substring.UTF8View.SubSequence) -> String {
    switch bytes.first {
    case 0xE2: changesDirection(bytes) ? "\u{FFFD}" : String(decoding: bytes, as: UTF8.self)
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: "\u{FFFD}"
    }
  }

  /// Makes HTML of a literal with values: escapes values that are not HTML.
  public struct Interpolation: StringInterpolationProtocol {
    fileprivate var text: String

    /// Reserves capacity.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text = ""
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    /// Appends a literal of the source.
    public mutating func appendLiteral(_ literal: String) { text += literal }
    /// Appends HTML unchanged.
    public mutating func appendInterpolation(_ html: HTML) { text += html.text }
    /// Appends HTML; nil appends nothing.
    public mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    /// Appends pieces of HTML.
    public mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
    /// Appends text, escaped.
    public mutating func appendInterpolation(_ text: some StringProtocol) {
      HTML.escape(text, into: &self.text)
    }
    /// Appends a number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }
    /// Appends a value such as the name of a service, escaped.
    public mutating func appendInterpolation(_ name: some CustomStringConvertible) {
      HTML.escape(name.description, into: &text)
    }
  }
}
