// Owns the layout of a frame, four bytes of length, most significant first, and the body; how long a body may be; and how
// a frame is refused. Invariant: a body is never empty and never longer than the limit that both ends of a connection
// share; raising one is a change of the protocol. After a refusal a byte stream has no trustworthy beginning of a next
// frame, and whoever meets one ends the connection.

/// The layout of a frame.
public enum Frame {
  /// The length of the prefix, in bytes: a big-endian unsigned 32-bit count of the bytes of the body.
  public static let headerLength = 4

  static func check(length: Int, limit: Int) throws(FrameError) {
    guard length > 0 else { throw .emptyBody }
    guard length <= min(limit, Int(UInt32.max)) else { throw .bodyTooLong(length: length, maximum: limit) }
  }
}

/// The longest bodies that frames may have, in bytes, by the kind of connection.
public enum FrameLimits {
  /// On the control socket, where a message can hold a page of a list, or a payload of 1 MiB and what is told with it:
  /// 1.25 MiB.
  public static let control = 5 << 18

  /// Between the coordinator and a teller, where customers come with their payloads, and results go: 1.25 MiB.
  public static let teller = control
}

/// Why a frame was refused.
public enum FrameError: Error, Equatable, Sendable {
  /// The length is 0: no message is empty.
  case emptyBody
  /// The length is more than the connection allows, both in bytes.
  case bodyTooLong(length: Int, maximum: Int)
}

extension FrameError: CustomStringConvertible {
  /// One sentence: what was refused and why.
  public var description: String {
    switch self {
    case .emptyBody: "refused a frame with an empty body: every frame carries one message"
    case .bodyTooLong(let length, let maximum):
      "refused a frame of \(length) bytes: this connection allows \(maximum)"
    }
  }
}

/// Why a message could not be made into a frame; the buffer is as it was.
public enum FrameEncodingError: Error, Equatable, Sendable {
  /// The message does not fit the CBOR profile.
  case message(CBOREncodingError)
  /// The message is longer than the connection allows.
  case frame(FrameError)
}

extension FrameEncodingError: CustomStringConvertible {
  /// The words of the error inside.
  public var description: String {
    switch self {
    case .message(let error): error.description
    case .frame(let error): error.description
    }
  }
}
