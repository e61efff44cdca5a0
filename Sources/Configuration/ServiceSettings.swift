// Owns what a configuration says of one service beside its windows: what serves its customers, and the rules that are its own.
// Invariant: what is nil was not said, and the branch's own rules hold.

import BankModel
import Posix
import Time

/// The settings of one service.
public struct ServiceSettings: Sendable, Equatable {
  /// The program and its words that are started for each customer; no words at all where the customer brings them; nil where
  /// the work is simulated. `run`
  public var command: [String]?
  /// The program and its words that stand behind each window. `worker`
  public var worker: [String]?
  /// Whether programs serve that connect by themselves. `outside`
  public var isOutside = false
  /// After how long a command is ended, and until when a worker has to be done with a customer; nil for never. `timeout`
  public var timeout: TimeSpan?
  /// From SIGTERM to SIGKILL. `grace`
  public var grace: TimeSpan?
  /// The environment of a command or worker, beside the variables that each has. `environment`
  public var environment: Variables = [:]
  /// Where a command or worker starts. `directory`
  public var directory: String?
  /// Bytes of address space. `limits.memory`
  public var memory: Int64?
  /// Processor time. `limits.processor`
  public var processor: TimeSpan?
  /// The mask of new files; nil for the one with which the bank was opened. `umask`
  public var mask: UInt32?
  /// Open files; nil for as many as where the bank was opened. `limits.open_files`
  public var files: Int64? { openFiles ?? formerOpenFiles }
  /// `limits.open_files`
  var openFiles: Int64?
  /// What `limits.open_files` was called before. `limits.files`
  var formerOpenFiles: Int64?
  /// Bytes of each stream of a command that are written to a file. `limits.output`
  public var output: Int64?
  /// Bytes of a result, or of each stream of a command, that are kept with the receipt. `result_bytes`
  public var resultBytes: Int64?
  /// What the endings of a command mean, by the keys of a file: a code, `signal`, `timeout` or `other`. `exit`
  public var exit: [String: EndingMeaning] = [:]
  /// How long a teller may go without progress. `lease`
  public var lease: TimeSpan?
  /// Customers that a teller may have in hand. `prefetch`
  public var prefetch: Int32?
  /// Crashed attempts after which a customer is put aside. `retries.crashes`
  public var crashes: Int32?
  /// Failed attempts after which a customer is put aside. `retries.failures`
  public var failures: Int32?
  /// The pause before the first new attempt after a failure. `retries.first`
  public var retryFirst: TimeSpan?
  /// The longest pause before a new attempt. `retries.limit`
  public var retryLimit: TimeSpan?
  /// By how many thousandths a pause may be longer or shorter. `retries.jitter`
  public var retryJitter: Int32?
  /// Customers of the service who may wait before new ones are refused. `max_waiting`
  public var maxWaiting: Int64?
  /// Attempts that may begin at a customer; nil for as many as crashes and failures allow. `max_attempts`
  public var maxAttempts: Int32?

  /// Whose account a served customer's amount is debited and credited to; nil for none. `ledger.debit`, `ledger.credit`
  var debited, credited: PostingRule.Side?

  /// From which account to which one a served customer's amount goes; nil for none. `ledger`
  public var postingRule: PostingRule? {
    guard let debited, let credited else { return nil }
    return PostingRule(debit: debited, credit: credited)
  }

  /// Nothing is said.
  public init() {}

  /// What serves the customers.
  public var kind: ServiceKind {
    if isOutside { return .outside }
    if worker != nil { return .worker }
    return command == nil ? .work : .run
  }

  /// Of ``ServiceName/run``: the customer's payload says the command.
  static let commandLines: ServiceSettings = {
    var settings = ServiceSettings()
    settings.command = []
    // What a person types is not tried again and again by itself, and its mistake is nobody else's.
    for ending in ["126", "127", "signal", "timeout", "other"] { settings.exit[ending] = .dead }
    return settings
  }()

  /// How long a command may take to go when it is asked to, where nothing is said.
  public static let standardGrace = TimeSpan.seconds(10)
  /// Bytes of each stream of a command in a file, where nothing is said: 1 GiB.
  public static let standardOutput: Int64 = 1 << 30
}

/// What serves the customers of a service; each is said by the member of its name.
public enum ServiceKind: String, Sendable, CaseIterable {
  /// Nothing: a teller waits.
  case work
  /// A command that is started for each of them.
  case run
  /// A program that works at the window for one after the other.
  case worker
  /// Programs that connect by themselves; there are no windows.
  case outside
}

/// What the ending of a command means for its customer.
public enum EndingMeaning: String, Sendable, CaseIterable {
  case served, later, dead, pause, crash, failed

  /// What becomes of the customer; nil for served.
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

  /// The keys that stand for no code.
  public static let names = ["signal", "timeout", "other"]

  /// Whether a key of `exit` is a code with which a process can end, or one of ``names``.
  static func isKey(_ key: String) -> Bool {
    if names.contains(key) { return true }
    guard let code = UInt8(key) else { return false }
    return String(code) == key
  }
}

extension ServiceName {
  /// A command line as a customer: the service that every branch offers, behind those of the configuration.
  public static let run = ServiceName("run")!
}
