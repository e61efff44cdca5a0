// Owns the table of everything that can be configured: the key of each setting, the property behind it, and between which
// bounds it may be. A file is read by this table and no other, `bankctl config show` shows it, and a test holds the page
// of the settings against it.
// What a file says of a service of its own is read by the same table, which has its settings then.
// Invariant: keys are unique, and none is another's group; what `value` gives, written into a file, is read as the same.

import Arguments
import BankModel
import Posix
import Time

struct Setting {
  /// The key with those above it, as errors name it: `log.keep`.
  let key: String
  let place: Place

  /// The property that holds the value.
  enum Place {
    case number(WritableKeyPath<BankConfiguration, Int64>, ClosedRange<Int64>)
    case smallNumber(WritableKeyPath<BankConfiguration, Int32>, ClosedRange<Int64>)
    case span(WritableKeyPath<BankConfiguration, TimeSpan>, ClosedRange<TimeSpan>)
    case flag(WritableKeyPath<BankConfiguration, Bool>)
    case speed, language
    /// What may not be said at all.
    case openNumber(WritableKeyPath<BankConfiguration, Int64?>, ClosedRange<Int64>)
    case openSmallNumber(WritableKeyPath<BankConfiguration, Int32?>, ClosedRange<Int64>)
    case openSpan(WritableKeyPath<BankConfiguration, TimeSpan?>, ClosedRange<TimeSpan>)
    /// From 0 to 1, in thousandths.
    case openFraction(WritableKeyPath<BankConfiguration, Int32?>)
    case path(WritableKeyPath<BankConfiguration, String?>)
    /// Where shared books are.
    case address(WritableKeyPath<BankConfiguration, StoreAddress?>)
    /// A name on one line, of so many letters at most.
    case openName(WritableKeyPath<BankConfiguration, String?>, Int)
    /// A program and its words; none at all where customers bring them.
    case command(WritableKeyPath<BankConfiguration, [String]?>)
    /// A program and its words, of which there is one at least.
    case program(WritableKeyPath<BankConfiguration, [String]?>)
    case variables(WritableKeyPath<BankConfiguration, Variables>)
    /// A mask of new files.
    case mask(WritableKeyPath<BankConfiguration, UInt32?>)
    case meanings(WritableKeyPath<BankConfiguration, [String: EndingMeaning]>)
    /// One of the two accounts that a transfer moves.
    case side(WritableKeyPath<BankConfiguration, PostingRule.Side?>)
  }

  /// The kind of service that says it; nil where it does not say of which kind a service is.
  private(set) var kind: ServiceKind?
  /// The kinds of services of which it can be said; all for what is said of the bank.
  private(set) var kinds = ServiceKind.allCases

  /// Whether it is shown only where it was said: what a service of one's own may say and most do not.
  var isHiddenUntilSaid = false

  private init(_ key: String, _ place: Place, of kinds: [ServiceKind] = ServiceKind.allCases) {
    (self.key, self.place, self.kinds) = (key, place, kinds)
  }

  private init(_ key: String, _ place: Place, saying kind: ServiceKind) {
    (self.key, self.place, self.kind, self.kinds) = (key, place, kind, [kind])
  }

  /// Every setting of a bank without services of its own, in the order in which `config/bank.json` has them.
  static var all: [Setting] { ofServices + ofCustomers + ofTellers + ofLogs + ofStore }

  /// Every setting of a configuration.
  static func all(in configuration: BankConfiguration) -> [Setting] {
    all + configuration.ownServices.flatMap { ofService($0, configuration) } + ofService(.run, configuration)
  }

  /// The settings of one service as they stand under its name in `services`.
  static func ofService(_ service: ServiceName) -> [Setting] {
    let above = "\(servicesKey).\(service)."
    return [
      Setting(above + windowsMember, .smallNumber(\.windows[service], 0...Limits.windowsPerService)),
      Setting(above + workMember, .span(\.work[service], .zero...day), saying: .work),
    ] + rules(of: service, above) + program(of: service, above)
  }

  /// Those of them that say something of a service as it is configured.
  private static func ofService(_ service: ServiceName, _ configuration: BankConfiguration) -> [Setting] {
    let kind = configuration[service].kind
    return ofService(service).filter { $0.kinds.contains(kind) }.map { setting in
      var setting = setting
      let isBasic = setting.kind == .work || setting.key == windowsKey(service) && kind != .outside
      setting.isHiddenUntilSaid = service == .run || !isBasic
      return setting
    }
  }

  /// What may be another rule for this service than for all.
  private static func rules(of service: ServiceName, _ above: String) -> [Setting] {
    [
      Setting(above + "lease", .openSpan(\.[service].lease, .milliseconds(100)...day)),
      Setting(above + "prefetch", .openSmallNumber(\.[service].prefetch, 1...Int64(Limits.customersInHand))),
      Setting(above + "retries.crashes", .openSmallNumber(\.[service].crashes, 1...1000)),
      Setting(above + "retries.failures", .openSmallNumber(\.[service].failures, 1...1000)),
      Setting(pauseKeys(of: service).first, .openSpan(\.[service].retryFirst, .zero...day)),
      Setting(pauseKeys(of: service).limit, .openSpan(\.[service].retryLimit, .zero...day)),
      Setting(above + "retries.jitter", .openFraction(\.[service].retryJitter)),
      Setting(above + maxWaitingKey, .openNumber(\.[service].maxWaiting, mayWait)),
      Setting(above + "max_attempts", .openSmallNumber(\.[service].maxAttempts, 1...1000)),
      Setting(sideKeys(of: service).debit, .side(\.[service].debited)),
      Setting(sideKeys(of: service).credit, .side(\.[service].credited)),
    ]
  }

  /// What is said of the programs that serve the customers of a service.
  private static func program(of service: ServiceName, _ above: String) -> [Setting] {
    let started: [ServiceKind] = [.run, .worker]
    let programs: [ServiceKind] = [.run, .worker, .outside]
    let year = day * 365
    return [
      Setting(above + runMember, .command(\.[service].command), saying: .run),
      Setting(above + workerMember, .program(\.[service].worker), saying: .worker),
      Setting(above + outsideMember, .flag(\.[service].isOutside), saying: .outside),
      Setting(above + "timeout", .openSpan(\.[service].timeout, .milliseconds(1)...year), of: programs),
      Setting(above + "grace", .openSpan(\.[service].grace, .zero...day), of: started),
      Setting(above + "directory", .path(\.[service].directory), of: started),
      Setting(above + "environment", .variables(\.[service].environment), of: started),
      Setting(above + "umask", .mask(\.[service].mask), of: started),
      Setting(above + "exit", .meanings(\.[service].exit), of: [.run]),
      Setting(
        above + "result_bytes", .openNumber(\.[service].resultBytes, 0...Int64(Excerpt.longest)),
        of: programs),
      Setting(above + "limits.memory", .openNumber(\.[service].memory, leastMemory...1 << 50), of: started),
      Setting(above + "limits.processor", .openSpan(\.[service].processor, .seconds(1)...year), of: started),
      Setting(
        above + "limits.open_files", .openNumber(\.[service].openFiles, leastFiles...1_048_576), of: started),
      Setting(
        above + "limits.files", .openNumber(\.[service].formerOpenFiles, leastFiles...1_048_576), of: started),
      Setting(above + "limits.output", .openNumber(\.[service].output, 0...1 << 50), of: [.run]),
    ]
  }

  private static let day = TimeSpan.seconds(86_400)
  /// Less is not enough for the loader and the library of C, without which hardly a program begins: it would end at once.
  private static let leastMemory: Int64 = 4 << 20
  /// The three streams, a worker's channel, and one for whatever is opened, the libraries first.
  private static let leastFiles: Int64 = 5

  private static var ofServices: [Setting] {
    let windows = ServiceName.branch.map { service in
      Setting(windowsKey(service), .smallNumber(\.windows[service], 0...Limits.windowsPerService))
    }
    let work = ServiceName.branch.map { service in
      Setting("\(workMember).\(service)", .span(\.work[service], .zero...day))
    }
    return windows + work + [Setting(speedKey, .speed), Setting(languageKey, .language)]
  }

  private static var ofCustomers: [Setting] {
    [
      Setting(maxWaitingKey, .number(\.maxWaiting, mayWait)),
      Setting("max_payload", .number(\.maxPayload, 0...Int64(Limits.payloadLength))),
      Setting("lease", .span(\.lease, .milliseconds(100)...day)),
      Setting("standstill", .span(\.standstill, .milliseconds(500)...day)),
      Setting("prefetch", .smallNumber(\.prefetch, 1...Int64(Limits.customersInHand))),
      Setting("max_crashes", .smallNumber(\.maxCrashes, 1...1000)),
      Setting("max_failures", .smallNumber(\.maxFailures, 1...1000)),
      Setting(retryFirstKey, .span(\.retryFirst, .zero...day)),
      Setting(retryLimitKey, .span(\.retryLimit, .zero...day)),
    ]
  }

  private static var ofTellers: [Setting] {
    [
      Setting("restart_first", .span(\.restartFirst, .milliseconds(1)...day)),
      Setting("restart_limit", .span(\.restartLimit, .milliseconds(1)...day)),
      Setting("recycle_after_customers", .number(\.recycleAfterCustomers, 0...1_000_000_000_000)),
      Setting("recycle_above_mb", .number(\.recycleAboveMegabytes, 0...1_048_576)),
      Setting("gather", .span(\.gather, .zero...TimeSpan.milliseconds(100))),
    ]
  }

  private static var ofLogs: [Setting] {
    [
      Setting("keep_output", .span(\.keepOutput, .zero...day * 36_500)),
      Setting("log.customers", .flag(\.log.customers)),
      Setting("log.rotate_bytes", .number(\.log.rotateBytes, 4096...1_099_511_627_776)),
      Setting("log.keep", .smallNumber(\.log.keep, 0...100)),
    ]
  }

  private static var ofStore: [Setting] {
    [
      Setting(storeAddressKey, .address(\.store.address)),
      Setting("store.page", .smallNumber(\.store.page, 1...10_000)),
      Setting("store.branch", .openName(\.store.branch, 64)),
    ]
  }

  // MARK: Keys that others name, too

  /// The group of the shared books; an address may stand there alone.
  static let storeKey = "store"
  static let storeAddressKey = "store.url"
  static let servicesKey = "services"
  static let windowsMember = "windows"
  static let workMember = ServiceKind.work.rawValue
  static let runMember = ServiceKind.run.rawValue
  static let workerMember = ServiceKind.worker.rawValue
  static let outsideMember = ServiceKind.outside.rawValue
  /// The key of the windows of a service: those of every branch have theirs in `windows`.
  static func windowsKey(_ service: ServiceName) -> String {
    ServiceName.branch.contains(service)
      ? "\(windowsMember).\(service)" : "\(servicesKey).\(service).\(windowsMember)"
  }
  static let maxWaitingKey = "max_waiting"
  private static let mayWait: ClosedRange<Int64> = 1...1_000_000_000
  static let speedKey = "speed"
  static let languageKey = "lang"
  static let retryFirstKey = "retry_first"
  static let retryLimitKey = "retry_limit"
  /// The keys of the pauses of a service, where it has its own.
  static func pauseKeys(of service: ServiceName) -> (first: String, limit: String) {
    ("\(servicesKey).\(service).retries.first", "\(servicesKey).\(service).retries.limit")
  }

  static let ledgerMember = "ledger"
  /// The keys of the accounts that a served customer of a service moves.
  static func sideKeys(of service: ServiceName) -> (debit: String, credit: String) {
    let above = "\(servicesKey).\(service).\(ledgerMember)."
    return (above + "debit", above + "credit")
  }

  // MARK: Between a file and a configuration

  /// Reads the value into its property.
  func read(
    _ value: ConfigurationReader, into configuration: inout BankConfiguration
  ) throws(ConfigurationError) {
    switch place {
    case .number(let place, let bounds): configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .smallNumber(let place, let bounds):
      configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .span(let place, let bounds): configuration[keyPath: place] = try value.span(in: bounds)
    case .flag(let place): configuration[keyPath: place] = try value.bool()
    case .openNumber(let place, let bounds): configuration[keyPath: place] = try value.wholeNumber(in: bounds)
    case .openSmallNumber(let place, let bounds):
      configuration[keyPath: place] = try value.wholeNumber(in: bounds) as Int32
    case .openSpan(let place, let bounds): configuration[keyPath: place] = try value.span(in: bounds)
    case .openFraction(let place): configuration[keyPath: place] = try value.thousandths()
    case .path(let place): configuration[keyPath: place] = try value.directory()
    case .address(let place): configuration[keyPath: place] = try value.address()
    case .openName(let place, let limit):
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

  /// The words of a program; nil where it is none.
  func words(in configuration: BankConfiguration) -> [String]? {
    switch place {
    case .command(let place), .program(let place): configuration[keyPath: place]
    default: nil
    }
  }

  /// The value as a file has it.
  func value(in configuration: BankConfiguration) -> SettingValue {
    switch place {
    case .number(let place, _): .number(configuration[keyPath: place])
    case .smallNumber(let place, _): .number(Int64(configuration[keyPath: place]))
    case .span(let place, _): .text(DurationText.print(configuration[keyPath: place]))
    case .flag(let place): .flag(configuration[keyPath: place])
    case .openNumber(let place, _): configuration[keyPath: place].map { .number($0) } ?? .null
    case .openSmallNumber(let place, _): configuration[keyPath: place].map { .number(Int64($0)) } ?? .null
    case .openSpan(let place, _): configuration[keyPath: place].map { .text(DurationText.print($0)) } ?? .null
    case .openFraction(let place): configuration[keyPath: place].map { .thousandths($0) } ?? .null
    case .path(let place), .openName(let place, _): configuration[keyPath: place].map { .words($0) } ?? .null
    case .address(let place): configuration[keyPath: place].map { .words($0.description) } ?? .null
    case .command(let place), .program(let place):
      configuration[keyPath: place].map { .list($0) } ?? .null
    case .variables(let place): .table(configuration[keyPath: place])
    case .mask(let place): configuration[keyPath: place].map { .text(FileMask.text($0)) } ?? .null
    case .meanings(let place):
      .table(
        Variables(configuration[keyPath: place].map { (key: $0.key, value: $0.value.rawValue) }))
    case .side(let place): configuration[keyPath: place].map { .text($0.name) } ?? .null
    case .speed: .text(configuration.speed.text)
    case .language: configuration.language.map { .text($0.code) } ?? .null
    }
  }
}
