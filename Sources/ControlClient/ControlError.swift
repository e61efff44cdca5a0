// Owns the ways in which a conversation with the coordinator can fail that are not the coordinator's own answers; whoever talks
// to people finds the words.
// Invariant: after one of these the connection is of no more use, except after `notOpen` and `timedOut`.
import BankModel
import Posix
import Wire

/// Why a conversation with a coordinator did not come about, or ended.
public enum ControlError: Error, Sendable, Equatable {
  /// Nobody listens. `stale` where a socket is there that a dead coordinator left.
  case notOpen(socket: String, stale: Bool)
  /// The socket belongs to somebody else.
  case notPermitted(socket: String)
  /// So many connections wait to be accepted that there is no room for another.
  case busy(socket: String)
  /// The coordinator speaks another version of the protocol.
  case otherVersion(theirs: UInt32, build: String)
  /// The coordinator ended the connection with a reason other than the version.
  case refused(Refusal)
  /// The connection ended where an answer was due.
  case lost
  /// The coordinator is there and has not even greeted: it is at a long work, or stands still. Nothing was asked of it.
  case notGreeted
  /// The coordinator is there and says nothing; `what` says in which part of the conversation, in English.
  case timedOut(what: String)
  /// What came is no message of this protocol, and why.
  case malformed(detail: Remark)
  /// An answer that does not belong to the question, and what it was.
  case unexpected(detail: Remark)
  case system(SystemError)
  /// The coordinator's program is not where it should be; the places that were looked at.
  case programMissing(places: [String])
  /// The coordinator ended before it had answered.
  case coordinatorEnded(ExitStatus)
}

extension ControlError: CustomStringConvertible {
  /// What failed, on what, and why, in English, for a log or a test.
  public var description: String {
    switch self {
    case .notOpen(let socket, let stale):
      stale ? "nobody listens on \(socket): its coordinator is gone" : "there is no socket \(socket)"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .busy(let socket): "\(socket) has no room for another connection now"
    case .otherVersion(let theirs, let build):
      "the coordinator (build \(build)) speaks version \(theirs) of the protocol, this program "
        + "\(protocolVersion)"
    case .refused(let refusal): "the coordinator ended the connection: \(refusal.detail)"
    case .lost: "the connection to the coordinator was lost"
    case .notGreeted: "the coordinator did not greet in time"
    case .timedOut(let what): "the coordinator did not answer in time (\(what))"
    case .malformed(let detail): "the coordinator sent something that is no message: \(detail)"
    case .unexpected(let detail): "the coordinator sent an answer to another question: \(detail)"
    case .system(let error): error.description
    case .programMissing(let places):
      "\(places.first.map(Paths.lastPart(of:)) ?? "the program") was not found at \(places.joined(separator: " or "))"
    case .coordinatorEnded(let status): "the coordinator ended with \(status) before it answered"
    }
  }
}
