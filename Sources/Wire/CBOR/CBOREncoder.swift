// Public interface from a Swift value to bytes of the profile. Invariant: the same value gives the same bytes if its
// type encodes its parts in a fixed order, and `CBORDecoder` accepts the output. After an error the caller's buffer
// is as long as it was before.

/// Writes `Encodable` values in the CBOR profile of ``CBORProfile``.
///
/// The value's bytes are appended to the buffer without an intermediate copy.
public struct CBOREncoder: Sendable {
  /// An encoder; it has no options.
  public init() {}

  /// The value's bytes.
  ///
  /// - Throws: ``CBOREncodingError`` if the value or its type does not fit the profile.
  public func encode<T: Encodable>(_ value: T) throws(CBOREncodingError) -> [UInt8] {
    var buffer: [UInt8] = []
    buffer.reserveCapacity(64)
    try encode(value, into: &buffer)
    return buffer
  }

  /// Appends the value's bytes to a buffer; after an error the buffer is unchanged.
  ///
  /// - Throws: ``CBOREncodingError`` if the value or its type does not fit the profile.
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
