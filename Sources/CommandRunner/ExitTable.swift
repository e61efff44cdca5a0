// Meaning of each exit for the customer and the service.
// Invariant: every exit has exactly one meaning. Errors: a code that no process can exit with is refused.
import Posix

/// Consequence of a command's exit.
public enum CommandVerdict: Sendable, Hashable, CaseIterable {
  /// The work is done.
  case served
  /// Retry later; not a failure. EX_TEMPFAIL
  case later
  /// Never retry: a dead letter at once.
  case dead
  /// The command cannot be run at all: the service pauses, and the customer returns to the queue.
  case pause
  /// The command was killed; counted separately from failures.
  case crash
  /// Retry, as often as the service allows.
  case failed
  /// The command was cancelled.
  case cancelled
}

/// Meaning of the exits of a service's commands.
public struct ExitTable: Sendable, Hashable {
  /// Table of a service without a table of its own. 0 is served. 75 (EX_TEMPFAIL of `sysexits.h`) is later.
  /// 64 (EX_USAGE) and 65 (EX_DATAERR) are dead, because the same arguments would fail again. 126 and 127,
  /// which shells return for a program that cannot be run or is missing, pause the service. All others are
  /// failures.
  public static let standard = ExitTable()

  private var codes: [Int32: CommandVerdict] = [
    0: .served, 75: .later, 64: .dead, 65: .dead, 126: .pause, 127: .pause,
  ]
  /// Meaning of a code that is not in the table.
  public var others: CommandVerdict = .failed
  /// Meaning of a signal that this runner did not send.
  public var signals: CommandVerdict = .crash
  /// Meaning of a timeout, whatever the command does on SIGTERM.
  public var timeouts: CommandVerdict = .failed

  public init() {}

  /// The meaning of an exit code.
  public subscript(code: Int32) -> CommandVerdict { codes[code] ?? others }

  /// Sets the meaning of an exit code.
  ///
  /// - Returns: false, without a change, for a code outside 0 to 255, with which no process can exit.
  public mutating func set(_ code: Int32, to verdict: CommandVerdict) -> Bool {
    guard (0...255).contains(code) else { return false }
    codes[code] = verdict
    return true
  }

  /// The verdict on a command that has run.
  public func verdict(of outcome: CommandOutcome) -> CommandVerdict {
    switch outcome.interruption {
    case .cancel: return .cancelled
    case .timeout: return timeouts
    case nil: break
    }
    return switch outcome.ending {
    case .code(let code): self[code]
    case .signal: signals
    // The exit status is unknown, so success cannot be assumed.
    case .unseen: signals
    }
  }

  /// The verdict on a command that could not start.
  public func verdict(of refusal: CommandRefusal) -> CommandVerdict { self[refusal.exitCode] }
}
