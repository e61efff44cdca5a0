// Owns the ways in which a command can end without having done what was asked.
// Invariant: every such way has a name for scripts, an exit code and a sentence; see MessageCatalog+Errors.
// Failure: this is how failure looks.
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
  package static func complaint(_ code: String, _ exit: ProgramExit, _ message: String) -> CommandError {
    .complaint(Complaint(code, exit, message))
  }

  /// The command line asks for what is never possible.
  package static func usage(_ message: String) -> CommandError { .complaint("usage", .usage, message) }
  /// It was tried, and it failed.
  package static func failed(_ message: String) -> CommandError { .complaint("failed", .failed, message) }
}

/// What the system refuses, as the reason why a command did not do what was asked.
func fromSystem<Result>(
  _ call: @autoclosure () throws(SystemError) -> Result
) throws(CommandError) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}

/// What a conversation that failed has led to, in the same way.
func fromControl<Result>(
  _ call: @autoclosure () throws(ControlError) -> Result
) throws(CommandError) -> Result {
  do throws(ControlError) { return try call() } catch { throw .control(error) }
}

package struct Complaint: Error, Sendable, Equatable {
  /// The name that scripts see in JSON.
  var code: String
  var exit: ProgramExit
  /// What failed, on what, why, and what to do: one line.
  var message: String

  package init(_ code: String, _ exit: ProgramExit, _ message: String) {
    self.code = code
    self.exit = exit
    self.message = message
  }
}
