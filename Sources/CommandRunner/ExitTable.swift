// Meaning of a command's exit for its
// customer and its service.
import Posix

/// Effect of a command's exit on its customer and its service.
public enum CommandVerdict: Sendable, Hashable, CaseIterable {
  /// The work is done.
  case served
  /// The customer is retried later, and the attempt does not count as a failure. EX_TEMPFAIL
  case later
  /// The customer becomes a dead letter without a retry.
  case dead
  /// The command cannot be run for any customer: the service pauses, and the customer returns to its line.
  case pause
  /// The command was killed, or its exit status is unknown. Crashes are counted separately from failures.
  case crash
  /// The attempt failed. The customer is retried as often as the service allows.
  case failed
  /// The command was cancelled.
  case cancelled
}

/// Meaning of the exits of a service's commands.
public struct ExitTable: Sendable, Hashable {
  /// Table of a service without a table of its own. 0 means `served`. 75 (EX_TEMPFAIL of `sysexits.h`) means
  /// `later`. 64 (EX_USAGE) and 65 (EX_DATAERR) mean `dead`, because the same arguments would fail again. 126
  /// and 127, which shells return for a program that cannot be run or is missing, mean `pause`. All other codes
  /// mean `failed`.
  public static let standard = ExitTable()

  /// Meanings of single exit codes.
  private var codes: [Int32: CommandVerdict] = [
    0: .served, 75: .later, 64: .dead, 65: .dead, 126: .pause, 127: .pause,
  ]
  /// Meaning of a code that is not in the table.
  public var others: CommandVerdict = .failed
  /// Meaning of an exit by a signal that the runner did not send, and of an unknown exit status.
  public var signals: CommandVerdict = .crash
  /// Meaning of a timeout, whatever the command does after SIGTERM.
  public var timeouts: CommandVerdict = .failed

  public init() {}

  /// The meaning of an exit code.
  public subscript(code: Int32) -> CommandVerdict { codes[code] ?? others }

  /// Sets the meaning of an exit code. Returns false, without a change, for a code outside 0 to 255: no
  /// process can exit with it.
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
    case .unknown: signals
    }
  }

  /// The verdict on a command that could not start.
  public func verdict(of refusal: CommandStartError) -> CommandVerdict { self[refusal.exitCode] }
}
