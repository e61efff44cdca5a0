// Reasons for the end of a channel. Invariant: a channel ends at most once, with one of these reasons; a released
// channel ends without one.
import BankModel
import Posix

/// Reason for the end of a ``MessageChannel``. An ended channel sends and delivers no more messages.
public enum CloseReason: Error, Sendable, Hashable {
  /// The peer has closed the connection between two messages, or its reading side before all output was written.
  case endOfFile
  /// The peer has closed the connection in the middle of a message.
  case truncatedMessage
  /// The peer sent bytes that are not a message of the expected type; the text is the broken rule.
  case malformed(String)
  /// The peer announced a frame, or sent a line, that is longer than the connection allows.
  case oversized
  /// A system call on the connection has failed.
  case system(SystemError)
  /// The peer reads so slowly that its backlog exceeds the limit.
  case backlogExceeded
  /// This side tried to send an invalid message: a bug of this program, not of the peer.
  case unsendable(String)
  /// This side closed the channel. If it was closed by ``MessageChannel/closeAfterFlush()``, all output was
  /// passed to the kernel.
  case closedLocally
}

extension CloseReason: CustomStringConvertible {
  /// One sentence for a log: the event and, if there is one, its reason.
  public var description: String { messageDetail.description }

  /// The event and its reason, in a form that can be translated.
  public var messageDetail: MessageDetail {
    switch self {
    case .endOfFile: MessageDetail(.peerClosed)
    case .truncatedMessage: MessageDetail(.peerClosedMidFrame)
    case .malformed(let words): MessageDetail(.malformed, words)
    case .oversized: MessageDetail(.oversized)
    case .system(let error): MessageDetail(.connectionFailed, error)
    case .backlogExceeded: MessageDetail(.peerDoesNotRead)
    case .unsendable(let words): MessageDetail(.unsendable, words)
    case .closedLocally: MessageDetail(.closedLocally)
    }
  }
}
