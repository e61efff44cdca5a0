// Owns the ways in which a channel can end, as a value. Invariant: every channel ends exactly once, with
// exactly one of these. Failure: this is how failure looks. The words are for logs, in English.
import BankModel
import Posix

/// Why a ``MessageChannel`` ended. From then on it sends and delivers nothing.
public enum ChannelEnd: Error, Sendable, Hashable {
  case endOfFile
  case midFrame
  /// The peer sent what is no message of the expected type; the text says which rule was broken.
  case malformed(String)
  /// The peer announced a message longer than the connection allows.
  case oversized
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
  public var description: String { remark.description }

  /// The same, so that it can be said in any language.
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
