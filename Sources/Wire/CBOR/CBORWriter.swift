// State shared by all containers of one encoding: the buffer, and the encoding of nested values. Invariant: a
// method that writes a key, an integer or another simple value is one access to the buffer, so Swift checks
// exclusive access once per call. No type's own `encode(to:)` runs during an access. An error from a type's own
// `encode(to:)` is converted to a `CBOREncodingError` and stored.

/// Output of one encoding, which all its containers share.
final class CBORWriter {
  private var buffer = CBORBuffer()

  /// Exchanges the bytes with a caller's buffer. One call before an encoding takes the buffer, and one after it
  /// returns the buffer, without a copy.
  func swapBytes(with bytes: inout [UInt8]) { swap(&buffer.bytes, &bytes) }
  /// Number of bytes, including those that were in the caller's buffer before this encoding.
  var count: Int { buffer.bytes.count }
  /// Writes an integer.
  func append(signed value: Int64) { buffer.append(signed: value) }
  /// Writes an unsigned integer.
  func append(unsigned value: UInt64) { buffer.append(unsigned: value) }
  /// Writes an integer of a 128-bit type, whose value has to fit the profile.
  func append(wide value: some BinaryInteger) throws(CBOREncodingError) { try buffer.append(wide: value) }
  /// Writes a Boolean.
  func append(bool value: Bool) { buffer.append(bool: value) }
  /// Writes a text.
  func append(text value: String) { buffer.append(text: value) }
  /// Writes a null, the simple value for an absent value.
  func appendNull() { buffer.appendNull() }

  /// Writes the key of a field. The caller has to write the value next.
  @inline(__always) func beginField(_ key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    try buffer.beginField(try number(of: key), in: slot)
  }

  /// Writes the key and the value of an integer field, the most frequent kind.
  @inline(__always)
  func append(signed value: Int64, for key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    try buffer.append(signed: value, for: try number(of: key), in: slot)
  }

  /// Writes the key and the value of an unsigned integer field.
  @inline(__always)
  func append(unsigned value: UInt64, for key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    try buffer.append(unsigned: value, for: try number(of: key), in: slot)
  }

  /// Field number of a coding key. Throws `keyWithoutFieldNumber` if it has none.
  @inline(__always) private func number(of key: some CodingKey) throws(CBOREncodingError) -> Int {
    guard let number = key.intValue else { throw fail(.keyWithoutFieldNumber(key.stringValue)) }
    return number
  }

  /// Increments the number of elements in the array's head. The caller has to write the element next.
  func beginElement(in slot: CBORSlot) throws(CBOREncodingError) { try buffer.beginElement(in: slot) }

  /// Writes a value of any type; `level` is the number of enclosing containers.
  func append<T: Encodable>(_ value: T, level: Int) throws(CBOREncodingError) {
    if T.self == [UInt8].self, let byteString = value as? [UInt8] {
      buffer.append(byteString: byteString)
      return
    }
    let slot = CBORSlot(writer: self, start: count, level: level)
    do { try value.encode(to: slot) } catch let error as CBOREncodingError { throw fail(error) } catch {
      throw fail(.valueRefused(String(String(describing: error).prefix(200))))
    }
    guard count > slot.start else { throw fail(.nothingEncoded(String(describing: T.self))) }
  }

  /// Writes the head of an empty container at a position.
  func openContainer(_ major: UInt8, in slot: CBORSlot) { buffer.openContainer(major, in: slot) }
  /// Number of entries of an open container; 0 if it is not open.
  func count(of slot: CBORSlot) -> Int { buffer.count(of: slot) }
  /// Stores a failure; the first one is returned, and thrown by all later calls.
  func fail(_ error: CBOREncodingError) -> CBOREncodingError { buffer.fail(error) }

  /// Ends the encoding. A write through a container that a type has kept fails from then on.
  func finish() throws(CBOREncodingError) {
    // A type's own encode(to:) may catch a failure and return normally; the value is then incomplete.
    if let failure = buffer.failure { throw failure }
    _ = fail(.containerOutOfOrder)
  }
}
