// Checks of the promises of a bank of several branches; `BranchQueueObserver` checks those of a branch's queue. The
// checker stores the holder and epoch of each customer, the receipts, and the requests and answers of clients. It
// follows the effects in the database and the answers.

#if HAS_POSTGRES
  import BankModel
  import Time

  final class BranchChecker {
    /// What the effects in the database have shown of an unfinished customer.
    struct ObservedCustomer {
      var line: Int64
      var account: AccountNumber
      /// As in the database: 1 waiting, 2 delayed, 3 dead.
      var state: Int64
      var holder: BranchOwner?
      /// Due time by the database's calendar. No branch may return the customer to its lane before that time.
      var due: Int64?
      var wasClaimed = false
    }

    /// What a client has requested for one account, with which the checker compares the issued tickets.
    struct ExpectedCustomers {
      var group: Int
      var service: Service?
      var priority: Priority
      var amount: Won?
      var count: Int64 = 1
      /// Requested delay in milliseconds; nil for none.
      var delay: Int64?
    }

    unowned let world: BranchSimulation
    private(set) var customers: [TicketNumber: ObservedCustomer] = [:]
    /// The branch and epoch that wrote each receipt.
    private(set) var finished: [TicketNumber: BranchOwner] = [:]
    private(set) var cancelledTickets: Set<TicketNumber> = []
    private(set) var issuedLast: TicketNumber = 0
    /// Cancelled customers for whom a stock may have a reservation.
    private var owed: Set<TicketNumber> = []
    private(set) var dayEndedAt: MonotonicTime?
    var dayHasEnded: Bool { dayEndedAt != nil }
    private var epochs: [Int64: Int64] = [:]
    /// End of each epoch's lease, by the database's clock.
    private var leases: [BranchOwner: MonotonicTime] = [:]
    private var assignedEver: Set<HeldTicket> = []
    private var keys: [String: ClosedRange<TicketNumber>] = [:]
    private var expected: [AccountNumber: ExpectedCustomers] = [:]
    private var ticketsByAccount: [AccountNumber: [TicketNumber]] = [:]
    private var accountByTicket: [TicketNumber: AccountNumber] = [:]
    private var fronts: [Int64: TicketNumber] = [:]
    private var lastAccount: AccountNumber = 0
    private var lastGroup = 0
    /// Tickets that clients have received, by group.
    private var reportedTickets: [Int: ClosedRange<TicketNumber>] = [:]

    private struct HeldTicket: Hashable {
      var owner: BranchOwner
      var ticket: TicketNumber
    }

    init(_ world: BranchSimulation) { self.world = world }
    private func violate(_ kind: Violation.Kind, _ message: @autoclosure () -> String) {
      world.violate(kind, message())
    }
    /// True if this is the present epoch of the branch, as far as the checker has seen.
    private func isPresent(_ owner: BranchOwner) -> Bool { epochs[owner.branch] == owner.epoch }

    // MARK: - Requests

    /// Reserves unused accounts for one request. Returns the request's new group number and the first account.
    func newAccounts(_ count: Int64) -> (group: Int, first: AccountNumber) {
      lastGroup += 1
      defer { lastAccount += count }
      return (lastGroup, lastAccount + 1)
    }

    /// Records what a client has requested for an account, to check the tickets that are issued for it.
    func expect(_ account: AccountNumber, _ one: ExpectedCustomers) { expected[account] = one }

    // MARK: - Epochs

    /// Records that a branch has started an epoch with this lease. The epoch must be higher than its last one.
    func joined(_ owner: BranchOwner, until end: MonotonicTime) {
      if let present = epochs[owner.branch], owner.epoch <= present {
        violate(.fence, "\(owner) starts after epoch \(present)")
      }
      epochs[owner.branch] = owner.epoch
      leases[owner] = end
      world.statistics.joins += 1
    }

    /// Records the new end of a lease. Only the present epoch of a branch may renew one.
    func renewed(_ owner: BranchOwner, until end: MonotonicTime) {
      guard isPresent(owner) else { return violate(.fence, "\(owner) has ended, but its lease is renewed") }
      leases[owner] = end
    }

    /// Records that another branch has ended an epoch. Its lease must have run out.
    func fenced(_ owner: BranchOwner) {
      if let end = leases[owner], end > world.clock.now {
        violate(
          .lease,
          "\(owner) is fenced, but its lease still holds for \(end.since(world.clock.now).milliseconds) ms")
      }
      epochs[owner.branch] = owner.epoch + 1
    }

    /// Records that a branch has ended its own epoch.
    func left(_ owner: BranchOwner) {
      guard isPresent(owner) else { return violate(.fence, "\(owner) has ended, but leaves") }
      epochs[owner.branch] = owner.epoch + 1
    }

    /// True if the lease of any epoch of a branch is still valid at this time, so that it may assign customers.
    func mayAssign(_ branch: Int64, at moment: MonotonicTime) -> Bool {
      leases.contains { $0.key.branch == branch && moment < $0.value }
    }

    /// Records that customers are unclaimed again. The epoch that has ended must have held them.
    func returned(_ tickets: [TicketNumber], of owner: BranchOwner) {
      for ticket in tickets {
        guard let holder = customers[ticket]?.holder else {
          violate(.claim, "ticket \(ticket) of \(owner) is returned without a holder")
          continue
        }
        if holder != owner {
          violate(.claim, "ticket \(ticket) of \(owner) is returned, but \(holder) holds it")
        }
        customers[ticket]?.holder = nil
      }
    }

    /// Checks that no earlier epoch of a branch holds a customer any more.
    func claimsReturned(of branch: Int64, before epoch: Int64) {
      for (ticket, person) in customers {
        guard let holder = person.holder, holder.branch == branch, holder.epoch < epoch else { continue }
        violate(.lostTicket, "ticket \(ticket) is still held by \(holder), which has ended")
      }
    }

    // MARK: - Tickets

    func ticketsIssued(_ tickets: ClosedRange<TicketNumber>, key: String?, isDraining: Bool) {
      if isDraining { violate(.overLimit, "tickets \(tickets) are issued while the bank drains") }
      if dayHasEnded { violate(.overLimit, "tickets \(tickets) are issued after the end of the day") }
      if tickets.lowerBound != issuedLast + 1 {
        violate(.series, "tickets \(tickets) are issued after ticket \(issuedLast)")
      }
      issuedLast = max(issuedLast, tickets.upperBound)
      guard let key else { return }
      if let before = keys[key] {
        violate(.repeatedKey, "key \(key) refers to tickets \(before), but gets \(tickets)")
      }
      keys[key] = tickets
    }

    /// Checks a new customer against the request of its account, and records it.
    func issued(_ row: DatabaseServer.Row, by owner: BranchOwner?) {
      if let owner, !isPresent(owner) { violate(.fence, "\(owner) has ended, but gets ticket \(row.ticket)") }
      if customers[row.ticket] != nil || finished[row.ticket] != nil {
        violate(.duplicate, "ticket \(row.ticket) is issued twice")
      }
      ticketsByAccount[row.account, default: []].append(row.ticket)
      accountByTicket[row.ticket] = row.account
      if Int64(ticketsByAccount[row.account]?.count ?? 0) > expected[row.account]?.count ?? 1 {
        violate(
          .duplicate, "account \(row.account) got too many tickets: \(ticketsByAccount[row.account] ?? [])"
        )
      }
      let line = world.server.lane(row.lane)
      if let wanted = expected[row.account] {
        if wanted.service.map({ $0 != line?.service }) ?? false || wanted.priority != line?.priority
          || wanted.amount.map({ $0 != row.amount }) ?? false
        {
          violate(.ledger, "ticket \(row.ticket) does not match the request of account \(row.account)")
        }
      } else {
        violate(.ledger, "ticket \(row.ticket) has account \(row.account), which no client requested")
      }
      if row.state == 2, let due = row.due, due - world.server.nowMilliseconds > 120_000 {
        violate(
          .early,
          "ticket \(row.ticket) must wait for another \((due - world.server.nowMilliseconds) / 1_000) s")
      }
      customers[row.ticket] = ObservedCustomer(
        line: row.lane, account: row.account, state: row.state, due: row.due)
    }

    // MARK: - Claims

    /// Checks that claimed customers were unclaimed, and with `isNext`, that they are the next waiting ones of a lane.
    func claimed(_ tickets: [TicketNumber], by owner: BranchOwner, isNext: Bool) {
      if !tickets.isEmpty, !isPresent(owner) {
        violate(.fence, "\(owner) has ended, but claims ticket \(tickets[0])")
      }
      for ticket in tickets {
        guard let person = customers[ticket] else {
          violate(.claim, "ticket \(ticket) is claimed by \(owner), but is not waiting")
          continue
        }
        if let holder = person.holder {
          violate(.claim, "ticket \(ticket) is claimed by \(owner), but \(holder) holds it")
        }
        if person.state != 1 { violate(.claim, "ticket \(ticket) is claimed in state \(person.state)") }
        if let own = world.server.owner(of: person.line), own != owner.branch {
          violate(.claim, "ticket \(ticket) needs a juice of branch \(own), but \(owner) claims it")
        }
        customers[ticket]?.holder = owner
        customers[ticket]?.wasClaimed = true
        assignedEver.insert(HeldTicket(owner: owner, ticket: ticket))
      }
      guard isNext, let last = tickets.last, let line = customers[last]?.line else { return }
      let front = fronts[line] ?? 0
      if let first = tickets.first, first <= front {
        violate(
          .claim, "a page of \(owner) starts at ticket \(first), but the previous one ended at \(front)")
      }
      let page = Set(tickets)
      for (ticket, person) in customers
      where person.line == line && person.state == 1 && ticket > front && ticket < last
        && !page.contains(ticket)
      {
        violate(.order, "ticket \(ticket) waits, but \(owner) claims ticket \(last)")
      }
      fronts[line] = max(front, last)
    }

    /// Checks that a customer in state 2 (due by the calendar time `wall`) or 3 (dead) may wait in its lane again.
    func customerReturned(_ ticket: TicketNumber, from state: Int64, by owner: BranchOwner, at wall: Int64) {
      guard let person = customers[ticket] else {
        return violate(.claim, "ticket \(ticket) returns, but is unknown")
      }
      if person.state != state || state == 1 {
        violate(.claim, "ticket \(ticket) becomes due in state \(person.state)")
      }
      if state == 2, let due = person.due, due > wall {
        violate(.early, "ticket \(ticket) becomes due \(due - wall) ms too early")
      }
      if let holder = person.holder {
        violate(.claim, "ticket \(ticket) becomes due, but \(holder) holds it")
      }
      customers[ticket]?.state = 1
      customers[ticket]?.due = nil
    }

    // MARK: - Effects of a branch

    /// Counts a commit that reaches the database after its epoch has ended.
    func hasSent(_ owner: BranchOwner, isPresent: Bool) {
      if !isPresent { world.statistics.fencedTransactions += 1 }
    }

    /// Reports a violation: a branch has sent a commit again although it is stored.
    func repeated(_ owner: BranchOwner, _ number: Int64) {
      violate(.repeatedTransaction, "transaction \(number) of \(owner) is sent again after its commit")
    }

    /// Checks that a branch asks to finish only a customer that it has claimed in this epoch.
    func completionRequested(_ ticket: TicketNumber, by owner: BranchOwner) {
      guard !assignedEver.contains(HeldTicket(owner: owner, ticket: ticket)) else { return }
      violate(.fence, "ticket \(ticket) is finished by \(owner), which never held it")
    }

    /// Checks that the holder of a customer has written its only receipt, and removes the customer.
    func finished(_ row: DatabaseServer.Row, by owner: BranchOwner, outcome: Int64, attempts: Int64) {
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, but finishes ticket \(row.ticket)") }
      if let before = finished[row.ticket] {
        violate(.duplicate, "ticket \(row.ticket) has two receipts, one of \(before)")
      }
      if outcome == 2, world.server.owner(of: row.lane) != nil { owed.insert(row.ticket) }
      guard let person = customers.removeValue(forKey: row.ticket) else {
        return violate(.duplicate, "ticket \(row.ticket) is finished, but is unknown")
      }
      if person.holder != owner {
        violate(
          .fence,
          "ticket \(row.ticket) is finished by \(owner), but held by \(person.holder.map { "\($0)" } ?? "no branch")"
        )
      }
      if person.account != row.account {
        violate(.ledger, "the receipt of ticket \(row.ticket) belongs to another customer")
      }
      finished[row.ticket] = owner
      if outcome == 2 { cancelledTickets.insert(row.ticket) }
      world.statistics.receipts += 1
    }

    /// Checks that only the holder of a customer stores its attempts, defers it or makes it a dead letter.
    func changed(_ ticket: TicketNumber, by owner: BranchOwner, to state: Int64, attempts: Int64, due: Int64?)
    {
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, but changes ticket \(ticket)") }
      guard let person = customers[ticket] else {
        return violate(.claim, "ticket \(ticket) is changed, but is unknown")
      }
      if person.holder != owner {
        violate(
          .fence,
          "ticket \(ticket) is changed by \(owner), held by \(person.holder.map { "\($0)" } ?? "no branch")")
      }
      customers[ticket]?.state = state
      guard state != 1 else { return }
      customers[ticket]?.holder = nil
      customers[ticket]?.due = due
      if state == 2, let due, abs(due - world.server.nowMilliseconds) > 120_000 {
        violate(.early, "ticket \(ticket) is deferred by \((due - world.server.nowMilliseconds) / 1_000) s")
      }
    }

    func cancelled(_ ticket: TicketNumber, by owner: BranchOwner) {
      if let person = customers[ticket], world.server.owner(of: person.line) != nil { owed.insert(ticket) }
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, but cancels ticket \(ticket)") }
      if customers.removeValue(forKey: ticket) == nil {
        violate(.duplicate, "ticket \(ticket) is cancelled, but is unknown")
      }
      finished[ticket] = owner
      cancelledTickets.insert(ticket)
      world.statistics.receipts += 1
    }

    func dayEnds() {
      if let left = customers.keys.min() {
        violate(.lostTicket, "the day ends, but ticket \(left) is unfinished")
      }
      dayEndedAt = world.clock.now
    }

    // MARK: - Answers

    /// Checks tickets that a client has received: issued, and except for a list, its own and the same as before.
    func clientReceived(first: TicketNumber, last: TicketNumber, group: Int, isList: Bool) {
      guard first > 0, first <= last else { return }
      guard last <= issuedLast else {
        return violate(
          .notDurable, "tickets \(first) to \(last) are announced, but the database has issued \(issuedLast)")
      }
      if let before = reportedTickets[group], before != first...last, !isList {
        violate(
          .repeatedKey, "tickets \(before) were announced, but for the same request \(first) to \(last)")
      }
      reportedTickets[group] = first...last
      for ticket in first...last where !isList {
        if let account = accountByTicket[ticket], expected[account]?.group != group {
          violate(.notDurable, "ticket \(ticket) is announced to a client that did not request it")
        }
      }
    }

    func clientReceivedCancellation(_ ticket: TicketNumber) {
      guard !cancelledTickets.contains(ticket) else { return }
      violate(.notDurable, "ticket \(ticket) is reported as cancelled, but has no such receipt")
    }

    /// Checks that the end of a customer is acknowledged only after its receipt is in the database.
    func acknowledged(_ ticket: TicketNumber, by branch: Int64) {
      guard finished[ticket] == nil else { return }
      violate(.notDurable, "the end of ticket \(ticket) is acknowledged, but it has no receipt")
    }

    /// Checks that a branch that counts these customers as finished has written their receipts.
    func settled(_ tickets: [TicketNumber], by branch: Int64) {
      for ticket in tickets where finished[ticket]?.branch != branch || cancelledTickets.contains(ticket) {
        violate(
          .notDurable,
          "ticket \(ticket) is reported as finished by branch \(branch), but its receipt is of \(finished[ticket].map { "\($0)" } ?? "no branch")"
        )
      }
    }

    // MARK: - The end

    /// True if no customer is left but those whose juice only a lost branch could make.
    var isFinished: Bool { customers.allSatisfy { world.isLost(world.server.owner(of: $0.value.line)) } }
    var deadCount: Int { customers.values.count { $0.state == 3 } }

    /// Number of the unfinished customers, and some of them.
    func leftovers() -> String {
      let some = customers.sorted { $0.key < $1.key }.prefix(3).map { ticket, person in
        "ticket \(ticket) in state \(person.state) held by \(person.holder.map { "\($0)" } ?? "no branch")"
      }
      return "\(customers.count) are left: \(some.joined(separator: "; "))"
    }

    /// Checks at the end that all counts are right and each ticket has a receipt, except juices of a lost branch.
    func checkEnd() {
      guard isFinished else { return violate(.notDrained, leftovers()) }
      if let message = world.server.miscounted() { violate(.dayCounters, message) }
      if Set(world.server.releases.keys) != owed {
        violate(
          .dayCounters,
          "releases owed for \(world.server.releases.keys.sorted()), but cancelled \(owed.sorted())")
      }
      for ticket in 1...max(1, issuedLast)
      where issuedLast > 0 && finished[ticket] == nil && customers[ticket] == nil {
        return violate(.lostTicket, "ticket \(ticket) has no receipt")
      }
    }
  }
#endif
