// Owns what a viewer of a vending machine is told, and the ways in which asking can fail.
// It must not know a person's language or an exit code: whoever talks to people finds the words.

import BankModel
import Posix
import Wire

/// What a viewer of a vending machine is told.
public enum VendingNotice: Sendable, Equatable {
  /// The machine as it is; what was known before is forgotten.
  case picture(VendingPicture)
  /// What has changed since.
  case news(VendingNews)
  /// The machine does not show itself.
  case refused(VendingFailure)
}

/// Why there is no answer from a vending machine.
public enum VendingClientError: Error, Sendable, Equatable {
  /// The machine was not there, or did not answer in time. The same order may be asked again.
  case tryLater(detail: Remark)
  /// The socket belongs to somebody else.
  case notPermitted(socket: String)
  /// The machine speaks another version of the protocol.
  case otherVersion(theirs: UInt32, build: String)
  /// The system refused.
  case system(SystemError)
}

extension VendingClientError: CustomStringConvertible {
  /// What failed, on what, and why, in English, for a log or a test.
  public var description: String {
    switch self {
    case .tryLater(let detail): "the vending machine did not answer in time (\(detail)): try later"
    case .notPermitted(let socket): "connecting to \(socket) is not permitted"
    case .otherVersion(let theirs, let build):
      "the vending machine (build \(build)) speaks version \(theirs) of the protocol, this program \(protocolVersion)"
    case .system(let error): error.description
    }
  }

  /// Why there is no answer, so that it can be said in any language.
  public var remark: Remark {
    if case .tryLater(let detail) = self { detail } else { Remark(quoting: description) }
  }
}
