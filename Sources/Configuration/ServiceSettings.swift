// Settings of one service other than windows and simulated work: its kind of work, and its own rules.
// Invariant: nil means that the setting is absent. If the bank has the same setting, the bank's value then
// applies, except for `prefetch`. The comment of a setting of the file ends with its key.

import BankModel
import Posix
import Time

/// The settings of one service.
public struct ServiceSettings: Sendable, Equatable {
  /// Program and arguments that run for each customer; empty if the payload of each customer contains them; nil for a
  /// service of another kind. `run`
  public var command: [String]?
  /// Program and arguments of the worker at each window. `worker`
  public var worker: [String]?
  /// True if outside workers connect to serve the customers. `outside`
  public var isOutside = false
  /// Time after which a command is ended, and deadline of a worker for a customer; nil for none. `timeout`
  public var timeout: TimeSpan?
  /// Time between SIGTERM and SIGKILL. `grace`
  public var grace: TimeSpan?
  /// Environment of a command or worker, in addition to the standard variables. `environment`
  public var environment: EnvironmentVariables = [:]
  /// Working directory of a command or worker. `directory`
  public var directory: String?
  /// Limit of the address space in bytes. `limits.memory`
  public var memory: Int64?
  /// Limit of the processor time. `limits.cpu_time`
  public var cpuTime: TimeSpan?
  /// The umask; nil for the one with which the bank was opened. `umask`
  public var mask: UInt32?
  /// Limit of open files; nil for the limit with which the bank was opened. `limits.open_files`
  public var files: Int64?
  /// Maximum size in bytes of the file of each output stream of a command. `limits.output_bytes`
  public var output: Int64?
  /// Bytes of a result, or of each output stream, that are stored with the receipt. `max_result_bytes`
  public var resultBytes: Int64?
  /// Meanings of the exit conditions of a command, by the keys of the file: an exit code, `signal`, `timeout`
  /// or `other`. `exit`
  public var exit: [String: ExitMeaning] = [:]
  /// Time without progress after which a worker that has a customer counts as stuck. `lease`
  public var lease: TimeSpan?
  /// Maximum number of customers assigned to a worker at a time. If nil, the bank's value applies to tellers, and
  /// a default to other workers. `prefetch`
  public var prefetch: Int32?
  /// Crashed attempts after which a customer becomes a dead letter. `retries.max_crashes`
  public var crashes: Int32?
  /// Failed attempts after which a customer becomes a dead letter. `retries.max_failures`
  public var failures: Int32?
  /// Delay before the first retry after a failure. `retries.initial_delay`
  public var retryInitialDelay: TimeSpan?
  /// Maximum delay before a retry. `retries.max_delay`
  public var retryMaxDelay: TimeSpan?
  /// Random variation of a delay in both directions, in thousandths. `retries.jitter`
  public var retryJitter: Int32?
  /// Maximum number of waiting customers of the service. A request that would exceed it is refused. `max_waiting`
  public var maxWaiting: Int64?
  /// Maximum number of attempts for a customer; nil for the limits of crashes and failures alone.
  /// `max_attempts`
  public var maxAttempts: Int32?

  /// Accounts that are debited and credited with a served customer's amount; nil for none. `ledger.debit`,
  /// `ledger.credit`
  var debited, credited: PostingRule.Side?

  /// Debit and credit account of a served customer's amount; nil for none. `ledger`
  public var postingRule: PostingRule? {
    guard let debited, let credited else { return nil }
    return PostingRule(debit: debited, credit: credited)
  }

  /// Settings without any value.
  public init() {}

  /// Kind of work of the service.
  public var kind: ServiceKind {
    if isOutside { return .outside }
    if worker != nil { return .worker }
    return command == nil ? .work : .run
  }

  /// Settings of ``ServiceName/run``: the customer's payload contains the command.
  static let commandLines: ServiceSettings = {
    var settings = ServiceSettings()
    settings.command = []
    // A command that a user types is not retried automatically, and its failure must not affect other
    // customers.
    for ending in ["126", "127", "signal", "timeout", "other"] { settings.exit[ending] = .dead }
    return settings
  }()

  /// Default time that a command may take to exit after SIGTERM.
  public static let defaultGrace = TimeSpan.seconds(10)
  /// Default size limit of an output file: 1 GiB.
  public static let defaultOutputBytes: Int64 = 1 << 30
}

/// Kinds of work of a service. The raw value is the member that selects the kind.
public enum ServiceKind: String, Sendable, CaseIterable {
  /// Simulated work.
  case work
  /// Command that is run for each customer.
  case run
  /// Worker program at each window.
  case worker
  /// Outside workers; there are no windows.
  case outside
}

/// Meaning of the exit of a command for its customer.
public enum ExitMeaning: String, Sendable, CaseIterable {
  case served, later, dead, pause, crash, failed

  /// Consequence for the customer; nil for served.
  public var consequence: WorkFailure.Consequence? {
    switch self {
    case .served: nil
    case .later: .later
    case .dead: .never
    case .pause: .pause
    case .crash: .crash
    case .failed: .again
    }
  }

  /// Keys of `exit` that are not an exit code.
  public static let names = ["signal", "timeout", "other"]

  /// True if a key of `exit` is an exit code or one of ``names``.
  static func isKey(_ key: String) -> Bool {
    if names.contains(key) { return true }
    guard let code = UInt8(key) else { return false }
    return String(code) == key
  }
}

extension ServiceName {
  /// The built-in service of `bankctl run`: each customer is a command line.
  public static let run = ServiceName("run")!
}
