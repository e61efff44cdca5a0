// Owns how a text is searched eight bytes at a time for what nearly no text has in it.
// Source of the two formulas: Sean Eron Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less than n" and
// "… equal to n"; whether there is one is exact, which one it is need not be.

/// Eight bytes of a text.
public struct EightBytes {
  private let bytes: UInt64

  private init(_ bytes: UInt64) { self.bytes = bytes }

  private static func each(_ byte: UInt8) -> UInt64 { 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// Whether one of them is below a limit, which is 128 at most.
  public func hasByte(below limit: UInt8) -> Bool {
    (bytes &- Self.each(limit)) & ~bytes & Self.each(0x80) != 0
  }

  /// Whether one of them is this one.
  public func hasByte(_ byte: UInt8) -> Bool { EightBytes(bytes ^ Self.each(byte)).hasByte(below: 1) }

  /// Whether one of them is not of ASCII.
  public var hasByteBeyondASCII: Bool { bytes & Self.each(0x80) != 0 }

  /// Whether a text has a byte that is looked for: eight are asked at a time, and the last few, which are no eight, one by
  /// one. Both have to be about the same bytes.
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
