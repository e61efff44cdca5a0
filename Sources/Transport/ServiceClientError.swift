// Errors of a request to a service process.
// The caller translates the errors for users and chooses the exit code.
import BankModel
import Posix
import Wire

/// Reason why there is no answer from a service process.
public enum ServiceClientError<Command: ServiceCommand>: Error, Sendable, Equatable {
  /// The service did not exist, did not answer in time, or ended each time while it answered a long query. The
  /// same order may be sent again.
  ///
  /// `isInDoubt`: the request is a change that was sent, and the service has not reported that the request had
  /// no effect.
  case tryLater(detail: MessageDetail, isInDoubt: Bool)
  /// This user may not connect to the socket.
  case notPermitted(socket: String)
  /// The service uses another version of the protocol.
  case otherVersion(theirs: UInt32, build: String)
  /// A system call has failed for a lasting reason.
  case system(SystemError)
}

extension ServiceClientError: CustomStringConvertible {
  /// The failed operation, its object and the reason, in English, for a log or a test.
  public var description: String {
    switch self {
    case .tryLater(let detail, _): "\(Command.serviceName) did not answer in time (\(detail)): try later"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .otherVersion(let theirs, let build):
      "\(Command.serviceName) (build \(build)) uses protocol \(theirs), this program protocol \(protocolVersion)"
    case .system(let error): error.description
    }
  }

  /// The reason in a form that can be translated.
  public var messageDetail: MessageDetail {
    if case .tryLater(let detail, _) = self { detail } else { MessageDetail(quoting: description) }
  }
}
