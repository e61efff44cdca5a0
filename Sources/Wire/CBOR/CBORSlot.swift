// Owns the place of one value that is to be written: Codable's `Encoder` and its single-value container.
// It must not know the buffer's layout; it asks `CBORWriter`.
// Invariant: three words and no more, so that `any Encoder` holds it without an allocation.
// A second value in the same place fails with `secondValue`.

struct CBORSlot {
  let writer: CBORWriter
  /// Where the value's first byte goes; also the name of the container that begins there.
  let start: Int
  /// How many containers stand around the value.
  let level: Int

  var codingPath: [any CodingKey] { [] }

  @inline(__always)
  func expectEmpty() throws(CBOREncodingError) {
    guard writer.count == start else { throw writer.fail(.secondValue) }
  }
}

extension CBORSlot: Encoder {
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    writer.openContainer(CBORMajor.map, in: self)
    return KeyedEncodingContainer(CBORKeyedEncodingContainer<Key>(slot: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    writer.openContainer(CBORMajor.array, in: self)
    return CBORUnkeyedEncodingContainer(slot: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension CBORSlot: SingleValueEncodingContainer {
  func encodeNil() throws {
    try expectEmpty()
    writer.appendNull()
  }

  func encode(_ value: Bool) throws {
    try expectEmpty()
    writer.append(bool: value)
  }

  func encode(_ value: String) throws {
    try expectEmpty()
    writer.append(text: value)
  }

  func encode(_ value: Double) throws { throw writer.fail(.floatingPoint) }

  func encode(_ value: Float) throws { throw writer.fail(.floatingPoint) }

  func encode<T: Encodable>(_ value: T) throws {
    try expectEmpty()
    try writer.append(value, level: level)
  }
}
