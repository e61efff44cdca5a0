// Checks of customers that commands and workers hold when a coordinator is killed. The attempt is recorded before the
// customer is assigned again. An attempt is recorded as lost only if a coordinator can have lost it.
// Invariant: a loss is certain only if the command itself had started. A report of the core is not enough.
import BankModel
import Coordinator
import QueueCore
import Time

/// Customers in flight when a coordinator was killed, as far as assignments and commands show them.
struct FallLedger {
  /// Customers that the current coordinator has assigned.
  private var handedOut: Set<TicketName> = []
  /// Customers that may have been in flight when coordinators were killed, each with the maximum number of these kills.
  private var counts: [TicketName: Int] = [:]
  private var possible: Set<TicketName> = []
  /// Customers that were certainly in flight when a coordinator was killed.
  private var certain: Set<TicketName> = []

  mutating func handOut(_ name: TicketName) { handedOut.insert(name) }

  mutating func fall(certainly names: [TicketName]) {
    for name in handedOut { counts[name, default: 0] += 1 }
    possible.formUnion(handedOut)
    certain.formUnion(names)
    handedOut.removeAll()
  }

  /// The coordinator has exited by itself, and no customer was lost with it.
  mutating func leave() { handedOut.removeAll() }

  /// Removes a customer whose attempt is recorded as lost. Returns the maximum number of coordinators that lost it, or
  /// nil if it cannot have been lost.
  mutating func takeUnrecorded(_ name: TicketName) -> Int? {
    certain.remove(name)
    return possible.remove(name) == nil ? nil : counts[name]
  }

  func isOwed(_ name: TicketName) -> Bool { certain.contains(name) }
  func isSuspect(_ name: TicketName) -> Bool { (counts[name] ?? 0) >= CoordinatorFall.spared }
  mutating func forget(_ name: TicketName) { certain.remove(name) }
  mutating func forgetCertain() { certain.removeAll() }
}

extension PromiseChecker {
  /// Records the customers that a killed coordinator had in flight.
  func noteFalls() {
    let certain = holders.compactMap { holder in
      let name = TicketName(day: view.day, ticket: holder.lease.ticket)
      guard holder.window.service.isForCommands, diskBooks?.day == view.day,
        let tree = commands.last(of: name), tree.attempt == holder.lease.attempt,
        tree.begunAt >= coordinatorBegan
      else { return nil as TicketName? }
      return name
    }
    falls.fall(certainly: certain)
  }

  /// The power has failed: no customer is to blame, and the records are lost too.
  func forgetFalls() { falls = FallLedger() }

  /// Checks and records the assignment of a customer to a window for commands or concurrent workers.
  func checkFall(of customer: Customer, at window: Window) {
    guard window.service.isForCommands || window.service.isForForeigners else { return }
    let name = TicketName(day: view.day, ticket: customer.ticket)
    if falls.isOwed(name) {
      violate(.attempt, "ticket \(customer.ticket) is assigned, but its previous attempt is not recorded")
    }
    falls.handOut(name)
  }

  /// A customer lost with a coordinator returns to its line. The loss may then count as a crash.
  func judgeFall(of customer: Customer) {
    guard let most = step.fallen.removeValue(forKey: customer.ticket),
      var known = view.customers[customer.ticket], customer.crashes != known.crashes
    else { return }
    let latest = max(known.crashes + 1, Int32(clamping: most - CoordinatorFall.spared))
    if most <= CoordinatorFall.spared || !(known.crashes...latest).contains(customer.crashes) {
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
  func putsOffASuspect(_ customer: Customer) -> Bool {
    let ticket = customer.ticket
    guard !step.afloat.contains(ticket), falls.isSuspect(TicketName(day: view.day, ticket: ticket)) else {
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

/// Memory of a `HandTable` that outlives every coordinator.
final class HandMemory {
  private let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: HandTable.wordCount)
  private init() { words.initialize(repeating: 0) }
  deinit { words.deallocate() }

  static func table() -> HandTable {
    let memory = HandMemory()
    return HandTable(memory.words, boot: [1], owner: memory)
  }
}
