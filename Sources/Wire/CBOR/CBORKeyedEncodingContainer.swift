// Translation of Codable's keyed container into fields of a map. Invariant: one call writes one key and one value, or
// nothing for a nil of `encodeIfPresent`. Calls that cannot throw, such as those for nested containers, store their
// failure in the writer, and the next call that writes throws it.

/// The container in which a type encodes its fields.
struct CBORKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: CBORSlot

  var codingPath: [any CodingKey] { [] }
  var writer: CBORWriter { slot.writer }

  func encodeNil(forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    writer.appendNull()
  }

  func encode(_ value: Bool, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    writer.append(bool: value)
  }

  func encode(_ value: String, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    writer.append(text: value)
  }

  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Double, forKey key: Key) throws { throw writer.fail(.floatingPoint) }
  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Float, forKey key: Key) throws { throw writer.fail(.floatingPoint) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    try writer.append(value, level: slot.level + 1)
  }

  // The methods for integers are not generic; see the comment in `CBORKeyedDecodingContainer`. For a nil,
  // `encodeIfPresent` writes nothing.

  func encode(_ value: Int, forKey key: Key) throws { try put(Int64(value), key) }
  func encode(_ value: Int8, forKey key: Key) throws { try put(Int64(value), key) }
  func encode(_ value: Int16, forKey key: Key) throws { try put(Int64(value), key) }
  func encode(_ value: Int32, forKey key: Key) throws { try put(Int64(value), key) }
  func encode(_ value: Int64, forKey key: Key) throws { try put(value, key) }
  func encode(_ value: UInt, forKey key: Key) throws { try put(UInt64(value), key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try put(UInt64(value), key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try put(UInt64(value), key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try put(UInt64(value), key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try put(value, key) }
  func encode(_ value: Int128, forKey key: Key) throws { try put(wide: value, key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try put(wide: value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value.map(Int64.init), key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value.map(Int64.init), key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value.map(Int64.init), key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value.map(Int64.init), key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value.map(UInt64.init), key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value.map(UInt64.init), key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value.map(UInt64.init), key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value.map(UInt64.init), key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }

  /// Writes an integer field; nil writes nothing.
  @inline(__always) private func put(_ value: Int64?, _ key: Key) throws(CBOREncodingError) {
    if let value { try writer.append(signed: value, for: key, in: slot) }
  }

  /// Writes an unsigned integer field; nil writes nothing.
  @inline(__always) private func put(_ value: UInt64?, _ key: Key) throws(CBOREncodingError) {
    if let value { try writer.append(unsigned: value, for: key, in: slot) }
  }

  /// Writes a field with an integer of a 128-bit type, whose value has to fit the profile.
  private func put(wide value: some BinaryInteger, _ key: Key) throws(CBOREncodingError) {
    try writer.beginField(key, in: slot)
    try writer.append(wide: value)
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    nestedSlot(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nestedSlot(forKey: key).unkeyedContainer()
  }

  /// Stores a failure: message types are not classes that inherit.
  func superEncoder() -> any Encoder {
    _ = writer.fail(.superEncoderUnsupported)
    return slot
  }

  /// Stores a failure, as the other overload does.
  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }

  /// Starts the field of a nested container, and returns the position of its value.
  private func nestedSlot(forKey key: Key) -> CBORSlot {
    // `KeyedEncodingContainerProtocol` does not let this method throw. The writer stores the failure, and a
    // later call throws it.
    try? writer.beginField(key, in: slot)
    return CBORSlot(writer: writer, start: writer.count, level: slot.level + 1)
  }
}
