// Owns the public way from bytes of the profile to a Swift value. Invariant: no value is made before the whole input
// was found to be within the profile, and no input can trap. Whatever is refused is refused with the reason and the
// offset.

/// Reads `Decodable` values from the CBOR profile of ``CBORProfile``.
///
/// The time is linear in the input's length, and at most proportional to the nesting besides; the stack depth
/// follows ``CBORLimits/maximumDepth``. Nothing is allocated for what the input merely claims.
public struct CBORDecoder: Sendable {
  private let limits: CBORLimits

  /// A decoder with bounds.
  public init(limits: CBORLimits = .standard) { self.limits = limits }

  /// The one value that the bytes hold.
  ///
  /// - Parameters:
  ///   - type: What the bytes have to hold. Fields it does not know are skipped.
  ///   - bytes: One value and nothing behind it; offsets in errors count from the slice's first byte.
  /// - Throws: ``CBORDecodingError``; the first reason that is found, those of the profile before those of the type.
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

  /// The one value that the bytes hold; the same as for a slice of an array.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CBORDecodingError) -> T {
    try decode(type, from: bytes[...])
  }
}
