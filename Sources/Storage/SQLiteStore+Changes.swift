// Owns how each change becomes rows. It knows no books and no transaction. Invariant: a change that would break a
// promise (a second receipt, a customer who is not where the change says) throws `.damaged`, naming ticket and day,
// and never passes in silence. New customers and receipts are gathered first; see SQLiteStore+Gathering.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Writes one change into the open transaction.
  func write(_ change: StoreChange) throws(StoreError) {
    if change.meetsCustomers { try finishSweep() }
    switch change {
    case .insert(let customer): return try gather(customer)
    case .finish, .remember: break
    default: try writeGathered()
    }
    switch change {
    case .insert: break
    case .finish(let customer, let state, let receipt): try finish(customer, from: state, receipt)
    case .update(let customer): try update(customer)
    case .postpone(let customer, let due): try move(customer, from: .waiting, to: .delayed, dueAt: due)
    case .bury(let customer):
      try move(customer, from: .waiting, to: .dead, dueAt: nil)
      try noteBurial(of: customer)
    case .revive(let customer, let state): try move(customer, from: state, to: .waiting, dueAt: nil)
    case .record(let attempt): try record(attempt)
    case .remember(let key, let day, let first, let last, let request):
      try remember(
        key, KeyedRequest(tickets: IssuedTickets(day: day, first: first, last: last), request: request))
    case .cancelEveryone(let day, let moment):
      sweep = QueueSweep(day: day, at: moment, total: saved?.kept ?? 0)
      stagedDay = day + 1
    case .released(let ticket): try note(released: ticket)
    }
  }

  private func finish(
    _ customer: Customer, from state: CustomerState, _ receipt: Receipt
  ) throws(StoreError) {
    try writeCustomers()
    let statement = statements.deleteCustomer
    statement.bind(1, CustomerPosition(state, customer.line, customer.ticket).key)
    try statement.run()
    try requireOneChange(customer, in: state)
    try insert(receipt)
  }

  private func insert(_ receipt: Receipt) throws(StoreError) {
    try gather(receipt)
    for shortage in receipt.shortages { try insert(shortage, of: receipt) }
    if receipt.outcome == .cancelled, receipt.service.drawsOnStock {
      statements.insertRelease.bind(1, receipt.day)
      statements.insertRelease.bind(2, receipt.ticket)
      try statements.insertRelease.run(
        broken: Remark(.cancelledBefore, receipt.ticket, receipt.day))
    }
    guard receipt.day == saved?.day else { return }
    if receipt.outcome.isAttended { staged.served += 1 } else { staged.cancelled += 1 }
  }

  private func insert(_ shortage: Shortage, of receipt: Receipt) throws(StoreError) {
    let statement = statements.insertShortage
    statement.bind(1, receipt.day)
    statement.bind(2, receipt.ticket)
    try statement.bind(3, text: shortage.item.name)
    statement.bind(4, shortage.needed)
    statement.bind(5, shortage.available)
    try statement.run(
      broken: Remark(.shortTwice, receipt.ticket, receipt.day, shortage.item))
  }

  private func note(released ticket: TicketOfDay) throws(StoreError) {
    statements.deleteRelease.bind(1, ticket.day)
    statements.deleteRelease.bind(2, ticket.ticket)
    try statements.deleteRelease.run()
    if database.changes == 1 { return }
    throw .damaged(
      path: database.path,
      detail: Remark(.releaseUnknown, ticket.ticket, ticket.day))
  }

  private func update(_ customer: Customer) throws(StoreError) {
    let statement = statements.updateCustomer
    statement.bind(1, CustomerPosition(.waiting, customer.line, customer.ticket).key)
    bindCounters(of: customer, to: statement)
    try statement.run()
    try requireOneChange(customer, in: .waiting)
  }

  private func move(
    _ customer: Customer, from: CustomerState, to: CustomerState, dueAt: WallTime?
  ) throws(StoreError) {
    let statement = statements.moveCustomer
    statement.bind(1, CustomerPosition(from, customer.line, customer.ticket).key)
    bindCounters(of: customer, to: statement)
    statement.bind(5, CustomerPosition(to, customer.line, customer.ticket).key)
    statement.bind(6, optional: dueAt?.milliseconds)
    try statement.run(broken: Remark(.alreadyIs, customer.ticket, presentDay, to.name))
    try requireOneChange(customer, in: from)
  }

  private func bindCounters(of customer: Customer, to statement: Statement) {
    statement.bind(2, customer.attempts)
    statement.bind(3, customer.crashes)
    statement.bind(4, customer.failures)
  }

  private func record(_ attempt: Attempt) throws(StoreError) {
    let statement = statements.insertAttempt
    statement.bind(1, attempt.day)
    statement.bind(2, attempt.ticket)
    statement.bind(3, attempt.number)
    statement.bind(4, attempt.window.service.rawValue)
    statement.bind(5, attempt.window.place)
    statement.bind(6, attempt.generation)
    statement.bind(7, attempt.pid)
    statement.bind(8, attempt.startedAt.milliseconds)
    statement.bind(9, attempt.endedAt.milliseconds)
    statement.bind(10, attempt.end.rawValue)
    var code: Int64?
    var signal: Int64?
    switch attempt.processEnd {
    case .code(let value): code = Int64(value)
    case .signal(let value): signal = Int64(value)
    case nil: break
    }
    statement.bind(11, optional: code)
    statement.bind(12, optional: signal)
    try statement.run(
      broken:
        Remark(.attemptTwice, attempt.number, attempt.ticket, attempt.day))
  }

  /// After which attempt a customer was put aside is a named number in `meta`: the rows of attempts have no place for it,
  /// and it is true also when the customer was brought back, or taken out.
  private func noteBurial(of customer: Customer) throws(StoreError) {
    guard let day = stagedDay ?? saved?.day else { return }
    try database.execute(
      "INSERT OR REPLACE INTO meta VALUES ('\(Self.burials(of: customer.ticket, day)) \(customer.attempts)', "
        + "\(customer.attempts))",
      while: "noting a dead letter")
  }

  /// What the names of a ticket's burials in `meta` begin with; a space and the attempt follow.
  static func burials(of ticket: TicketNumber, _ day: BusinessDay) -> String { "dead \(day) \(ticket)" }

  private func remember(_ key: String, _ known: KeyedRequest) throws(StoreError) {
    let (statement, tickets) = (statements.insertKey, known.tickets)
    try statement.bind(1, text: key)
    statement.bind(2, tickets.day)
    statement.bind(3, tickets.first)
    statement.bind(4, tickets.last)
    statement.bind(5, optional: known.request)
    try statement.run(
      broken:
        Remark(.keyRemembered, tickets.first, tickets.last, tickets.day))
  }

  private func requireOneChange(_ customer: Customer, in state: CustomerState) throws(StoreError) {
    if database.changes == 1 { return }
    throw .damaged(
      path: database.path,
      detail: Remark(.notAmong, customer.ticket, presentDay, state.name))
  }

  /// The day for sentences; nothing is written before the books are loaded.
  var presentDay: BusinessDay { saved?.day ?? 0 }
}

extension StoreChange {
  /// Whether it concerns rows of customers or receipts, so that the emptying of the queue comes before it.
  fileprivate var meetsCustomers: Bool {
    switch self {
    case .record, .remember, .released: false
    default: true
    }
  }
}
