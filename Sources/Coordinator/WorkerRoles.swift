// Owns who works at the windows of which service: as what a program there greets, as what a status shows it, and what it is told
// of the commands that it runs. Where these programs are is `WorkerPrograms`'s.

import BankModel
import Configuration
import QueueCore
import Time
import Wire

/// Services for whose customers commands are run; asked for with every customer who is handed out.
struct CommandServices: Sendable {
  private var byIndex: [Bool] = []

  init(_ services: [Service]) {
    for service in services {
      while byIndex.count <= service.index { byIndex.append(false) }
      byIndex[service.index] = true
    }
  }

  func contains(_ service: Service) -> Bool { service.index < byIndex.count && byIndex[service.index] }
}

extension Service {
  /// - Parameter runsCommands: whether commands are run for its customers.
  func peerRole(runsCommands: Bool) -> PeerRole { runsCommands ? .runner : self == .juice ? .juice : .teller }
  /// - Parameter runsCommands: whether commands are run for its customers.
  func workerRole(runsCommands: Bool) -> WorkerRole {
    runsCommands ? .runner : self == .juice ? .juice : .teller
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
      environment: settings.environment.sorted { $0.key < $1.key }.map { "\($0)=\($1)" },
      timeoutMilliseconds: settings.timeout?.milliseconds,
      graceMilliseconds: (settings.grace ?? ServiceSettings.standardGrace).milliseconds, limits: limits,
      resultBytes: settings.resultBytes ?? Int64(Excerpt.longest),
      outputBytes: settings.output ?? ServiceSettings.standardOutput, outputDirectory: outputDirectory,
      meanings: meanings)
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
    if settings.command != nil {
      // A command says nothing while it runs: its time is its lease, and its runner sees to it.
      let grace = settings.grace ?? ServiceSettings.standardGrace
      policy.recall = grace + Self.runnersPatience
      policy.lease = settings.timeout.map { $0 + grace + Self.runnersPatience } ?? Self.forEver
      if settings.prefetch == nil { policy.prefetch = 1 }
    }
    return policy == common ? nil : policy
  }

  /// How much longer than its command a runner may take, on a busy machine.
  private static let runnersPatience = TimeSpan.seconds(30)
  /// A hundred years: the lease of a command that may take as long as it likes. Its runner is missed by its channel.
  private static let forEver = TimeSpan.seconds(3_155_760_000)
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
