// Text that carries any bytes.
import Testing

@testable import ByteText

@Suite struct ByteTextTests {
  @Test("valid UTF-8 is itself")
  func plain() {
    for text in ["", "a", "은행 é e\u{301} 🏦 \u{10ff7f}", "\u{0}\n"] {
      #expect(Array(ByteText.text(of: Array(text.utf8)).utf8) == Array(text.utf8))
      #expect(ByteText.bytes(of: text) == Array(text.utf8))
      #expect(!ByteText.containsNonUTF8Bytes(text))
      #expect(ByteText.firstNonUTF8Byte(in: text) == nil)
    }
  }

  @Test(
    "every single byte, and every byte after the start of a character, has a text of its own"
  )
  func bytes() {
    var seen: Set<ExactText> = []
    for begin: [UInt8] in [[], [0x61], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8f], [0xf4, 0x8f, 0xbf]] {
      for byte in UInt8.min...UInt8.max {
        let bytes = begin + [byte]
        let text = ByteText.text(of: bytes)
        #expect(ByteText.bytes(of: text) == bytes)
        #expect(seen.insert(ExactText(text)).inserted, "\(bytes)")
      }
    }
  }

  @Test("sequences of any bytes come back, with the escapes of foreign bytes among them")
  func sequences() {
    var random = SystemRandomNumberGenerator()
    let pieces: [[UInt8]] = [
      [0xe9], [0xc3, 0xa9], [0x65, 0xcc, 0x81], [0xf4, 0x8f, 0xbf, 0xa9], [0xf4, 0x8f, 0xbe, 0x80],
      [0xf4, 0x8f],
      [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xff], [0x61], [0xf5, 0x80, 0x80, 0x80], [0xea, 0xb0, 0x80],
    ]
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
        pieces[Int.random(in: 0..<pieces.count, using: &random)]
      }
      #expect(ByteText.bytes(of: ByteText.text(of: bytes)) == bytes)
    }
  }

  @Test("a foreign byte is named with its place, and shown by its number")
  func foreign() throws {
    let text = ByteText.text(of: Array("한caf".utf8) + [0xe9, 0x0a])
    let first = try #require(ByteText.firstNonUTF8Byte(in: text))
    #expect(first.byte == 0xe9 && first.offset == 6)
    #expect(ByteText.shown(text) == "한caf\\xE9\n")
    #expect(ByteText.escapedByte(0x07) == "\\x07")
  }

  @Test("a C string has the bytes")
  func strings() {
    let bytes: [UInt8] = [0x2f, 0xe9, 0xc3, 0xa9]
    let text = ByteText.text(of: bytes)
    let length = text.withByteString { string in
      ByteText.bytes(of: ByteText.text(of: string)) == bytes ? 4 : 0
    }
    #expect(length == 4)
  }

  @Test("texts are distinguished by their bytes")
  func exact() {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    #expect(composed == decomposed)
    #expect(ExactText(composed) != ExactText(decomposed))
    #expect(Set([ExactText(composed), ExactText(decomposed)]).count == 2)
    #expect(!composed.hasSameBytes(as: decomposed) && composed.hasSameBytes(as: "\u{e9}"))
    #expect(ExactText("a") < ExactText("b") && ExactText(decomposed) < ExactText(composed))
  }
}
