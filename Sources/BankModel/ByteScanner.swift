// Search for bytes in a text, eight bytes at a time. Source of the two formulas: Sean Eron Anderson, Bit Twiddling
// Hacks, "Determine if a word has a byte less than n" and "Determine if a word has a byte equal to n". The formulas
// show whether such a byte exists, but not where it is.

/// Eight bytes of a text.
public struct ByteScanner {
  private let bytes: UInt64

  private init(_ bytes: UInt64) { self.bytes = bytes }

  /// Number that consists of eight copies of `byte`.
  private static func repeated(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// True if one of the bytes is below a limit of at most 128.
  public func hasByte(below limit: UInt8) -> Bool {
    (bytes &- Self.repeated(limit)) & ~bytes & Self.repeated(0x80) != 0
  }

  /// True if one of the bytes has this value.
  public func hasByte(_ byte: UInt8) -> Bool { ByteScanner(bytes ^ Self.repeated(byte)).hasByte(below: 1) }

  /// True if one of the bytes is not ASCII.
  public var hasNonASCIIByte: Bool { bytes & Self.repeated(0x80) != 0 }

  /// True if a text contains a wanted byte. `matchesAny` tests eight bytes at a time, and `matchesByte` a single byte
  /// at the end. Both must accept the same byte values.
  public static func containsByte(
    in text: UnsafeBufferPointer<UInt8>, _ matchesAny: (ByteScanner) -> Bool, or matchesByte: (UInt8) -> Bool
  ) -> Bool {
    let whole = text.count & ~7
    for place in stride(from: 0, to: whole, by: 8) {
      let bytes = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if matchesAny(ByteScanner(bytes)) { return true }
    }
    return text[whole...].contains(where: matchesByte)
  }
}
