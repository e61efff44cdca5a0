// Layout of a frame: a length of four bytes, most significant byte first, and a body. Also the limits of a body
// and the reasons for refusing a frame. Invariant: an accepted body is not empty, and not longer than the limit
// that both ends of a connection share; raising a limit is a change of the protocol. After a refusal the start
// of the next frame in the stream is unknown, so the receiver ends the connection.

/// The layout of a frame: a prefix of ``headerLength`` bytes, and the body.
public enum Frame {
  /// The length of the prefix, in bytes: a big-endian unsigned 32-bit count of the bytes of the body.
  public static let headerLength = 4

  /// Throws an error if a body of this length is empty or exceeds the limit.
  static func check(length: Int, limit: Int) throws(FrameError) {
    guard length > 0 else { throw .emptyBody }
    guard length <= min(limit, Int(UInt32.max)) else { throw .bodyTooLong(length: length, maximum: limit) }
  }
}

/// Maximum length of a frame's body in bytes, for each kind of connection.
public enum FrameLimits {
  /// Limit on the control socket, where a message can contain a part of a list, or a payload and its metadata.
  public static let control = 5 << 18

  /// Limit between the coordinator and a teller, where messages contain payloads and results.
  public static let teller = control
}

/// Reason for a refused frame.
public enum FrameError: Error, Equatable, Sendable {
  /// The length is 0, although every message has at least one byte.
  case emptyBody
  /// The length exceeds the connection's limit. Both values are in bytes.
  case bodyTooLong(length: Int, maximum: Int)
}

extension FrameError: CustomStringConvertible {
  /// One sentence: the refusal and its reason.
  public var description: String {
    switch self {
    case .emptyBody: "refused a frame with an empty body: every frame carries one message"
    case .bodyTooLong(let length, let maximum):
      "refused a frame of \(length) bytes: this connection allows \(maximum)"
    }
  }
}

/// Reason why a message was not encoded as a frame. The output buffer is unchanged.
public enum FrameEncodingError: Error, Equatable, Sendable {
  /// The message does not fit the CBOR profile.
  case message(CBOREncodingError)
  /// The message is empty, or longer than the connection allows.
  case frame(FrameError)
}

extension FrameEncodingError: CustomStringConvertible {
  /// The text of the underlying error.
  public var description: String {
    switch self {
    case .message(let error): error.description
    case .frame(let error): error.description
    }
  }
}
