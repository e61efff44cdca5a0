// Kinds of workers per service: the role of a program in its hello and in a status,
// the settings for commands, and the queue rules.

import BankModel
import Configuration
import QueueCore
import Time
import Wire

extension ServiceKind {
  /// True if the worker receives the customer's payload.
  var takesPayload: Bool { self != .work }

  /// True if the worker is a program that need not be of this build.
  var isForeign: Bool { self == .worker || self == .outside }

  /// True if the process at its windows starts programs that are not of this build, or is such a program.
  var mayLeaveProcesses: Bool { self == .run || self == .worker }

  /// Role that the process of such a service names in its hello.
  func peerRole(of service: Service) -> PeerRole {
    switch self {
    case .work: service == .juice ? .juice : .teller
    case .run: .runner
    case .worker, .outside: .worker
    }
  }

  /// Role of such a worker in a status report.
  func workerRole(of service: Service) -> WorkerRole {
    switch self {
    case .work: service == .juice ? .juice : .teller
    case .run: .runner
    case .worker: .worker
    case .outside: .outside
    }
  }
}

struct ServiceKinds: Sendable {
  private var byIndex: [ServiceKind] = []

  init() {}

  init(_ configuration: BankConfiguration, _ services: OfferedServices) {
    for name in configuration.services {
      guard let service = services[name] else { continue }
      while byIndex.count <= service.index { byIndex.append(.work) }
      byIndex[service.index] = configuration[name].kind
    }
  }

  subscript(service: Service) -> ServiceKind {
    service.index < byIndex.count ? byIndex[service.index] : .work
  }
}

extension BankConfiguration {
  /// Settings of a runner for the commands of a service; nil if the service runs no commands.
  func commandOrders(of service: ServiceName, outputDirectory: String) -> CommandSettings? {
    let settings = self[service]
    guard let words = settings.command else { return nil }
    var limits = CommandSettings.Limits()
    limits.memory = settings.memory
    limits.processorSeconds = settings.cpuTime.map { max(1, $0.milliseconds / 1_000) }
    limits.openFiles = settings.files
    let meanings = settings.exit.sorted { $0.key < $1.key }.map { key, meaning in
      CommandSettings.Meaning(
        code: CommandSettings.Meaning.code(named: key), consequence: meaning.consequence)
    }
    return CommandSettings(
      words: words, directory: settings.directory,
      environment: settings.environment.inOrder.map { "\($0.key)=\($0.value)" },
      timeoutMilliseconds: settings.timeout?.milliseconds,
      graceMilliseconds: (settings.grace ?? ServiceSettings.defaultGrace).milliseconds, limits: limits,
      resultBytes: settings.resultBytes ?? Int64(TruncatedOutput.longest),
      outputBytes: settings.output ?? ServiceSettings.defaultOutputBytes, outputDirectory: outputDirectory,
      meanings: meanings, mask: settings.mask)
  }

  /// Queue rules of a service; nil if they are the common ones.
  func policy(of service: ServiceName, common: ServicePolicy) -> ServicePolicy? {
    let settings = self[service]
    var policy = common
    if let lease = settings.lease { policy.lease = lease }
    if let prefetch = settings.prefetch { policy.prefetch = Int(prefetch) }
    if let crashes = settings.crashes { policy.maxCrashes = crashes }
    if let failures = settings.failures { policy.maxFailures = failures }
    if let first = settings.retryInitialDelay { policy.retryInitialDelay = first }
    if let limit = settings.retryMaxDelay { policy.retryMaxDelay = limit }
    if let jitter = settings.retryJitter { policy.retryJitter = jitter }
    policy.maxWaiting = settings.maxWaiting
    policy.maxAttempts = settings.maxAttempts.map { Int16($0) }
    policy.postingRule = settings.postingRule
    policy.awaitsProcessExit = settings.command != nil || settings.worker != nil
    if settings.command != nil {
      // The runner enforces the timeout of a command, and the runner's progress renews the lease.
      let grace = settings.grace ?? ServiceSettings.defaultGrace
      policy.recall = grace + Self.runnersPatience
      policy.timeout = settings.timeout.map { $0 + grace + Self.runnersPatience }
      if settings.prefetch == nil { policy.prefetch = 1 }
    } else if settings.worker != nil || settings.isOutside {
      policy.timeout = settings.timeout
      // The worker itself limits the number of customers that it takes at once; see `workerCapacity(of:offering:)`.
      if settings.prefetch == nil { policy.prefetch = BankModel.Limits.customersPerWorker }
    }
    return policy == common ? nil : policy
  }

  /// Largest number of customers in flight at a worker of these services that offers to take `inFlight`.
  func workerCapacity(of services: [ServiceName], offering inFlight: Int32?) -> Int {
    let most = services.compactMap { self[$0].prefetch }.max()
    let wanted = inFlight ?? most ?? 1
    return Int(max(1, min(wanted, most ?? wanted, Int32(BankModel.Limits.customersPerWorker))))
  }

  /// Timeouts for a worker of these services: the strictest of all.
  func workerTerms(of services: [ServiceName]) -> WorkerTimeouts {
    let strictest = services.map { self[$0].lease ?? lease }.min() ?? lease
    return WorkerTimeouts(
      leaseMilliseconds: strictest.milliseconds, beatMilliseconds: max(1, strictest.milliseconds / 4))
  }

  /// Additional time for a runner after its command's grace or timeout, on a busy machine.
  private static let runnersPatience = TimeSpan.seconds(30)
}

extension BankContext {
  /// Answer with a worker's result, if the service's receipts have results. The result of a worker program is cut to
  /// the configured length; a runner has already cut its result.
  func answer(_ result: WorkResult, at window: Window) -> TellerAnswer {
    guard window.service.mayStoreResult else { return .done }
    guard kinds[window.service] != .run,
      let most = configuration[services.directory[window.service]].resultBytes
    else { return .worked(result) }
    return .worked(result.cut(to: Int(most)))
  }
}

extension CommandSettings.Meaning {
  /// Value of ``code`` for a kind of exit in the configuration: an exit code, `signal`, `timeout`, or else every other
  /// exit code.
  static func code(named name: String) -> Int32 {
    switch name {
    case "signal": signals
    case "timeout": timeouts
    default: Int32(name) ?? others
    }
  }
}
