// Owns the ways in which a command can end: with an exit code, and without having done what was asked.
// Invariant: every refusal has exactly one code, with its exit code, and a sentence; see ErrorCode and MessageCatalog+Errors.
// Scripts rely on the numbers and the codes.
import ControlClient
import Posix
import Wire

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
  package static func complaint(_ code: ErrorCode, _ message: String) -> CommandError {
    .complaint(Complaint(code, message))
  }

  /// The same for a condition that has a code of the coordinator's.
  package static func complaint(as code: Failure.Code, _ message: String) -> CommandError {
    .complaint(Complaint(as: code, message))
  }

  /// The command line asks for what is never possible.
  package static func usage(_ message: String) -> CommandError { .complaint(.usage, message) }
  package static func failed(_ message: String) -> CommandError { .complaint(.failed, message) }
}

/// What the system refuses, as the reason why a command did not do what was asked.
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

package struct Complaint: Error, Sendable, Equatable {
  /// The name that scripts see in JSON.
  var code: String
  var exit: ProgramExit
  /// What failed, on what, why, and what to do: one line.
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
    self.init(code: code.rawValue, exit: ProgramExit(code), message: message)
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
  /// The command line was not understood, or asks for what is never possible.
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
      case .alreadyOpen, .wrongState, .wrongDay, .keyConflict, .otherProcess, .notShared, .notInSharedBank,
        .notMoved, .booksMoved, .fromOwnWork:
        .refused
      case .badRequest, .badConfiguration: .usage
      case .damaged, .newerSchema, .badHome, .windowsFailed, .system, .removed, .withdrawn, .tooSlow: .failed
      }
  }
}
