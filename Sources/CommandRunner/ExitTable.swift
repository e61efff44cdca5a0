// Owns what an ending means for the customer and the service. It knows no process. Invariant: every ending has exactly
// one meaning. Failure: a code that no process can end with is refused.
import Posix

/// What is to be done after a command.
public enum CommandVerdict: Sendable, Hashable, CaseIterable {
  /// The work is done.
  case served
  /// Not now: again later, and no failure. EX_TEMPFAIL
  case later
  /// Never: a dead letter at once.
  case dead
  /// The command cannot be run at all: the service pauses, and the customer is given back.
  case pause
  /// The command was killed; counted apart from failures.
  case crash
  /// Again, as often as the service allows.
  case failed
  /// Somebody wanted it to end.
  case cancelled
}

/// What the endings of a service's commands mean.
public struct ExitTable: Sendable, Hashable {
  /// What a service has that says nothing: 0 is served; 75 (EX_TEMPFAIL of `sysexits.h`) is later; 64 (EX_USAGE) and
  /// 65 (EX_DATAERR) are dead, because the same words would be as wrong again; 126 and 127, with which shells say that a
  /// program cannot be run or is not there, pause the service; all others have failed.
  public static let standard = ExitTable()

  private var codes: [Int32: CommandVerdict] = [
    0: .served, 75: .later, 64: .dead, 65: .dead, 126: .pause, 127: .pause,
  ]
  /// What a code means that is not in the table.
  public var others: CommandVerdict = .failed
  /// What it means to be ended by a signal that nobody here has sent.
  public var signals: CommandVerdict = .crash
  /// What it means to take too long, whatever the command answers to SIGTERM.
  public var timeouts: CommandVerdict = .failed

  public init() {}

  /// What an exit code means.
  public subscript(code: Int32) -> CommandVerdict { codes[code] ?? others }

  /// Says what an exit code means from now on.
  ///
  /// - Returns: false for one outside of 0 to 255, with which no process can end. Nothing has changed then.
  public mutating func set(_ code: Int32, to verdict: CommandVerdict) -> Bool {
    guard (0...255).contains(code) else { return false }
    codes[code] = verdict
    return true
  }

  /// What a command has come to.
  public func verdict(of outcome: CommandOutcome) -> CommandVerdict {
    switch outcome.interruption {
    case .cancel: return .cancelled
    case .timeout: return timeouts
    case nil: break
    }
    return switch outcome.ending {
    case .code(let code): self[code]
    case .signal: signals
    // Nobody knows how it ended, so nobody knows that it was well.
    case .unseen: signals
    }
  }

  /// What it has come to that a command did not even begin.
  public func verdict(of refusal: CommandRefusal) -> CommandVerdict { self[refusal.exitCode] }
}
