// Reasons why a Swift value cannot be written in the profile, and their texts.
// Such an error is usually a bug in a message type, and not the fault of a peer.

/// Reason why a value cannot be written in the profile of ``CBORProfile``.
public enum CBOREncodingError: Error, Equatable, Sendable {
  /// A coding key, whose name is the payload, has no `intValue`. A field number is not in
  /// ``CBORProfile/fieldNumbers``, or was written twice in one map.
  case keyWithoutFieldNumber(String), fieldNumberOutOfRange(Int), duplicateField(Int)
  /// A `Double` or a `Float`, or an integer below −2⁶³ or above 2⁶⁴ − 1.
  case floatingPoint, integerOutOfRange
  /// Containers nested deeper than ``CBORLimits/standard`` allows.
  case nestingTooDeep(limit: Int)
  /// A type's `encode(to:)` wrote nothing; the payload is the name of the type.
  case nothingEncoded(String)
  /// A second value, or a container of another kind, in a position that already has a value.
  case secondValue
  /// A nested container was used after its parent had continued, or any container after the end of the encoding.
  case containerOutOfOrder
  /// `superEncoder()` was called; message types are not classes that inherit.
  case superEncoderUnsupported
  /// A type's own `encode(to:)` threw another error; the payload is the start of its text.
  case valueRefused(String)
}

extension CBOREncodingError: CustomStringConvertible {
  /// One sentence about what cannot be encoded, and why.
  public var description: String {
    switch self {
    case .keyWithoutFieldNumber(let name):
      "cannot encode field '\(name)': it has no number; declare its CodingKeys with Int raw values"
    case .fieldNumberOutOfRange(let number): "cannot encode field \(number): field numbers are 0 to 255"
    case .duplicateField(let number):
      "cannot encode field \(number) twice in one map; give every field a number of its own"
    case .floatingPoint:
      "cannot encode a floating-point number: the protocol has none; use a whole number of a smaller unit"
    case .integerOutOfRange: "cannot encode an integer that fits neither Int64 nor UInt64"
    case .nestingTooDeep(let limit):
      "cannot encode more than \(limit) containers inside one another; flatten the message"
    case .nothingEncoded(let type):
      "cannot encode \(type): its encode(to:) wrote nothing; encode a value or nil"
    case .secondValue: "cannot encode two values in one place; use a container that holds both"
    case .containerOutOfOrder:
      "cannot encode into a nested container once its parent has continued; finish the nested one first"
    case .superEncoderUnsupported: "cannot encode through superEncoder(); encode the parts as fields"
    case .valueRefused(let reason): "cannot encode the value: \(reason)"
    }
  }
}
