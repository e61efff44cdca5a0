// Owns what a history has of workers that are programs of their own: which services they serve, how many come by themselves,
// how many customers each takes. It must not know what they say or what goes wrong with them.
// Invariant: chance comes from a generator of its own, so that histories without such workers go as they went before. The
// salt is one by which none of the seeds that are known for what happens in them has such workers.
import BankModel
import QueueCore
import Time

struct ForeignPlan {
  /// Served by a worker at each window.
  static let atWindows = ServiceName("post")!
  /// Served by workers that come by themselves.
  static let outside = [ServiceName("mail")!, ServiceName("fax")!]
  static let services = [atWindows] + outside
  /// Where the program of the workers lies.
  static let program = "/bank/bin/worker"

  let isThere: Bool
  let windows: Int32
  /// What each of those serves who come by themselves; the first serves everything that is theirs.
  let offers: [[ServiceName]]
  /// Whether the work takes several leases, which are kept by beats.
  let isSlow: Bool
  /// How many attempts may begin at a customer; nil where that is not counted.
  let maxAttempts: Int16?
  /// The service whose customers move money, and how; nil where nobody's do.
  let ledger: (service: ServiceName, rule: PostingRule)?

  init(seed: UInt64) {
    var chance = SeededGenerator(seed: seed ^ 0x30A4_EE10_0000)
    isThere = chance.draw(0...5) == 0
    windows = Int32(chance.draw(1...2))
    var offers = [Self.outside]
    for _ in 0..<chance.draw(0...2) {
      let drawn = Int(chance.draw(0...2))
      offers.append(drawn == 2 ? Self.outside : [Self.outside[drawn]])
    }
    self.offers = offers
    isSlow = chance.draw(0...2) == 0
    // By this salt none of the seeds that are known for what happens in them counts attempts.
    var counted = SeededGenerator(seed: seed ^ 0xA9E9_FFF7)
    maxAttempts = counted.draw(0...2) == 0 ? Int16(counted.draw(1...3)) : nil
    var moved = SeededGenerator(seed: seed ^ 0x1ED6_E400)
    let service = Self.services[Int(moved.draw(0...Int64(Self.services.count) - 1))]
    let rule = moved.draw(0...1) == 0 ? PostingRule(debit: .customer, credit: .cash) : nil
    ledger = isThere ? rule.map { (service, $0) } : nil
  }

  /// The rules of the queue for these services: those of all, but that a worker says itself how many it takes.
  func adapt(_ policy: inout QueuePolicy) {
    guard isThere else { return }
    var rules = policy.common
    rules.prefetch = Limits.customersInHand
    rules.maxAttempts = maxAttempts
    for (place, service) in Self.services.enumerated() {
      rules.endsWorkFirst = service == Self.atWindows
      rules.postingRule = ledger?.service == service ? ledger?.rule : nil
      policy.set(rules, for: Service(index: ServiceName.branch.count + place))
    }
  }

  /// What the configuration says of them; empty where there are none.
  var settings: String {
    guard isThere else { return "{}" }
    let most = maxAttempts.map { ", \"max_attempts\": \($0)" } ?? ""
    func more(_ service: ServiceName) -> String {
      guard let ledger, ledger.service == service else { return most }
      return most + ", \"ledger\": {\"debit\": \"\(ledger.rule.debit.name)\", "
        + "\"credit\": \"\(ledger.rule.credit.name)\"}"
    }
    let others = Self.outside.map { "\"\($0)\": {\"outside\": true\(more($0))}" }.joined(separator: ", ")
    let first = "\"worker\": [\"\(Self.program)\"], \"windows\": \(windows)\(more(Self.atWindows))"
    return "{\"\(Self.atWindows)\": {\(first)}, \(others)}"
  }
}

/// A foreign worker as the world sees it.
final class ForeignSeat {
  let process: SimulatedProcess
  /// The window at which it was started; nil where it comes by itself.
  let window: String?
  /// Its place among those who come by themselves.
  let number: Int
  /// Held by its process: when that ends, it goes as a process goes.
  private(set) weak var worker: ForeignWorker?

  init(_ worker: ForeignWorker, of process: SimulatedProcess, window: String?, number: Int) {
    (self.worker, self.process, self.window, self.number) = (worker, process, window, number)
  }
}

/// What the simulated world knows of its foreign workers.
struct ForeignScene {
  var chance: SeededGenerator
  /// Those that live, in the order in which they have begun.
  var workers: [ForeignSeat] = []
  /// The processes that were ever theirs, by which a connection is known as one of theirs.
  var pids: Set<Int32> = []
  /// What was told as the key of each ticket.
  var keys: [TicketName: String] = [:]
  var begun = BegunAttempts()

  init(seed: UInt64) { chance = SeededGenerator(seed: seed &* 43 &+ 0x30A4) }
}
