// Selection of the encoding by a peer's first byte. A frame below 16 MiB, which every permitted frame is,
// starts with 0; a line starts with the brace of its object, or with whitespace before it.
// Invariant: no byte starts both. Nil for a byte that starts neither.

/// Encoding of messages in a byte stream.
public enum MessageEncoding: Sendable, Hashable {
  /// A length and a body in CBOR.
  case frames
  /// A JSON object and a newline.
  case lines

  /// The encoding of a stream that starts with this byte; nil if there is none.
  public init?(firstByte: UInt8) {
    switch firstByte {
    case 0: self = .frames
    case UInt8(ascii: "{"), 0x20, 0x09, 0x0a, 0x0d: self = .lines
    default: return nil
    }
  }
}

/// Maximum lines of connections in bytes, without the newline.
public enum LineLimits {
  /// Between the coordinator and a worker: 8 MiB. A payload of 1 MiB takes six bytes for each of its own if
  /// every one is escaped, and a worker may answer with as much.
  public static let worker = 8 << 20
}
