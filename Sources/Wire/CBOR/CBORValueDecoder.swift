// Position of one value to be read: Codable's `Decoder` and its single-value container. Invariant: the struct
// has two words and no mutable state, so a type may request its containers repeatedly, and `any Decoder` holds
// the struct without an allocation. A value that does not fit the requested type throws a `CBORDecodingError`.

/// Decoder of the value at one offset of an input.
struct CBORValueDecoder {
  let input: CBORInput
  let offset: Int

  var codingPath: [any CodingKey] { [] }
}

extension CBORValueDecoder: Decoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(CBORKeyedDecodingContainer<Key>(map: try CBORMap(input, at: offset)))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try CBORUnkeyedDecodingContainer(input, at: offset)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension CBORValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { (try? input.isNull(at: offset)) ?? false }
  func decode(_ type: Bool.Type) throws -> Bool { try input.bool(at: offset) }
  func decode(_ type: String.Type) throws -> String { try input.text(at: offset) }

  /// Throws an error: the profile has no floating-point numbers.
  func decode(_ type: Double.Type) throws -> Double {
    throw CBORDecodingError(.floatingPointUnsupported, at: offset)
  }

  /// Throws an error: the profile has no floating-point numbers.
  func decode(_ type: Float.Type) throws -> Float {
    throw CBORDecodingError(.floatingPointUnsupported, at: offset)
  }

  func decode<T: Decodable>(_ type: T.Type) throws -> T { try input.value(type, at: offset) }

  // The methods for integers are not generic; see the comment in `CBORKeyedDecodingContainer`.

  func decode(_ type: Int.Type) throws -> Int { try input.integer(type, at: offset) }
  func decode(_ type: Int8.Type) throws -> Int8 { try input.integer(type, at: offset) }
  func decode(_ type: Int16.Type) throws -> Int16 { try input.integer(type, at: offset) }
  func decode(_ type: Int32.Type) throws -> Int32 { try input.integer(type, at: offset) }
  func decode(_ type: Int64.Type) throws -> Int64 { try input.integer(type, at: offset) }
  func decode(_ type: Int128.Type) throws -> Int128 { try input.integer(type, at: offset) }
  func decode(_ type: UInt.Type) throws -> UInt { try input.integer(type, at: offset) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try input.integer(type, at: offset) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try input.integer(type, at: offset) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try input.integer(type, at: offset) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try input.integer(type, at: offset) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try input.integer(type, at: offset) }
}
