// Checks of customers that commands and workers hold when a coordinator is killed. The attempt is recorded before the
// customer is assigned again. An attempt is recorded as lost only if a coordinator can have lost it.
// Invariant: a loss is certain only if the command itself had started. An assignment that the queue's state machine
// reports is not enough.
import BankModel
import Coordinator
import QueueCore
import Time

/// Customers in flight when a coordinator was killed, as far as assignments and commands show them.
struct CrashLedger {
  /// Customers that the current coordinator has assigned.
  private var handedOut: Set<TicketID> = []
  /// Customers that may have been in flight when coordinators were killed, each with the maximum number of these kills.
  private var counts: [TicketID: Int] = [:]
  /// Customers that may have been in flight, and whose attempt is not recorded as lost yet.
  private var possible: Set<TicketID> = []
  /// Customers that were certainly in flight when a coordinator was killed.
  private var certain: Set<TicketID> = []

  mutating func customerAssigned(_ name: TicketID) { handedOut.insert(name) }

  /// Records the customers that a killed coordinator had in flight: some certainly, the others perhaps.
  mutating func coordinatorCrashed(certainly names: [TicketID]) {
    for name in handedOut { counts[name, default: 0] += 1 }
    possible.formUnion(handedOut)
    certain.formUnion(names)
    handedOut.removeAll()
  }

  /// Forgets the assignments of a coordinator that has exited by itself, because no customer was lost with it.
  mutating func coordinatorExited() { handedOut.removeAll() }

  /// Removes a customer whose attempt is recorded as lost. Returns the maximum number of coordinators that lost it, or
  /// nil if it cannot have been lost.
  mutating func removeUnrecorded(_ name: TicketID) -> Int? {
    certain.remove(name)
    return possible.remove(name) == nil ? nil : counts[name]
  }

  /// True if the customer was certainly lost, and the loss is not recorded yet.
  func isUnrecorded(_ name: TicketID) -> Bool { certain.contains(name) }
  /// True if the customer may have been in flight in as many kills as are tolerated, or in more.
  func isSuspect(_ name: TicketID) -> Bool { (counts[name] ?? 0) >= CoordinatorCrashes.tolerated }
  /// Forgets a certain loss, because the customer has its receipt.
  mutating func forget(_ name: TicketID) { certain.remove(name) }
  /// Forgets all certain losses, because the queue was emptied.
  mutating func forgetCertain() { certain.removeAll() }
}

extension InvariantChecker {
  /// Records the customers that a killed coordinator had in flight.
  func recordCoordinatorCrash() {
    let certain = holders.compactMap { holder in
      let name = TicketID(day: view.day, ticket: holder.lease.ticket)
      guard holder.window.service.isForCommands, diskCounters?.day == view.day,
        let tree = commands.last(of: name), tree.attempt == holder.lease.attempt,
        tree.startedAt >= coordinatorStartedAt
      else { return nil as TicketID? }
      return name
    }
    coordinatorCrashes.coordinatorCrashed(certainly: certain)
  }

  /// Forgets all losses, because the power has failed: no customer is to blame, and the records are lost too.
  func discardCrashes() { coordinatorCrashes = CrashLedger() }

  /// Records the assignment of a customer to a window for commands or external workers. If a killed coordinator
  /// certainly had it in flight, that attempt must be recorded before.
  func checkCrash(of customer: Customer, at window: Window) {
    guard window.service.isForCommands || window.service.isForForeigners else { return }
    let name = TicketID(day: view.day, ticket: customer.ticket)
    if coordinatorCrashes.isUnrecorded(name) {
      violate(.attempt, "ticket \(customer.ticket) is assigned, but its previous attempt is not recorded")
    }
    coordinatorCrashes.customerAssigned(name)
  }

  /// Checks the crashes of a customer that was lost with a coordinator. The loss may count as a crash.
  func verifyCrash(of customer: Customer) {
    guard let most = step.lossCounts.removeValue(forKey: customer.ticket),
      var known = view.customers[customer.ticket], customer.crashes != known.crashes
    else { return }
    let latest = max(known.crashes + 1, Int32(clamping: most - CoordinatorCrashes.tolerated))
    if most <= CoordinatorCrashes.tolerated || !(known.crashes...latest).contains(customer.crashes) {
      violate(
        .attempt,
        "ticket \(customer.ticket) counts \(customer.crashes) crashes after \(known.crashes), but was held by "
          + "\(most) coordinators at most")
    }
    known.crashes = customer.crashes
    view.customers[customer.ticket] = known
    if known.crashes >= policy[customer.service.index].maxCrashes {
      step.verdict.isDead[customer.ticket] = true
    }
  }

  /// Applies the delay of a suspected customer that has not been assigned again. Returns false for any other customer.
  func delaysSuspect(_ customer: Customer) -> Bool {
    let ticket = customer.ticket
    guard !step.unplaced.contains(ticket),
      coordinatorCrashes.isSuspect(TicketID(day: view.day, ticket: ticket))
    else {
      return false
    }
    guard view.states[ticket] == .waiting, view.customers[ticket] == customer, view.leaveLine(customer) else {
      violate(.attempt, "ticket \(ticket) is deferred but is not waiting")
      return true
    }
    view.states[ticket] = .delayed
    return true
  }
}

/// Memory of an `InFlightTable` that outlives a coordinator.
final class InFlightMemory {
  private let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: InFlightTable.wordCount)
  private init() { words.initialize(repeating: 0) }
  deinit { words.deallocate() }

  static func table() -> InFlightTable {
    let memory = InFlightMemory()
    return InFlightTable(memory.words, boot: [1], owner: memory)
  }
}
