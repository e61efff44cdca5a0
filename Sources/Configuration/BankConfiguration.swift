// Owns everything that can be configured, with its defaults. Keys and bounds are in `Setting`, by which a file is read.
// Invariant: `config/bank.json` says exactly the defaults; a test holds both together.

import BankModel
import Posix
import Time

/// One value for each service.
public struct ByService<Value: Sendable & Equatable>: Sendable, Equatable {
  private var values: [ServiceName: Value]
  /// What holds for a service that the configuration does not name.
  private let otherwise: Value

  init(deposit: Value, loan: Value, juice: Value, otherwise: Value) {
    values = [.deposit: deposit, .loan: loan, .juice: juice]
    self.otherwise = otherwise
  }

  /// The value for one service.
  public subscript(service: ServiceName) -> Value {
    get { values[service] ?? otherwise }
    set { values[service] = newValue }
  }
}

extension ByService<Int32> {
  /// One number for each of those that every branch comes with.
  public init(deposit: Value, loan: Value, juice: Value) {
    self.init(deposit: deposit, loan: loan, juice: juice, otherwise: 0)
    self[.run] = Int32(clamping: Processors.available)
  }
}

extension ByService<TimeSpan> {
  /// One span for each of those that every branch comes with.
  public init(deposit: Value, loan: Value, juice: Value) {
    self.init(deposit: deposit, loan: loan, juice: juice, otherwise: .zero)
  }
}

/// The configuration of a branch. A new value holds the defaults.
public struct BankConfiguration: Sendable, Equatable {
  /// How the workers keep their logs.
  public struct Log: Sendable, Equatable {
    /// Whether every start and completion is a line. `customers`
    public var customers = true
    /// Bytes after which a log is rotated. `rotate_bytes`
    public var rotateBytes: Int64 = 10_485_760
    /// Rotated logs that are kept. `keep`
    public var keep: Int32 = 3

    /// The defaults.
    public init() {}
  }

  /// The books that several branches share.
  public struct Store: Sendable, Equatable {
    /// Where they are; nil for books of the bank's own, in its home. `url`
    public var address: StoreAddress?
    /// Customers of a line that the branch takes over at a time. `page`
    public var page: Int32 = 100
    /// The name of the branch among the others; nil for one made of the machine's name and the home. `branch`
    public var branch: String?

    /// The defaults.
    public init() {}
  }

  /// Services that the file adds, in its order. `services`
  public internal(set) var ownServices: [ServiceName] = []
  /// What is said of services beside their windows. `services`
  private var settings: [ServiceName: ServiceSettings] = [.run: .commandLines]
  /// Windows of each service. `windows`
  public var windows = ByService<Int32>(deposit: 2, loan: 1, juice: 1)
  /// How long serving one customer takes, before ``speed``. `work`
  public var work = ByService<TimeSpan>(
    deposit: .milliseconds(700), loan: .milliseconds(1100), juice: .milliseconds(500))
  /// The factor that divides every simulated span. `speed`
  public var speed = Speed.one
  /// The language, or nil for that of the locale. `lang`
  public var language: Language?
  /// Customers who may wait before new ones are refused. `max_waiting`
  public var maxWaiting: Int64 = 20_000_000
  /// Bytes that a customer may carry. `max_payload`
  public var maxPayload: Int64 = 65_536
  /// How long a teller may go without progress. `lease`
  public var lease = TimeSpan.seconds(10)
  /// How long the coordinator and its guardian may be silent towards each other, and a process behind the windows after
  /// it was asked for a sign of life, before one looks what the other does. `standstill`
  public var standstill = TimeSpan.seconds(10)
  /// Customers that a teller may have in hand. `prefetch`
  public var prefetch: Int32 = 1
  /// Crashed attempts after which a customer is put aside. `max_crashes`
  public var maxCrashes: Int32 = 3
  /// Failed attempts after which a customer is put aside. `max_failures`
  public var maxFailures: Int32 = 5
  /// The pause before the first new attempt after a failure. `retry_first`
  public var retryFirst = TimeSpan.seconds(1)
  /// The longest pause before a new attempt. `retry_limit`
  public var retryLimit = TimeSpan.seconds(60)
  /// How long commits are gathered under load. `gather`
  public var gather = TimeSpan.milliseconds(1)
  /// The pause after the first teller at a window that died before it was ready; it doubles with each. `restart_first`
  public var restartFirst = TimeSpan.milliseconds(100)
  /// The longest of these pauses. `restart_limit`
  public var restartLimit = TimeSpan.seconds(30)
  /// Customers after which a teller is replaced, between two customers; 0 for never. `recycle_after_customers`
  public var recycleAfterCustomers: Int64 = 0
  /// Memory in RAM, in MiB, above which a teller is replaced; 0 for never. `recycle_above_mb`
  public var recycleAboveMegabytes: Int64 = 0
  /// For how long files are kept into which commands have written, after the last byte; 0 for ever. `keep_output`
  public var keepOutput = TimeSpan.zero
  /// How the workers keep their logs. `log`
  public var log = Log()
  /// The books that several branches share. `store`
  public var store = Store()

  /// The defaults.
  public init() {}

  /// Services that the branch offers, in the order in which they are shown: those that every branch comes with, those of the
  /// file, and ``ServiceName/run``.
  public var services: [ServiceName] { ServiceName.branch + ownServices + [.run] }

  /// What is said of a service beside its windows.
  public subscript(service: ServiceName) -> ServiceSettings {
    get { settings[service] ?? ServiceSettings() }
    set { settings[service] = newValue == ServiceSettings() ? nil : newValue }
  }

  /// Whether commands are run for the customers of a service.
  public func runsCommands(_ service: ServiceName) -> Bool { settings[service]?.command != nil }

  /// The program and its words that stand behind each window of a service; nil where there is none.
  public func worker(of service: ServiceName) -> [String]? { settings[service]?.worker }

  /// Whether programs serve that connect by themselves.
  public func isOutside(_ service: ServiceName) -> Bool { settings[service]?.isOutside == true }

  /// How long serving one customer takes at the configured speed.
  public func scaledWork(_ service: ServiceName) -> TimeSpan { speed.scaled(work[service]) }
}
