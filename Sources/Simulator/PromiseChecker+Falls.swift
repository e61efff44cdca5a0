// Owns what must be true of customers in the hands of commands and workers when a coordinator dies: the attempt is recorded before the
// customer is handed out again, and no attempt is recorded that no coordinator can have lost.
// Invariant: what is certain was seen by the command itself, which had begun, and not by the core.
import BankModel
import Coordinator
import QueueCore
import Time

/// Customers with whom a coordinator has died, as those know who see the commands.
struct FallLedger {
  /// Customers whom the present coordinator has handed out.
  private var handedOut: Set<TicketName> = []
  /// Customers who may have been in hand when a coordinator died, and with how many at most.
  private var counts: [TicketName: Int] = [:]
  private var possible: Set<TicketName> = []
  /// Customers who were in hand at a death for certain.
  private var certain: Set<TicketName> = []

  mutating func handOut(_ name: TicketName) { handedOut.insert(name) }

  mutating func fall(certainly names: [TicketName]) {
    for name in handedOut { counts[name, default: 0] += 1 }
    possible.formUnion(handedOut)
    certain.formUnion(names)
    handedOut.removeAll()
  }

  /// The coordinator has ended by itself, and no customer was lost with it.
  mutating func leave() { handedOut.removeAll() }

  /// An attempt is recorded as lost: with how many coordinators its customer may have been; nil if it cannot have been lost.
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
  /// The coordinator was killed.
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

  /// The power is gone, which is no customer's fault: what was noted is gone, too.
  func forgetFalls() { falls = FallLedger() }

  /// Follows a customer to a window.
  func checkFall(of customer: Customer, at window: Window) {
    guard window.service.isForCommands || window.service.isForForeigners else { return }
    let name = TicketName(day: view.day, ticket: customer.ticket)
    if falls.isOwed(name) {
      violate(.attempt, "ticket \(customer.ticket) is handed out, and the attempt before it is not recorded")
    }
    falls.handOut(name)
  }

  /// A customer who was lost with a coordinator stands in line again. It may count as a crash then.
  func judgeFall(of customer: Customer) {
    guard let most = step.fallen.removeValue(forKey: customer.ticket),
      var known = view.customers[customer.ticket], customer.crashes != known.crashes
    else { return }
    let latest = max(known.crashes + 1, Int32(clamping: most - CoordinatorFall.spared))
    if most <= CoordinatorFall.spared || !(known.crashes...latest).contains(customer.crashes) {
      violate(
        .attempt,
        "ticket \(customer.ticket) counts \(customer.crashes) crashes after \(known.crashes), and was in the hands of "
          + "\(most) coordinators at most")
    }
    known.crashes = customer.crashes
    view.customers[customer.ticket] = known
    if known.crashes >= policy[customer.service.index].maxCrashes {
      step.verdict.isDead[customer.ticket] = true
    }
  }

  /// Follows a suspect who is put off before it was handed out; false for any other.
  func putsOffASuspect(_ customer: Customer) -> Bool {
    let ticket = customer.ticket
    guard !step.afloat.contains(ticket), falls.isSuspect(TicketName(day: view.day, ticket: ticket)) else {
      return false
    }
    guard view.states[ticket] == .waiting, view.customers[ticket] == customer, view.leaveLine(customer) else {
      violate(.attempt, "ticket \(ticket) is put off, and does not wait")
      return true
    }
    view.states[ticket] = .delayed
    return true
  }
}

/// The words of a table of hands, which outlive every coordinator.
final class HandMemory {
  private let words = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: HandTable.wordCount)
  private init() { words.initialize(repeating: 0) }
  deinit { words.deallocate() }

  static func table() -> HandTable {
    let memory = HandMemory()
    return HandTable(memory.words, boot: [1], owner: memory)
  }
}
