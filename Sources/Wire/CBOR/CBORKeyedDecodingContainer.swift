// Translation of Codable's keyed container into lookups in a map. Invariant: for an optional field, a missing
// field and a null are both nil. The error for a missing field has the offset of the map; the error for an
// invalid value has the offset of the value.

/// The container from which a type decodes its fields.
struct CBORKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let map: CBORMap

  var codingPath: [any CodingKey] { [] }

  /// The known keys of the map. A plain loop, because a chain of generic collection methods would be slow.
  var allKeys: [Key] {
    var keys: [Key] = []
    for number in map.fieldNumbers { if let key = Key(intValue: number) { keys.append(key) } }
    return keys
  }

  var input: CBORInput { map.input }

  /// True if the map has this field.
  func contains(_ key: Key) -> Bool {
    guard let number = key.intValue else { return false }
    return map.valueOffset(number) != nil
  }

  func decodeNil(forKey key: Key) throws -> Bool { try input.isNull(at: offset(of: key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try input.bool(at: offset(of: key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try input.text(at: offset(of: key)) }

  /// Throws an error: the profile has no floating-point numbers.
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    throw CBORDecodingError(.floatingPointUnsupported, at: map.offset)
  }

  /// Throws an error: the profile has no floating-point numbers.
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    throw CBORDecodingError(.floatingPointUnsupported, at: map.offset)
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try input.value(type, at: offset(of: key))
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.bool(at: offset)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.text(at: offset)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.value(type, at: offset)
  }

  // The methods for integers are not generic. A generic method for all widths would be called unspecialized through
  // Codable's witness tables, with dynamic calls for a conversion; `need` and `find` are specialized for each caller.

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try need(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try need(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try need(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try need(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try need(key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try need(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try need(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try need(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try need(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try need(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try need(key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try need(key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try find(key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try find(key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try find(key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try find(key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try find(key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try find(key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try find(key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try find(key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try find(key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try find(key) }

  /// Reads a required integer field.
  @inline(__always) private func need<I: FixedWidthInteger>(_ key: Key) throws(CBORDecodingError) -> I {
    try input.integer(I.self, at: offset(of: key))
  }

  /// Reads an optional integer field; nil if it is missing or null.
  @inline(__always) private func find<I: FixedWidthInteger>(_ key: Key) throws(CBORDecodingError) -> I? {
    guard let offset = try offsetIfPresent(of: key) else { return nil }
    return try input.integer(I.self, at: offset)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try CBORValueDecoder(input: input, offset: offset(of: key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try CBORUnkeyedDecodingContainer(input, at: offset(of: key))
  }

  /// Throws an error: message types are not classes that inherit.
  func superDecoder() throws -> any Decoder {
    throw CBORDecodingError(.superDecoderUnsupported, at: map.offset)
  }

  /// Throws an error, as the other overload does.
  func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }

  /// Field number of a coding key. Throws `keyWithoutFieldNumber` if it has none.
  @inline(__always) private func number(of key: Key) throws(CBORDecodingError) -> Int {
    guard let number = key.intValue else {
      throw CBORDecodingError(.keyWithoutFieldNumber(key.stringValue), at: map.offset)
    }
    return number
  }

  /// Offset of the value of a field. Throws `missingField` if the map does not have it.
  @inline(__always) func offset(of key: Key) throws(CBORDecodingError) -> Int {
    let number = try number(of: key)
    guard let offset = map.valueOffset(number) else {
      throw CBORDecodingError(.missingField(number), at: map.offset)
    }
    return offset
  }

  /// Offset of the value of a field; nil if it is missing or null.
  @inline(__always) func offsetIfPresent(of key: Key) throws(CBORDecodingError) -> Int? {
    guard let offset = map.valueOffset(try number(of: key)) else { return nil }
    return try input.isNull(at: offset) ? nil : offset
  }
}
