// Translation of Codable's unkeyed container into elements of an array. Invariant: one call writes one element. Calls
// that cannot throw, such as those for nested containers, store their failure in the writer, and the next call that
// writes throws it.

/// The container in which a type encodes the elements of an array.
struct CBORUnkeyedEncodingContainer: UnkeyedEncodingContainer {
  let slot: CBORSlot

  var codingPath: [any CodingKey] { [] }
  var count: Int { writer.count(of: slot) }
  var writer: CBORWriter { slot.writer }

  func encodeNil() throws {
    try writer.beginElement(in: slot)
    writer.appendNull()
  }

  func encode(_ value: Bool) throws {
    try writer.beginElement(in: slot)
    writer.append(bool: value)
  }

  func encode(_ value: String) throws {
    try writer.beginElement(in: slot)
    writer.append(text: value)
  }

  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Double) throws { throw writer.fail(.floatingPoint) }
  /// Throws an error: the profile has no floating-point numbers.
  func encode(_ value: Float) throws { throw writer.fail(.floatingPoint) }

  func encode<T: Encodable>(_ value: T) throws {
    try writer.beginElement(in: slot)
    try writer.append(value, level: slot.level + 1)
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

  /// Appends an element that is an integer.
  @inline(__always) private func append(signed value: Int64) throws(CBOREncodingError) {
    try writer.beginElement(in: slot)
    writer.append(signed: value)
  }

  /// Appends an element that is an unsigned integer.
  @inline(__always) private func append(unsigned value: UInt64) throws(CBOREncodingError) {
    try writer.beginElement(in: slot)
    writer.append(unsigned: value)
  }

  /// Appends an element that is an integer of a 128-bit type.
  private func append(wide value: some BinaryInteger) throws(CBOREncodingError) {
    try writer.beginElement(in: slot)
    try writer.append(wide: value)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    nestedSlot().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nestedSlot().unkeyedContainer() }

  /// Stores a failure: message types are not classes that inherit.
  func superEncoder() -> any Encoder {
    _ = writer.fail(.superEncoderUnsupported)
    return slot
  }

  /// Starts an element for a nested container, and returns the position of its value.
  private func nestedSlot() -> CBORSlot {
    // `UnkeyedEncodingContainer` does not let this method throw. The writer stores the failure, and a later
    // call throws it.
    try? writer.beginElement(in: slot)
    return CBORSlot(writer: writer, start: writer.count, level: slot.level + 1)
  }
}
