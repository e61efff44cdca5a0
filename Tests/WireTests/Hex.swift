// Hexadecimal text for the tests of this target. Invariant: `bytes(hex(x)) == x`; white space in hexadecimal
// text is ignored. Other text gives nil.

/// Lower-case hexadecimal text, two digits a byte.
func hex(_ bytes: some Sequence<UInt8>) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// The bytes of hexadecimal text.
func bytes(_ hex: String) -> [UInt8]? {
  let digits = hex.filter { !$0.isWhitespace }.map { $0.hexDigitValue }
  guard digits.count.isMultiple(of: 2) else { return nil }
  var bytes: [UInt8] = []
  for place in stride(from: 0, to: digits.count, by: 2) {
    guard let high = digits[place], let low = digits[place + 1] else { return nil }
    bytes.append(UInt8(high * 16 + low))
  }
  return bytes
}
