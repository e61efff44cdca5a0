// Public interface from bytes of the profile to a Swift value.
// Invariant: no value is made before the whole input has been checked against the profile, and no input can trap.

/// Reads `Decodable` values from the CBOR profile of ``CBORProfile``.
///
/// The stack depth is limited by ``CBORLimits/maximumDepth``. A length in the input is compared with the remaining
/// bytes before memory is allocated for it.
public struct CBORDecoder: Sendable {
  private let limits: CBORLimits

  /// A decoder that refuses input beyond these limits.
  public init(limits: CBORLimits = .standard) { self.limits = limits }

  /// Decodes the one value in the bytes.
  ///
  /// - Parameters:
  ///   - type: type of the value. Fields that the type does not have are skipped.
  ///   - bytes: one value and nothing after it; offsets in errors count from the slice's first byte.
  /// - Throws: ``CBORDecodingError`` for the first violation. The profile is checked before the type.
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

  /// Decodes the one value in an array of bytes; see the overload for a slice.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws(CBORDecodingError) -> T {
    try decode(type, from: bytes[...])
  }
}
