// Errors that end a command.
// Invariant: every error except `readerGone` has exactly one code, one exit code and one sentence (`ErrorCode`,
// MessageCatalog+Errors). Scripts rely on the exit codes and the codes.
import ControlClient
import Posix
import Wire

package enum CommandError: Error, Sendable, Equatable {
  case failure(Failure)
  /// Failure of a connection to a coordinator: it was not made, was lost, or brought no valid answer in time.
  case control(ControlError)
  case system(SystemError)
  case commandFailure(CommandFailure)
  /// The reader of standard output has closed it. No message is printed, because no process would read it.
  case readerGone

  /// True if an existing connection was lost, so a retry may succeed.
  package var isLoss: Bool { self == .control(.lost) }
}

extension CommandError {
  package static func commandFailure(_ code: ErrorCode, _ message: String) -> CommandError {
    .commandFailure(CommandFailure(code, message))
  }

  /// A complaint with one of the coordinator's error codes.
  package static func commandFailure(as code: Failure.Code, _ message: String) -> CommandError {
    .commandFailure(CommandFailure(as: code, message))
  }

  /// A command line that requests something impossible.
  package static func usage(_ message: String) -> CommandError { .commandFailure(.usage, message) }
  package static func failed(_ message: String) -> CommandError { .commandFailure(.failed, message) }
}

/// Converts an error of the system into the reason why the command failed.
func fromSystem<Result>(
  _ call: @autoclosure () throws(SystemError) -> Result
) throws(CommandError) -> Result {
  do throws(SystemError) { return try call() } catch { throw .system(error) }
}

func fromControl<Result>(
  _ call: @autoclosure () throws(ControlError) -> Result
) throws(CommandError) -> Result {
  do throws(ControlError) { return try call() } catch { throw .control(error) }
}

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

  package init(_ code: ErrorCode, _ message: String) {
    self.init(code: code.rawValue, exit: code.exit, message: message)
  }

  package init(as code: Failure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }

  init(stock code: StockFailure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }

  init(vending code: VendingFailure.Code, _ message: String) {
    self.init(code: code.name, exit: ProgramExit(code), message: message)
  }
}

package enum ProgramExit: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  /// Syntax error, or a request that can never succeed.
  case usage = 2
  case notOpen = 3
  case notFound = 4
  case refused = 5
  case later = 75

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
