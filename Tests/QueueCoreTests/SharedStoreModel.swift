// A model of the database that several branches share, as plain dictionaries, with every guarantee to which
// it can hold a branch: which branch has a customer, in which epoch, and which one has finished it. It
// answers each request at once; the world around it decides when a branch gets the answer. Each kind of bug
// of such a database can be switched on, so that the tests can be tested.

import BankModel
import QueueCore
import Time

/// Defects of a shared database.
enum ModelBug: CaseIterable {
  /// A completion in an old epoch takes effect.
  case completesWithoutEpoch
  /// Two branches can have one page.
  case claimsOverlap
  /// A returned customer is returned twice.
  case rescuesTwice
  /// A transaction that is sent again takes effect again.
  case repeatsTransaction
  /// A returned customer is in no line.
  case losesReturned
  /// A claim is granted after the end of its epoch.
  case claimsWithoutEpoch
  /// Work for a customer that was finished elsewhere is reported as done.
  case hidesRejectedCompletions
}

final class SharedStoreModel {
  struct Owner: Hashable {
    var branch: Int
    var epoch: Int64
  }

  struct Entry {
    var customer: Customer
    var state: CustomerState
    var owner: Owner?
  }

  var entries: [TicketNumber: Entry] = [:]
  var receipts: [TicketNumber: (receipt: Receipt, by: Owner)] = [:]
  var attempts = 0
  private(set) var epochs: [Int64]
  private(set) var faults: [String] = []
  private(set) var issued: TicketNumber = 0
  let bug: ModelBug?
  private var chance: SeededGenerator

  init(branches: Int, seed: UInt64, bug: ModelBug? = nil) {
    epochs = Array(repeating: 1, count: branches)
    chance = SeededGenerator(seed: seed)
    self.bug = bug
  }

  func fault(_ words: String) { faults.append(words) }
  private func isTriggered(_ bug: ModelBug) -> Bool { self.bug == bug && chance.draw(0...3) == 0 }
  private func isPresent(_ owner: Owner) -> Bool { epochs[owner.branch] == owner.epoch }

  func enqueueCustomers(_ orders: [CustomerOrder], at now: WallTime) {
    for order in orders {
      issued += 1
      entries[issued] = Entry(
        customer: order.customer(ticket: issued, issuedAt: now), state: .waiting, owner: nil)
    }
  }

  /// Lines with waiting customers that no branch has claimed.
  var unclaimed: Set<Line> {
    Set(entries.values.filter { $0.state == .waiting && $0.owner == nil }.map(\.customer.line))
  }

  func claim(_ line: Line, limit: Int, for owner: Owner) -> [Customer] {
    guard isPresent(owner) || bug == .claimsWithoutEpoch else { return [] }
    let overlaps = isTriggered(.claimsOverlap)
    let page = entries.values
      .filter {
        $0.state == .waiting && $0.customer.line == line && ($0.owner == nil || overlaps && $0.owner != owner)
      }
      .map(\.customer).sorted { $0.ticket < $1.ticket }.prefix(limit)
    for customer in page { entries[customer.ticket]?.owner = owner }
    return Array(page)
  }

  /// - Returns: Customers who were finished by another branch before.
  func commit(_ changes: [StoreChange], by owner: Owner) -> [TicketNumber] {
    guard isPresent(owner) || bug == .completesWithoutEpoch else { return changes.finished }
    var rejectedCompletions: [TicketNumber] = []
    for change in changes { apply(change, by: owner, &rejectedCompletions) }
    if isTriggered(.repeatsTransaction) {
      var again: [TicketNumber] = []
      for change in changes.finishes { repeatFinish(change, by: owner, &again) }
    }
    return bug == .hidesRejectedCompletions ? [] : rejectedCompletions
  }

  private func repeatFinish(_ receipt: Receipt, by owner: Owner, _ rejectedCompletions: inout [TicketNumber])
  {
    fault("ticket \(receipt.ticket) took effect twice")
  }

  private func apply(_ change: StoreChange, by owner: Owner, _ rejectedCompletions: inout [TicketNumber]) {
    switch change {
    case .finish(let customer, _, let receipt):
      guard let entry = entries[customer.ticket] else { return rejectedCompletions.append(customer.ticket) }
      if entry.owner != owner {
        fault(
          "ticket \(customer.ticket) is finished by \(owner), and \(String(describing: entry.owner)) has it")
      }
      entries[customer.ticket] = nil
      if receipts[customer.ticket] != nil { fault("ticket \(customer.ticket) has two receipts") }
      receipts[customer.ticket] = (receipt, owner)
    case .update(let customer): alter(customer, by: owner) { $0.customer = customer }
    case .postpone(let customer, _):
      alter(customer, by: owner) { ($0.customer, $0.state, $0.owner) = (customer, .delayed, nil) }
    case .bury(let customer):
      alter(customer, by: owner) { ($0.customer, $0.state, $0.owner) = (customer, .dead, nil) }
    case .record: attempts += 1
    default: fault("a branch does not stage \(change)")
    }
  }

  private func alter(_ customer: Customer, by owner: Owner, _ body: (inout Entry) -> Void) {
    // A customer taken out by another branch is gone.
    guard var entry = entries[customer.ticket] else { return }
    if entry.owner != owner {
      fault("ticket \(customer.ticket) is changed by \(owner), which has not claimed it")
    }
    body(&entry)
    entries[customer.ticket] = entry
  }

  /// Delayed customers who are due wait again.
  func callDelayed() {
    for (ticket, entry) in entries where entry.state == .delayed {
      entries[ticket]?.state = .waiting
      if entry.owner != nil { fault("ticket \(ticket) is delayed and claimed") }
    }
  }

  func requeueDead() {
    for (ticket, entry) in entries where entry.state == .dead {
      entries[ticket]?.state = .waiting
      entries[ticket]?.customer.crashes = 0
      entries[ticket]?.customer.failures = 0
      if entry.owner != nil { fault("ticket \(ticket) is a dead letter and claimed") }
    }
  }

  func cancel(_ ticket: TicketNumber, by owner: Owner) -> QueueAnswer {
    guard isPresent(owner) else { return .refused(.leaseLost) }
    guard let entry = entries[ticket] else {
      return .refused(receipts[ticket] == nil ? .noSuchTicket(ticket) : .wrongState(ticket, .done))
    }
    entries[ticket] = nil
    let receipt = Receipt(
      day: 1, ticket: ticket, service: entry.customer.service, priority: entry.customer.priority,
      outcome: .cancelled, window: nil, generation: 0, pid: 0, attempts: entry.customer.attempts,
      amount: 0, account: 0, issuedAt: entry.customer.issuedAt, startedAt: nil,
      finishedAt: entry.customer.issuedAt)
    receipts[ticket] = (receipt, owner)
    return .done
  }

  /// The epoch of a branch has ended: its customers are unclaimed.
  func end(_ branch: Int) {
    let owner = Owner(branch: branch, epoch: epochs[branch])
    epochs[branch] += 1
    for (ticket, entry) in entries where entry.owner == owner {
      entries[ticket]?.owner = nil
      if isTriggered(.losesReturned) { entries[ticket]?.owner = Owner(branch: -1, epoch: 0) }
    }
    if isTriggered(.rescuesTwice),
      let ticket = entries.first(where: { $0.value.owner?.branch != branch })?.key
    {
      entries[ticket]?.owner = nil
    }
  }
}

extension [StoreChange] {
  var finishes: [Receipt] {
    compactMap { if case .finish(_, _, let receipt) = $0 { receipt } else { nil } }
  }
  var finished: [TicketNumber] { finishes.map(\.ticket) }
}
