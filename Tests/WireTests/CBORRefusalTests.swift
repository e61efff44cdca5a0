// Inputs that a decoder has to refuse, one by one and in bulk. Invariant: an input has one right reason and
// offset, and none can stop the process.

import Testing

@testable import Wire

@Suite("Refusals of the CBOR decoder")
struct CBORRefusalTests {
  private func refusal(_ hex: String) throws -> CBORDecodingError? {
    let input = try #require(bytes(hex))
    return #expect(throws: CBORDecodingError.self) { try CBORDecoder().decode(AnyValue.self, from: input) }
  }

  @Test(
    "a head that is longer than needed is refused",
    arguments: [
      "1800", "1817", "190018", "1900ff", "1a0000ffff", "1b00000000ffffffff", "3817", "3900ff", "3a0000ffff",
      "580100", "5900ff", "780161", "980100", "9900ff", "b80000", "d800", "d90001", "f814", "f800",
    ])
  func nonShortestHeads(hex: String) throws {
    #expect(try refusal(hex) == CBORDecodingError(.nonShortestHead, at: 0))
  }

  @Test(
    "a head that is just long enough is accepted",
    arguments: ["1818", "190100", "1a00010000", "1b0000000100000000", "3818", "390100", "3b7fffffffffffffff"])
  func shortestHeads(hex: String) throws {
    let input = try #require(bytes(hex))
    let value = try CBORDecoder().decode(AnyValue.self, from: input)
    #expect(try CBOREncoder().encode(value) == input)
  }

  @Test("reserved head forms are refused in every major type")
  func reservedHeads() throws {
    for major in 0..<8 {
      for information in 28...30 {
        let error = try refusal(hex([UInt8(major << 5 | information)]))
        #expect(error == CBORDecodingError(.reservedHead, at: 0))
      }
      #expect(try refusal(hex([UInt8(major << 5 | 31)])) == CBORDecodingError(.indefiniteLength, at: 0))
    }
  }

  @Test(
    "an input that ends too early is refused at the missing byte",
    arguments: [("", 0), ("18", 0), ("19ff", 0), ("1a000102", 0), ("1b00010203040506", 0), ("828180", 3)])
  func truncated(hex: String, offset: Int) throws {
    #expect(try refusal(hex) == CBORDecodingError(.truncated, at: offset))
  }

  @Test("a claim beyond the bytes that are left is refused at once", arguments: excessiveClaims)
  func claims(hex: String, reason: CBORDecodingError.Reason) throws {
    #expect(try refusal(hex) == CBORDecodingError(reason, at: 0))
  }

  @Test(
    "text that is not UTF-8 is refused, in known fields and in unknown ones",
    arguments: [
      "61ff", "6180", "61c3", "62c080", "62c1bf", "63e08080", "63eda080", "63edbfbf", "64f0808080",
      "64f4908080",
      "64f5808080", "62c328", "63e28228", "63e28241", "61fe", "6341e282",
    ])
  func invalidUTF8(hex: String) throws {
    #expect(try refusal(hex) == CBORDecodingError(.invalidUTF8, at: 0))
    let unknownField = try #require(bytes("a118ff" + hex))
    #expect(throws: CBORDecodingError(.invalidUTF8, at: 3)) {
      try CBORDecoder().decode(EmptyMessage.self, from: unknownField)
    }
  }

  @Test("duplicate fields are refused, also in maps that are skipped")
  func duplicateFields() throws {
    #expect(try refusal("a201020103") == CBORDecodingError(.duplicateField(1), at: 3))
    #expect(try refusal("a2181f0018 1f00") == CBORDecodingError(.duplicateField(31), at: 4))
    #expect(try refusal("a118ffa200000000") == CBORDecodingError(.duplicateField(0), at: 6))
    for number in [0, 15, 16, 63, 64, 127, 128, 191, 192, 255] {
      let key = try CBOREncoder().encode(number)
      #expect(try refusal("a2" + hex(key + [0]) + hex(key + [0]))?.reason == .duplicateField(number))
    }
  }

  @Test(
    "keys that are not field numbers are refused",
    arguments: ["a12000", "a14000", "a16000", "a18000", "a1f400", "a119010000"])
  func foreignKeys(hex: String) throws {
    #expect(try refusal(hex) == CBORDecodingError(.keyNotAFieldNumber, at: 1))
  }

  @Test("bytes after the value are refused")
  func trailingBytes() throws {
    #expect(try refusal("0000") == CBORDecodingError(.trailingBytes, at: 1))
    #expect(try refusal("8000") == CBORDecodingError(.trailingBytes, at: 1))
    #expect(try refusal("a0ff") == CBORDecodingError(.trailingBytes, at: 1))
  }

  @Test("an unknown field is skipped only when its value is within the profile")
  func unknownFields() throws {
    let skipped = ["a1181800", "a1181883010203", "a11818a118206161", "a118186161", "a1181841ff", "a11818f6"]
    for hex in skipped {
      #expect(try CBORDecoder().decode(EmptyMessage.self, from: #require(bytes(hex))) == EmptyMessage())
    }
    let refused: [(String, CBORDecodingError.Reason)] = [
      ("a11818f93c00", .floatingPoint), ("a11818c000", .tag(0)), ("a118189fff", .indefiniteLength),
      ("a11818f7", .undefined), ("a118181801", .nonShortestHead), ("a11818c24100", .bignum),
      ("a118183bffffffffffffffff", .integerOutOfRange),
    ]
    for (hex, reason) in refused {
      #expect(throws: CBORDecodingError(reason, at: 3)) {
        try CBORDecoder().decode(EmptyMessage.self, from: #require(bytes(hex)))
      }
    }
  }

  @Test("nesting is accepted to the limit and refused after it")
  func nesting() throws {
    let deepest = [UInt8](repeating: 0x81, count: 16) + [0x00]
    _ = try CBORDecoder().decode(AnyValue.self, from: deepest)
    #expect(throws: CBORDecodingError(.nestingTooDeep(limit: 16), at: 16)) {
      try CBORDecoder().decode(AnyValue.self, from: [0x81] + deepest)
    }
    for head: [UInt8] in [[0x81], [0xA1, 0x00], [0x82, 0x00], [0xA1, 0x18, 0xFF]] {
      let bomb = Array(repeatElement(head, count: 200_000).joined())
      let error = #expect(throws: CBORDecodingError.self) {
        try CBORDecoder().decode(EmptyMessage.self, from: bomb)
      }
      #expect(error?.reason == .nestingTooDeep(limit: 16))
    }
    let shallow = CBORDecoder(limits: CBORLimits(maximumDepth: 1, maximumByteCount: 100))
    #expect(try shallow.decode([Int].self, from: [0x81, 0x00]) == [0])
    #expect(throws: CBORDecodingError(.nestingTooDeep(limit: 1), at: 1)) {
      try shallow.decode([[Int]].self, from: [0x81, 0x80])
    }
  }

  @Test("an input beyond the length limit is refused unread")
  func inputTooLong() {
    let decoder = CBORDecoder(limits: CBORLimits(maximumDepth: 16, maximumByteCount: 3))
    #expect(throws: CBORDecodingError(.inputTooLong(limit: 3), at: 3)) {
      try decoder.decode(Int.self, from: [0, 0, 0, 0])
    }
  }

  @Test("random bytes never stop the process, for any type")
  func garbage() {
    var generator = SeededGenerator.announced("garbage")
    for _ in 0..<20_000 {
      let input = generator.bytes(.random(in: 0...48, using: &generator))
      decodeAsEverything(input)
    }
  }

  @Test("every bit of a valid input can be flipped, and every prefix cut, without stopping the process")
  func damagedInputs() throws {
    var generator = SeededGenerator.announced("damaged inputs")
    for _ in 0..<3 {
      let input = try CBOREncoder().encode(Everything.random(using: &generator))
      for bit in 0..<(8 * input.count) {
        var damaged = input
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        decodeAsEverything(damaged)
      }
      for length in 0..<input.count {
        let taken = try? CBORDecoder().decode(Everything.self, from: input[..<length])
        if taken != nil { Issue.record("took the first \(length) bytes of \(hex(input))") }
      }
    }
  }

  /// Checks that an accepted input has exactly one encoding up to the order of keys; expectations only for
  /// failures, because this runs tens of thousands of times.
  private func decodeAsEverything(_ input: [UInt8]) {
    if let value = try? CBORDecoder().decode(AnyValue.self, from: input) {
      let again = (try? CBOREncoder().encode(value)) ?? []
      let isSame =
        again.count == input.count && (try? CBORDecoder().decode(AnyValue.self, from: again)) == value
      if !isSame { Issue.record("\(hex(input)) came back as \(hex(again))") }
    }
    _ = try? CBORDecoder().decode(Everything.self, from: input)
    _ = try? CBORDecoder().decode([Everything].self, from: input)
    _ = try? CBORDecoder().decode([Int: String].self, from: input)
    _ = try? CBORDecoder().decode(Request.self, from: input)
  }
}

private let excessiveClaims: [(String, CBORDecodingError.Reason)] = [
  ("9b1000000000000000", .countExceedsInput(1 << 60)),
  ("9bffffffffffffffff", .countExceedsInput(.max)),
  ("bb1000000000000000", .countExceedsInput(1 << 60)),
  ("bb8000000000000000", .countExceedsInput(1 << 63)),
  ("bbffffffffffffffff", .countExceedsInput(.max)),
  ("8201", .countExceedsInput(2)),
  ("a2010203", .countExceedsInput(2)),
  ("5b1000000000000000", .lengthExceedsInput(1 << 60)),
  ("7bffffffffffffffff", .lengthExceedsInput(.max)),
  ("42ff", .lengthExceedsInput(2)),
  ("61", .lengthExceedsInput(1)),
]
