// Definition of the bank's CBOR profile, and the limits of an input. Invariant: a limit is checked before the limited
// memory or stack is used. A value outside the profile results in a typed error.

/// Subset of CBOR (RFC 8949) that the bank uses: one value has one encoding per field order.
///
/// ## Permitted values
///
/// | Swift | CBOR | notes |
/// |---|---|---|
/// | every fixed-width integer | major types 0 and 1 | from −2⁶³ to 2⁶⁴ − 1; converted with a check |
/// | `[UInt8]` | byte string (2) | never an array of numbers |
/// | `String` | text string (3) | valid UTF-8 only, no normalisation |
/// | arrays, sets, unkeyed containers | array (4) | `nil` elements are null |
/// | structs, enums with values, keyed containers | map (5) | keys are field numbers |
/// | `Bool` | simple values 20 and 21 | |
/// | `nil` | simple value 22 | only as an array element or by an explicit `encodeNil` |
///
/// ## Field numbers
///
/// A map is a record. Its keys are integers in ``fieldNumbers``, taken from `CodingKey.intValue`; a type gets
/// them by declaring `enum CodingKeys: Int, CodingKey` with explicit values. Fields are written in the order in
/// which the type encodes them, which for synthesised conformances is the order of declaration; they are not
/// sorted. A reader accepts any order, refuses a field that appears twice, and skips an unknown field number if
/// the skipped value is itself within the profile. A newer build may therefore add fields. A field number is
/// never reused for another field.
///
/// An absent optional is an absent field. For the reader of an optional field, a missing field and a null are the
/// same `nil`.
///
/// Data with arbitrary keys is an array of records: a `Dictionary` has no defined order, so it might not encode
/// the same way twice.
///
/// ## Heads
///
/// Every head is in its shortest form and every length is definite (RFC 8949, section 4.2.1, without its rule on
/// the order of keys).
///
/// ## Refused input
///
/// A reader refuses floating point, tags (including bignums), `undefined` and all other simple values,
/// indefinite lengths, heads that are longer than needed, text that is not UTF-8, keys that are not field
/// numbers, duplicate fields, negative integers below −2⁶³, nesting beyond ``CBORLimits/maximumDepth``, lengths
/// and counts that the remaining bytes cannot hold, and bytes after the value. See ``CBORDecodingError/Reason``.
///
/// A reader checks the whole input against the profile before it makes the first value. Whether an input is
/// outside the profile therefore does not depend on the requested type.
public enum CBORProfile {
  /// The keys a map may have: 0 to 255, at most two bytes each.
  public static let fieldNumbers: ClosedRange<Int> = 0...255
}

/// Limits that a ``CBORDecoder`` applies to its input.
public struct CBORLimits: Sendable, Equatable {
  /// Maximum nesting of arrays and maps; a plain number has depth 0. At least 1.
  public let maximumDepth: Int

  /// Maximum length of an input in bytes. At most 2³² − 2, because offsets are stored in 32 bits.
  public let maximumByteCount: Int

  /// Limits of the caller's choice.
  ///
  /// - Precondition: `maximumDepth` is in `1...64`, so that recursion stays shallow, and `maximumByteCount` is in
  ///   `1...4_294_967_294`.
  public init(maximumDepth: Int, maximumByteCount: Int) {
    precondition((1...64).contains(maximumDepth), "maximumDepth is in 1...64")
    precondition((1...Int(UInt32.max) - 1).contains(maximumByteCount), "maximumByteCount is in 1...2^32-2")
    self.maximumDepth = maximumDepth
    self.maximumByteCount = maximumByteCount
  }

  /// Depth 16 and 2³² − 2 bytes, because the frame limits the length. The encoder has the same maximum depth.
  public static let standard = CBORLimits(maximumDepth: 16, maximumByteCount: Int(UInt32.max) - 1)
}
