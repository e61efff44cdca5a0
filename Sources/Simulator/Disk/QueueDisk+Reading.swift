// Queries to the queue's disk.
// Invariant: if there is a production store, both it and the model are queried, and must give the same answer.
// Exceptions concern customers of a request that has no tickets yet: the first of them, and keys while it is uncertain
// which of these customers were removed.
import BankModel
import QueueCore
import Storage
import Time

/// A store that answers queries by asking other stores.
protocol QueryingStore: LocalQueueStore {
  /// Runs a query on each store that can answer it, and compares the answers in the form that `comparable` gives them.
  /// `question` names the query if they differ.
  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any LocalQueueStore) throws(StoreError) -> Answer,
    comparable: (Answer) -> Answer
  ) throws(StoreError) -> Answer
}

extension QueryingStore {
  /// Runs a query on each store that can answer it; the answers must be equal. `question` names the query if they
  /// differ.
  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any LocalQueueStore) throws(StoreError) -> Answer
  ) throws(StoreError) -> Answer { try ask(question(), body, comparable: { $0 }) }

  /// The next waiting customers of a line after a ticket.
  func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try ask("a page of \(line)") { store throws(StoreError) in
      try store.page(of: line, after: after, limit: limit)
    }
  }

  /// The next delayed customers after a position, by due time.
  func delayed(after place: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] {
    try ask("the delayed after \(place)") { store throws(StoreError) in
      try store.delayed(after: place, limit: limit)
    }
  }

  /// The customer with this ticket, as long as it has no receipt.
  func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try ask("ticket \(ticket)") { store throws(StoreError) in try store.find(ticket) }
  }

  /// The next customers in a state, line by line.
  func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try ask("the \(state.name) customers") { store throws(StoreError) in
      try store.customers(in: state, after: cursor, limit: limit)
    }
  }

  func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    try ask("the payload of ticket \(ticket)") { store throws(StoreError) in try store.payload(of: ticket) }
  }

  /// Number of waiting or delayed customers in a range of tickets.
  func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try ask("the unfinished of \(tickets)") { store throws(StoreError) in try store.countUnfinished(tickets) }
  }

  func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try ask("the dead letters of \(tickets)") { store throws(StoreError) in try store.countDead(tickets) }
  }

  func countDead(of service: Service) throws(StoreError) -> Int64 {
    try ask("the dead letters of \(service)") { store throws(StoreError) in try store.countDead(of: service) }
  }

  func countCancelled(
    _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
  ) throws(StoreError) -> Int64 {
    try ask("the cancelled of \(tickets) on day \(day)") { store throws(StoreError) in
      try store.countCancelled(tickets, on: day)
    }
  }

  /// Number of receipts of a day with the outcome `out_of_stock`.
  func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 {
    try ask("the customers rejected on day \(day)") { store throws(StoreError) in
      try store.countOutOfStock(on: day)
    }
  }

  /// Number of waiting customers of a line between two tickets.
  func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    try ask("the customers of \(line) between \(first) and \(last)") { store throws(StoreError) in
      try store.countWaiting(in: line, after: first, below: last)
    }
  }

  /// The request that was stored under an idempotency key.
  func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    try ask("the key \(key)") { store throws(StoreError) in try store.request(forKey: key) }
  }

  /// The next receipts of a day, or of all days, in the order of their storage.
  func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt] {
    try ask("the receipts after \(sequence)") { store throws(StoreError) in
      try store.receipts(day: day, after: sequence, limit: limit)
    } comparable: {
      $0.map(\.comparable)
    }
  }

  /// The next receipts of a service.
  func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    try ask("the receipts of service \(service.number) after \(sequence)") { store throws(StoreError) in
      try store.receipts(of: service, after: sequence, through: last, limit: limit)
    } comparable: {
      $0.map(\.comparable)
    }
  }

  /// Cancelled tickets for which the stock may still have reservations.
  func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try ask("the reservations to be returned") { store throws(StoreError) in
      try store.unreleased(after: ticket, limit: limit)
    }
  }

  func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    try ask("the receipt of ticket \(ticket)") { store throws(StoreError) in
      try store.receipt(day: day, ticket: ticket)
    } comparable: {
      $0.map(\.comparable)
    }
  }

  /// The attempts at a ticket that ended without a receipt.
  func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] {
    try ask("the attempts at ticket \(ticket)") { store throws(StoreError) in
      try store.attempts(day: day, ticket: ticket)
    }
  }

  /// Sums of the ledger over all days.
  func trialBalance() throws(StoreError) -> TrialBalance {
    try ask("the trial balance") { store throws(StoreError) in try store.trialBalance() }
  }

  /// The sums of an account over all days, and its latest receipts.
  func statement(of account: AccountNumber, limit: Int) throws(StoreError) -> AccountStatement {
    try ask("the account \(account)") { store throws(StoreError) in
      try store.statement(of: account, limit: limit)
    }
  }

  /// What the audit of the store has found.
  func audit() throws(StoreError) -> StoreAudit {
    try ask("the audit") { store throws(StoreError) in try store.audit() }
  }
}

extension Receipt {
  /// The receipt with its shortages in a fixed order: the database returns them by name, the model in the order of
  /// arrival.
  fileprivate var comparable: Receipt {
    var receipt = self
    receipt.shortages.sort { $0.item < $1.item }
    return receipt
  }
}

extension QueueDisk: QueryingStore {
  /// Queries the production store and the model, and reports a difference of their answers.
  func ask<Answer: Equatable>(
    _ question: @autoclosure () -> String, _ body: (any LocalQueueStore) throws(StoreError) -> Answer,
    comparable: (Answer) -> Answer
  ) throws(StoreError) -> Answer {
    guard let store else { return try body(model) }
    let (found, expected) = (try body(store), try body(model))
    if comparable(found) != comparable(expected) {
      disagree("\(question()): the store has \(found), the model \(expected)")
    }
    return expected
  }

  var firstUnissuedTicket: TicketNumber? {
    store == nil ? model.firstUnissuedTicket : store?.firstUnissuedTicket
  }

  /// The request under a key. While it is uncertain which customers without tickets were removed, only the production
  /// store is asked.
  func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    if let store, isWithdrawalUncertain { return try store.request(forKey: key) }
    return try ask("the key \(key)") { store throws(StoreError) in try store.request(forKey: key) }
  }

  /// Audits what is committed. Opens the production store for this if no process has it open.
  func audit() throws(StoreError) -> StoreAudit {
    if volume != nil, store == nil { _ = try load(now: WallTime(milliseconds: 0)) }
    return try ask("the audit") { store throws(StoreError) in try store.audit() }
  }

  /// The contents of a store that are compared with those of another.
  private struct Contents: Equatable {
    var stored: StoredQueue
    var firstUnissuedTicket: TicketNumber?
    var customers: [[StoredCustomer]]
    /// Payloads, in the order of `customers`.
    var payloads: [[UInt8]?] = []
    var receipts: [Receipt]
    var unreleased: [TicketOfDay]
    var attempts: [[Attempt]]
    var requests: [KeyedRequest?]
  }

  /// Reads the contents to be compared from a store.
  private func contents(of store: any LocalQueueStore, _ stored: StoredQueue) throws(StoreError) -> Contents {
    var contents = Contents(
      stored: stored, firstUnissuedTicket: isWithdrawalUncertain ? nil : store.firstUnissuedTicket,
      customers: [],
      receipts: try store.allReceipts().map(\.comparable),
      unreleased: try store.unreleased(after: nil, limit: .max), attempts: [], requests: [])
    for state in [CustomerState.waiting, .delayed, .dead] {
      contents.customers.append(try store.customers(in: state, after: nil, limit: .max))
    }
    for found in contents.customers.joined() {
      contents.payloads.append(try store.payload(of: found.customer.ticket))
    }
    for name in attempted.sorted(by: { ($0.day, $0.ticket) < ($1.day, $1.ticket) }) {
      contents.attempts.append(try store.attempts(day: name.day, ticket: name.ticket))
    }
    for key in keys.sorted() where !isWithdrawalUncertain {
      contents.requests.append(try store.request(forKey: key))
    }
    return contents
  }

  /// Compares a newly opened production store with the model. A commit in flight was either stored or lost.
  func reconcile(_ stored: StoredQueue, of store: SQLiteStore) throws(StoreError) {
    // When this function returns, the outcome of the commit in flight is known.
    defer { doubt = nil }
    let now = stored.dayCounters.openedAt
    if let doubt { for change in doubt.changes { remember(change) } }
    let found = try contents(of: store, stored)
    if try found == contents(of: model, model.load(now: now)) {
      noteWithdrawalInDoubt(doubt?.changes ?? [])
      return try followWithdrawal(of: store, stored.dayCounters)
    }
    guard let doubt else { return disagree("the committed state differs from the state at the start") }
    do throws(StoreError) {
      for change in doubt.changes {
        switch change {
        case .change(let change): try model.stage(change)
        case .withdrawal(let limit): try model.removeUnissuedCustomers(limit: limit)
        }
      }
      try model.commit(doubt.dayCounters, arriving: doubt.arriving)
    } catch {
      return disagree("the state at the start is impossible: \(error)")
    }
    // The store may have removed the last customers without tickets already, but still has to check that none is left.
    mustWithdraw =
      model.firstUnissuedTicket == nil && store.firstUnissuedTicket != nil && withdraws(doubt.changes)
    if try contents(of: store, stored) != contents(of: model, model.load(now: now)) {
      disagree(
        "the state at the start is neither the one before the last commit nor the one after it")
    }
    try followWithdrawal(of: store, stored.dayCounters)
  }

  /// True if the changes remove customers of a request without tickets.
  func withdraws(_ changes: [Change]) -> Bool {
    changes.contains { if case .withdrawal = $0 { true } else { false } }
  }

  /// Stores the ticket or key of a change that later comparisons have to query.
  private func remember(_ change: Change) {
    switch change {
    case .change(.record(let attempt)):
      attempted.insert(TicketOfDay(day: attempt.day, ticket: attempt.ticket))
    case .change(.remember(let key, _, _, _, _)): keys.insert(key)
    default: break
    }
  }

  /// Queries the customers, attempts and keys that a commit has changed, which compares both stores.
  func check(_ changes: [Change]) throws(StoreError) {
    for change in changes {
      remember(change)
      guard case .change(let change) = change else { continue }
      switch change {
      case .insert(let customer), .insertDelayed(let customer, _), .update(let customer),
        .postpone(let customer, _), .bury(let customer),
        .revive(let customer, _):
        _ = try find(customer.ticket)
      case .record(let attempt): _ = try attempts(day: attempt.day, ticket: attempt.ticket)
      case .remember(let key, _, _, _, _): _ = try request(forKey: key)
      case .attach(_, let tickets): _ = try payload(of: tickets.lowerBound)
      case .finish(let customer, _, _): _ = try payload(of: customer.ticket)
      case .cancelAllCustomers, .released: break
      }
    }
  }
}
