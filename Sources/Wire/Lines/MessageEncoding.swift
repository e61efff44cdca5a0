// Owns how a peer says by its first byte which of the two encodings it speaks. A frame below 16 MiB begins with 0, as every
// frame does that any connection allows; a line begins with the brace of its object, or with space before it.
// Invariant: no byte begins both. Failure: nil, for what begins neither.

/// How messages stand in a stream of bytes.
public enum MessageEncoding: Sendable, Hashable {
  /// A length and a body in CBOR.
  case frames
  /// A JSON object and a newline.
  case lines

  /// The encoding of a stream that begins with this byte; nil where there is none.
  public init?(firstByte: UInt8) {
    switch firstByte {
    case 0: self = .frames
    case UInt8(ascii: "{"), 0x20, 0x09, 0x0a, 0x0d: self = .lines
    default: return nil
    }
  }
}

/// The longest lines that connections may have, in bytes without the newline.
public enum LineLimits {
  /// Between the coordinator and a worker. A payload of 1 MiB has six bytes for each of its own where every one of them must
  /// be escaped, and a worker may answer with as much: 8 MiB.
  public static let worker = 8 << 20
}
