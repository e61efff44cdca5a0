// Values that come back unchanged, and the exact bytes of small ones. Invariant: one value has one encoding,
// and decoding it gives the value again.

import Testing

@testable import Wire

@Suite("Values through the CBOR codec")
struct CBORRoundTripTests {
  private func roundTrip<T: Codable & Equatable>(_ value: T) throws -> String {
    let encoded = try CBOREncoder().encode(value)
    #expect(try CBORDecoder().decode(T.self, from: encoded) == value)
    #expect(try CBOREncoder().encode(value) == encoded)
    return hex(encoded)
  }

  @Test("a record is a map of field numbers in the order of declaration")
  func record() throws {
    #expect(
      try roundTrip(Six(a: 1, b: 24, c: -1, d: 256, e: 0, f: 65_536))
        == "a60001011818022003190100040005 1a00010000".filter { $0 != " " })
  }

  @Test("fields are accepted in any order")
  func fieldOrder() throws {
    let reversed = try #require(bytes("a6 0506 0405 0304 0203 0102 0001"))
    #expect(try CBORDecoder().decode(Six.self, from: reversed) == Six(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6))
  }

  @Test("integers reach both ends of every width")
  func extremes() throws {
    func both<I: FixedWidthInteger & Codable>(_ type: I.Type) throws {
      for value in [I.min, I.max, 0, 1] { _ = try roundTrip(value) }
      _ = try roundTrip([I.min, I.max])
    }
    try both(Int.self)
    try both(Int8.self)
    try both(Int16.self)
    try both(Int32.self)
    try both(Int64.self)
    try both(UInt.self)
    try both(UInt8.self)
    try both(UInt16.self)
    try both(UInt32.self)
    try both(UInt64.self)
    #expect(try roundTrip(Int64.min) == "3b7fffffffffffffff")
    #expect(try roundTrip(UInt64.max) == "1bffffffffffffffff")
    #expect(try roundTrip(Int128(UInt64.max)) == "1bffffffffffffffff")
    #expect(try roundTrip(UInt128(24)) == "1818")
  }

  @Test("an integer that its type cannot hold is refused")
  func narrowing() throws {
    func refuses<I: FixedWidthInteger & Codable>(_ type: I.Type, _ value: Int128) throws {
      let encoded = try CBOREncoder().encode(value)
      let error = CBORDecodingError(.integerOutOfRange, at: 0)
      #expect(throws: error) { try CBORDecoder().decode(type, from: encoded) }
      let inArray = CBORDecodingError(.integerOutOfRange, at: 1)
      #expect(throws: inArray) { try CBORDecoder().decode([I?].self, from: [0x81] + encoded) }
      let inMap = CBORDecodingError(.integerOutOfRange, at: 2)
      #expect(throws: inMap) { try CBORDecoder().decode([Int: I].self, from: [0xA1, 0] + encoded) }
    }
    try refuses(Int8.self, 128)
    try refuses(Int8.self, -129)
    try refuses(Int16.self, 32_768)
    try refuses(Int16.self, -32_769)
    try refuses(Int32.self, 1 << 31)
    try refuses(Int32.self, -(1 << 31) - 1)
    try refuses(Int64.self, 1 << 63)
    try refuses(Int.self, 1 << 63)
    try refuses(UInt8.self, 256)
    try refuses(UInt8.self, -1)
    try refuses(UInt16.self, 65_536)
    try refuses(UInt32.self, 1 << 32)
    try refuses(UInt64.self, -1)
    try refuses(UInt.self, -1)
    try refuses(UInt128.self, -1)
  }

  @Test("bytes are a byte string everywhere")
  func byteStrings() throws {
    #expect(try roundTrip([UInt8]([1, 2, 3])) == "43010203")
    #expect(try roundTrip([[UInt8]]([[1], []])) == "82410140")
    #expect(try roundTrip([[UInt8]?]([[1], nil])) == "824101f6")
    #expect(throws: CBORDecodingError(.typeMismatch(expected: .byteString, found: .array), at: 0)) {
      try CBORDecoder().decode([UInt8].self, from: [0x81, 0x01])
    }
  }

  @Test("nil is absent in a record and null in an array; missing and null are the same nil")
  func optionals() throws {
    #expect(try roundTrip([1, nil, 2]) == "8301f602")
    #expect(try roundTrip(Request.enqueue(count: 1, service: nil)) == "a101a10001")
    let withNull = try #require(bytes("a101a2000101f6"))
    #expect(try CBORDecoder().decode(Request.self, from: withNull) == .enqueue(count: 1, service: nil))
    #expect(try roundTrip(Int?.none) == "f6")
    #expect(throws: CBORDecodingError(.typeMismatch(expected: .integer, found: .null), at: 2)) {
      try CBORDecoder().decode(Six.self, from: [0xA1, 0x00, 0xF6])
    }
  }

  @Test("enums with values and with raw values come back")
  func enums() throws {
    #expect(try roundTrip(Request.stop) == "a1181ea0")
    #expect(try roundTrip(Request.batch([])) == "a102a10080")
    #expect(try roundTrip(Request.enqueue(count: 3, service: .loan)) == "a101a200030102")
    #expect(try roundTrip(Grade.vip) == "63766970")
    let error = #expect(throws: CBORDecodingError.self) {
      try CBORDecoder().decode(Service.self, from: [0x03])
    }
    guard case .valueRefused = error?.reason else {
      Issue.record("an unknown raw value is refused by its type, not: \(String(describing: error))")
      return
    }
  }

  @Test("a missing field is refused with its number and the place of its map")
  func missingField() {
    #expect(throws: CBORDecodingError(.missingField(1), at: 1)) {
      try CBORDecoder().decode([Six].self, from: [0x81, 0xA1, 0x00, 0x00])
    }
  }

  @Test("a value of another kind is refused with both kinds and its place")
  func kinds() {
    func mismatch(_ expected: CBORKind, _ found: CBORKind, at offset: Int = 0) -> CBORDecodingError {
      CBORDecodingError(.typeMismatch(expected: expected, found: found), at: offset)
    }
    let decoder = CBORDecoder()
    #expect(throws: mismatch(.integer, .textString)) { try decoder.decode(Int.self, from: [0x60]) }
    #expect(throws: mismatch(.textString, .byteString)) { try decoder.decode(String.self, from: [0x40]) }
    #expect(throws: mismatch(.boolean, .integer)) { try decoder.decode(Bool.self, from: [0x01]) }
    #expect(throws: mismatch(.array, .map)) { try decoder.decode([Int].self, from: [0xA0]) }
    #expect(throws: mismatch(.map, .array)) { try decoder.decode(Six.self, from: [0x80]) }
    #expect(throws: mismatch(.integer, .boolean, at: 2)) {
      try decoder.decode(Six.self, from: [0xA1, 0, 0xF5])
    }
    #expect(throws: CBORDecodingError(.floatingPointUnsupported, at: 0)) {
      try decoder.decode(Double.self, from: [0])
    }
    #expect(throws: CBORDecodingError(.floatingPointUnsupported, at: 1)) {
      try decoder.decode([Float].self, from: [0x81, 0])
    }
  }

  @Test("a slice in the middle of a buffer decodes as if it were alone")
  func slices() throws {
    let buffer = [0xFF, 0xFF] + (try CBOREncoder().encode(["a", "b"])) + [0xFF]
    #expect(try CBORDecoder().decode([String].self, from: buffer[2..<(buffer.count - 1)]) == ["a", "b"])
    #expect(throws: CBORDecodingError(.trailingBytes, at: 5)) {
      try CBORDecoder().decode([String].self, from: buffer[2...])
    }
  }

  @Test(
    "heads of containers grow in place when their counts do",
    arguments: [0, 1, 23, 24, 25, 255, 256, 257, 65_535, 65_536, 65_537])
  func containerHeads(count: Int) throws {
    let inner = Array(repeating: Int?.some(7), count: count)
    let encoded = try CBOREncoder().encode([inner, [nil], inner])
    #expect(try CBORDecoder().decode([[Int?]].self, from: encoded) == [inner, [nil], inner])
    guard count <= 256 else { return }
    let map = AnyValue.map((0..<count).map { .init(number: $0, value: .array([.unsigned(UInt64($0))])) })
    _ = try roundTrip(AnyValue.array([map, .null, map]))
  }

  @Test("random values of every shape come back, and their bytes are the only ones")
  func randomValues() throws {
    var generator = SeededGenerator.announced("random values")
    for _ in 0..<300 { _ = try roundTrip(AnyValue.random(depth: 4, using: &generator)) }
    for _ in 0..<1_000 { _ = try roundTrip(Everything.random(using: &generator)) }
  }

  @Test("long arrays of records take time in proportion to their length", .timeLimit(.minutes(1)))
  func longArrays() throws {
    // A codec that walked the array again for each element would need hours for this one.
    let many = (0..<50_000).map { Six(a: $0, b: 1, c: 2, d: 3, e: 4, f: 5) }
    #expect(try CBORDecoder().decode([Six].self, from: CBOREncoder().encode(many)) == many)
  }

  @Test("a buffer keeps its contents, and gains nothing from an error")
  func appending() throws {
    var buffer: [UInt8] = [9, 9]
    try CBOREncoder().encode([1], into: &buffer)
    #expect(buffer == [9, 9, 0x81, 1])
    #expect(throws: CBOREncodingError.floatingPoint) { try CBOREncoder().encode([1.5], into: &buffer) }
    #expect(buffer == [9, 9, 0x81, 1])
  }

  @Test("the encoding of a record of every type does not change")
  func golden() throws {
    try expectGolden(Everything.sample, "codec-everything")
  }

  @Test("a golden file that is missing is an error")
  func missingGolden() {
    #expect(throws: GoldenFileError.missing(path: goldenPath("no-such-file"))) {
      try goldenBytes("no-such-file")
    }
  }
}
