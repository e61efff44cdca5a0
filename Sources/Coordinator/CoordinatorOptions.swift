// Command-line options of the coordinator:
// parsing, and application to the configuration.

import Arguments
import BankModel
import Configuration
import Posix
import QueueCore
import Supervision
import Wire

/// Command line: `bankd --home DIR [--config FILE] [--lang ko|en] [--deposit N] [--loan N] [--windows NAME=N]
/// [--speed X]`, `bankd --inspect --home DIR`, or `bankd --count PID --home DIR`.
/// `--store URL` names a database shared by several branches; `bankd --inspect --store URL` reads it and needs no
/// home.
/// A guardian adds `--guardian PID` and passes the home's lock as descriptor 4. It adds `--recover` after a crash,
/// and `--occupied PID`, `--inspected` or `--unusable REASON` if no bank can open. `--opener PID` ties the process
/// to the one that started it: a bank in the foreground to its client, a reader to its coordinator.
struct CoordinatorOptions: Sendable, Equatable {
  /// Absolute path of the home.
  var home = ""
  /// Path of the configuration file; nil for the built-in configuration.
  var config: String?
  /// Address of the database shared with other branches; nil for the database in the home.
  var store: String?
  /// Language of texts in logs and failures; nil for that of the configuration.
  var language: Language?
  /// Requested numbers of windows, which replace the configured ones.
  var windows: [ServiceName: Int64] = [:]
  /// Speed of simulated work, as text; nil for that of the configuration.
  var speed: String?
  /// True to answer queries on descriptor 3, about the database of a closed bank or about a shared one.
  var isInspection = false
  /// Process id of the coordinator for which this process audits the database rows; the result is sent on
  /// descriptor 3. Nil if this process audits no rows.
  var countsFor: Int32?
  /// Process id of the guardian, which restarts this process when it dies; nil without a guardian.
  var guardian: Int32?
  /// Id of the process that started this one, and whose exit ends this one: the client that opened the bank in its
  /// foreground, or the coordinator of a reader.
  var opener: Int32?
  /// True after a crash of the previous coordinator: the numbers of windows stay as they were.
  var isRecovery = false
  /// Reason found by the guardian why no bank can open.
  var startBlocker: StartBlocker?
  /// Arguments with which every coordinator of this bank is started.
  var persistentArguments: [String] = []

  /// Obstacle to the opening, found by the guardian.
  enum StartBlocker: Sendable, Equatable {
    /// Another process has the lock of the home.
    case occupied(by: String)
    /// Another process has been inspecting the closed bank for too long.
    case inspected
    /// The home cannot be used.
    case unusable(String)
  }

  init(_ arguments: [String]) throws(Failure) {
    var remaining = arguments[...]
    while let argument = remaining.popFirst() {
      switch argument {
      case "--inspect": isInspection = true
      case "--recover": isRecovery = true
      case "--inspected": startBlocker = .inspected
      default:
        guard let value = remaining.popFirst() else {
          throw Failure(.badRequest, subject: argument, detail: "the option has no value")
        }
        if try apply(argument, value) { persistentArguments += [argument, value] }
      }
    }
    guard home.hasPrefix("/") || isInspection && store != nil else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }

  /// Copy of the options with an absolute path of the configuration file.
  func absolute() throws(Failure) -> CoordinatorOptions {
    guard let config, !config.hasPrefix("/") else { return self }
    var options = self
    do throws(SystemError) { options.config = try Paths.absolute(config) } catch {
      throw Failure(.system, subject: config, detail: error.description)
    }
    for place in persistentArguments.indices
    where persistentArguments[place] == "--config" && place + 1 < persistentArguments.count {
      options.persistentArguments[place + 1] = options.config ?? config
    }
    return options
  }

  /// Applies an option. Returns true if every coordinator of this bank is started with it.
  private mutating func apply(_ option: String, _ value: String) throws(Failure) -> Bool {
    switch option {
    case "--guardian": guardian = try Self.process(option, value)
    case "--count": countsFor = try Self.process(option, value)
    case "--opener": opener = try Self.process(option, value)
    case "--occupied": startBlocker = .occupied(by: value)
    case "--unusable": startBlocker = .unusable(value)
    default:
      try applyPersistent(option, value)
      return true
    }
    return false
  }

  /// Applies an option that every coordinator of this bank is started with.
  private mutating func applyPersistent(_ option: String, _ value: String) throws(Failure) {
    switch option {
    case "--home": home = value
    case "--config": config = value
    case "--speed": speed = value
    case "--store": store = value
    case "--windows":
      guard let equals = value.lastIndex(of: "="), let service = ServiceName(value[..<equals]) else {
        throw Failure(.badRequest, subject: option, detail: "NAME=N, not \(value)")
      }
      windows[service] = try Self.windows(option, value[value.index(after: equals)...])
    case "--lang":
      guard let chosen = Language(code: value) else {
        throw Failure(.badRequest, subject: option, detail: "ko or en, not \(value)")
      }
      language = chosen
    default:
      guard option.hasPrefix("--"), let service = ServiceName(option.dropFirst(2)),
        ServiceName.branch.contains(service)
      else { throw Failure(.badRequest, subject: option, detail: "the coordinator has no such option") }
      windows[service] = try Self.windows(option, value)
    }
  }

  /// Number of windows of a service, from the value of an option.
  private static func windows(_ option: String, _ value: some StringProtocol) throws(Failure) -> Int64 {
    guard let count = Int64(value), (0...Limits.windowsPerService).contains(count) else {
      throw Failure(.badRequest, subject: option, detail: "0 to \(Limits.windowsPerService), not \(value)")
    }
    return count
  }

  /// Process id, from the value of an option.
  private static func process(_ option: String, _ value: String) throws(Failure) -> Int32 {
    guard let pid = Int32(value), pid > 0 else {
      throw Failure(.badRequest, subject: option, detail: "a process ID, not \(value)")
    }
    return pid
  }
}

/// Merges the command line and the configuration file; options take precedence.
extension CoordinatorOptions {
  var files: BankFiles { BankFiles(home: home, configuration: config) }

  /// Reads the configuration file now and applies the options to it.
  func configuration() throws(Failure) -> BankConfiguration {
    let read: LoadedConfiguration
    do throws(ConfigurationError) { read = try files.readConfiguration() } catch {
      throw Failure(error, in: language ?? .english)
    }
    return try configuration(over: read)
  }

  /// Applies the options to a configuration that was read.
  func configuration(over read: LoadedConfiguration) throws(Failure) -> BankConfiguration {
    var configuration = read.configuration
    for (service, count) in windows.sorted(by: { $0.key < $1.key }) {
      guard configuration.services.contains(service) else {
        throw OfferedServices.unknown(service, among: configuration.services)
      }
      guard count == 0 || !configuration.isOutside(service) else {
        throw Failure(.badRequest, messageDetail: MessageDetail(.outsideServiceWithoutWindows, service.text))
      }
      configuration.apply(.windows(service, Int32(count)))
    }
    if let language { configuration.apply(.language(language)) }
    if let store {
      do throws(StoreAddress.Fault) { configuration.apply(.store(try StoreAddress(store))) } catch {
        throw Failure(.badRequest, subject: "--store", detail: "it \(error.message(in: .english))")
      }
    }
    if let speed {
      do throws(SpeedText.Failure) { configuration.apply(.speed(Speed(try SpeedText.parse(speed)))) } catch {
        throw Failure(.badRequest, subject: "--speed", detail: error.advice(in: .english))
      }
    }
    return configuration
  }
}

extension BankConfiguration {
  /// Rules of the queue that follow from this configuration.
  ///
  /// - Parameter directory: Numbers of the services.
  func policy(_ directory: ServiceDirectory) -> QueuePolicy {
    var policy = QueuePolicy()
    policy.maxWaiting = maxWaiting
    policy.lease = lease
    policy.prefetch = Int(prefetch)
    policy.maxCrashes = maxCrashes
    policy.maxFailures = maxFailures
    policy.retryInitialDelay = retryInitialDelay
    policy.retryMaxDelay = retryMaxDelay
    for name in services {
      guard let service = directory[name], let own = self.policy(of: name, common: policy.common) else {
        continue
      }
      policy.set(own, for: service)
    }
    return policy
  }

  /// Pauses before the successor of a dead worker or service starts.
  var restarts: RestartPolicy {
    var policy = RestartPolicy()
    policy.firstPause = restartInitialDelay
    policy.longestPause = restartMaxDelay
    return policy
  }

  /// Limits after which a healthy teller is replaced.
  var recycling: RecyclePolicy {
    RecyclePolicy(afterCustomers: maxCustomersPerTeller, aboveBytes: maxTellerMegabytes << 20)
  }

  /// True if the tellers need new settings after a change from the other configuration to this one.
  func tellerOrdersDiffer(from other: BankConfiguration) -> Bool {
    work != other.work || speed != other.speed || language != other.language || log != other.log
      || lease != other.lease || services.contains { self[$0] != other[$0] }
  }
}
