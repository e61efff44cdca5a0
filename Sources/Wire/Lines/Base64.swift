// Owns base 64 (RFC 4648, section 4). Invariant: reading is strict, so that one content has exactly one text: padding where
// it belongs and nowhere else, no space, no other alphabet, and the bits that nothing is made of are 0 (section 3.5).
// Failure: nil.

enum Base64 {
  /// The bytes that a text says; nil where it says none.
  static func bytes(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    var padding = 0
    while padding < 2, padding < text.count, text[text.count - 1 - padding] == UInt8(ascii: "=") {
      padding += 1
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var (group, bits): (UInt32, Int) = (0, 0)
    for character in text[..<(text.count - padding)] {
      guard let value = value(of: character) else { return nil }
      group = group << 6 | UInt32(value)
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(bits)))
      group &= (1 << UInt32(bits)) - 1
    }
    return group == 0 && bits == padding * 2 ? bytes : nil
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// Appends the text of bytes to a buffer.
  static func append(_ bytes: [UInt8], to buffer: inout [UInt8]) {
    let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let letters = alphabet.utf8Start
    buffer.reserveCapacity(buffer.count + (bytes.count + 2) / 3 * 4)
    var place = 0
    while place < bytes.count {
      let count = min(3, bytes.count - place)
      var group: UInt32 = 0
      for offset in 0..<3 { group = group << 8 | (offset < count ? UInt32(bytes[place + offset]) : 0) }
      for offset in 0..<4 {
        buffer.append(
          offset <= count ? letters[Int(group >> UInt32(18 - 6 * offset)) & 63] : UInt8(ascii: "="))
      }
      place += 3
    }
  }
}
