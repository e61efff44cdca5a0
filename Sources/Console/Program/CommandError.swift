// Owns the ways in which a command can end without having done what was asked.
// Invariant: every such way has a name for scripts, an exit code and a sentence; see MessageCatalog+Errors.
// Failure: this is how failure looks.
import BankModel
import ControlClient
import Posix
import Wire

/// Why a command did not do what was asked.
package enum CommandError: Error, Sendable, Equatable {
  case failure(Failure)
  /// There was no conversation, or it broke off.
  case control(ControlError)
  case system(SystemError)
  case complaint(Complaint)
  /// Nobody reads what is printed any more; nothing is said, because nobody listens.
  case readerGone

  /// Whether the connection was there and is not any more, so that a second attempt may be worth it.
  package var isLoss: Bool { self == .control(.lost) }
}

extension CommandError {
  /// The command line asks for what is never possible.
  package static func usage(_ message: String) -> CommandError {
    .complaint(Complaint(code: "usage", exit: .usage, message: message))
  }

  /// It was tried, and it failed.
  package static func failed(_ message: String) -> CommandError {
    .complaint(Complaint(code: "failed", exit: .failed, message: message))
  }
}

package struct Complaint: Error, Sendable, Equatable {
  /// The name that scripts see in JSON.
  var code: String
  var exit: ProgramExit
  /// What failed, on what, why, and what to do: one line.
  var message: String

  package init(code: String, exit: ProgramExit, message: String) {
    self.code = code
    self.exit = exit
    self.message = message
  }
}
