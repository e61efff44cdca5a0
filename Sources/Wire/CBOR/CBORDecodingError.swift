// Owns the ways in which an input can be refused, with the place, and their wording. Invariant: one reason for each
// rule of `CBORProfile`; the offset counts from the first byte of the input. Whoever receives one of these ends the
// connection it came from and touches nothing else.

/// Why an input was refused, and where.
public struct CBORDecodingError: Error, Equatable, Sendable {
  /// The rule that was broken.
  public let reason: Reason

  /// The byte that begins the offending data item, counted from 0 at the beginning of the input.
  public let offset: Int

  /// An error at a place.
  public init(_ reason: Reason, at offset: Int) { (self.reason, self.offset) = (reason, offset) }

  /// The rules of the profile, of the limits and of the asked type that an input can break.
  public enum Reason: Equatable, Sendable {
    /// What no input of the profile has, as ``description`` says it. A truncated one ends inside a head, or where a value
    /// has to begin; additional information 28, 29 or 30 is reserved; a number that is refused is below −2⁶³, or more than
    /// the asked type can hold.
    case truncated, nonShortestHead, reservedHead, indefiniteLength, floatingPoint, bignum, undefined,
      invalidUTF8
    case integerOutOfRange, keyNotAFieldNumber, trailingBytes
    /// A tag other than that of a bignum, and a simple value other than false, true, null and undefined.
    case tag(UInt64), simpleValue(UInt8)
    /// A string claims more bytes than the input has left, and a container more entries than there are bytes left for.
    case lengthExceedsInput(UInt64), countExceedsInput(UInt64)
    /// A map has the same key twice.
    case duplicateField(Int)
    /// More containers inside one another, or more bytes, than the limit.
    case nestingTooDeep(limit: Int), inputTooLong(limit: Int)
    /// The value is well-formed, but of another kind than the asked type needs.
    case typeMismatch(expected: CBORKind, found: CBORKind)
    /// The asked type needs this field, or one more element of an array.
    case missingField(Int), endOfArray
    /// Mistakes in the asked type, not in the input: a coding key without an integer, floating point, `superDecoder()`.
    case keyWithoutFieldNumber(String), floatingPointUnsupported, superDecoderUnsupported
    /// The asked type refused the value, with the beginning of its own words.
    case valueRefused(String)
  }
}

extension CBORDecodingError: CustomStringConvertible {
  /// One sentence: what was refused, where and why.
  public var description: String { "refused the message at byte \(offset): \(reason)" }
}

extension CBORDecodingError.Reason: CustomStringConvertible {
  /// The broken rule in words.
  public var description: String {
    switch self {
    case .truncated: "the input ends in the middle of a value"
    case .nonShortestHead: "a head is not in its shortest form"
    case .reservedHead: "a head uses a reserved form"
    case .indefiniteLength: "indefinite lengths are not part of the protocol"
    case .floatingPoint: "floating-point numbers are not part of the protocol"
    case .bignum: "bignums are not part of the protocol"
    case .tag(let number): "tags (here \(number)) are not part of the protocol"
    case .undefined: "'undefined' is not part of the protocol"
    case .simpleValue(let number): "the simple value \(number) is not part of the protocol"
    case .integerOutOfRange: "an integer does not fit its field"
    case .lengthExceedsInput(let length): "a string claims \(length) bytes, more than there are"
    case .countExceedsInput(let count): "a container claims \(count) entries, more than there are"
    case .invalidUTF8: "a text is not valid UTF-8"
    case .keyNotAFieldNumber: "a map's key is not a field number from 0 to 255"
    case .duplicateField(let number): "field \(number) appears twice"
    case .nestingTooDeep(let limit): "more than \(limit) containers stand inside one another"
    case .trailingBytes: "bytes follow the value"
    case .inputTooLong(let limit): "the input is longer than \(limit) bytes"
    case .typeMismatch(let expected, let found): "expected \(expected.rawValue), found \(found.rawValue)"
    case .missingField(let number): "field \(number) is missing"
    case .endOfArray: "an array has too few elements"
    case .keyWithoutFieldNumber(let name): "the type's field '\(name)' has no number"
    case .floatingPointUnsupported: "the type asks for a floating-point number"
    case .superDecoderUnsupported: "the type asks for a super decoder"
    case .valueRefused(let words): words
    }
  }
}
