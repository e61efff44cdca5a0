// Audit of the receipts, in two passes: first in the order of their sequence numbers, with their transfers, then
// in the order of the tickets.
// Invariant: only counts and a few pages are held in memory. An invalid receipt is a finding and does not end the
// audit. An invalid block of tickets is a finding that ends this part of the audit.

import BankModel
import QueueCore

extension SQLiteStore {
  /// Checks all receipts in the order of their sequence numbers. Returns their numbers by day.
  func auditReceipts(
    _ days: [DayRow], _ report: inout AuditRecord
  ) throws(StoreError) -> [BusinessDay: DayReceipts] {
    var walk = ReceiptScan(last: days.last?.dayCounters.day ?? 0)
    var expected: Int64 = 1
    var (key, block): (Int64?, TicketBlock?) = (nil, nil)
    try database.withStatement(
      "SELECT \(Statements.pageColumns) FROM receipt_page ORDER BY first", while: "reading all receipts"
    ) { row throws(StoreError) in
      while try row.step() {
        let first = row.integer(0)
        if first != expected { report.note(MessageDetail(.receiptMissing, expected, first)) }
        guard let entries = Self.entries(row), !entries.isEmpty, entries.count <= ReceiptPage.longest else {
          report.note(MessageDetail(.pageInvalid, first))
          expected = first &+ 1
          continue
        }
        expected = first &+ Int64(entries.count)
        for entry in entries {
          guard try visit(entry, &walk, &report) else { continue }
          let own = TicketBlock.key(entry.day, entry.ticket)
          if key != own { (key, block) = (own, try self.block(own)) }
          requireTicketEntry(of: entry, in: block, days, &report)
        }
      }
    }
    return walk.counts
  }

  /// Checks one receipt, and adds its errors to the findings. Returns true if its values are valid and its day
  /// exists.
  private func visit(
    _ entry: ReceiptEntry, _ walk: inout ReceiptScan, _ report: inout AuditRecord
  ) throws(StoreError) -> Bool {
    guard let outcome = UInt8(exactly: entry.outcome).flatMap(Outcome.init(rawValue:)),
      let line = try? line(service: entry.service, priority: entry.priority)
    else {
      report.note(MessageDetail(.receiptInvalid, entry.sequence))
      return false
    }
    let money = ReceiptMoney(
      sequence: entry.sequence, service: line.service, outcome: outcome, amount: entry.amount,
      account: entry.account, debit: entry.debit, credit: entry.credit)
    guard walk.visit(entry.day, entry.ticket, money, &report) else { return false }
    try requireAttempts(
      entry.attempts - (outcome.isFinishedByWorker ? 1 : 0), entry.day, entry.ticket, outcome, &report)
    return true
  }

  /// Adds a finding if the block of the receipt's ticket does not contain this receipt, but another one or
  /// none.
  private func requireTicketEntry(
    of entry: ReceiptEntry, in block: TicketBlock?, _ days: [DayRow], _ report: inout AuditRecord
  ) {
    let isTicket = 1...Limits.ticket ~= entry.ticket
    let found = isTicket ? block.map { $0[entry.ticket] ?? -1 } ?? 0 : 0
    if found == entry.sequence { return }
    if found == 0, isTicket { return report.note(MessageDetail(.receiptNotFound, entry.ticket, entry.day)) }
    report.audit.duplicated += 1
    report.note(
      isTicket
        ? MessageDetail(.ticketDuplicated, entry.ticket, entry.day)
        : MessageDetail(
          .neverIssued, entry.ticket, entry.day,
          days.first { $0.dayCounters.day == entry.day }?.dayCounters.issued ?? 0))
  }

  /// Checks the tickets of the days. Each must be stored once, as a receipt or in the queue, and the customers
  /// of a line must have been started in order.
  func auditTickets(_ days: [DayRow], _ report: inout AuditRecord) throws(StoreError) {
    let starts = try database.withStatement(
      "SELECT value FROM meta WHERE name LIKE '\(Self.receiptsBefore)%'", while: "reading the starts"
    ) { row throws(StoreError) in try row.all { $0.integer(0) } }
    var order = OrderScan(
      starts: starts,
      disordered: DisorderedDays.among(days.map { ($0.dayCounters.day, $0.dayCounters.clockSteps) }))
    var pages = PageCache()
    for day in days {
      let number = day.dayCounters.day
      let isPresent = number == days.last?.dayCounters.day && !day.isClosed
      var tickets = TicketScan(day: number, issued: day.dayCounters.issued)
      // Customers of an incomplete request have no tickets. A closed day has no customers, so no customers are
      // read for it.
      let issued = isPresent ? "ticket < \(try readFirstUnissued() ?? .max)" : "0"
      try database.withStatement(
        "SELECT ticket FROM customer WHERE \(issued) ORDER BY ticket", while: "counting tickets"
      ) { customers throws(StoreError) in
        try database.withStatement(
          "SELECT ticket, due_ms FROM scheduled_ticket WHERE day = \(number) ORDER BY ticket",
          while: "looking for orders"
        ) { later throws(StoreError) in
          var waiting = TicketColumnReader(customers)
          var ordered = TicketColumnReader(later)
          try eachReceiptTicket(of: number) { ticket, sequence throws(StoreError) in
            try waiting.advance(before: ticket) { tickets.visit($0, &report) }
            guard let entry = try receipt(numbered: sequence, of: ticket, number, &pages, &report) else {
              return
            }
            tickets.visit(ticket, &report)
            guard entry.outcome == Int64(Outcome.served.rawValue), let started = entry.started,
              let line = try? line(service: entry.service, priority: entry.priority)
            else { return }
            try ordered.advance(before: ticket) { _ in }
            order.visit(
              number, ticket, line, receipt: sequence, attempts: entry.attempts, startedAt: started,
              isLater: ordered.next == ticket, &report)
          }
          try waiting.advance(before: .max) { tickets.visit($0, &report) }
        }
      }
      tickets.end(&report)
    }
  }

  /// Returns the receipt that a block assigns to a ticket. If it does not exist, returns nil and adds a
  /// finding.
  private func receipt(
    numbered sequence: Int64, of ticket: TicketNumber, _ day: BusinessDay, _ pages: inout PageCache,
    _ report: inout AuditRecord
  ) throws(StoreError) -> ReceiptEntry? {
    if let entry = try entry(numbered: sequence, &pages), entry.day == day, entry.ticket == ticket {
      return entry
    }
    report.note(MessageDetail(.receiptOfOtherTicket, ticket, day, sequence))
    return nil
  }

  /// Calls `visit` with each ticket of a day that has a receipt, in order, and with the receipt's sequence
  /// number.
  private func eachReceiptTicket(
    of day: BusinessDay, _ visit: (TicketNumber, Int64) throws(StoreError) -> Void
  ) throws(StoreError) {
    let keys = TicketBlock.keys(of: day)
    try database.withStatement(
      "SELECT block, sequences FROM ticket_block WHERE block BETWEEN ? AND ? ORDER BY block",
      while: "reading the tickets of receipts"
    ) { row throws(StoreError) in
      row.bindAll(keys.lowerBound, keys.upperBound)
      while try row.step() {
        guard let block = TicketBlock(text: row.utf8(1)) else {
          throw damage(MessageDetail(.blockInvalid, row.integer(0)))
        }
        let first = TicketBlock.firstTicket(of: row.integer(0))
        for ticket in first..<first + TicketBlock.tickets {
          guard let sequence = block[ticket] else {
            throw damage(MessageDetail(.blockInvalid, row.integer(0)))
          }
          if sequence != 0 { try visit(ticket, sequence) }
        }
      }
    }
  }
}

/// Ascending tickets of a statement. The next one is read ahead.
private struct TicketColumnReader {
  private let row: Statement
  /// The next ticket; nil at the end, and before the first step.
  private(set) var next: TicketNumber?
  private var hasBegun = false

  init(_ row: Statement) { self.row = row }

  /// Calls `visit` with each remaining ticket below `bound`, in order.
  mutating func advance(before bound: TicketNumber, _ visit: (TicketNumber) -> Void) throws(StoreError) {
    if !hasBegun {
      hasBegun = true
      next = try row.step() ? row.integer(0) : nil
    }
    while let ticket = next, ticket < bound {
      visit(ticket)
      next = try row.step() ? row.integer(0) : nil
    }
  }
}
