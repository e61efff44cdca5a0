// Mistakes that a type can make towards the codec. Invariant: a mistake is a typed error and never a wrong
// encoding or a trap.

import Testing

@testable import Wire

@Suite("Mistakes of types towards the CBOR codec")
struct CBOREncodingErrorTests {
  struct ClosureEncodable: Encodable {
    let script: (any Encoder) throws -> Void
    func encode(to encoder: any Encoder) throws { try script(encoder) }
  }

  private typealias Key = AnyValue.FieldKey

  private func refusal(_ script: @escaping (any Encoder) throws -> Void) -> CBOREncodingError? {
    #expect(throws: CBOREncodingError.self) { try CBOREncoder().encode(ClosureEncodable(script: script)) }
  }

  @Test("keys without numbers, beyond the range and twice are refused")
  func keys() {
    struct UnnumberedSample: Codable { var word = 1 }
    #expect(throws: CBOREncodingError.keyWithoutFieldNumber("word")) {
      try CBOREncoder().encode(UnnumberedSample())
    }
    #expect(throws: CBORDecodingError(.keyWithoutFieldNumber("word"), at: 0)) {
      try CBORDecoder().decode(UnnumberedSample.self, from: [0xA0])
    }
    #expect(throws: CBOREncodingError.fieldNumberOutOfRange(256)) { try CBOREncoder().encode([256: 1]) }
    #expect(throws: CBOREncodingError.fieldNumberOutOfRange(-1)) { try CBOREncoder().encode([-1: 1]) }
    #expect(throws: CBOREncodingError.keyWithoutFieldNumber("a")) { try CBOREncoder().encode(["a": 1]) }
    let twice = refusal { encoder in
      var map = encoder.container(keyedBy: Key.self)
      try map.encode(1, forKey: Key(number: 200))
      try map.encode(2, forKey: Key(number: 200))
    }
    #expect(twice == .duplicateField(200))
  }

  @Test("floating point and integers beyond 64 bits are refused everywhere")
  func numbers() {
    #expect(throws: CBOREncodingError.floatingPoint) { try CBOREncoder().encode(1.5) }
    #expect(throws: CBOREncodingError.floatingPoint) { try CBOREncoder().encode([Float(1)]) }
    #expect(throws: CBOREncodingError.floatingPoint) { try CBOREncoder().encode([1: 1.0]) }
    #expect(throws: CBOREncodingError.integerOutOfRange) { try CBOREncoder().encode(Int128.max) }
    #expect(throws: CBOREncodingError.integerOutOfRange) { try CBOREncoder().encode([Int128.min]) }
    #expect(throws: CBOREncodingError.integerOutOfRange) { try CBOREncoder().encode([1: UInt128.max]) }
  }

  @Test("nesting is encoded to the limit and refused after it")
  func nesting() throws {
    func nested(_ depth: Int) -> AnyValue { depth == 0 ? .null : .array([nested(depth - 1)]) }
    #expect(try CBOREncoder().encode(nested(16)).count == 17)
    #expect(throws: CBOREncodingError.nestingTooDeep(limit: 16)) { try CBOREncoder().encode(nested(17)) }
  }

  @Test("a place takes exactly one value")
  func places() {
    #expect(throws: CBOREncodingError.nothingEncoded("ClosureEncodable")) {
      try CBOREncoder().encode([ClosureEncodable { _ in }])
    }
    let two = refusal { encoder in
      var single = encoder.singleValueContainer()
      try single.encode(1)
      try single.encode(2)
    }
    #expect(two == .secondValue)
    let mapAndArray = refusal { encoder in
      _ = encoder.container(keyedBy: Key.self)
      _ = encoder.unkeyedContainer()
    }
    #expect(mapAndArray == .secondValue)
    let mapAndValue = refusal { encoder in
      _ = encoder.container(keyedBy: Key.self)
      try "text".encode(to: encoder)
    }
    #expect(mapAndValue == .secondValue)
  }

  @Test("requesting the same container twice continues it")
  func sameContainer() throws {
    let encoded = try CBOREncoder().encode(
      ClosureEncodable { encoder in
        var first = encoder.container(keyedBy: Key.self)
        try first.encode(1, forKey: Key(number: 1))
        var second = encoder.container(keyedBy: Key.self)
        try second.encode(2, forKey: Key(number: 2))
        try first.encode(3, forKey: Key(number: 3))
      })
    #expect(hex(encoded) == "a3010102020303")
  }

  @Test("nested containers work while they are the innermost, and are refused afterwards")
  func nestedContainers() throws {
    let encoded = try CBOREncoder().encode(
      ClosureEncodable { encoder in
        var map = encoder.container(keyedBy: Key.self)
        var list = map.nestedUnkeyedContainer(forKey: Key(number: 1))
        try list.encode(1)
        var inner = list.nestedContainer(keyedBy: Key.self)
        try inner.encode(true, forKey: Key(number: 0))
        var deepest = list.nestedUnkeyedContainer()
        try deepest.encodeNil()
        #expect(list.count == 3)
        #expect(deepest.count == 1)
        try map.encodeNil(forKey: Key(number: 2))
        #expect(deepest.count == 0)
      })
    #expect(hex(encoded) == "a2018301a100f581f602f6")
    let late = refusal { encoder in
      var map = encoder.container(keyedBy: Key.self)
      var inner = map.nestedUnkeyedContainer(forKey: Key(number: 1))
      try inner.encode(1)
      try map.encode(2, forKey: Key(number: 2))
      try inner.encode(3)
    }
    #expect(late == .containerOutOfOrder)
  }

  @Test("a container that outlives its value fails instead of trapping")
  func escapedContainer() throws {
    final class Box { var container: (any UnkeyedEncodingContainer)? }
    let box = Box()
    let encoded = try CBOREncoder().encode(
      ClosureEncodable { encoder in
        box.container = encoder.unkeyedContainer()
        try box.container?.encode(1)
      })
    #expect(hex(encoded) == "8101")
    #expect(throws: CBOREncodingError.containerOutOfOrder) { try box.container?.encode(2) }
    var container = try #require(box.container)
    var nested = container.nestedUnkeyedContainer()
    #expect(throws: CBOREncodingError.containerOutOfOrder) { try nested.encode([Int]()) }
  }

  @Test("super encoders and decoders are refused")
  func superCoders() {
    #expect(
      refusal { encoder in _ = encoder.unkeyedContainer().hiddenSuperEncoder() } == .superEncoderUnsupported)
    struct Sub: Decodable {
      init(from decoder: any Decoder) throws {
        _ = try decoder.container(keyedBy: AnyValue.FieldKey.self).superDecoder()
      }
    }
    #expect(throws: CBORDecodingError(.superDecoderUnsupported, at: 0)) {
      try CBORDecoder().decode(Sub.self, from: [0xA0])
    }
  }

  @Test("an error that a type swallows still fails the whole encoding")
  func swallowedError() {
    let swallowed = refusal { encoder in
      var list = encoder.unkeyedContainer()
      try? list.encode(1.5)
      try? list.encode(1)
    }
    #expect(swallowed == .floatingPoint)
  }

  @Test("a type's own error keeps its text, cut short")
  func ownRefusal() {
    struct Long: Error, CustomStringConvertible {
      var description: String { String(repeating: "x", count: 1000) }
    }
    #expect(refusal { _ in throw Long() } == .valueRefused(String(repeating: "x", count: 200)))
    struct ThrowingDecodable: Decodable { init(from decoder: any Decoder) throws { throw Long() } }
    #expect(throws: CBORDecodingError(.valueRefused(String(repeating: "x", count: 200)), at: 1)) {
      try CBORDecoder().decode([ThrowingDecodable].self, from: [0x81, 0x00])
    }
  }

  @Test("an array is not read beyond its end, and its rest may stay unread")
  func arrayEnds() throws {
    struct Pair: Decodable {
      let first: Int
      let second: Int?
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        first = try list.decode(Int.self)
        second = try list.decodeIfPresent(Int.self)
      }
    }
    #expect(try CBORDecoder().decode(Pair.self, from: [0x81, 1]).second == nil)
    #expect(
      try CBORDecoder().decode([Pair].self, from: [0x82, 0x83, 1, 2, 3, 0x82, 4, 5]).map(\.second) == [2, 5])
    #expect(throws: CBORDecodingError(.endOfArray, at: 1)) {
      try CBORDecoder().decode(Pair.self, from: [0x80])
    }
  }

  @Test("every error has a text about what was wrong")
  func words() {
    #expect(
      CBORDecodingError(.missingField(3), at: 7).description
        == "refused the message at byte 7: field 3 is missing")
    #expect(
      CBOREncodingError.keyWithoutFieldNumber("x").description
        == "cannot encode field 'x': it has no number; declare its CodingKeys with Int raw values")
  }
}

extension UnkeyedEncodingContainer {
  /// `superEncoder` on a container that is a temporary.
  fileprivate func hiddenSuperEncoder() -> any Encoder {
    var container = self
    return container.superEncoder()
  }
}
