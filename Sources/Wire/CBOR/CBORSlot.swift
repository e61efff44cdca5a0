// Position of one value to be written: Codable's `Encoder` and its single-value container. Invariant: at most three
// words, so that `any Encoder` holds a slot without an allocation. A second value in the same position fails with
// `secondValue`, but the same container may be requested again.

/// Position of one value in the output.
struct CBORSlot {
  let writer: CBORWriter
  /// Offset of the value's first byte; also the identity of the container that starts there.
  let start: Int
  /// Number of enclosing containers.
  let level: Int

  var codingPath: [any CodingKey] { [] }

  /// Throws `secondValue` if a value was already written at this position.
  @inline(__always) func expectEmpty() throws(CBOREncodingError) {
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

  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Double) throws { throw writer.fail(.floatingPoint) }
  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Float) throws { throw writer.fail(.floatingPoint) }

  func encode<T: Encodable>(_ value: T) throws {
    try expectEmpty()
    try writer.append(value, level: level)
  }

  // The methods for integers are not generic; see the comment in `CBORKeyedDecodingContainer`.

  func encode(_ value: Int) throws { try append(signed: Int64(value)) }
  func encode(_ value: Int8) throws { try append(signed: Int64(value)) }
  func encode(_ value: Int16) throws { try append(signed: Int64(value)) }
  func encode(_ value: Int32) throws { try append(signed: Int64(value)) }
  func encode(_ value: Int64) throws { try append(signed: Int64(value)) }
  func encode(_ value: UInt) throws { try append(unsigned: UInt64(value)) }
  func encode(_ value: UInt8) throws { try append(unsigned: UInt64(value)) }
  func encode(_ value: UInt16) throws { try append(unsigned: UInt64(value)) }
  func encode(_ value: UInt32) throws { try append(unsigned: UInt64(value)) }
  func encode(_ value: UInt64) throws { try append(unsigned: UInt64(value)) }
  func encode(_ value: Int128) throws { try append(wide: value) }
  func encode(_ value: UInt128) throws { try append(wide: value) }

  @inline(__always) private func append(signed value: Int64) throws(CBOREncodingError) {
    try expectEmpty()
    writer.append(signed: value)
  }

  @inline(__always) private func append(unsigned value: UInt64) throws(CBOREncodingError) {
    try expectEmpty()
    writer.append(unsigned: value)
  }

  private func append(wide value: some BinaryInteger) throws(CBOREncodingError) {
    try expectEmpty()
    try writer.append(wide: value)
  }
}
