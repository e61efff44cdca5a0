// Search in a text eight bytes at a time: the same answer as byte by byte, for any place of the byte.

import BankModel
import Testing

@Suite struct ByteScannerTests {
  private func finds(
    _ text: [UInt8], _ matchesAny: (ByteScanner) -> Bool, or matchesByte: (UInt8) -> Bool
  ) -> Bool {
    text.withUnsafeBufferPointer { ByteScanner.containsByte(in: $0, matchesAny, or: matchesByte) }
  }

  @Test("every byte at every place of texts of every length up to three words")
  func everyByte() {
    for length in 1...24 {
      for place in [0, length / 2, length - 1] {
        for byte in UInt8.min...UInt8.max {
          var text = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          text[place] = byte
          let (isQuote, isControl, isBeyond) = (byte == 0x22, byte < 0x20, byte > 0x7f)
          #expect(finds(text, { $0.hasByte(0x22) }, or: { $0 == 0x22 }) == isQuote)
          #expect(finds(text, { $0.hasByte(below: 0x20) }, or: { $0 < 0x20 }) == isControl)
          #expect(finds(text, { $0.hasNonASCIIByte }, or: { $0 > 0x7f }) == isBeyond)
        }
      }
    }
  }

  @Test("a byte beside others that nearly match is neither missed nor invented")
  func neighbours() {
    // Formulas that borrow from one byte to the next are wrong here.
    for (low, high) in [(UInt8(0x20), UInt8(0x1f)), (0x21, 0x20), (0x23, 0x22), (0xa2, 0x23), (0x80, 0x00)] {
      let text = [low, high, low, low, low, high, low, low]
      #expect(finds(text, { $0.hasByte(0x22) }, or: { _ in false }) == text.contains(0x22))
      #expect(finds(text, { $0.hasByte(below: 0x20) }, or: { _ in false }) == text.contains { $0 < 0x20 })
      #expect(finds(text, { $0.hasByte(below: 0x21) }, or: { _ in false }) == text.contains { $0 < 0x21 })
    }
  }

  @Test("nothing is found in an empty text")
  func empty() { #expect(!finds([], { _ in true }, or: { _ in true })) }
}
