// Owns the public way from a Swift value to bytes of the profile. Invariant: the same value gives the same bytes, and
// whatever is written `CBORDecoder` accepts. On an error the caller's buffer is as long as it was before.

/// Writes `Encodable` values in the CBOR profile of ``CBORProfile``.
///
/// One call costs a few small allocations and no intermediate copy of the value's bytes: they are appended to the
/// buffer where they stay. The encoder keeps nothing between calls.
public struct CBOREncoder: Sendable {
  /// An encoder; there is nothing to choose.
  public init() {}

  /// The value's bytes.
  ///
  /// - Throws: ``CBOREncodingError`` when the value's type does not fit the profile.
  public func encode<T: Encodable>(_ value: T) throws(CBOREncodingError) -> [UInt8] {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(64)
    try encode(value, into: &buffer)
    return buffer
  }

  /// Appends the value's bytes to a buffer; on an error the buffer keeps its former content.
  ///
  /// - Throws: ``CBOREncodingError`` when the value's type does not fit the profile.
  public func encode<T: Encodable>(_ value: T, into buffer: inout [UInt8]) throws(CBOREncodingError) {
    let lengthBefore = buffer.count
    let writer = CBORWriter()
    writer.swapBytes(with: &buffer)
    do {
      try writer.append(value, level: 0)
      try writer.finish()
      writer.swapBytes(with: &buffer)
    } catch {
      writer.swapBytes(with: &buffer)
      buffer.removeSubrange(lengthBefore...)
      throw error
    }
  }
}
