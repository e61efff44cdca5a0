// Owns who works at the windows of which service: as what a program there greets, as what a status shows it, and what it is told
// of the commands that it runs. Where these programs are is `WorkerPrograms`'s.

import BankModel
import Configuration
import QueueCore
import Time
import Wire

extension ServiceKind {
  /// Whether it is handed what a customer carries.
  var takesPayload: Bool { self != .work }

  /// Whether whoever serves is a program that need not be of this build.
  var isForeign: Bool { self == .worker || self == .outside }

  /// Whether whoever stands at its windows starts programs that are not of this build, or is one.
  var leavesProcesses: Bool { self == .run || self == .worker }

  func peerRole(of service: Service) -> PeerRole {
    switch self {
    case .work: service == .juice ? .juice : .teller
    case .run: .runner
    case .worker, .outside: .worker
    }
  }

  func workerRole(of service: Service) -> WorkerRole {
    switch self {
    case .work: service == .juice ? .juice : .teller
    case .run: .runner
    case .worker: .worker
    case .outside: .outside
    }
  }
}

/// Who serves which customers; asked for with every customer who is handed out.
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
  /// What a runner is told of the commands of a service; nil where none are run.
  func commandOrders(of service: ServiceName, outputDirectory: String) -> CommandOrders? {
    let settings = self[service]
    guard let words = settings.command else { return nil }
    var limits = CommandOrders.Limits()
    limits.memory = settings.memory
    limits.processorSeconds = settings.processor.map { max(1, $0.milliseconds / 1_000) }
    limits.openFiles = settings.files
    let meanings = settings.exit.sorted { $0.key < $1.key }.map { key, meaning in
      CommandOrders.Meaning(code: CommandOrders.Meaning.code(named: key), consequence: meaning.consequence)
    }
    return CommandOrders(
      words: words, directory: settings.directory,
      environment: settings.environment.inOrder.map { "\($0.key)=\($0.value)" },
      timeoutMilliseconds: settings.timeout?.milliseconds,
      graceMilliseconds: (settings.grace ?? ServiceSettings.standardGrace).milliseconds, limits: limits,
      resultBytes: settings.resultBytes ?? Int64(Excerpt.longest),
      outputBytes: settings.output ?? ServiceSettings.standardOutput, outputDirectory: outputDirectory,
      meanings: meanings, mask: settings.mask)
  }

  /// The rules of the queue for a service, where they are not those of all.
  func policy(of service: ServiceName, common: ServicePolicy) -> ServicePolicy? {
    let settings = self[service]
    var policy = common
    if let lease = settings.lease { policy.lease = lease }
    if let prefetch = settings.prefetch { policy.prefetch = Int(prefetch) }
    if let crashes = settings.crashes { policy.maxCrashes = crashes }
    if let failures = settings.failures { policy.maxFailures = failures }
    if let first = settings.retryFirst { policy.retryFirst = first }
    if let limit = settings.retryLimit { policy.retryLimit = limit }
    if let jitter = settings.retryJitter { policy.retryJitter = jitter }
    policy.maxWaiting = settings.maxWaiting
    policy.maxAttempts = settings.maxAttempts.map { Int16($0) }
    policy.postingRule = settings.postingRule
    policy.endsWorkFirst = settings.command != nil || settings.worker != nil
    if settings.command != nil {
      // A command says nothing while it runs. Its runner ends it at its time, and the runner's own progress renews the lease.
      let grace = settings.grace ?? ServiceSettings.standardGrace
      policy.recall = grace + Self.runnersPatience
      policy.timeout = settings.timeout.map { $0 + grace + Self.runnersPatience }
      if settings.prefetch == nil { policy.prefetch = 1 }
    } else if settings.worker != nil || settings.isOutside {
      policy.timeout = settings.timeout
      // How many it takes a worker says itself; see `workerRoom(of:offering:)`.
      if settings.prefetch == nil { policy.prefetch = BankModel.Limits.customersInHand }
    }
    return policy == common ? nil : policy
  }

  /// How many customers of these services a worker has in hand at most that takes so many.
  func workerRoom(of services: [ServiceName], offering inHand: Int32?) -> Int {
    let most = services.compactMap { self[$0].prefetch }.max()
    let wanted = inHand ?? most ?? 1
    return Int(max(1, min(wanted, most ?? wanted, Int32(BankModel.Limits.customersInHand))))
  }

  /// On what terms the customers of these services are served: those of the strictest.
  func workerTerms(of services: [ServiceName]) -> WorkerTerms {
    let strictest = services.map { self[$0].lease ?? lease }.min() ?? lease
    return WorkerTerms(
      leaseMilliseconds: strictest.milliseconds, beatMilliseconds: max(1, strictest.milliseconds / 4))
  }

  /// How much longer than its command a runner may take, on a busy machine.
  private static let runnersPatience = TimeSpan.seconds(30)
}

extension BankContext {
  /// What a worker answers with a result: cut to what is kept of it; and nothing where the service's receipts have none.
  func answer(_ result: WorkResult, at window: Window) -> TellerAnswer {
    guard window.service.leavesResults else { return .done }
    guard kinds[window.service] != .run,
      let most = configuration[services.directory[window.service]].resultBytes
    else { return .worked(result) }
    return .worked(result.cut(to: Int(most)))
  }
}

extension CommandOrders.Meaning {
  /// The number of an ending as a configuration names it.
  static func code(named name: String) -> Int32 {
    switch name {
    case "signal": signals
    case "timeout": timeouts
    default: Int32(name) ?? others
    }
  }
}
