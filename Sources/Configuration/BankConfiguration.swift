// The settings with their defaults. The comment of a setting ends with the key in the file. `Setting` is the table
// of keys and bounds.
// Invariant: `config/bank.json` contains the defaults.

import BankModel
import Posix
import Time

/// One value for each service, such as its number of windows.
public struct PerService<Value: Sendable & Equatable>: Sendable, Equatable {
  private var values: [ServiceName: Value]
  /// Value of a service without a value of its own.
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

extension PerService<Int32> {
  /// A number for deposits, loans and juice. ``ServiceName/run`` gets the number of available processors, and all other
  /// services 0.
  public init(deposit: Value, loan: Value, juice: Value) {
    self.init(deposit: deposit, loan: loan, juice: juice, otherwise: 0)
    self[.run] = Int32(clamping: Processors.available)
  }
}

extension PerService<TimeSpan> {
  /// A time span for deposits, loans and juice, and zero for all other services.
  public init(deposit: Value, loan: Value, juice: Value) {
    self.init(deposit: deposit, loan: loan, juice: juice, otherwise: .zero)
  }
}

/// The configuration of a bank. A new value contains the defaults.
public struct BankConfiguration: Sendable, Equatable {
  /// Settings of the logs of the bank's processes.
  public struct Log: Sendable, Equatable {
    /// True to log when work for a customer starts and is completed. `log.customer_events`
    public var customers = true
    /// File size in bytes after which a log is rotated. `log.rotate_bytes`
    public var rotateBytes: Int64 = 10_485_760
    /// Number of rotated logs to keep. `log.keep_files`
    public var keep: Int32 = 3

    /// The defaults.
    public init() {}
  }

  /// Settings of the database that several branches share.
  public struct Store: Sendable, Equatable {
    /// Address of the shared database; nil for a database in the home. `store.url`
    public var address: StoreAddress?
    /// Number of customers that the branch requests in one claim. `store.claim_size`
    public var page: Int32 = 100
    /// Name of the branch; nil for a name made of host name and home. `store.branch`
    public var branch: String?

    /// The defaults.
    public init() {}
  }

  /// Services that the file adds, in its order. `services`
  public internal(set) var ownServices: [ServiceName] = []
  /// Settings of services other than windows and simulated work. `services`
  private var settings: [ServiceName: ServiceSettings] = [.run: .commandLines]
  /// Number of windows of each service. `windows`
  public var windows = PerService<Int32>(deposit: 2, loan: 1, juice: 1)
  /// Simulated service time of a customer, before ``speed``. `work`
  public var work = PerService<TimeSpan>(
    deposit: .milliseconds(700), loan: .milliseconds(1100), juice: .milliseconds(500))
  /// Factor that divides simulated time spans. `speed`
  public var speed = Speed.one
  /// The language; nil for that of the locale. `lang`
  public var language: Language?
  /// Maximum number of waiting customers. A request that would exceed it is refused. `max_waiting`
  public var maxWaiting: Int64 = 20_000_000
  /// Maximum payload of a customer in bytes. `max_payload`
  public var maxPayload: Int64 = 65_536
  /// Time without progress after which a worker that has a customer counts as stuck. `lease`
  public var lease = TimeSpan.seconds(10)
  /// Time of silence between the coordinator and its guardian after which each checks the other's state. The
  /// same time applies to a service process, such as the stock, that does not answer a ping.
  /// `watchdog_timeout`
  public var watchdogTimeout = TimeSpan.seconds(10)
  /// Maximum number of customers assigned to a teller at a time. `prefetch`
  public var prefetch: Int32 = 1
  /// Crashed attempts after which a customer becomes a dead letter. `max_crashes`
  public var maxCrashes: Int32 = 3
  /// Failed attempts after which a customer becomes a dead letter. `max_failures`
  public var maxFailures: Int32 = 5
  /// Delay before the first retry after a failure. `retry_initial_delay`
  public var retryInitialDelay = TimeSpan.seconds(1)
  /// Maximum delay before a retry. `retry_max_delay`
  public var retryMaxDelay = TimeSpan.seconds(60)
  /// Shortest time between two commits if no client waits for the changes, which are gathered meanwhile. `commit_delay`
  public var gather = TimeSpan.milliseconds(1)
  /// Longest delay before the restart of a worker or service process that exited before it was ready. It doubles with
  /// each further exit of this kind in a row. `restart_initial_delay`
  public var restartInitialDelay = TimeSpan.milliseconds(100)
  /// Maximum delay before a restart. `restart_max_delay`
  public var restartMaxDelay = TimeSpan.seconds(30)
  /// Number of customers after which the worker process at a window is replaced; 0 for never.
  /// `max_customers_per_teller`
  public var maxCustomersPerTeller: Int64 = 0
  /// Resident memory in MiB above which the worker process at a window is replaced; 0 for never. `max_teller_memory_mb`
  public var maxTellerMegabytes: Int64 = 0
  /// Time for which output files of commands are kept after the last write; 0 for no limit.
  /// `output_retention`
  public var outputRetention = TimeSpan.zero
  /// Logs of the bank's processes. `log`
  public var log = Log()
  /// The database that several branches share. `store`
  public var store = Store()

  /// The defaults.
  public init() {}

  /// Services of the bank in display order: the built-in ones, those of the file, and ``ServiceName/run``.
  public var services: [ServiceName] { ServiceName.branch + ownServices + [.run] }

  /// Settings of a service other than windows and simulated work.
  public subscript(service: ServiceName) -> ServiceSettings {
    get { settings[service] ?? ServiceSettings() }
    set { settings[service] = newValue == ServiceSettings() ? nil : newValue }
  }

  /// True if a command is run for each customer of a service.
  public func runsCommands(_ service: ServiceName) -> Bool { settings[service]?.command != nil }

  /// Program and arguments of a service's own workers; nil for a service without `worker` in the configuration.
  public func worker(of service: ServiceName) -> [String]? { settings[service]?.worker }

  /// True if outside workers connect to serve this service.
  public func isOutside(_ service: ServiceName) -> Bool { settings[service]?.isOutside == true }

  /// Duration of the simulated work for one customer of a service, divided by the configured speed.
  public func scaledWork(_ service: ServiceName) -> TimeSpan { speed.scaled(work[service]) }
}
