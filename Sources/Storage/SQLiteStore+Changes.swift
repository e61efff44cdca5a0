// Translation of changes into rows.
// Invariant: a change that violates a constraint (a second receipt, a customer in another state) throws
// `.damaged` with ticket and day. New customers, departures and receipts are gathered first; see
// SQLiteStore+RowBatch.

import BankModel
import QueueCore
import Time

extension SQLiteStore {
  /// Writes a change in the open transaction, or gathers its rows.
  func write(_ change: StoreChange) throws(StoreError) {
    if change.touchesCustomers { try finishBulkCancel() }
    switch change {
    case .insert(let customer): return try addToBatch(customer, dueAt: nil)
    case .insertDelayed(let customer, let due):
      statements.insertLater.bindAll(stagedDay ?? presentDay, customer.ticket, due.milliseconds)
      try statements.insertLater.run(violation: MessageDetail(.alreadyInQueue, customer.ticket, presentDay))
      return try addToBatch(customer, dueAt: due)
    case .finish, .remember, .attach: break
    default: try writeBatch()
    }
    switch change {
    case .insert, .insertDelayed: break
    case .finish(let customer, let state, let receipt): try finish(customer, from: state, receipt)
    case .update(let customer): try update(customer)
    case .postpone(let customer, let due): try move(customer, from: .waiting, to: .delayed, dueAt: due)
    case .bury(let customer):
      try move(customer, from: .waiting, to: .dead, dueAt: nil)
      try recordDeadLetter(of: customer)
    case .revive(let customer, let state): try move(customer, from: state, to: .waiting, dueAt: nil)
    case .record(let attempt): try record(attempt)
    case .remember(let key, let day, let first, let last, let request):
      try remember(
        key, KeyedRequest(tickets: IssuedTickets(day: day, first: first, last: last), request: request))
    case .cancelAllCustomers(let day, let moment):
      bulkCancel = BulkCancel(day: day, moment: moment, total: saved?.kept ?? 0)
      stagedDay = day + 1
    case .released(let ticket): try note(released: ticket)
    case .attach(let payload, let tickets): try attach(payload, to: tickets)
    }
  }

  /// Removes a customer and its payload, and adds the receipt.
  private func finish(
    _ customer: Customer, from state: CustomerState, _ receipt: Receipt
  ) throws(StoreError) {
    try batchDeletion(of: try position(customer, in: state))
    try dropPayload(of: customer.ticket)
    try insert(receipt)
  }

  /// Adds a receipt with its result and its shortages, and counts it.
  private func insert(_ receipt: Receipt) throws(StoreError) {
    try addToBatch(receipt)
    if let result = receipt.result { try insert(isLowOnSpace ? result.withoutBytes : result, of: receipt) }
    for shortage in receipt.shortages { try insert(shortage, of: receipt) }
    if receipt.outcome == .cancelled, receipt.service.usesStock {
      statements.insertRelease.bindAll(receipt.day, receipt.ticket)
      try statements.insertRelease.run(
        violation: MessageDetail(.cancelledBefore, receipt.ticket, receipt.day))
    }
    guard receipt.day == saved?.day else { return }
    if receipt.outcome.isFinishedByWorker { staged.served += 1 } else { staged.cancelled += 1 }
  }

  private func insert(_ shortage: Shortage, of receipt: Receipt) throws(StoreError) {
    statements.insertShortage.bindAll(receipt.day, receipt.ticket)
    try statements.insertShortage.bind(3, text: shortage.item.name)
    statements.insertShortage.bindAll(from: 4, shortage.needed, shortage.available)
    try statements.insertShortage.run(
      violation: MessageDetail(.shortageDuplicated, receipt.ticket, receipt.day, shortage.item))
  }

  /// Removes the record that the stock may have a reservation for a ticket.
  private func note(released ticket: TicketOfDay) throws(StoreError) {
    statements.deleteRelease.bindAll(ticket.day, ticket.ticket)
    try statements.deleteRelease.run()
    if database.changes != 1 { throw damage(MessageDetail(.releaseNotFound, ticket.ticket, ticket.day)) }
  }

  /// Changes the counters in the row of a waiting customer.
  private func update(_ customer: Customer) throws(StoreError) {
    statements.updateCustomer.bindAll(
      try position(customer, in: .waiting).key, CustomerAttempts(customer).packed,
      Int64(customer.crashes), Int64(customer.failures))
    try statements.updateCustomer.run()
    try requireOneChange(customer, in: .waiting)
  }

  /// Changes the state of a customer, with its counters and its due time.
  private func move(
    _ customer: Customer, from: CustomerState, to: CustomerState, dueAt: WallTime?
  ) throws(StoreError) {
    statements.moveCustomer.bindAll(
      try position(customer, in: from).key, CustomerAttempts(customer).packed,
      Int64(customer.crashes), Int64(customer.failures),
      try position(customer, in: to).key, dueAt?.milliseconds)
    try statements.moveCustomer.run(
      violation: MessageDetail(.alreadyInState, customer.ticket, presentDay, to.name))
    try requireOneChange(customer, in: from)
  }

  private func record(_ attempt: Attempt) throws(StoreError) {
    statements.insertAttempt.bindAll(
      attempt.day, attempt.ticket, Int64(attempt.number), Int64(attempt.window.service.number),
      Int64(attempt.window.place), Int64(attempt.generation), Int64(attempt.pid),
      attempt.startedAt.milliseconds,
      attempt.endedAt.milliseconds, Int64(attempt.end.rawValue), attempt.processEnd?.exitCode.map(Int64.init),
      attempt.processEnd?.exitSignal.map(Int64.init))
    try statements.insertAttempt.bind(13, nonEmpty: attempt.words)
    try statements.insertAttempt.run(
      violation: MessageDetail(.attemptTwice, attempt.number, attempt.ticket, attempt.day))
  }

  /// Records in `meta` the number of the attempt after which a customer became a dead letter. The rows of
  /// attempts have no column for it. The record stays after the customer was requeued or cancelled.
  private func recordDeadLetter(of customer: Customer) throws(StoreError) {
    guard let day = stagedDay ?? saved?.day else { return }
    try database.execute(
      "INSERT OR REPLACE INTO meta VALUES ('\(Self.deadLetterNames(of: customer.ticket, day)) \(customer.attempts)', "
        + "\(customer.attempts))", while: "recording a dead letter")
  }

  /// Prefix of the names in `meta` for the dead letters of a ticket. A space and the number of the attempt
  /// follow it.
  static func deadLetterNames(of ticket: TicketNumber, _ day: BusinessDay) -> String {
    "dead \(day) \(ticket)"
  }

  private func remember(_ key: String, _ known: KeyedRequest) throws(StoreError) {
    let tickets = known.tickets
    try statements.insertKey.bind(1, text: key)
    statements.insertKey.bindAll(from: 2, tickets.day, tickets.first, tickets.last, known.request)
    try statements.insertKey.run(
      violation: MessageDetail(.keyRemembered, tickets.first, tickets.last, tickets.day))
  }

  /// Position of a customer's row. Throws if the line has no number, because a line without a number has no customers.
  private func position(
    _ customer: Customer, in state: CustomerState
  ) throws(StoreError) -> CustomerPosition {
    guard let line = lines[customer.line] else {
      throw damage(MessageDetail(.ticketNotFound, customer.ticket, presentDay, state.name))
    }
    return CustomerPosition(state, line, customer.ticket)
  }

  /// Throws if the last statement has not changed exactly one row.
  private func requireOneChange(_ customer: Customer, in state: CustomerState) throws(StoreError) {
    if database.changes != 1 {
      throw damage(MessageDetail(.ticketNotFound, customer.ticket, presentDay, state.name))
    }
  }

  /// Day of the saved counters; 0 before the store is loaded.
  var presentDay: BusinessDay { saved?.day ?? 0 }
}

extension StoreChange {
  /// True if the change affects rows of customers or receipts, so that a pending reset must be completed first.
  fileprivate var touchesCustomers: Bool {
    switch self {
    case .record, .remember, .released: false
    default: true
    }
  }
}
