// Owns the translation of Codable's keyed container into fields of a map.
// It must not know the buffer's layout; it asks `CBORWriter`.
// Invariant: one call writes one key and one value; nothing is boxed on the way to the writer.
// Calls that cannot throw, such as nested containers, leave their failure with the writer, where the next call meets it.

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

  func encode(_ value: Double, forKey key: Key) throws { throw writer.fail(.floatingPoint) }

  func encode(_ value: Float, forKey key: Key) throws { throw writer.fail(.floatingPoint) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try writer.beginField(key, in: slot)
    try writer.append(value, level: slot.level + 1)
  }

  // MARK: Optional fields: nil writes nothing

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  // MARK: Nested containers

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nestedSlot(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nestedSlot(forKey: key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    _ = writer.fail(.superEncoderUnsupported)
    return slot
  }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }

  private func nestedSlot(forKey key: Key) -> CBORSlot {
    // The protocol gives no way to throw here; the writer has kept the failure.
    try? writer.beginField(key, in: slot)
    return CBORSlot(writer: writer, start: writer.count, level: slot.level + 1)
  }
}
