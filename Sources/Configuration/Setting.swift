// Table of the settings: key, property and range of each.
// Invariant: keys are unique, and no key is the group of another one. The output of `value`, written into a file,
// is read back as the same value. The exception is null for optional settings of a service.

import Arguments
import BankModel
import Posix
import Time

/// One setting of the configuration file: its key, the property that stores its value, and the range of the value.
struct Setting {
  /// The key with its groups, as in errors: `log.keep_files`.
  let key: String
  /// Property of the value, and its range.
  let place: Place

  /// Property of ``BankConfiguration`` that stores the value, with the range of valid values.
  enum Place {
    case number(WritableKeyPath<BankConfiguration, Int64>, ClosedRange<Int64>)
    case smallNumber(WritableKeyPath<BankConfiguration, Int32>, ClosedRange<Int64>)
    case span(WritableKeyPath<BankConfiguration, TimeSpan>, ClosedRange<TimeSpan>)
    case flag(WritableKeyPath<BankConfiguration, Bool>)
    case speed, language
    /// Optional values, nil if absent.
    case optionalNumber(WritableKeyPath<BankConfiguration, Int64?>, ClosedRange<Int64>)
    case optionalSmallNumber(WritableKeyPath<BankConfiguration, Int32?>, ClosedRange<Int64>)
    case optionalSpan(WritableKeyPath<BankConfiguration, TimeSpan?>, ClosedRange<TimeSpan>)
    /// Number from 0 to 1, in thousandths.
    case optionalFraction(WritableKeyPath<BankConfiguration, Int32?>)
    case path(WritableKeyPath<BankConfiguration, String?>)
    /// Address of a shared database.
    case address(WritableKeyPath<BankConfiguration, StoreAddress?>)
    /// Name on one line, with its maximum length in characters.
    case optionalName(WritableKeyPath<BankConfiguration, String?>, Int)
    /// Program and arguments; empty if the payload of each customer contains them.
    case command(WritableKeyPath<BankConfiguration, [String]?>)
    /// Program and arguments, at least one.
    case program(WritableKeyPath<BankConfiguration, [String]?>)
    case variables(WritableKeyPath<BankConfiguration, EnvironmentVariables>)
    /// umask.
    case mask(WritableKeyPath<BankConfiguration, UInt32?>)
    case meanings(WritableKeyPath<BankConfiguration, [String: ExitMeaning]>)
    /// Account that a transfer debits or credits.
    case side(WritableKeyPath<BankConfiguration, PostingRule.Side?>)
  }

  /// The kind of service that this setting selects; nil if it selects none.
  private(set) var kind: ServiceKind?
  /// Kinds of services that can have the setting; all for a setting of the bank.
  private(set) var kinds = ServiceKind.allCases

  /// True if `config show` prints the setting only if it was set: most settings of added services are
  /// unused.
  var isHiddenUnlessSet = false

  private init(_ key: String, _ place: Place, of kinds: [ServiceKind] = ServiceKind.allCases) {
    (self.key, self.place, self.kinds) = (key, place, kinds)
  }

  private init(_ key: String, _ place: Place, selecting kind: ServiceKind) {
    (self.key, self.place, self.kind, self.kinds) = (key, place, kind, [kind])
  }

  /// The settings outside `services`.
  static var all: [Setting] { ofServices + ofCustomers + ofTellers + ofLogs + ofStore }

  /// The settings of a configuration.
  static func all(in configuration: BankConfiguration) -> [Setting] {
    all + configuration.ownServices.flatMap { ofService($0, configuration) } + ofService(.run, configuration)
  }

  /// Every setting that a service can have in `services`, whatever its kind.
  static func ofService(_ service: ServiceName) -> [Setting] {
    let keyPrefix = "\(servicesKey).\(service)."
    return [
      Setting(keyPrefix + windowsMember, .smallNumber(\.windows[service], 0...Limits.windowsPerService)),
      Setting(keyPrefix + workMember, .span(\.work[service], .zero...day), selecting: .work),
    ] + rules(of: service, keyPrefix) + program(of: service, keyPrefix)
  }

  /// The settings that a service can have in `services` with its configured kind.
  private static func ofService(_ service: ServiceName, _ configuration: BankConfiguration) -> [Setting] {
    let kind = configuration[service].kind
    return ofService(service).filter { $0.kinds.contains(kind) }.map { setting in
      var setting = setting
      let isBasic = setting.kind == .work || setting.key == windowsKey(service) && kind != .outside
      setting.isHiddenUnlessSet = service == .run || !isBasic
      return setting
    }
  }

  /// Settings of a service that do not depend on the program that serves it: lease, retries, limits, accounts.
  private static func rules(of service: ServiceName, _ keyPrefix: String) -> [Setting] {
    [
      Setting(keyPrefix + "lease", .optionalSpan(\.[service].lease, .milliseconds(100)...day)),
      Setting(
        keyPrefix + "prefetch",
        .optionalSmallNumber(\.[service].prefetch, 1...Int64(Limits.customersPerWorker))),
      Setting(keyPrefix + "retries.max_crashes", .optionalSmallNumber(\.[service].crashes, 1...1000)),
      Setting(keyPrefix + "retries.max_failures", .optionalSmallNumber(\.[service].failures, 1...1000)),
      Setting(delayKeys(of: service).first, .optionalSpan(\.[service].retryInitialDelay, .zero...day)),
      Setting(delayKeys(of: service).limit, .optionalSpan(\.[service].retryMaxDelay, .zero...day)),
      Setting(keyPrefix + "retries.jitter", .optionalFraction(\.[service].retryJitter)),
      Setting(keyPrefix + maxWaitingKey, .optionalNumber(\.[service].maxWaiting, maxWaitingBounds)),
      Setting(keyPrefix + "max_attempts", .optionalSmallNumber(\.[service].maxAttempts, 1...1000)),
      Setting(sideKeys(of: service).debit, .side(\.[service].debited)),
      Setting(sideKeys(of: service).credit, .side(\.[service].credited)),
    ]
  }

  /// Settings of the programs that serve the customers of a service: command, worker, environment, limits.
  private static func program(of service: ServiceName, _ keyPrefix: String) -> [Setting] {
    let started: [ServiceKind] = [.run, .worker]
    let programs: [ServiceKind] = [.run, .worker, .outside]
    let year = day * 365
    return [
      Setting(keyPrefix + runMember, .command(\.[service].command), selecting: .run),
      Setting(keyPrefix + workerMember, .program(\.[service].worker), selecting: .worker),
      Setting(keyPrefix + outsideMember, .flag(\.[service].isOutside), selecting: .outside),
      Setting(
        keyPrefix + "timeout", .optionalSpan(\.[service].timeout, .milliseconds(1)...year), of: programs),
      Setting(keyPrefix + "grace", .optionalSpan(\.[service].grace, .zero...day), of: started),
      Setting(keyPrefix + "directory", .path(\.[service].directory), of: started),
      Setting(keyPrefix + "environment", .variables(\.[service].environment), of: started),
      Setting(keyPrefix + "umask", .mask(\.[service].mask), of: started),
      Setting(keyPrefix + "exit", .meanings(\.[service].exit), of: [.run]),
      Setting(
        keyPrefix + "max_result_bytes",
        .optionalNumber(\.[service].resultBytes, 0...Int64(TruncatedOutput.longest)),
        of: programs),
      Setting(
        keyPrefix + "limits.memory", .optionalNumber(\.[service].memory, leastMemory...1 << 50), of: started),
      Setting(
        keyPrefix + "limits.cpu_time", .optionalSpan(\.[service].cpuTime, .seconds(1)...year), of: started),
      Setting(
        keyPrefix + "limits.open_files", .optionalNumber(\.[service].files, leastFiles...1_048_576),
        of: started),
      Setting(
        keyPrefix + "limits.output_bytes", .optionalNumber(\.[service].output, 0...1 << 50), of: [.run]),
    ]
  }

  private static let day = TimeSpan.seconds(86_400)
  /// With less memory the dynamic loader and the C library of most programs fail.
  private static let leastMemory: Int64 = 4 << 20
  /// The three standard streams, a worker's channel, and one descriptor for files such as shared libraries.
  private static let leastFiles: Int64 = 5

  /// Windows and work of the built-in services, speed, and language.
  private static var ofServices: [Setting] {
    let windows = ServiceName.branch.map { service in
      Setting(windowsKey(service), .smallNumber(\.windows[service], 0...Limits.windowsPerService))
    }
    let work = ServiceName.branch.map { service in
      Setting("\(workMember).\(service)", .span(\.work[service], .zero...day))
    }
    return windows + work + [Setting(speedKey, .speed), Setting(languageKey, .language)]
  }

  /// Limits and rules for customers and workers.
  private static var ofCustomers: [Setting] {
    [
      Setting(maxWaitingKey, .number(\.maxWaiting, maxWaitingBounds)),
      Setting("max_payload", .number(\.maxPayload, 0...Int64(Limits.payloadLength))),
      Setting("lease", .span(\.lease, .milliseconds(100)...day)),
      Setting("watchdog_timeout", .span(\.watchdogTimeout, .milliseconds(500)...day)),
      Setting("prefetch", .smallNumber(\.prefetch, 1...Int64(Limits.customersPerWorker))),
      Setting("max_crashes", .smallNumber(\.maxCrashes, 1...1000)),
      Setting("max_failures", .smallNumber(\.maxFailures, 1...1000)),
      Setting(retryInitialDelayKey, .span(\.retryInitialDelay, .zero...day)),
      Setting(retryMaxDelayKey, .span(\.retryMaxDelay, .zero...day)),
    ]
  }

  /// Rules for restarts and replacements of processes, and the commit delay.
  private static var ofTellers: [Setting] {
    [
      Setting("restart_initial_delay", .span(\.restartInitialDelay, .milliseconds(1)...day)),
      Setting("restart_max_delay", .span(\.restartMaxDelay, .milliseconds(1)...day)),
      Setting("max_customers_per_teller", .number(\.maxCustomersPerTeller, 0...1_000_000_000_000)),
      Setting("max_teller_memory_mb", .number(\.maxTellerMegabytes, 0...1_048_576)),
      Setting("commit_delay", .span(\.gather, .zero...TimeSpan.milliseconds(100))),
    ]
  }

  /// Settings of output files and logs.
  private static var ofLogs: [Setting] {
    [
      Setting("output_retention", .span(\.outputRetention, .zero...day * 36_500)),
      Setting("log.customer_events", .flag(\.log.customers)),
      Setting("log.rotate_bytes", .number(\.log.rotateBytes, 4096...1_099_511_627_776)),
      Setting("log.keep_files", .smallNumber(\.log.keep, 0...100)),
    ]
  }

  private static var ofStore: [Setting] {
    [
      Setting(storeAddressKey, .address(\.store.address)),
      Setting("store.claim_size", .smallNumber(\.store.page, 1...10_000)),
      Setting("store.branch", .optionalName(\.store.branch, 64)),
    ]
  }

  // MARK: Keys used elsewhere

  /// Group of the shared database. Its value may also be a string with the address.
  static let storeKey = "store"
  static let storeAddressKey = "store.url"
  static let servicesKey = "services"
  static let windowsMember = "windows"
  /// Member that selects simulated work.
  static let workMember = ServiceKind.work.rawValue
  /// Member that selects a command for each customer.
  static let runMember = ServiceKind.run.rawValue
  /// Member that selects a worker program.
  static let workerMember = ServiceKind.worker.rawValue
  /// Member that selects outside workers.
  static let outsideMember = ServiceKind.outside.rawValue
  /// Key of a service's number of windows: `windows.NAME` for a built-in service, else `services.NAME.windows`.
  static func windowsKey(_ service: ServiceName) -> String {
    ServiceName.branch.contains(service)
      ? "\(windowsMember).\(service)" : "\(servicesKey).\(service).\(windowsMember)"
  }
  static let maxWaitingKey = "max_waiting"
  /// Range of ``maxWaitingKey``, for a bank and for a service.
  private static let maxWaitingBounds: ClosedRange<Int64> = 1...1_000_000_000
  static let speedKey = "speed"
  static let languageKey = "lang"
  static let retryInitialDelayKey = "retry_initial_delay"
  static let retryMaxDelayKey = "retry_max_delay"
  /// Keys of a service's own retry delays: the first delay, and the maximum.
  static func delayKeys(of service: ServiceName) -> (first: String, limit: String) {
    ("\(servicesKey).\(service).retries.initial_delay", "\(servicesKey).\(service).retries.max_delay")
  }

  /// Member with the accounts of a service.
  static let ledgerMember = "ledger"
  /// Keys of the accounts that a service debits and credits.
  static func sideKeys(of service: ServiceName) -> (debit: String, credit: String) {
    let keyPrefix = "\(servicesKey).\(service).\(ledgerMember)."
    return (keyPrefix + "debit", keyPrefix + "credit")
  }

  // MARK: Reading and printing

  /// Reads the value from the file into its property of the configuration; throws if it is not valid.
  func read(
    _ value: ConfigurationReader, into configuration: inout BankConfiguration
  ) throws(ConfigurationError) {
    switch place {
    case .number(let place, let bounds): configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .smallNumber(let place, let bounds):
      configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .span(let place, let bounds): configuration[keyPath: place] = try value.span(in: bounds)
    case .flag(let place): configuration[keyPath: place] = try value.bool()
    case .optionalNumber(let place, let bounds):
      configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .optionalSmallNumber(let place, let bounds):
      configuration[keyPath: place] = try value.wholeNumber(in: bounds) as Int32
    case .optionalSpan(let place, let bounds): configuration[keyPath: place] = try value.span(in: bounds)
    case .optionalFraction(let place): configuration[keyPath: place] = try value.thousandths()
    case .path(let place): configuration[keyPath: place] = try value.directory()
    case .address(let place): configuration[keyPath: place] = try value.address()
    case .optionalName(let place, let limit):
      configuration[keyPath: place] = value.isNull ? nil : try value.text(atMost: limit)
    case .command(let place): configuration[keyPath: place] = try value.command()
    case .program(let place): configuration[keyPath: place] = try value.program()
    case .variables(let place): configuration[keyPath: place] = try value.variables()
    case .mask(let place): configuration[keyPath: place] = try value.mask()
    case .meanings(let place): configuration[keyPath: place] = try value.meanings()
    case .side(let place): configuration[keyPath: place] = try value.side()
    case .speed: configuration.speed = try value.speed()
    case .language: configuration.language = try value.language()
    }
  }

  /// Program and arguments that this setting contains; nil if the setting is absent or not a program.
  func words(in configuration: BankConfiguration) -> [String]? {
    switch place {
    case .command(let place), .program(let place): configuration[keyPath: place]
    default: nil
    }
  }

  /// The value in the syntax of a file.
  func value(in configuration: BankConfiguration) -> SettingValue {
    switch place {
    case .number(let place, _): .number(configuration[keyPath: place])
    case .smallNumber(let place, _): .number(Int64(configuration[keyPath: place]))
    case .span(let place, _): .text(DurationText.print(configuration[keyPath: place]))
    case .flag(let place): .flag(configuration[keyPath: place])
    case .optionalNumber(let place, _): configuration[keyPath: place].map { .number($0) } ?? .null
    case .optionalSmallNumber(let place, _): configuration[keyPath: place].map { .number(Int64($0)) } ?? .null
    case .optionalSpan(let place, _):
      configuration[keyPath: place].map { .text(DurationText.print($0)) } ?? .null
    case .optionalFraction(let place): configuration[keyPath: place].map { .thousandths($0) } ?? .null
    case .path(let place), .optionalName(let place, _):
      configuration[keyPath: place].map { .words($0) } ?? .null
    case .address(let place): configuration[keyPath: place].map { .words($0.description) } ?? .null
    case .command(let place), .program(let place):
      configuration[keyPath: place].map { .list($0) } ?? .null
    case .variables(let place): .table(configuration[keyPath: place])
    case .mask(let place): configuration[keyPath: place].map { .text(FileMask.text($0)) } ?? .null
    case .meanings(let place):
      .table(
        EnvironmentVariables(configuration[keyPath: place].map { (key: $0.key, value: $0.value.rawValue) }))
    case .side(let place): configuration[keyPath: place].map { .text($0.name) } ?? .null
    case .speed: .text(configuration.speed.text)
    case .language: configuration.language.map { .text($0.code) } ?? .null
    }
  }
}
