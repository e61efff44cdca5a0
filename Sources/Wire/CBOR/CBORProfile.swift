// Owns the written definition of the bank's CBOR profile, and the bounds within which an input is looked at. Invariant: the
// comment and the codec next to it say the same; `Tests/WireTests` holds every sentence to it. A bound is checked before
// memory or stack is spent on what it bounds. A value outside is never repaired: it ends in a typed error.

/// The subset of CBOR (RFC 8949) that the bank speaks: one value has exactly one encoding per field order.
///
/// ## What a value may be
///
/// | Swift | CBOR | notes |
/// |---|---|---|
/// | every fixed-width integer | major types 0 and 1 | from −2⁶³ to 2⁶⁴ − 1; converted to the asked width with a check |
/// | `[UInt8]` | byte string (2) | never an array of numbers |
/// | `String` | text string (3) | valid UTF-8 only, no normalisation |
/// | arrays, sets, unkeyed containers | array (4) | `nil` elements are null |
/// | structs, enums with values, keyed containers | map (5) | keys are field numbers |
/// | `Bool` | simple values 20 and 21 | |
/// | `nil` | simple value 22 | only where an array element or an explicit `encodeNil` asks for it |
///
/// ## Field numbers
///
/// A map is a record. Its keys are integers in ``fieldNumbers``, taken from `CodingKey.intValue`; a type gets them
/// by declaring `enum CodingKeys: Int, CodingKey` with explicit values. Fields are written in the order in which
/// the type encodes them, which for synthesised conformances is the order of declaration; they are not sorted.
/// A reader accepts any order, refuses a field that appears twice, and skips a field number it does not know, as
/// long as the skipped value is itself within the profile. So a newer build may add fields, and a number that was
/// used once is never used again for something else.
///
/// An absent optional is an absent field. A reader takes a missing field and a null for the same `nil`.
///
/// Data with arbitrary keys is an array of records: a `Dictionary` has no order of its own, would not encode the
/// same way twice, and is outside the profile unless its keys happen to be field numbers.
///
/// ## Heads
///
/// Every head is in its shortest form and every length is definite (RFC 8949, section 4.2.1, without its rule on
/// the order of keys).
///
/// ## What is refused
///
/// Floating point, tags (bignums among them), `undefined` and all other simple values, indefinite lengths, heads
/// that are longer than needed, text that is not UTF-8, keys that are not field numbers, duplicate fields,
/// negative integers below −2⁶³, nesting beyond ``CBORLimits/maximumDepth``, lengths and counts that the remaining
/// bytes cannot hold, and bytes after the value. Each has a case of its own in ``CBORDecodingError/Reason``.
///
/// A reader checks the whole input against the profile before it makes the first value of it, so what is refused
/// does not depend on the type that was asked for.
public enum CBORProfile {
  /// The keys a map may have: 0 to 255, at most two bytes each.
  public static let fieldNumbers: ClosedRange<Int> = 0...255
}

/// The bounds that a ``CBORDecoder`` puts on its input.
public struct CBORLimits: Sendable, Equatable {
  /// How many arrays and maps may stand one inside the other; a lone number has depth 0. At least 1.
  public let maximumDepth: Int

  /// How long an input may be, in bytes. At most 2³² − 2, because offsets are kept in 32 bits.
  public let maximumByteCount: Int

  /// Bounds of a caller's own.
  ///
  /// - Precondition: `maximumDepth` is in `1...64`, so that recursion stays shallow, and `maximumByteCount` is in
  ///   `1...4_294_967_294`.
  public init(maximumDepth: Int, maximumByteCount: Int) {
    precondition((1...64).contains(maximumDepth), "maximumDepth is in 1...64")
    precondition((1...Int(UInt32.max) - 1).contains(maximumByteCount), "maximumByteCount is in 1...2^32-2")
    self.maximumDepth = maximumDepth
    self.maximumByteCount = maximumByteCount
  }

  /// Depth 16, and 2³² − 2 bytes: the frame has bounded the length long before. The encoder keeps to this depth too.
  public static let standard = CBORLimits(maximumDepth: 16, maximumByteCount: Int(UInt32.max) - 1)
}
