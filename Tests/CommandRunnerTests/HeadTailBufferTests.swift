// The kept ends of a stream, compared with a simple model that keeps all of it. No process is started. A
// failure prints the seed.
import Testing

@testable import CommandRunner

@Suite struct HeadTailBufferTests {
  private func ends(_ first: Int, _ last: Int, _ pieces: [[UInt8]]) -> HeadTailBuffer {
    var ends = HeadTailBuffer(firstLimit: first, lastLimit: last)
    for piece in pieces { piece.withUnsafeBytes { ends.append($0) } }
    return ends
  }

  @Test("as long as both ends have room, they are the stream")
  func whole() {
    let ends = ends(3, 4, [[1, 2], [3, 4], [], [5, 6, 7]])
    #expect(ends.first == [1, 2, 3])
    #expect(ends.last == [4, 5, 6, 7])
    #expect(ends.length == 7)
  }

  @Test("in the end the first and the last part are kept, in pieces of any size")
  func anyPieces() {
    for seed: UInt64 in 1...200 {
      var state = seed &* 0x9e37_79b9_7f4a_7c15
      func draw(_ below: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(below))
      }
      let (first, last) = (draw(9), draw(9))
      let pieces = (0..<draw(12)).map { _ in (0..<draw(20)).map { _ in UInt8(draw(256)) } }
      let all = pieces.flatMap { $0 }
      let ends = ends(first, last, pieces)
      #expect(ends.first == Array(all.prefix(first)), "seed \(seed)")
      #expect(ends.last == Array(all.dropFirst(first).suffix(last)), "seed \(seed)")
      #expect(ends.length == Int64(all.count), "seed \(seed)")
    }
  }

  @Test("a size without meaning keeps nothing")
  func negative() {
    let ends = ends(-1, -5, [[1, 2, 3]])
    #expect(ends.first.isEmpty && ends.last.isEmpty)
    #expect(ends.length == 3)
  }
}
