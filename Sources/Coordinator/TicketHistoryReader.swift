// Report of a ticket with its attempts, assembled from the store of an open or a closed bank. The reader changes
// nothing. For an open bank, it may be used only while the store contains only what is on disk.

import BankModel
import QueueCore
import Wire

struct TicketHistoryReader {
  let store: any QueueReader
  /// Identity of the bank, which is part of each `BANK_KEY`.
  let bankID: BankID
  /// Present business day, which is the default of a query.
  let presentDay: BusinessDay
  /// Highest number issued on the present day, or an upper bound.
  let issued: TicketNumber
  /// Attempt in progress for a ticket of the present day; nil if there is none.
  var currentAttempt: (TicketNumber) -> AttemptReport? = { _ in nil }

  /// Report of a ticket. Throws `noSuchDay` or `noSuchTicket` if it does not exist.
  func history(of ticket: TicketNumber, day: BusinessDay?) throws(Failure) -> TicketReport {
    let day = day ?? presentDay
    guard (1...presentDay).contains(day) else {
      throw Failure(.noSuchDay, subject: String(day), messageDetail: MessageDetail(.presentDay, presentDay))
    }
    guard ticket >= 1, day < presentDay || ticket <= issued else {
      throw Failure(.noSuchTicket, subject: String(ticket))
    }
    guard let report = try find(for: ticket, day: day) else {
      throw Failure(.noSuchTicket, subject: String(ticket))
    }
    return report
  }

  /// Report of a ticket; nil if the day has no such ticket. Reads the receipt first and the customer second. Another
  /// branch may commit to a shared database between the two reads. So if the customer does not exist, the receipt is
  /// read once more: the ticket may have been finished meanwhile.
  private func find(for ticket: TicketNumber, day: BusinessDay) throws(Failure) -> TicketReport? {
    do throws(StoreError) {
      if let finished = try finished(ticket, day: day) { return finished }
      guard day == presentDay else { return nil }
      guard let stored = try store.find(ticket) else { return try finished(ticket, day: day) }
      let attempts = try store.attempts(day: day, ticket: ticket).map { AttemptReport($0, store.services) }
      var report = TicketReport(stored, store.services, day: day, attempts: attempts)
      report.payload = try store.payload(of: ticket)
      if stored.state == .waiting, let attempt = currentAttempt(ticket) {
        report.state = .serving
        report.window = attempt.window
        report.attempts.append(attempt)
      }
      return report
    } catch { throw Failure(store: error) }
  }

  /// Report of a ticket with a receipt; nil if it has no receipt.
  private func finished(_ ticket: TicketNumber, day: BusinessDay) throws(StoreError) -> TicketReport? {
    guard let receipt = try store.receipt(day: day, ticket: ticket) else { return nil }
    let attempts = try store.attempts(day: day, ticket: ticket).map { AttemptReport($0, store.services) }
    return TicketReport(receipt, store.services, attempts: attempts, key: bankID.key(of: receipt))
  }
}

extension QueueReader {
  /// Short reports of these customers, as rows of a list for a client. The row of a dead letter includes the end of its
  /// last attempt, which an operator needs for a decision.
  func listed(
    _ found: [StoredCustomer], _ services: ServiceDirectory, day: BusinessDay
  ) throws(StoreError) -> [TicketReport] {
    var rows: [TicketReport] = []
    rows.reserveCapacity(found.count)
    for stored in found {
      let last =
        stored.state == .dead ? try attempts(day: day, ticket: stored.customer.ticket).last : nil
      var row = TicketReport(
        stored, services, day: day, attempts: last.map { [AttemptReport(inList: $0, services)] } ?? [])
      if stored.customer.attempts > 0 { row.tried = stored.customer.attempts }
      rows.append(row)
    }
    return rows
  }
}

extension BankID {
  /// `BANK_KEY` of a finished customer; nil if the receipt has no result.
  func key(of receipt: Receipt) -> String? { receipt.result.map { _ in order(of: receipt).text } }
}

extension TicketReport {
  init(_ receipt: Receipt, _ services: ServiceDirectory, attempts: [AttemptReport], key: String?) {
    self.init(
      day: receipt.day, ticket: receipt.ticket, service: services[receipt.service],
      priority: receipt.priority,
      amount: receipt.amount, account: receipt.account, issuedAt: receipt.issuedAt.milliseconds, state: .done,
      attempts: attempts, receipt: ReceiptReport(receipt, services, key: key),
      itemName: receipt.itemName.isEmpty ? nil : receipt.itemName)
    guard receipt.outcome.isFinishedByWorker, let window = receipt.window, let startedAt = receipt.startedAt
    else {
      return
    }
    var attempt = AttemptReport(
      window: services.name(of: window), generation: receipt.generation, pid: receipt.pid,
      startedAt: startedAt.milliseconds, endedAt: receipt.finishedAt.milliseconds, end: .served,
      signal: nil, code: nil)
    attempt.branch = receipt.branch
    self.attempts.append(attempt)
  }

  init(
    _ stored: StoredCustomer, _ services: ServiceDirectory, day: BusinessDay, attempts: [AttemptReport]
  ) {
    let customer = stored.customer
    self.init(
      day: day, ticket: customer.ticket, service: services[customer.service], priority: customer.priority,
      amount: customer.amount, account: customer.account, issuedAt: customer.issuedAt.milliseconds,
      state: stored.state, dueAt: stored.dueAt?.milliseconds, attempts: attempts,
      itemName: customer.itemName.isEmpty ? nil : customer.itemName)
    if customer.startedAttempts > 0 { counted = Int32(customer.startedAttempts) }
  }
}

extension AttemptReport {
  init(_ attempt: Attempt, _ services: ServiceDirectory) {
    self.init(
      window: attempt.window.isUnknown ? "" : services.name(of: attempt.window),
      generation: attempt.generation, pid: attempt.pid, startedAt: attempt.startedAt.milliseconds,
      endedAt: attempt.endedAt.milliseconds, end: attempt.end,
      signal: attempt.processEnd?.exitSignal, code: attempt.processEnd?.exitCode)
    branch = attempt.branch
    if attempt.isFatal { isFatal = true }
    if !attempt.words.isEmpty { words = attempt.words }
  }

  /// Attempt in a list. Only the end of its text is included, which contains the reason, because a part of a
  /// list is one message.
  fileprivate init(inList attempt: Attempt, _ services: ServiceDirectory) {
    self.init(attempt, services)
    words = messageDetail.map { $0.count > Self.longestInList ? "…" + $0.suffix(Self.longestInList) : $0 }
  }
}
