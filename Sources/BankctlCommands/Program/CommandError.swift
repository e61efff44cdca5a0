// Errors that end a command.
// Scripts rely on the codes and the exit codes.
import ControlClient
import Posix
import Wire

/// Reason why a command ends without success.
package enum CommandError: Error, Sendable, Equatable {
  /// Refusal that the coordinator sent.
  case failure(Failure)
  /// A coordinator could not be launched or reached, was lost, or sent no valid answer in time.
  case control(ControlError)
  /// Failed system call of this program.
  case system(SystemError)
  /// Error with its code, its exit code and a complete message.
  case commandFailure(CommandFailure)
  /// The reader of standard output has closed it. No message is printed.
  case readerGone

  /// True if the connection was lost, so a retry may succeed.
  package var isLoss: Bool { self == .control(.lost) }
}

extension CommandError {
  /// An error with a code of this program and its message.
  package static func commandFailure(_ code: ErrorCode, _ message: String) -> CommandError {
    .commandFailure(CommandFailure(code, message))
  }

  /// An error that this program detects and reports with one of the coordinator's error codes.
  package static func commandFailure(as code: Failure.Code, _ message: String) -> CommandError {
    .commandFailure(CommandFailure(as: code, message))
  }

  /// An error in the command line: wrong syntax, or a request that can never succeed.
  package static func usage(_ message: String) -> CommandError { .commandFailure(.usage, message) }
  /// An error without a code of its own.
  package static func failed(_ message: String) -> CommandError { .commandFailure(.failed, message) }
}

/// Makes a call, and converts an error of the system into the reason why the command failed.
func fromSystem<Result>(
  _ call: @autoclosure () throws(SystemError) -> Result
) throws(CommandError) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}

/// Makes a call, and converts an error of the connection into the reason why the command failed.
func fromControl<Result>(
  _ call: @autoclosure () throws(ControlError) -> Result
) throws(CommandError) -> Result {
  do throws(ControlError) { return try call() } catch { throw .control(error) }
}

/// An error as it is printed: code, exit code and message.
package struct CommandFailure: Error, Sendable, Equatable {
  /// The error code in JSON output.
  var code: String
  var exit: ProgramExit
  /// One line: the operation, its object, the reason, and the remedy.
  var message: String

  private init(code: String, exit: ProgramExit, message: String) {
    self.code = code
    self.exit = exit
    self.message = message
  }

  /// Error with a code of this program, which decides the exit code.
  package init(_ code: ErrorCode, _ message: String) {
    self.init(code: code.rawValue, exit: code.exit, message: message)
  }

  /// Error with a code of the coordinator, which decides the exit code.
  package init(as code: Failure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }

  /// Error with a code of the stock, which decides the exit code.
  init(stock code: StockFailure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }

  /// Error with a code of the vending machine, which decides the exit code.
  init(vending code: VendingFailure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }
}

/// An exit code of bankctl or of a program beside it. `run --wait` may exit with others.
package enum ProgramExit: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  /// Syntax error, or a request that can never succeed.
  case usage = 2
  case notOpen = 3
  case notFound = 4
  /// The present state does not allow the request.
  case refused = 5
  /// The request may succeed later (`EX_TEMPFAIL` in sysexits.h).
  case later = 75

  /// Exit code for a refusal of the coordinator.
  init(_ code: Failure.Code) {
    self =
      switch code {
      case .queueFull, .draining, .diskFull, .inspected, .leaseLost: .later
      case .notOpen: .notOpen
      case .noSuchTicket, .noSuchDay, .noSuchService, .noSuchWindow: .notFound
      case .alreadyOpen, .wrongState, .wrongDay, .keyConflict, .processChanged, .requiresSharedStore,
        .unsupportedWithSharedStore,
        .notMoved, .databaseMoved, .fromOwnWork:
        .refused
      case .badRequest, .badConfiguration: .usage
      case .damaged, .newerSchema, .badHome, .startFailed, .system, .removed, .withdrawn, .slowConsumer:
        .failed
      }
  }
}
