// Cutting of lines: the same lines for all portions, and a bound that is never exceeded.

import Testing

@testable import Wire

@Suite("Cutting lines") struct LineDecoderTests {
  /// Every line of the bytes in these portions.
  private func lines(_ portions: [ArraySlice<UInt8>], limit: Int = 100) throws(LineError) -> [String] {
    var decoder = LineDecoder(maximumLength: limit)
    var lines: [String] = []
    for portion in portions {
      decoder.append(portion)
      while let line = try decoder.next() { lines.append(String(decoding: line, as: UTF8.self)) }
    }
    return lines
  }

  private let stream = Array("{\"ready\":{}}\n\n{}\r\n\r\n\r\r\n 예금 \nlast".utf8)
  private let expected = ["{\"ready\":{}}", "{}", "\r", " 예금 "]

  @Test("two portions give the same lines wherever the split is") func everySplit() throws {
    for place in 0...stream.count {
      #expect(try lines([stream[..<place], stream[place...]]) == expected, "split at \(place)")
    }
  }

  @Test("three portions, and single bytes, give the same lines") func manySplits() throws {
    for first in 0...stream.count {
      for second in first...stream.count {
        #expect(try lines([stream[..<first], stream[first..<second], stream[second...]]) == expected)
      }
    }
    #expect(try lines(stream.indices.map { stream[$0...$0] }) == expected)
  }

  @Test("text without a newline after it is an incomplete line") func midLine() throws {
    var decoder = LineDecoder(maximumLength: 100)
    #expect(!decoder.isMidLine)
    decoder.append("{}\n".utf8)
    #expect(try decoder.next() != nil && decoder.next() == nil && !decoder.isMidLine)
    decoder.append("{}".utf8)
    #expect(try decoder.next() == nil && decoder.isMidLine && decoder.bufferedByteCount == 2)
    decoder.append("\n".utf8)
    #expect(try decoder.next().map { Array($0) } == Array("{}".utf8))
    #expect(!decoder.isMidLine)
  }

  @Test(
    "a line of the longest length is a line, with one byte more it is refused",
    arguments: [1, 2, 7, 8, 9, 64])
  func limit(_ limit: Int) throws {
    let longest = [UInt8](repeating: 0x78, count: limit)
    #expect(try lines([longest + [0x0a]], limit: limit).count == 1)
    #expect(throws: LineError.tooLong(maximum: limit)) { try lines([longest + [0x78, 0x0a]], limit: limit) }
  }

  @Test("a line that is too long is refused before its end, and so is everything after it")
  func refusedEarly() throws {
    var decoder = LineDecoder(maximumLength: 10)
    decoder.append("short\n0123456789".utf8)
    #expect(try decoder.next() != nil && decoder.next() == nil)
    decoder.append("x".utf8)
    #expect(throws: LineError.tooLong(maximum: 10)) { try decoder.next() }
    #expect(decoder.buffer.isEmpty && !decoder.isMidLine)
    decoder.append("\n{}\n".utf8)
    #expect(throws: LineError.tooLong(maximum: 10)) { try decoder.next() }
    #expect(decoder.buffer.isEmpty)
  }

  @Test("a newline is found at every place of a word, beside bytes that resemble it") func everyPlace() throws
  {
    for count in 1...40 {
      for stranger: UInt8 in [0x0b, 0x09, 0x8a, 0xff, 0x00, 0x01] {
        let line = [UInt8](repeating: stranger, count: count)
        var decoder = LineDecoder(maximumLength: 100)
        decoder.append(line + [0x0a] + line + [0x0a])
        #expect(try decoder.next().map { Array($0) } == line)
        #expect(try decoder.next().map { Array($0) } == line)
      }
    }
  }

  @Test("random streams in random portions give what a plain split gives") func random() throws {
    var chance = SeededGenerator.announced("random streams of lines")
    for _ in 0..<500 {
      let alphabet: [UInt8] = [0x0a, 0x0a, 0x0d, 0x7b, 0x20, 0x8a, 0x0b]
      let stream = (0..<Int.random(in: 0...300, using: &chance)).map { _ in
        alphabet.randomElement(using: &chance)!
      }
      var plain = stream.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast().map { Array($0) }
      for place in plain.indices where plain[place].last == 0x0d { plain[place].removeLast() }
      var decoder = LineDecoder(maximumLength: 400)
      var found: [[UInt8]] = []
      var rest = stream[...]
      while !rest.isEmpty {
        let count = Int.random(in: 1...rest.count, using: &chance)
        decoder.append(rest.prefix(count))
        rest = rest.dropFirst(count)
        if Bool.random(using: &chance) { while let line = try decoder.next() { found.append(Array(line)) } }
      }
      while let line = try decoder.next() { found.append(Array(line)) }
      #expect(found == plain.filter { !$0.isEmpty })
    }
  }
}
