// Checks of all promises of a bank of several branches. Their state is the holder and epoch of each customer,
// the receipts, and the requests and answers of clients. Follows the effects in the database and the answers,
// and asks no component for what it can find out itself.
// Invariant: it changes nothing. The first broken promise is the outcome of the history.

#if HAS_POSTGRES
  import BankModel
  import Time

  final class BranchChecker {
    /// A customer as far as it can be observed.
    struct Person {
      var line: Int64
      var account: AccountNumber
      /// As in the database: 1 waiting, 2 delayed, 3 dead.
      var state: Int64
      var holder: BranchOwner?
      /// Due time by the database's calendar; no branch may call the customer before.
      var due: Int64?
      var wasClaimed = false
    }

    /// The customers that a client has requested with one account.
    struct Expected {
      var group: Int
      var service: Service?
      var priority: Priority
      var amount: Won?
      /// Number of customers with this account.
      var count: Int64 = 1
      /// Requested delay in milliseconds; nil for none.
      var delay: Int64?
    }

    unowned let world: BranchSimulation
    private(set) var people: [TicketNumber: Person] = [:]
    /// The branch and epoch that has written each receipt.
    private(set) var finished: [TicketNumber: BranchOwner] = [:]
    private(set) var cancelledTickets: Set<TicketNumber> = []
    private(set) var issuedLast: TicketNumber = 0
    /// Cancelled customers for whom a stock may hold something.
    private var owed: Set<TicketNumber> = []
    private(set) var dayEndedAt: MonotonicTime?
    var dayHasEnded: Bool { dayEndedAt != nil }
    private var epochs: [Int64: Int64] = [:]
    /// End of each epoch's lease, by the database's clock.
    private var leases: [BranchOwner: MonotonicTime] = [:]
    private var everHeld: Set<Held> = []
    private var keys: [String: ClosedRange<TicketNumber>] = [:]
    private var expected: [AccountNumber: Expected] = [:]
    private var ticketsOf: [AccountNumber: [TicketNumber]] = [:]
    private var accountOf: [TicketNumber: AccountNumber] = [:]
    private var fronts: [Int64: TicketNumber] = [:]
    private var lastAccount: AccountNumber = 0
    private var lastGroup = 0
    /// Tickets that clients have received, by group.
    private var told: [Int: ClosedRange<TicketNumber>] = [:]

    private struct Held: Hashable {
      var owner: BranchOwner
      var ticket: TicketNumber
    }

    init(_ world: BranchSimulation) { self.world = world }

    private func violate(_ kind: Violation.Kind, _ words: @autoclosure () -> String) {
      world.violate(kind, words())
    }
    private func isPresent(_ owner: BranchOwner) -> Bool { epochs[owner.branch] == owner.epoch }

    // MARK: - Requests

    /// Reserves unused accounts for one request.
    func newAccounts(_ count: Int64) -> (group: Int, first: AccountNumber) {
      lastGroup += 1
      defer { lastAccount += count }
      return (lastGroup, lastAccount + 1)
    }

    func expect(_ account: AccountNumber, _ one: Expected) { expected[account] = one }

    // MARK: - Epochs

    func joined(_ owner: BranchOwner, until end: MonotonicTime) {
      if let present = epochs[owner.branch], owner.epoch <= present {
        violate(.fence, "\(owner) begins, and there was epoch \(present) before")
      }
      epochs[owner.branch] = owner.epoch
      leases[owner] = end
      world.statistics.joins += 1
    }

    func renewed(_ owner: BranchOwner, until end: MonotonicTime) {
      guard isPresent(owner) else { return violate(.fence, "\(owner) has ended, and its lease is renewed") }
      leases[owner] = end
    }

    func fenced(_ owner: BranchOwner) {
      if let end = leases[owner], end > world.clock.now {
        violate(
          .lease,
          "\(owner) is fenced, and its lease goes on for \(end.since(world.clock.now).milliseconds) ms")
      }
      epochs[owner.branch] = owner.epoch + 1
    }

    func left(_ owner: BranchOwner) {
      guard isPresent(owner) else { return violate(.fence, "\(owner) has ended, and leaves") }
      epochs[owner.branch] = owner.epoch + 1
    }

    /// True if a branch may assign customers at a time, in any of its epochs.
    func mayHandOut(_ branch: Int64, at moment: MonotonicTime) -> Bool {
      leases.contains { $0.key.branch == branch && moment < $0.value }
    }

    func returned(_ tickets: [TicketNumber], of owner: BranchOwner) {
      for ticket in tickets {
        guard let holder = people[ticket]?.holder else {
          violate(.claim, "ticket \(ticket) of \(owner) is given back, and nobody has it")
          continue
        }
        if holder != owner {
          violate(.claim, "ticket \(ticket) is given back of \(owner), and \(holder) has it")
        }
        people[ticket]?.holder = nil
      }
    }

    /// A branch's earlier epochs must have no claims any more.
    func gaveBack(of branch: Int64, before epoch: Int64) {
      for (ticket, person) in people {
        guard let holder = person.holder, holder.branch == branch, holder.epoch < epoch else { continue }
        violate(.lostTicket, "ticket \(ticket) is still in the hands of \(holder), which has ended")
      }
    }

    // MARK: - Tickets

    func gives(_ tickets: ClosedRange<TicketNumber>, key: String?, isDraining: Bool) {
      if isDraining { violate(.overfull, "tickets \(tickets) are given while the bank drains") }
      if dayHasEnded { violate(.overfull, "tickets \(tickets) are given when the day has ended") }
      if tickets.lowerBound != issuedLast + 1 {
        violate(.series, "tickets \(tickets) are given behind ticket \(issuedLast)")
      }
      issuedLast = max(issuedLast, tickets.upperBound)
      guard let key else { return }
      if let before = keys[key] {
        violate(.repeatedKey, "key \(key) stands for tickets \(before), and gets \(tickets)")
      }
      keys[key] = tickets
    }

    func issued(_ row: BooksServer.Row, by owner: BranchOwner?) {
      if let owner, !isPresent(owner) { violate(.fence, "\(owner) has ended, and gets ticket \(row.ticket)") }
      if people[row.ticket] != nil || finished[row.ticket] != nil {
        violate(.duplicate, "ticket \(row.ticket) is given twice")
      }
      ticketsOf[row.account, default: []].append(row.ticket)
      accountOf[row.ticket] = row.account
      if Int64(ticketsOf[row.account]?.count ?? 0) > expected[row.account]?.count ?? 1 {
        violate(
          .duplicate, "for account \(row.account) too many tickets are given: \(ticketsOf[row.account] ?? [])"
        )
      }
      let line = world.books.lane(row.lane)
      if let wanted = expected[row.account] {
        if wanted.service.map({ $0 != line?.service }) ?? false || wanted.priority != line?.priority
          || wanted.amount.map({ $0 != row.amount }) ?? false
        {
          violate(.ledger, "ticket \(row.ticket) is not what was asked for by account \(row.account)")
        }
      } else {
        violate(.ledger, "ticket \(row.ticket) has account \(row.account), which nobody has asked for")
      }
      if row.state == 2, let due = row.due, due - world.books.nowMilliseconds > 120_000 {
        violate(
          .early, "ticket \(row.ticket) is to wait for \((due - world.books.nowMilliseconds) / 1_000) s")
      }
      people[row.ticket] = Person(line: row.lane, account: row.account, state: row.state, due: row.due)
    }

    // MARK: - Claims

    func claimed(_ tickets: [TicketNumber], by owner: BranchOwner, isNext: Bool) {
      if !tickets.isEmpty, !isPresent(owner) {
        violate(.fence, "\(owner) has ended, and claims ticket \(tickets[0])")
      }
      for ticket in tickets {
        guard let person = people[ticket] else {
          violate(.claim, "ticket \(ticket) is claimed by \(owner), and is no customer's who waits")
          continue
        }
        if let holder = person.holder {
          violate(.claim, "ticket \(ticket) is claimed by \(owner), and \(holder) has it")
        }
        if person.state != 1 { violate(.claim, "ticket \(ticket) is claimed in state \(person.state)") }
        if let own = world.books.owner(of: person.line), own != owner.branch {
          violate(.claim, "ticket \(ticket) wants the juice of branch \(own), and \(owner) claims it")
        }
        people[ticket]?.holder = owner
        people[ticket]?.wasClaimed = true
        everHeld.insert(Held(owner: owner, ticket: ticket))
      }
      guard isNext, let last = tickets.last, let line = people[last]?.line else { return }
      let front = fronts[line] ?? 0
      if let first = tickets.first, first <= front {
        violate(
          .claim, "a page of \(owner) begins with ticket \(first), and the one before ended with \(front)")
      }
      let page = Set(tickets)
      for (ticket, person) in people
      where person.line == line && person.state == 1 && ticket > front && ticket < last
        && !page.contains(ticket)
      {
        violate(.order, "ticket \(ticket) waits, and \(owner) claims ticket \(last)")
      }
      fronts[line] = max(front, last)
    }

    func cameBack(_ ticket: TicketNumber, from state: Int64, by owner: BranchOwner, at wall: Int64) {
      guard let person = people[ticket] else {
        return violate(.claim, "ticket \(ticket) comes back, and is nobody's")
      }
      if person.state != state || state == 1 {
        violate(.claim, "ticket \(ticket) is called in state \(person.state)")
      }
      if state == 2, let due = person.due, due > wall {
        violate(.early, "ticket \(ticket) is called \(due - wall) ms too early")
      }
      if let holder = person.holder { violate(.claim, "ticket \(ticket) is called, and \(holder) has it") }
      people[ticket]?.state = 1
      people[ticket]?.due = nil
    }

    // MARK: - Effects of a branch

    /// A transaction has reached the database.
    func hasSent(_ owner: BranchOwner, isPresent: Bool) { if !isPresent { world.statistics.ofZombies += 1 } }

    func repeated(_ owner: BranchOwner, _ number: Int64) {
      violate(.repeatedTurn, "transaction \(number) of \(owner) comes again, and is in the books")
    }

    func wantsToFinish(_ ticket: TicketNumber, by owner: BranchOwner) {
      guard !everHeld.contains(Held(owner: owner, ticket: ticket)) else { return }
      violate(.fence, "ticket \(ticket) is finished by \(owner), which has never had it")
    }

    func finished(_ row: BooksServer.Row, by owner: BranchOwner, outcome: Int64, attempts: Int64) {
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, and finishes ticket \(row.ticket)") }
      if let before = finished[row.ticket] {
        violate(.duplicate, "ticket \(row.ticket) has two receipts, one of \(before)")
      }
      if outcome == 2, world.books.owner(of: row.lane) != nil { owed.insert(row.ticket) }
      guard let person = people.removeValue(forKey: row.ticket) else {
        return violate(.duplicate, "ticket \(row.ticket) is finished, and is nobody's")
      }
      if person.holder != owner {
        violate(
          .fence,
          "ticket \(row.ticket) is finished by \(owner), and \(person.holder.map { "\($0)" } ?? "nobody") has it"
        )
      }
      if person.account != row.account {
        violate(.ledger, "the receipt of ticket \(row.ticket) is of another customer")
      }
      finished[row.ticket] = owner
      if outcome == 2 { cancelledTickets.insert(row.ticket) }
      world.statistics.receipts += 1
    }

    func changed(_ ticket: TicketNumber, by owner: BranchOwner, to state: Int64, attempts: Int64, due: Int64?)
    {
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, and changes ticket \(ticket)") }
      guard let person = people[ticket] else {
        return violate(.claim, "ticket \(ticket) is changed, and is nobody's")
      }
      if person.holder != owner {
        violate(
          .fence,
          "ticket \(ticket) is changed by \(owner), and \(person.holder.map { "\($0)" } ?? "nobody") has it")
      }
      people[ticket]?.state = state
      guard state != 1 else { return }
      people[ticket]?.holder = nil
      people[ticket]?.due = due
      if state == 2, let due, abs(due - world.books.nowMilliseconds) > 120_000 {
        violate(.early, "ticket \(ticket) is put off for \((due - world.books.nowMilliseconds) / 1_000) s")
      }
    }

    func cancelled(_ ticket: TicketNumber, by owner: BranchOwner) {
      if let person = people[ticket], world.books.owner(of: person.line) != nil { owed.insert(ticket) }
      if !isPresent(owner) { violate(.fence, "\(owner) has ended, and takes out ticket \(ticket)") }
      if people.removeValue(forKey: ticket) == nil {
        violate(.duplicate, "ticket \(ticket) is taken out, and is nobody's")
      }
      finished[ticket] = owner
      cancelledTickets.insert(ticket)
      world.statistics.receipts += 1
    }

    func dayEnds() {
      if let left = people.keys.min() { violate(.lostTicket, "the day ends, and ticket \(left) is left") }
      dayEndedAt = world.clock.now
    }

    // MARK: - Answers

    func clientHeard(first: TicketNumber, last: TicketNumber, group: Int, isList: Bool) {
      guard first > 0, first <= last else { return }
      guard last <= issuedLast else {
        return violate(
          .notDurable, "tickets \(first) to \(last) are spoken, and the books have given \(issuedLast)")
      }
      if let before = told[group], before != first...last, !isList {
        violate(.repeatedKey, "tickets \(before) were spoken, and for the same request \(first) to \(last)")
      }
      told[group] = first...last
      for ticket in first...last where !isList {
        if let account = accountOf[ticket], expected[account]?.group != group {
          violate(.notDurable, "ticket \(ticket) is spoken to somebody who has not asked for it")
        }
      }
    }

    func clientHeardOfCancelling(_ ticket: TicketNumber) {
      guard !cancelledTickets.contains(ticket) else { return }
      violate(.notDurable, "ticket \(ticket) is said to be taken out, and has no such receipt")
    }

    func acknowledged(_ ticket: TicketNumber, by branch: Int64) {
      guard finished[ticket] == nil else { return }
      violate(.notDurable, "the end of ticket \(ticket) is acknowledged, and it has no receipt")
    }

    /// A branch was notified that it has finished these customers.
    func settled(_ tickets: [TicketNumber], by branch: Int64) {
      for ticket in tickets where finished[ticket]?.branch != branch || cancelledTickets.contains(ticket) {
        violate(
          .notDurable,
          "ticket \(ticket) is told to be finished by branch \(branch), and its receipt is of \(finished[ticket].map { "\($0)" } ?? "nobody")"
        )
      }
    }

    // MARK: - The end

    /// True if no customer is left but those whose juice only a lost branch could make.
    var isFinished: Bool { people.allSatisfy { world.isLost(world.books.owner(of: $0.value.line)) } }
    var deadCount: Int { people.values.count { $0.state == 3 } }

    func leftovers() -> String {
      let some = people.sorted { $0.key < $1.key }.prefix(3).map { ticket, person in
        "ticket \(ticket) in state \(person.state) in the hands of \(person.holder.map { "\($0)" } ?? "nobody")"
      }
      return "\(people.count) are left: \(some.joined(separator: "; "))"
    }

    func checkEnd() {
      guard isFinished else { return violate(.notDrained, leftovers()) }
      if let words = world.books.miscounted() { violate(.books, words) }
      if Set(world.books.releases.keys) != owed {
        violate(.books, "owed for \(world.books.releases.keys.sorted()), and cancelled were \(owed.sorted())")
      }
      for ticket in 1...max(1, issuedLast)
      where issuedLast > 0 && finished[ticket] == nil && people[ticket] == nil {
        return violate(.lostTicket, "ticket \(ticket) has no receipt")
      }
    }
  }
#endif
