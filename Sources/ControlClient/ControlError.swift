// Errors of a conversation with the coordinator, except the failures that the coordinator sends as answers.
// Invariant: after any of these errors the connection, if there is one, must not be used any more, except after a
// `timedOut` of a wait for an answer.
import BankModel
import Posix
import Wire

/// Reason why a conversation with a coordinator failed.
public enum ControlError: Error, Sendable, Equatable {
  /// No process listens on the socket. `stale`: the socket's file exists.
  case notOpen(socket: String, stale: Bool)
  /// The permissions of the socket or its directory do not allow this user to connect.
  case notPermitted(socket: String)
  /// The queue of connections to be accepted is full.
  case busy(socket: String)
  /// The coordinator uses another version of the protocol.
  case otherVersion(theirs: UInt32, build: String)
  /// The coordinator ended the connection for a reason other than the version.
  case refused(Refusal)
  /// The connection ended before an expected answer.
  case lost
  /// The connection exists, but the coordinator has not sent its welcome in time. No request was sent.
  case noWelcome
  /// The coordinator does not answer or does not read; `what` is the missing part of the conversation, in
  /// English.
  case timedOut(what: String)
  /// The received bytes are not a message of this protocol, too many answers have arrived, or the request does
  /// not fit into a frame; `detail` is the reason.
  case malformed(detail: MessageDetail)
  /// The coordinator sent a message that does not fit the state of the conversation.
  case unexpected(detail: MessageDetail)
  case system(SystemError)
  /// The program, bankd or bank-guardian, is at none of these paths.
  case programMissing(places: [String])
  /// The coordinator exited before it answered.
  case coordinatorEnded(ExitStatus)
}

extension ControlError: CustomStringConvertible {
  /// The failed operation, its object and the reason, in English, for a log or a test.
  public var description: String {
    switch self {
    case .notOpen(let socket, let stale):
      stale
        ? "no process is listening on \(socket): its coordinator has exited" : "there is no socket \(socket)"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .busy(let socket): "\(socket) has no room for another connection now"
    case .otherVersion(let theirs, let build):
      "the coordinator (build \(build)) uses protocol \(theirs), this program protocol \(protocolVersion)"
    case .refused(let refusal): "the coordinator ended the connection: \(refusal.detail)"
    case .lost: "the connection to the coordinator was lost"
    case .noWelcome: "the coordinator did not send its welcome in time"
    case .timedOut(let what): "the coordinator did not respond in time (\(what))"
    case .malformed(let detail): "the coordinator sent a malformed message: \(detail)"
    case .unexpected(let detail): "the coordinator sent an unexpected response: \(detail)"
    case .system(let error): error.description
    case .programMissing(let places):
      "\(places.first.map(Paths.lastPart(of:)) ?? "the program") was not found at \(places.joined(separator: " or "))"
    case .coordinatorEnded(let status): "the coordinator ended with \(status) before it responded"
    }
  }
}
