// Reasons for refusing an input, with the offset and the text.
// Invariant: the offset counts from the first byte of the input.

/// Reason and offset of a refused input.
public struct CBORDecodingError: Error, Equatable, Sendable {
  /// The broken rule.
  public let reason: Reason

  /// Offset of the first byte of the offending data item, from 0. For truncated input it may be the length of the
  /// input; for input that is too long, and for bytes after the value, it is the offset of the first excess byte;
  /// for the end of an array the offset after its last element.
  public let offset: Int

  public init(_ reason: Reason, at offset: Int) { (self.reason, self.offset) = (reason, offset) }

  /// Rules of the profile, of the limits and of the requested type.
  public enum Reason: Equatable, Sendable {
    /// Input outside the profile; ``description`` has the meaning of each case. Truncated input ends inside a
    /// head or before a value. Additional information 28, 29 or 30 is reserved. An integer is out of range if
    /// it is below −2⁶³, or does not fit the requested type.
    case truncated, nonShortestHead, reservedHead, indefiniteLength, floatingPoint, bignum, undefined,
      invalidUTF8
    case integerOutOfRange, keyNotAFieldNumber, trailingBytes
    /// A tag other than that of a bignum, or a simple value other than false, true, null and undefined.
    case tag(UInt64), simpleValue(UInt8)
    /// The length of a string exceeds the number of remaining bytes, or a container has more entries than the
    /// remaining bytes can hold.
    case lengthExceedsInput(UInt64), countExceedsInput(UInt64)
    /// A map has the same key twice.
    case duplicateField(Int)
    /// Containers are nested deeper than the limit, or the input has more bytes than the limit.
    case nestingTooDeep(limit: Int), inputTooLong(limit: Int)
    /// The value is well-formed, but of another kind than the requested type needs.
    case typeMismatch(expected: CBORKind, found: CBORKind)
    /// The requested type needs this field, or one more element of an array.
    case missingField(Int), endOfArray
    /// Bugs in the requested type, not in the input: a coding key without an integer, floating point,
    /// `superDecoder()`.
    case keyWithoutFieldNumber(String), floatingPointUnsupported, superDecoderUnsupported
    /// The initializer of the requested type threw another error. The payload is the start of its text.
    case valueRefused(String)
  }
}

extension CBORDecodingError: CustomStringConvertible {
  /// One sentence: the refusal, the offset and the reason.
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
    case .nestingTooDeep(let limit): "more than \(limit) containers are nested"
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
