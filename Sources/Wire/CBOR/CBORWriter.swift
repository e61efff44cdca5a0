// State shared by the containers of one encoding: the buffer, and the encoding of nested values. Invariant: no type's
// own `encode(to:)` runs during an access to the buffer, because Swift checks exclusive access. An error from a
// type's own `encode(to:)` is converted to a `CBOREncodingError` and stored.

/// Output of one encoding, which its containers share.
final class CBORWriter {
  private var buffer = CBORBuffer()

  /// Exchanges the bytes with a caller's buffer. One call before an encoding takes the buffer, and one after it
  /// returns the buffer, without a copy.
  func swapBytes(with bytes: inout [UInt8]) { swap(&buffer.bytes, &bytes) }
  /// Number of bytes, including those that were in the caller's buffer before this encoding.
  var count: Int { buffer.bytes.count }
  func append(signed value: Int64) { buffer.append(signed: value) }
  func append(unsigned value: UInt64) { buffer.append(unsigned: value) }
  func append(wide value: some BinaryInteger) throws(CBOREncodingError) { try buffer.append(wide: value) }
  func append(bool value: Bool) { buffer.append(bool: value) }
  func append(text value: String) { buffer.append(text: value) }
  func appendNull() { buffer.appendNull() }

  /// Writes the key of a field. The caller has to write the value next.
  @inline(__always) func beginField(_ key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    try buffer.beginField(try number(of: key), in: slot)
  }

  @inline(__always)
  func append(signed value: Int64, for key: some CodingKey, in slot: CBORSlot) throws(CBOREncodingError) {
    try buffer.append(signed: value, for: try number(of: key), in: slot)
  }

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

  func openContainer(_ major: UInt8, in slot: CBORSlot) { buffer.openContainer(major, in: slot) }
  /// Number of entries of an open container; 0 if it is not open.
  func count(of slot: CBORSlot) -> Int { buffer.count(of: slot) }
  /// Stores a failure, unless an earlier one is stored. Returns the stored one.
  func fail(_ error: CBOREncodingError) -> CBOREncodingError { buffer.fail(error) }

  /// Ends the encoding. A write through a container that a type has kept fails from then on.
  func finish() throws(CBOREncodingError) {
    // A type's own encode(to:) may catch a failure and return normally; the value is then incomplete.
    if let failure = buffer.failure { throw failure }
    _ = fail(.containerOutOfOrder)
  }
}
