// Frames: cutting a stream and writing into one. Invariant: however a stream is split, the same bodies come
// out; no stream can stop the process.

import Testing

@testable import Wire

@Suite("Frames")
struct FrameTests {
  private func stream(_ bodies: [[UInt8]]) throws -> [UInt8] {
    var stream: [UInt8] = []
    for body in bodies { try Frame.append(body: body, to: &stream, limit: FrameLimits.control) }
    return stream
  }

  private func drain(_ decoder: inout FrameDecoder) throws -> [[UInt8]] {
    var bodies: [[UInt8]] = []
    while let body = try decoder.next() { bodies.append(Array(body)) }
    return bodies
  }

  @Test("a frame is four bytes of length, most significant first, and the body")
  func layout() throws {
    #expect(try stream([[1, 2, 3]]) == [0, 0, 0, 3, 1, 2, 3])
    let long = [UInt8](repeating: 7, count: 0x01_02_03)
    #expect(try stream([long]).prefix(5) == [0x00, 0x01, 0x02, 0x03, 7])
  }

  @Test("a stream gives the same frames byte by byte, in bulk and in random portions")
  func splits() throws {
    var generator = SeededGenerator.announced("frame splits")
    for _ in 0..<200 {
      let bodies = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
        generator.bytes(.random(in: 1...300, using: &generator))
      }
      let stream = try stream(bodies)
      for longest in [1, 7, 100, stream.count + 1] {
        var decoder = FrameDecoder(maximumBodyLength: 300)
        var received: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
          let portion = rest.prefix(longest == 1 ? 1 : Int.random(in: 1...longest, using: &generator))
          rest = rest.dropFirst(portion.count)
          if Bool.random(using: &generator) {
            decoder.append(portion)
          } else {
            portion.withUnsafeBytes { decoder.append($0) }
          }
          if Bool.random(using: &generator) { received += try drain(&decoder) }
        }
        received += try drain(&decoder)
        #expect(received == bodies)
        #expect(!decoder.isMidFrame)
      }
    }
  }

  @Test("a short frame asks for more and reports that it is incomplete")
  func truncated() throws {
    let stream = try stream([[1, 2, 3]])
    for length in 0..<stream.count {
      var decoder = FrameDecoder(maximumBodyLength: 10)
      decoder.append(stream[..<length])
      #expect(try decoder.next() == nil)
      #expect(decoder.isMidFrame == (length > 0))
      #expect(decoder.bufferedByteCount == length)
      decoder.append(stream[length...])
      #expect(try decoder.next() == [1, 2, 3])
      #expect(!decoder.isMidFrame)
    }
  }

  @Test("a length beyond the maximum is refused as soon as it is known, and the decoder stays failed")
  func oversized() throws {
    var decoder = FrameDecoder(maximumBodyLength: 10)
    decoder.append([0, 0, 0, 10] + [UInt8](repeating: 1, count: 10) + [0, 0, 0])
    #expect(try decoder.next()?.count == 10)
    #expect(try decoder.next() == nil)
    decoder.append([11])
    let error = FrameError.bodyTooLong(length: 11, maximum: 10)
    #expect(throws: error) { try decoder.next() }
    decoder.append(try stream([[1]]))
    #expect(throws: error) { try decoder.next() }
    #expect(decoder.bufferedByteCount == 0)
    #expect(!decoder.isMidFrame)
    var largest = FrameDecoder(maximumBodyLength: FrameLimits.control)
    largest.append([255, 255, 255, 255])
    #expect(throws: FrameError.bodyTooLong(length: 4_294_967_295, maximum: 1_310_720)) { try largest.next() }
  }

  @Test("an empty frame is refused, and the decoder stays failed")
  func empty() throws {
    var decoder = FrameDecoder(maximumBodyLength: 10)
    decoder.append([0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 1, 9])
    #expect(try decoder.next() == [9])
    #expect(throws: FrameError.emptyBody) { try decoder.next() }
    #expect(throws: FrameError.emptyBody) { try decoder.next() }
  }

  @Test("hundreds of thousands of frames in one read take time in proportion", .timeLimit(.minutes(1)))
  func manySmallFrames() throws {
    // A decoder that moved its rest forward for each frame would move 100 GB here.
    let count = 300_000
    let stream = Array(repeatElement([0, 0, 0, 1, 7] as [UInt8], count: count).joined())
    var decoder = FrameDecoder(maximumBodyLength: 1)
    decoder.append(stream)
    var received = 0
    while try decoder.next() != nil { received += 1 }
    #expect(received == count)
  }

  @Test("the decoder holds little more than one read, however long the stream is")
  func boundedMemory() throws {
    let frame = try stream([[UInt8](repeating: 1, count: 1_000)])
    let endless = Array(repeatElement(frame, count: 1_000).joined())
    var decoder = FrameDecoder(maximumBodyLength: 1_000)
    var most = 0
    // Reads that never end at the end of a frame leave a rest each time.
    for begin in stride(from: 0, to: endless.count, by: 4_099) {
      decoder.append(endless[begin..<min(begin + 4_099, endless.count)])
      while try decoder.next() != nil {}
      most = max(most, decoder.buffer.count)
    }
    #expect(most <= 4_099 + 2 * frame.count)
    #expect(decoder.buffer.isEmpty)
  }

  @Test("a large buffer is released when it has run empty")
  func largeBuffers() throws {
    var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    decoder.append(try stream([[UInt8](repeating: 1, count: 1 << 20)]))
    #expect(try decoder.next()?.count == 1 << 20)
    #expect(try decoder.next() == nil)
    #expect(decoder.buffer.capacity == 0)
  }

  @Test("every bit of a stream can be flipped without stopping the process")
  func flippedBits() throws {
    let stream = try stream([[1], [UInt8](repeating: 2, count: 30), [3, 4]])
    for bit in 0..<(8 * stream.count) {
      var damaged = stream
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      var decoder = FrameDecoder(maximumBodyLength: 64)
      decoder.append(damaged)
      let bodies = try? drain(&decoder)
      #expect((bodies ?? []).allSatisfy { (1...64).contains($0.count) })
    }
  }

  @Test("random bytes never stop the process")
  func garbage() throws {
    var generator = SeededGenerator.announced("frame garbage")
    for _ in 0..<5_000 {
      var decoder = FrameDecoder(maximumBodyLength: 1 << 24)
      for _ in 0..<4 {
        decoder.append(generator.bytes(.random(in: 0...20, using: &generator)))
        _ = try? decoder.next()
      }
    }
  }

  @Test("a message is encoded right after its length")
  func encoder() throws {
    var buffer: [UInt8] = [9]
    let limit = FrameLimits.teller
    try FrameEncoder().append(Request.stop, to: &buffer, limit: limit)
    try FrameEncoder().append([1, 2], to: &buffer, limit: limit)
    #expect(hex(buffer) == "0900000004a1181ea000000003820102")
    var decoder = FrameDecoder(maximumBodyLength: limit)
    decoder.append(buffer.dropFirst())
    #expect(try CBORDecoder().decode(Request.self, from: #require(try decoder.next())) == .stop)
    #expect(try CBORDecoder().decode([Int].self, from: #require(try decoder.next())) == [1, 2])
  }

  @Test("a message or body that cannot be a frame leaves the buffer unchanged")
  func encoderErrors() throws {
    var buffer: [UInt8] = [9]
    #expect(throws: FrameEncodingError.message(.floatingPoint)) {
      try FrameEncoder().append(1.5, to: &buffer, limit: 10)
    }
    #expect(throws: FrameEncodingError.frame(.bodyTooLong(length: 11, maximum: 10))) {
      try FrameEncoder().append(String(repeating: "x", count: 10), to: &buffer, limit: 10)
    }
    #expect(throws: FrameError.emptyBody) { try Frame.append(body: [], to: &buffer, limit: 10) }
    #expect(throws: FrameError.bodyTooLong(length: 2, maximum: 1)) {
      try Frame.append(body: [1, 2], to: &buffer, limit: 1)
    }
    #expect(buffer == [9])
  }

  @Test("the limits are those of the protocol")
  func limits() {
    #expect(FrameLimits.control == 1_310_720)
    #expect(FrameLimits.teller == 1_310_720)
  }
}

extension Frame {
  /// Appends one frame with a finished body, as another program may write it.
  fileprivate static func append(
    body: some Collection<UInt8>, to buffer: inout [UInt8], limit: Int
  ) throws(FrameError) {
    try check(length: body.count, limit: limit)
    buffer += (0..<headerLength).map { UInt8(truncatingIfNeeded: body.count >> (24 - 8 * $0)) }
    buffer.append(contentsOf: body)
  }
}
