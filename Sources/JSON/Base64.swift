// Base64 with padding (RFC 4648, section 4), for byte strings in JSON.
// Invariant: a sequence of bytes has one text. Any other text is refused, with the position of the error.

/// Base64 encoder and decoder.
public enum Base64 {
  private static let alphabet: StaticString =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
  private static let padding = UInt8(ascii: "=")

  /// Error of a text that is not valid base64.
  public struct Fault: Error, Equatable {
    /// Position of the error in bytes, from 1; at most one after the end of the text.
    public let place: Int
    public init(place: Int) { self.place = place }
  }

  /// Encodes bytes as text with padding and without line breaks.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the text of these bytes to a buffer.
  public static func append(_ bytes: [UInt8], to buffer: inout [UInt8]) {
    buffer.reserveCapacity(buffer.count + (bytes.count + 2) / 3 * 4)
    let letters = alphabet.utf8Start
    var place = 0
    while place < bytes.count {
      let count = min(3, bytes.count - place)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? UInt32(bytes[place + offset]) : 0) }
      for letter in 0..<4 {
        buffer.append(letter <= count ? letters[Int(group >> UInt32(18 - 6 * letter) & 63)] : padding)
      }
      place += count
    }
  }

  /// Decodes a text with padding and without line breaks. Throws a ``Fault`` for any other text.
  public static func decode(_ text: String) throws(Fault) -> [UInt8] {
    let letters = Array(text.utf8)
    let decoded = letters.withUnsafeBufferPointer { letters -> Result<[UInt8], Fault> in
      do throws(Fault) { return .success(try decode(letters)) } catch { return .failure(error) }
    }
    return try decoded.get()
  }

  /// Decodes a text in a buffer, with padding and without line breaks.
  public static func decode(_ letters: UnsafeBufferPointer<UInt8>) throws(Fault) -> [UInt8] {
    guard letters.count % 4 == 0 else {
      throw Fault(place: firstInvalidPosition(in: letters) ?? letters.count + 1)
    }
    let padded = letters.suffix(2).reversed().prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(letters.count / 4 * 3)
    var group: UInt32 = 0
    for (place, letter) in letters.dropLast(padded).enumerated() {
      guard let value = value(of: letter) else { throw Fault(place: place + 1) }
      group = group << 6 | value
      guard place % 4 == 3 else { continue }
      for shift in [16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: group >> shift)) }
      group = 0
    }
    // The unused bits of the last character have to be zero, so that only one text is valid (RFC 4648, section
    // 3.5).
    switch padded {
    case 1:
      guard group & 3 == 0 else { throw Fault(place: letters.count - 1) }
      bytes += [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
    case 2:
      guard group & 15 == 0 else { throw Fault(place: letters.count - 2) }
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    default: break
    }
    return bytes
  }

  /// Position from 1 of the first character that is neither of the alphabet nor padding; nil for none.
  private static func firstInvalidPosition(in letters: UnsafeBufferPointer<UInt8>) -> Int? {
    letters.firstIndex { value(of: $0) == nil && $0 != padding }.map { $0 + 1 }
  }

  /// The six bits of a character; nil if it is not of the alphabet.
  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter) - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter) - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter) + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
