// Cutting into lines: pieces of any size give the same lines, and memory has a bound.

import BankModel
import Testing

@testable import Logging

@Suite("The line buffer") struct LineBufferTests {
  /// Feeds bytes in pieces of at most `piece()` bytes and gathers the lines.
  private func lines(of bytes: [UInt8], in buffer: LineBuffer, piece: () -> Int) -> [[UInt8]] {
    var rest = bytes[...]
    var lines: [[UInt8]] = []
    while true {
      while let line = buffer.nextLine() { lines.append(line) }
      if rest.isEmpty { return lines }
      _ = buffer.fill { target in
        let part = rest.prefix(min(piece(), target.count))
        target.copyBytes(from: part)
        rest = rest.dropFirst(part.count)
        return part.count
      }
    }
  }

  @Test("gives the same lines for pieces of any size") func pieces() {
    var random = SeededGenerator(seed: testSeed("pieces"))
    for _ in 0..<200 {
      let texts = (0..<Int(random.draw(0...30))).map { _ in
        [UInt8](repeating: UInt8(random.draw(32...126)), count: Int(random.draw(0...300)))
      }
      let buffer = LineBuffer()
      let bytes = Array(texts.map { $0 + [10] }.joined()) + Array("rest".utf8)
      #expect(lines(of: bytes, in: buffer) { Int(random.draw(1...400)) } == texts)
      #expect(buffer.pending == 4)
      #expect(buffer.lastLine() == Array("rest".utf8))
      #expect(buffer.lastLine() == nil)
    }
  }

  @Test("cuts a line of more than 64 KiB at a whole character, and gives the missing length") func long()
    throws
  {
    for shift in 0..<4 {
      let buffer = LineBuffer()
      let text = String(repeating: "x", count: shift) + String(repeating: "예🍓", count: 30_000)
      let bytes = Array((text + "\nnext\n").utf8)
      let found = lines(of: bytes, in: buffer) { 10_000 }
      try #require(found.count == 2)
      let shown = try #require(String(validating: found[0], as: UTF8.self))
      let mark = try #require(shown.place(of: " …["))
      let kept = shown[..<mark]
      #expect(text.hasPrefix(kept))
      #expect((65_529...65_536).contains(kept.utf8.count))
      #expect(shown[mark...] == " …[\(text.utf8.count - kept.utf8.count) more bytes]")
      #expect(found[1] == Array("next".utf8))
    }
  }

  @Test("keeps a line of exactly 64 KiB whole") func exact() {
    let line = [UInt8](repeating: 0x78, count: LineBuffer.capacity)
    #expect(lines(of: line + [10], in: LineBuffer()) { 7_000 } == [line])
  }
}

extension String {
  fileprivate func place(of mark: String) -> Index? {
    indices.first { self[$0...].hasPrefix(mark) }
  }
}
