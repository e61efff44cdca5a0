// Selection of the encoding by the first byte that a peer sends. A frame starts with 0, because every permitted
// body is shorter than 16 MiB. A line starts with the opening brace of its object, or with whitespace.
// Invariant: no byte can start both a frame and a line.

/// Encoding of messages in a byte stream.
public enum MessageEncoding: Sendable, Hashable {
  /// Frames: a length, and a body in CBOR.
  case frames
  /// Lines: a JSON object, and a newline.
  case lines

  /// The encoding of a stream that starts with this byte; nil if neither encoding can start with it.
  public init?(firstByte: UInt8) {
    switch firstByte {
    case 0: self = .frames
    case UInt8(ascii: "{"), 0x20, 0x09, 0x0a, 0x0d: self = .lines
    default: return nil
    }
  }
}

/// Maximum length of a line in bytes, without the newline.
public enum LineLimits {
  /// Limit between the coordinator and a worker. A payload may take six times its length, because of escapes.
  public static let worker = 8 << 20
}
