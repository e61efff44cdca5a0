// Owns the ways in which asking a service can fail. It knows no person's language and no exit code: whoever talks to people
// finds the words.
import BankModel
import Posix
import Wire

/// Why there is no answer from a service.
public enum ServiceClientError<Command: ServiceCommand>: Error, Sendable, Equatable {
  /// The service was not there, or did not answer in time. The same order may be asked again.
  ///
  /// In doubt where a change was sent to a service that has not said that it heard nothing of it.
  case tryLater(detail: Remark, isInDoubt: Bool)
  case notPermitted(socket: String)
  case otherVersion(theirs: UInt32, build: String)
  case system(SystemError)
}

extension ServiceClientError: CustomStringConvertible {
  /// What failed, on what, and why, in English, for a log or a test.
  public var description: String {
    switch self {
    case .tryLater(let detail, _): "\(Command.serviceName) did not answer in time (\(detail)): try later"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .otherVersion(let theirs, let build):
      "\(Command.serviceName) (build \(build)) speaks version \(theirs) of the protocol, this program \(protocolVersion)"
    case .system(let error): error.description
    }
  }

  /// Why there is no answer, so that it can be said in any language.
  public var remark: Remark {
    if case .tryLater(let detail, _) = self { detail } else { Remark(quoting: description) }
  }
}
