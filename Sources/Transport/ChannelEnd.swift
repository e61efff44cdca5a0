// Owns the ways in which a channel can end, as a value.
// It must not know what its owner does about an end.
// Invariant: every channel ends exactly once, with exactly one of these.
// Failure: this is how failure looks. The words are for logs, in English.

import Posix

/// Why a ``MessageChannel`` ended. From then on it sends and delivers nothing.
public enum ChannelEnd: Error, Sendable, Hashable {
  /// The peer closed its side between two messages.
  case endOfFile
  /// The peer closed its side, or died, in the middle of a message.
  case midFrame
  /// The peer sent what is no message of the expected type; the text says which rule was broken.
  case malformed(String)
  /// The peer announced a message longer than the connection allows.
  case oversized
  /// A system call on the socket failed.
  case system(SystemError)
  /// The peer reads so slowly that more bytes wait for it than the backlog allows.
  case backlogExceeded
  /// This side tried to send a message that cannot be sent: a mistake in this program, not the peer's.
  case unsendable(String)
  /// This side closed, after everything was handed to the kernel where that was asked for.
  case closedHere
}

extension ChannelEnd: CustomStringConvertible {
  /// One sentence for a log: what happened and, where there is a reason, why.
  public var description: String {
    switch self {
    case .endOfFile: "the peer closed the connection"
    case .midFrame: "the peer closed the connection in the middle of a message"
    case .malformed(let words): "the peer sent a malformed message: \(words)"
    case .oversized: "the peer announced a message longer than this connection allows"
    case .system(let error): "the connection failed: \(error)"
    case .backlogExceeded: "the peer does not read what it is sent"
    case .unsendable(let words): "a message could not be sent: \(words)"
    case .closedHere: "this side closed the connection"
    }
  }
}
