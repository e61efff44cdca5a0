// External workers of a history: their services, the windows and outside workers, and the rules of the services.
// Invariant: the plan draws from a generator of its own, so that histories without external workers do not change.
import BankModel
import QueueCore
import Time

/// What one history has of external workers, drawn from the seed.
struct ExternalWorkerPlan {
  /// A service with a worker at each window.
  static let windowService = ServiceName("post")!
  /// Services of outside workers.
  static let outside = [ServiceName("mail")!, ServiceName("fax")!]
  static let services = [windowService] + outside
  /// Path of the workers' program.
  static let program = "/bank/bin/worker"

  let isEnabled: Bool
  let windows: Int32
  /// Services of each outside worker; the first worker serves all services of outside workers.
  let offers: [[ServiceName]]
  /// True if the work may take several leases, which beats extend.
  let isSlow: Bool
  /// Maximum number of starts of a customer; nil if they are not counted.
  let maxAttempts: Int16?
  /// The service whose customers move money, and its posting rule; nil if there is none.
  let ledger: (service: ServiceName, rule: PostingRule)?

  init(seed: UInt64) {
    var chance = SeededGenerator(seed: seed ^ 0x30A4_EE10_0000)
    isEnabled = chance.draw(0...5) == 0
    windows = Int32(chance.draw(1...2))
    var offers = [Self.outside]
    for _ in 0..<chance.draw(0...2) {
      let drawn = Int(chance.draw(0...2))
      offers.append(drawn == 2 ? Self.outside : [Self.outside[drawn]])
    }
    self.offers = offers
    isSlow = chance.draw(0...2) == 0
    var counted = SeededGenerator(seed: seed ^ 0xA9E9_FFF7)
    maxAttempts = counted.draw(0...2) == 0 ? Int16(counted.draw(1...3)) : nil
    var moved = SeededGenerator(seed: seed ^ 0x1ED6_E400)
    let service = Self.services[Int(moved.draw(0...Int64(Self.services.count) - 1))]
    let rule = moved.draw(0...1) == 0 ? PostingRule(debit: .customer, credit: .cash) : nil
    ledger = isEnabled ? rule.map { (service, $0) } : nil
  }

  /// Sets the queue's rules for these services: the common ones, except that each worker reports its own capacity,
  /// starts may be counted, one service may move money, and at windows work is ended before its customer is assigned
  /// again.
  func adapt(_ policy: inout QueuePolicy) {
    guard isEnabled else { return }
    var rules = policy.common
    rules.prefetch = Limits.customersPerWorker
    rules.maxAttempts = maxAttempts
    for (place, service) in Self.services.enumerated() {
      rules.awaitsProcessExit = service == Self.windowService
      rules.postingRule = ledger?.service == service ? ledger?.rule : nil
      policy.set(rules, for: Service(index: ServiceName.branch.count + place))
    }
  }

  /// Settings of these services, as JSON; an empty object if there are none.
  var settings: String {
    guard isEnabled else { return "{}" }
    let most = maxAttempts.map { ", \"max_attempts\": \($0)" } ?? ""
    /// Further settings of a service, as JSON members: the limit of attempts, and the service's rule for the ledger.
    func more(_ service: ServiceName) -> String {
      guard let ledger, ledger.service == service else { return most }
      return most + ", \"ledger\": {\"debit\": \"\(ledger.rule.debit.name)\", "
        + "\"credit\": \"\(ledger.rule.credit.name)\"}"
    }
    let others = Self.outside.map { "\"\($0)\": {\"outside\": true\(more($0))}" }.joined(separator: ", ")
    let first = "\"worker\": [\"\(Self.program)\"], \"windows\": \(windows)\(more(Self.windowService))"
    return "{\"\(Self.windowService)\": {\(first)}, \(others)}"
  }
}

/// A running external worker: its process, its window and its program.
final class ExternalWorkerHandle {
  let process: SimulatedProcess
  /// The window at which the worker was started; nil for an outside worker.
  let window: String?
  /// Index among the outside workers.
  let number: Int
  /// The worker's program, owned by its process, and released with it.
  private(set) weak var worker: ExternalWorker?

  init(_ worker: ExternalWorker, of process: SimulatedProcess, window: String?, number: Int) {
    (self.worker, self.process, self.window, self.number) = (worker, process, window, number)
  }
}

/// State of the external workers in the simulated world.
struct ExternalWorkerState {
  var chance: SeededGenerator
  /// Running workers, in the order in which they started.
  var workers: [ExternalWorkerHandle] = []
  /// Process ids that external workers have had, to identify their connections.
  var pids: Set<Int32> = []
  /// The key that workers have received for each ticket.
  var keys: [TicketID: String] = [:]
  /// Number of starts of each customer, as the workers count them.
  var startedAttempts = StartCounts()

  init(seed: UInt64) { chance = SeededGenerator(seed: seed &* 43 &+ 0x30A4) }
}
