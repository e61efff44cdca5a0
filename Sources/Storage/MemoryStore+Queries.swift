// Queries and audit of the in-memory store.
// Invariant: after the same changes, a query returns the same result as the store on disk.

import BankModel
import QueueCore
import Time

extension MemoryStore {
  /// The next waiting customers of a line with tickets above `after`, in ticket order.
  public func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    try beginReading()
    guard let line = contents.lines[line] else { return [] }
    return contents.customers(
      after: CustomerPosition(.waiting, line, after).key,
      through: CustomerPosition(.waiting, line, bound - 1).key, limit: limit
    ).map(\.customer)
  }

  /// The next delayed customers, in the order of their due times.
  public func delayed(after place: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] {
    try beginReading()
    return contents.delayed(after: place, below: bound, limit: limit)
  }

  /// The waiting, delayed or dead customer with this ticket; nil if there is none.
  public func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    try beginReading()
    guard 1...Limits.ticket ~= ticket, ticket < bound else { return nil }
    for state in CustomerPosition.storedStates {
      for (line, _) in contents.lines.all {
        if let found = contents.customers[CustomerPosition(state, line, ticket).key] { return found }
      }
    }
    return nil
  }

  /// Payload of a customer; nil if the customer has none.
  public func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    try beginReading()
    return ticket < bound ? contents.payloads[ticket] : nil
  }

  /// Customers of one state, line by line, at most `limit`.
  public func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    try beginReading()
    guard CustomerPosition.storedStates.contains(state) else { return [] }
    let keys = CustomerPosition.keys(of: state)
    let after = cursor.flatMap { cursor in
      contents.lines[cursor.line].map { CustomerPosition(state, $0, cursor.after).key }
    }
    let lower = after ?? keys.lowerBound
    if state != .dead, hasUnissuedCustomers {
      let all = contents.customers(after: lower, through: keys.upperBound, limit: .max)
      return Array(all.lazy.filter { $0.customer.ticket < self.bound }.prefix(max(0, limit)))
    }
    return contents.customers(after: lower, through: keys.upperBound, limit: limit)
  }

  /// Number of waiting or delayed customers in a range of tickets.
  public func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(issuedCustomers.count { $0.state != .dead && tickets.contains($0.customer.ticket) })
  }

  /// Number of dead letters in a range of tickets.
  public func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(
      contents.customers.values.count { $0.state == .dead && tickets.contains($0.customer.ticket) })
  }

  /// Number of dead letters of one service.
  public func countDead(of service: Service) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(
      contents.customers.values.count { $0.state == .dead && $0.customer.service == service })
  }

  /// Number of waiting customers of a line between two tickets, both exclusive.
  public func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    try beginReading()
    let last = min(last, bound)
    guard first < last, let line = contents.lines[line] else { return 0 }
    let lower = CustomerPosition(.waiting, line, first).key
    let upper = CustomerPosition(.waiting, line, last).key - 1
    return Int64(contents.customers(after: lower, through: upper, limit: .max).count)
  }

  /// Number of cancelled receipts of a day in a range of tickets.
  public func countCancelled(
    _ tickets: ClosedRange<TicketNumber>, on day: BusinessDay
  ) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(
      contents.receipts.count { $0.day == day && $0.outcome == .cancelled && tickets.contains($0.ticket) })
  }

  /// Number of receipts of a day with the outcome `out_of_stock`.
  public func countOutOfStock(on day: BusinessDay) throws(StoreError) -> Int64 {
    try beginReading()
    return Int64(contents.receipts.count { $0.day == day && $0.outcome == .outOfStock })
  }

  /// The request with this idempotency key; nil if there is none.
  public func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    try beginReading()
    return contents.keys[Array(key.utf8)]
  }

  /// Receipts in commit order after a sequence number, of one day or of all days.
  public func receipts(day: BusinessDay?, after sequence: Int64, limit: Int) throws(StoreError) -> [Receipt] {
    try beginReading()
    let skipped = Int(min(max(0, sequence), Int64(contents.receipts.count)))
    return page(of: contents.receipts[skipped...].lazy.filter { day == nil || $0.day == day }, limit: limit)
  }

  /// Receipts of one service over all days, in a range of sequence numbers.
  public func receipts(
    of service: Service, after sequence: Int64, through last: Int64, limit: Int
  ) throws(StoreError) -> [Receipt] {
    try beginReading()
    let end = Int(min(max(0, last), Int64(contents.receipts.count)))
    let skipped = Int(min(max(0, sequence), Int64(end)))
    return page(of: contents.receipts[skipped..<end].lazy.filter { $0.service == service }, limit: limit)
  }

  /// A page of at most `limit` receipts. It ends early if the results of its receipts are long.
  private func page(of receipts: some Sequence<Receipt>, limit: Int) -> [Receipt] {
    var page: [Receipt] = []
    var bytes = 0
    for receipt in receipts {
      if page.count >= limit || bytes >= [Receipt].maxResultBytes { break }
      page.append(receipt)
      bytes += receipt.result?.size ?? 0
    }
    return page
  }

  /// Cancelled tickets for which the stock may still have reservations.
  public func unreleased(after ticket: TicketOfDay?, limit: Int) throws(StoreError) -> [TicketOfDay] {
    try beginReading()
    let place = ticket.map { ($0.day, $0.ticket) } ?? (0, 0)
    let all = contents.releases.filter { ($0.day, $0.ticket) > place }
      .sorted { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
    return Array(all.prefix(max(0, limit)))
  }

  /// The receipt of one ticket; nil if there is none.
  public func receipt(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> Receipt? {
    try beginReading()
    return contents.receiptPlaces[TicketOfDay(day: day, ticket: ticket)].map { contents.receipts[$0] }
  }

  /// Attempts at one ticket that ended without a receipt, in order.
  public func attempts(day: BusinessDay, ticket: TicketNumber) throws(StoreError) -> [Attempt] {
    try beginReading()
    return contents.attempts[TicketOfDay(day: day, ticket: ticket), default: []].sorted {
      $0.number < $1.number
    }
  }

  /// Checks the invariants of the committed data. Nothing may be staged.
  public func audit() throws(StoreError) -> StoreAudit {
    try beginReading()
    precondition(!hasStagedChanges, "An audit reads committed data: commit or roll back first.")
    var report = AuditRecord(services: services)
    let receipts = auditReceipts(&report)
    for dayCounters in allDays {
      let found = receipts[dayCounters.day] ?? DayReceipts()
      report.audit.issued += dayCounters.issued
      report.compare(
        .servedCountDiffers, ["\(dayCounters.day)"], bankID: dayCounters.served, rows: found.served)
      report.compare(
        .cancelledCountDiffers, ["\(dayCounters.day)"], bankID: dayCounters.cancelled, rows: found.cancelled)
      walk(dayCounters, &report)
    }
    var customers = CustomerCounts()
    for found in issuedCustomers { customers.count(found.state, found.customer.line) }
    report.count(customers)
    let present = dayCounters ?? DayCounters(day: 1, openedAt: WallTime(milliseconds: 0))
    report.compare(present, customers, receipts[present.day], delayed: present.delayedByService)
    auditOrder(&report)
    auditAttempts(&report)
    auditKeys(&report)
    auditPayloads(&report)
    auditResults(&report)
    return report.finished()
  }

  /// Counters of the closed days and of the current day.
  private var allDays: [DayCounters] { closedDays + (dayCounters.map { [$0] } ?? []) }

  /// Checks the receipts and their transfers. Returns the receipts' numbers by day.
  private func auditReceipts(_ report: inout AuditRecord) -> [BusinessDay: DayReceipts] {
    var walk = ReceiptScan(last: dayCounters?.day ?? 0)
    for receipt in contents.receipts {
      let transfer = receipt.transfer
      let money = ReceiptMoney(
        sequence: receipt.sequence, service: receipt.service, outcome: receipt.outcome,
        amount: receipt.amount,
        account: receipt.account, debit: transfer?.debit.code, credit: transfer?.credit.code)
      _ = walk.visit(receipt.day, receipt.ticket, money, &report)
    }
    return walk.counts
  }

  /// Checks that the customers of a line were started in the order of their tickets.
  private func auditOrder(_ report: inout AuditRecord) {
    let days = allDays.map { ($0.day, $0.clockSteps) }
    var walk = OrderScan(starts: starts, disordered: DisorderedDays.among(days))
    let served = contents.receipts.filter { $0.outcome == .served }
    for receipt in served.sorted(by: { ($0.day, $0.ticket) < ($1.day, $1.ticket) }) {
      guard let startedAt = receipt.startedAt else { continue }
      walk.visit(
        receipt.day, receipt.ticket, Line(service: receipt.service, priority: receipt.priority),
        receipt: receipt.sequence, attempts: Int64(receipt.attempts), startedAt: startedAt.milliseconds,
        isLater: contents.later[TicketOfDay(day: receipt.day, ticket: receipt.ticket)] != nil, &report)
    }
  }

  /// Stored customers, without those of an incomplete request, whose numbers are not issued yet.
  private var issuedCustomers: [StoredCustomer] {
    contents.customers.values.filter { $0.customer.ticket < bound }
  }

  /// Checks that each issued ticket of a day is stored once.
  private func walk(_ dayCounters: DayCounters, _ report: inout AuditRecord) {
    var tickets = contents.receipts.filter { $0.day == dayCounters.day }.map(\.ticket)
    if dayCounters.day == self.dayCounters?.day { tickets += issuedCustomers.map(\.customer.ticket) }
    var walk = TicketScan(day: dayCounters.day, issued: dayCounters.issued)
    for ticket in tickets.sorted() { walk.visit(ticket, &report) }
    walk.end(&report)
  }

  /// Checks the numbers of attempts, and compares them with receipts and customers.
  private func auditAttempts(_ report: inout AuditRecord) {
    for (ticket, attempts) in contents.attempts
    where attempts.map(\.number).sorted() != (1...Int32(attempts.count)).map(\.self) {
      report.note(MessageDetail(.attemptsNotNumbered, ticket.ticket, ticket.day, attempts.count))
    }
    for receipt in contents.receipts {
      let recorded = contents.attempts[TicketOfDay(day: receipt.day, ticket: receipt.ticket)]?.count ?? 0
      let least = recorded + (receipt.outcome.isFinishedByWorker ? 1 : 0)
      note(
        receipt.ticket, receipt.day, counted: Int(receipt.attempts), possible: least...recorded + 1, &report)
    }
    for found in contents.customers.values {
      let day = dayCounters?.day ?? 1
      let recorded = contents.attempts[TicketOfDay(day: day, ticket: found.customer.ticket)]?.count ?? 0
      note(
        found.customer.ticket, day, counted: Int(found.customer.attempts), possible: recorded...recorded,
        &report)
    }
  }

  /// Adds a finding if the counted number of attempts is not possible.
  private func note(
    _ ticket: TicketNumber, _ day: BusinessDay, counted: Int, possible: ClosedRange<Int>,
    _ report: inout AuditRecord
  ) {
    if !possible.contains(counted) { report.note(MessageDetail(.attemptCountDiffers, ticket, day, counted)) }
  }

  /// Adds a finding for each payload without a customer.
  private func auditPayloads(_ report: inout AuditRecord) {
    let tickets = Set(contents.customers.values.map(\.customer.ticket))
    for ticket in contents.payloads.keys.sorted() where ticket < bound && !tickets.contains(ticket) {
      report.note(MessageDetail(.payloadWithoutCustomer, ticket))
    }
  }

  /// Adds a finding for each result of a receipt that is not a served one.
  private func auditResults(_ report: inout AuditRecord) {
    for receipt in contents.receipts where receipt.result != nil && receipt.outcome != .served {
      report.note(MessageDetail(.resultWithoutReceipt, receipt.ticket, receipt.day))
    }
  }

  /// Adds a finding for each key whose tickets are not a range of issued tickets.
  private func auditKeys(_ report: inout AuditRecord) {
    let issued = allDays.map(\.issued)
    for tickets in contents.keys.values.map(\.tickets)
    where tickets.day != dayCounters?.day || tickets.first < bound {
      let isKnown = 1...Int64(max(issued.count, 1)) ~= tickets.day && !issued.isEmpty
      if !isKnown || tickets.first < 1 || tickets.last < tickets.first
        || tickets.last > issued[Int(tickets.day) - 1]
      {
        report.note(MessageDetail(.keyOfUnissuedTicket, tickets.day))
      }
    }
  }
}
