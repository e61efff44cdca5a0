// Owns the exit codes of the program, and which code a refusal of the coordinator has.
// Invariant: every refusal has exactly one code. Scripts rely on these numbers.
import ControlClient
import Wire

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
