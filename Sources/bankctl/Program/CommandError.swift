// Owns the ways in which a command can end without having done what was asked.
// It must not know words, except those a command has found itself.
// Invariant: every such way has a name for scripts, an exit code and a sentence; see Words+Errors.
// Failure: this is how failure looks.
import BankModel
import ControlClient
import Posix
import Wire

/// Why a command did not do what was asked.
enum CommandError: Error, Sendable, Equatable {
  /// The coordinator refused.
  case failure(Failure)
  /// There was no conversation, or it broke off.
  case control(ControlError)
  /// The system refused this program itself something.
  case system(SystemError)
  /// The command has found the words itself.
  case complaint(Complaint)
  /// Nobody reads what is printed any more; nothing is said, because nobody listens.
  case readerGone

  /// Whether the connection was there and is not any more, so that a second attempt may be worth it.
  var isLoss: Bool { self == .control(.lost) }
}

/// A failure in words.
struct Complaint: Error, Sendable, Equatable {
  /// The name that scripts see in JSON.
  var code: String
  /// The exit code.
  var exit: ProgramExit
  /// What failed, on what, why, and what to do: one line.
  var message: String
}
