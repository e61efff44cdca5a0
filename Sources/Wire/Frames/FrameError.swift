// Owns the ways in which a frame can be refused, and their wording. Invariant: after one of these a byte stream has no
// trustworthy beginning of a next frame. Whoever receives one ends the connection.

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
