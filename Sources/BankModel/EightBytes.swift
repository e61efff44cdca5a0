// Search for bytes that almost no text contains, eight bytes at a time. Source of the two formulas: Sean Eron
// Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less than n" and "Determine if a word has a byte
// equal to n". The formulas show exactly whether such a byte exists, but not where it is.

/// Eight bytes of a text.
public struct EightBytes {
  private let bytes: UInt64

  private init(_ bytes: UInt64) { self.bytes = bytes }

  private static func each(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// True if one of the bytes is below a limit of at most 128.
  public func hasByte(below limit: UInt8) -> Bool {
    (bytes &- Self.each(limit)) & ~bytes & Self.each(0x80) != 0
  }

  /// True if one of the bytes has this value.
  public func hasByte(_ byte: UInt8) -> Bool { EightBytes(bytes ^ Self.each(byte)).hasByte(below: 1) }

  /// True if one of the bytes is not ASCII.
  public var hasByteBeyondASCII: Bool { bytes & Self.each(0x80) != 0 }

  /// True if a text contains a wanted byte. `isAmong` tests eight bytes at a time, and `isWanted` tests each of the
  /// last bytes, at most seven. Both must accept the same byte values.
  public static func anywhere(
    in text: UnsafeBufferPointer<UInt8>, _ isAmong: (EightBytes) -> Bool, or isWanted: (UInt8) -> Bool
  ) -> Bool {
    let whole = text.count & ~7
    for place in stride(from: 0, to: whole, by: 8) {
      let bytes = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if isAmong(EightBytes(bytes)) { return true }
    }
    return text[whole...].contains(where: isWanted)
  }
}
