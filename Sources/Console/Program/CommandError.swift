// Owns the ways in which a command can end: with an exit code, and without having done what was asked.
// Invariant: every refusal has exactly one code, and a name and a sentence; see MessageCatalog+Errors. Scripts rely on
// the numbers.
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
    switch code {
    case .queueFull, .draining, .diskFull, .inspected: self = .later
    case .notOpen: self = .notOpen
    case .noSuchTicket, .noSuchDay: self = .notFound
    case .alreadyOpen, .wrongState, .wrongDay, .keyConflict: self = .refused
    case .badRequest, .badConfiguration: self = .usage
    case .damaged, .newerSchema, .badHome, .windowsFailed, .system, .removed, .withdrawn, .tooSlow:
      self = .failed
    }
  }

  init(_ error: ControlError) {
    switch error {
    case .notOpen: self = .notOpen
    case .busy, .notGreeted: self = .later
    case .refused(let refusal): self = refusal.reason == .crowded ? .later : .failed
    case .notPermitted, .otherVersion, .lost, .timedOut, .malformed, .unexpected, .system, .programMissing,
      .coordinatorEnded:
      self = .failed
    }
  }
}
