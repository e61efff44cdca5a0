// Reasons for the end of a channel. Invariant: a channel ends at most once, with one of these reasons; a released
// channel ends without one. The texts are in English, for logs.
import BankModel
import Posix

/// Reason for the end of a ``MessageChannel``. An ended channel sends and delivers no more messages.
public enum ChannelEnd: Error, Sendable, Hashable {
  case endOfFile
  case midFrame
  /// The peer sent bytes that are not a message of the expected type; the text is the broken rule.
  case malformed(String)
  /// The peer announced a frame, or sent a line, that is longer than the connection allows.
  case oversized
  case system(SystemError)
  /// The peer reads so slowly that its backlog exceeds the limit.
  case backlogExceeded
  /// This side tried to send an invalid message: a bug of this program, not of the peer.
  case unsendable(String)
  /// This side closed the channel. If it was closed by ``MessageChannel/closeAfterFlush()``, all output was
  /// passed to the kernel.
  case closedHere
}

extension ChannelEnd: CustomStringConvertible {
  /// One sentence for a log: the event and, if there is one, its reason.
  public var description: String { remark.description }

  /// The event and its reason, in a form that can be translated.
  public var remark: Remark {
    switch self {
    case .endOfFile: Remark(.peerClosed)
    case .midFrame: Remark(.peerClosedMidFrame)
    case .malformed(let words): Remark(.malformed, words)
    case .oversized: Remark(.oversized)
    case .system(let error): Remark(.connectionFailed, error)
    case .backlogExceeded: Remark(.peerDoesNotRead)
    case .unsendable(let words): Remark(.unsendable, words)
    case .closedHere: Remark(.closedHere)
    }
  }
}
