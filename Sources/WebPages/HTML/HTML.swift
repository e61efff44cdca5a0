// Owns text that is HTML. Invariant: what comes out of a value that is not HTML itself is escaped, in an element as in a
// quoted attribute; only what stands in the source of this program is taken as it is. So nothing that a customer has written
// can become an element, and nobody has to remember to escape it.

/// A piece of a document.
///
///     let row: HTML = #"<li data-key="\#(ticket)">\#(name)</li>"#
///
/// What stands between the quotes is HTML; what is interpolated is escaped unless it is `HTML`.
public struct HTML: Sendable, Equatable, ExpressibleByStringInterpolation {
  /// The text, as it goes into a document.
  public private(set) var text: String

  /// What stands in the source.
  public init(stringLiteral literal: String) { text = literal }

  /// What was put together from a literal and values.
  public init(stringInterpolation interpolation: Interpolation) { text = interpolation.text }

  /// Nothing.
  public static let nothing: HTML = ""

  /// Text of somebody, escaped.
  public init(escaping text: String) {
    self.text = ""
    Self.escape(text, into: &self.text)
  }

  /// What was HTML before it became the text of a region.
  init(trusted text: String) { self.text = text }

  /// The one behind the other.
  public static func + (left: HTML, right: HTML) -> HTML {
    var sum = left
    sum.text += right.text
    return sum
  }

  /// Puts more behind it.
  public static func += (left: inout HTML, right: HTML) { left.text += right.text }

  fileprivate static func escape(_ text: some StringProtocol, into escaped: inout String) {
    var plain = Substring(text).utf8[...]
    while let place = plain.firstIndex(where: isSpecial) {
      escaped += String(decoding: plain[..<place], as: UTF8.self)
      // What begins with this byte has three.
      let count = plain[place] == 0xE2 ? 3 : 1
      let end = plain.index(place, offsetBy: count, limitedBy: plain.endIndex) ?? plain.endIndex
      escaped += replacement(plain[place..<end])
      plain = plain[end...]
    }
    escaped += String(decoding: plain, as: UTF8.self)
  }

  /// The five characters that mean something, control characters, which no document may hold, and the first byte of marks that
  /// turn the direction of the text around them.
  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"): true
    case 0x09, 0x0A: false
    case ..<0x20, 0x7F, 0xE2: true
    default: false
    }
  }

  /// U+202A to U+202E, and U+2066 to U+2069: embeddings, overrides and isolates (Unicode Standard Annex 9).
  private static func turnsAround(_ bytes: Substring.UTF8View.SubSequence) -> Bool {
    let (second, third) = (bytes.dropFirst().first, bytes.dropFirst(2).first ?? 0)
    return second == 0x80 && (0xAA...0xAE).contains(third) || second == 0x81 && (0xA6...0xA9).contains(third)
  }

  private static func replacement(_ bytes: Substring.UTF8View.SubSequence) -> String {
    switch bytes.first {
    case 0xE2: turnsAround(bytes) ? "\u{FFFD}" : String(decoding: bytes, as: UTF8.self)
    case UInt8(ascii: "<"): "&lt;"
    case UInt8(ascii: ">"): "&gt;"
    case UInt8(ascii: "&"): "&amp;"
    case UInt8(ascii: "\""): "&quot;"
    case UInt8(ascii: "'"): "&#39;"
    default: "\u{FFFD}"
    }
  }

  /// Gathers literals and values.
  public struct Interpolation: StringInterpolationProtocol {
    fileprivate var text: String

    /// Makes room.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text = ""
      text.reserveCapacity(literalCapacity + interpolationCount * 16)
    }

    /// What stands in the source.
    public mutating func appendLiteral(_ literal: String) { text += literal }
    /// A piece of a document, as it is.
    public mutating func appendInterpolation(_ html: HTML) { text += html.text }
    /// A piece of a document, or nothing.
    public mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    /// Pieces of a document, one behind the other.
    public mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
    /// Text, escaped.
    public mutating func appendInterpolation(_ text: some StringProtocol) {
      HTML.escape(text, into: &self.text)
    }
    /// A number.
    public mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }
    /// A name of the bank's, escaped like any text.
    public mutating func appendInterpolation(_ name: some CustomStringConvertible) {
      HTML.escape(name.description, into: &text)
    }
  }
}
