// Owns what the coordinator is told when it is started: the words on its command line. People never type them;
// bankctl does. It knows nothing of what follows from them.

import Arguments
import BankModel
import Configuration
import Posix
import QueueCore
import Supervision
import Wire

/// The coordinator's command line: `bankd --home DIR [--config FILE] [--lang ko|en] [--deposit N] [--loan N]
/// [--speed X]`, `bankd --inspect --home DIR`, or `bankd --count PID --home DIR`.
/// `--store URL` names books that several branches share; `bankd --inspect --store URL` reads them and needs no home. A guardian adds `--guardian PID` and hands the home's lock on as
/// descriptor 4; `--recover` after a crash; `--occupied PID`, `--inspected` or `--unusable REASON` where there can be no bank. A bank in
/// the foreground of its client is opened with `--opener PID`.
struct CoordinatorOptions: Sendable, Equatable {
  /// The home, absolute.
  var home = ""
  /// The configuration; nil for the built-in one.
  var config: String?
  /// The address of the books that this branch shares with others; nil for those in its home.
  var store: String?
  /// The language of the logs; nil for what the configuration says.
  var language: Language?
  /// Windows that the caller asked for, instead of those in the configuration.
  var windows: [ServiceName: Int64] = [:]
  /// The speed that the caller asked for.
  var speed: String?
  /// Only answer questions about a bank that is not open, on descriptor 3.
  var isInspection = false
  /// Only count the rows of the database as it lies, for this coordinator, and tell what was found on descriptor 3.
  var countsFor: Int32?
  /// The process that restarts this one when it dies; nil where nobody does.
  var guardian: Int32?
  /// The process without which there shall be no bank: whoever opened one in its foreground.
  var opener: Int32?
  /// The coordinator before this one has died: the windows are those it had.
  var isRecovery = false
  /// Why there can be no bank, as far as the guardian has found out.
  var obstacle: Obstacle?
  /// The words that every coordinator of this bank is started with.
  var lasting: [String] = []

  /// What a guardian has found in the way.
  enum Obstacle: Sendable, Equatable {
    /// Another process has the home.
    case occupied(by: String)
    /// Somebody has been looking into the closed bank for long.
    case inspected
    /// The home cannot be used.
    case unusable(String)
  }

  /// Reads the words behind the program's name.
  init(_ arguments: [String]) throws(Failure) {
    var words = arguments[...]
    while let word = words.popFirst() {
      switch word {
      case "--inspect": isInspection = true
      case "--recover": isRecovery = true
      case "--inspected": obstacle = .inspected
      default:
        guard let value = words.popFirst() else {
          throw Failure(.badRequest, subject: word, detail: "the option has no value")
        }
        if try take(word, value) { lasting += [word, value] }
      }
    }
    guard home.hasPrefix("/") || isInspection && store != nil else {
      throw Failure(
        .badRequest, subject: "--home", detail: "an absolute path is needed; start the bank with bankctl")
    }
  }

  /// The same with a configuration file that is found from any directory.
  func absolute() throws(Failure) -> CoordinatorOptions {
    guard let config, !config.hasPrefix("/") else { return self }
    var options = self
    do throws(SystemError) { options.config = try Paths.absolute(config) } catch {
      throw Failure(.system, subject: config, detail: error.description)
    }
    for place in lasting.indices where lasting[place] == "--config" && place + 1 < lasting.count {
      options.lasting[place + 1] = options.config ?? config
    }
    return options
  }

  /// Takes an option; whether every coordinator of this bank is started with it.
  private mutating func take(_ option: String, _ value: String) throws(Failure) -> Bool {
    switch option {
    case "--guardian": guardian = try Self.process(option, value)
    case "--count": countsFor = try Self.process(option, value)
    case "--opener": opener = try Self.process(option, value)
    case "--occupied": obstacle = .occupied(by: value)
    case "--unusable": obstacle = .unusable(value)
    default:
      try takeLasting(option, value)
      return true
    }
    return false
  }

  private mutating func takeLasting(_ option: String, _ value: String) throws(Failure) {
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

  private static func windows(_ option: String, _ value: some StringProtocol) throws(Failure) -> Int64 {
    guard let count = Int64(value), (0...Limits.windowsPerService).contains(count) else {
      throw Failure(.badRequest, subject: option, detail: "0 to \(Limits.windowsPerService), not \(value)")
    }
    return count
  }

  private static func process(_ option: String, _ value: String) throws(Failure) -> Int32 {
    guard let pid = Int32(value), pid > 0 else {
      throw Failure(.badRequest, subject: option, detail: "a process, not \(value)")
    }
    return pid
  }
}

/// How the command line and the configuration file become one configuration: what the caller asked for goes before what
/// the file says.
extension CoordinatorOptions {
  /// The files by which the bank goes.
  var files: BranchFiles { BranchFiles(home: home, configuration: config) }

  /// The configuration file, read now, with the caller's own choices on top.
  func configuration() throws(Failure) -> BankConfiguration {
    let read: ReadConfiguration
    do throws(ConfigurationError) { read = try files.readConfiguration() } catch {
      throw Failure(error, in: language ?? .english)
    }
    return try configuration(over: read)
  }

  /// What was read of a file, with the caller's own choices on top.
  func configuration(over read: ReadConfiguration) throws(Failure) -> BankConfiguration {
    var configuration = read.configuration
    for (service, count) in windows.sorted(by: { $0.key < $1.key }) {
      guard configuration.services.contains(service) else {
        throw OfferedServices.unknown(service, among: configuration.services)
      }
      guard count == 0 || !configuration.isOutside(service) else {
        throw Failure(.badRequest, remark: Remark(.noWindowsOutside, service.text))
      }
      configuration.adopt(.windows(service, Int32(count)))
    }
    if let language { configuration.adopt(.language(language)) }
    if let store {
      do throws(StoreAddress.Fault) { configuration.adopt(.store(try StoreAddress(store))) } catch {
        throw Failure(.badRequest, subject: "--store", detail: "it \(error.message(in: .english))")
      }
    }
    if let speed {
      do throws(SpeedText.Failure) { configuration.adopt(.speed(Speed(try SpeedText.parse(speed)))) } catch {
        throw Failure(.badRequest, subject: "--speed", detail: error.advice(in: .english))
      }
    }
    return configuration
  }
}

extension BankConfiguration {
  /// The rules of the queue.
  ///
  /// - Parameter directory: the numbers of the services.
  func policy(_ directory: ServiceDirectory) -> QueuePolicy {
    var policy = QueuePolicy()
    policy.maxWaiting = maxWaiting
    policy.lease = lease
    policy.prefetch = Int(prefetch)
    policy.maxCrashes = maxCrashes
    policy.maxFailures = maxFailures
    policy.retryFirst = retryFirst
    policy.retryLimit = retryLimit
    for name in services {
      guard let service = directory[name], let own = self.policy(of: name, common: policy.common) else {
        continue
      }
      policy.set(own, for: service)
    }
    return policy
  }

  /// When the successor of a teller that has died comes.
  var restarts: RestartPolicy {
    var policy = RestartPolicy()
    policy.firstPause = restartFirst
    policy.longestPause = restartLimit
    return policy
  }

  var recycling: RecyclePolicy {
    RecyclePolicy(afterCustomers: recycleAfterCustomers, aboveBytes: recycleAboveMegabytes << 20)
  }

  func tellerOrdersDiffer(from other: BankConfiguration) -> Bool {
    work != other.work || speed != other.speed || language != other.language || log != other.log
      || lease != other.lease || services.contains { self[$0] != other[$0] }
  }
}
