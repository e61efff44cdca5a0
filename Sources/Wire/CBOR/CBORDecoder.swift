// Public interface from bytes of the profile to a Swift value. Invariant: no value is made before the whole
// input was found to be within the profile, and no input can trap. Every refusal contains the reason and the
// offset.

/// Reads `Decodable` values from the CBOR profile of ``CBORProfile``.
///
/// The time is linear in the input's length, and at most proportional to the nesting besides; the stack depth
/// is limited by ``CBORLimits/maximumDepth``. Nothing is allocated for a size that the input merely claims.
public struct CBORDecoder: Sendable {
  private let limits: CBORLimits

  /// A decoder with limits.
  public init(limits: CBORLimits = .standard) { self.limits = limits }

  /// Decodes the one value in the bytes.
  ///
  /// - Parameters:
  ///   - type: type of the value. Fields that the type does not have are skipped.
  ///   - bytes: one value and nothing after it; offsets in errors count from the slice's first byte.
  /// - Throws: ``CBORDecodingError``; the first violation found, those of the profile before those of the
  ///   type.
  public func decode<T: Decodable>(
    _ type: T.Type, from bytes: ArraySlice<UInt8>
  ) throws(CBORDecodingError) -> T {
    guard bytes.count <= limits.maximumByteCount else {
      throw CBORDecodingError(.inputTooLong(limit: limits.maximumByteCount), at: limits.maximumByteCount)
    }
    let input = CBORInput(bytes)
    try input.validate(maximumDepth: limits.maximumDepth)
    return try input.value(type, at: 0)
  }

  /// Decodes the one value in the bytes; the same as for a slice of an array.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CBORDecodingError) -> T {
    try decode(type, from: bytes[...])
  }
}
