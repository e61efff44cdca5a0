// Findings of an audit, and two checks that the stores share: each ticket is stored exactly once, and the
// transfer of a receipt matches its service, outcome and account.
// Invariant: memory does not grow with the queue. Findings above a limit are only counted.

import BankModel
import QueueCore

/// Counts and findings of an audit in progress.
package struct AuditRecord {
  let services: ServiceDirectory
  package var audit = StoreAudit()
  var findings = Findings()

  package init(services: ServiceDirectory) { self.services = services }

  package mutating func note(_ problem: @autoclosure () -> MessageDetail) { findings.note(problem()) }

  /// Adds a finding of this kind if the stored counter `bankID` and the counted `rows` differ.
  ///
  /// - Parameter about: names of the counted object. In the finding they precede the two counts.
  package mutating func compare(
    _ kind: MessageDetail.Kind, _ about: @autoclosure () -> [String] = [], bankID: Int64, rows: Int64
  ) {
    guard bankID != rows else { return }
    var messageDetail = MessageDetail(kind)
    messageDetail.values = about() + ["\(bankID)", "\(rows)"]
    note(messageDetail)
  }

  /// Compares the counters of the current day with the stored customers and the receipts.
  ///
  /// - Parameter delayed: stored counts of delayed customers by the index of the service; nil if none are
  ///   stored.
  package mutating func compare(
    _ dayCounters: DayCounters, _ customers: CustomerCounts, _ receipts: DayReceipts?, delayed: [Int64]?
  ) {
    let names = services
    compare(.delayedCountDiffers, bankID: dayCounters.delayed, rows: customers.delayed)
    compare(.deadCountDiffers, bankID: dayCounters.dead, rows: customers.dead)
    for line in Set(dayCounters.waiting.lines + customers.waiting.lines).sorted() {
      compare(
        .waitingCountDiffers, [names[line.service].text, line.priority.name],
        bankID: dayCounters.waiting[line],
        rows: customers.waiting[line])
    }
    for (index, count) in (delayed ?? []).enumerated() {
      let rows = index < customers.delayedByService.count ? customers.delayedByService[index] : 0
      compare(.serviceDelayedCountDiffers, [names[Service(index: index)].text], bankID: count, rows: rows)
    }
    let served = (receipts ?? DayReceipts()).servedByService
    for service in names.services {
      let rows = service.index < served.count ? served[service.index] : 0
      compare(
        .serviceServedCountDiffers, [names[service].text], bankID: dayCounters.servedByService[service.index],
        rows: rows)
    }
  }

  /// Copies the numbers of stored customers into the result.
  package mutating func count(_ customers: CustomerCounts) {
    audit.waiting = customers.waiting.total
    (audit.delayed, audit.dead) = (customers.delayed, customers.dead)
  }

  /// Adds the unbalanced amount of one receipt to the ledger difference. A wrong transfer adds 1 and a finding.
  mutating func checkMoney(_ receipt: ReceiptMoney) {
    if receipt.debit != nil { audit.ledgerDifference &+= receipt.amount }
    if receipt.credit != nil { audit.ledgerDifference &-= receipt.amount }
    if receipt.isConsistent { return }
    audit.ledgerDifference &+= 1
    note(MessageDetail(.transferInvalid, receipt.sequence))
  }

  /// Result of the audit, with the findings so far.
  package func finished() -> StoreAudit {
    var audit = audit
    audit.messageDetails = findings.messageDetails
    return audit
  }
}

/// The first findings of an audit, and the number of further ones.
struct Findings {
  /// Maximum number of stored findings.
  static let limit = 100

  private var reported: [MessageDetail] = []
  /// Number of findings that were only counted.
  private var omitted = 0

  /// Adds a finding, or only counts it if the limit is reached.
  package mutating func note(_ problem: @autoclosure () -> MessageDetail) {
    if reported.count < Self.limit { reported.append(problem()) } else { omitted += 1 }
  }

  /// The stored findings, followed by one with the number of those that were only counted, if there are any.
  var messageDetails: [MessageDetail] {
    omitted > 0 ? reported + [MessageDetail(.andMore, omitted)] : reported
  }
}

/// The parts of a receipt that determine its transfer.
package struct ReceiptMoney {
  var sequence: Int64
  var service: Service
  var outcome: Outcome
  var amount: Won
  var account: AccountNumber
  /// Codes of accounts; nil if the receipt has no transfer.
  var debit, credit: Int64?

  package init(
    sequence: Int64, service: Service, outcome: Outcome, amount: Won, account: AccountNumber, debit: Int64?,
    credit: Int64?
  ) {
    (self.sequence, self.service, self.outcome, self.amount) = (sequence, service, outcome, amount)
    (self.account, self.debit, self.credit) = (account, debit, credit)
  }

  /// True if the transfer matches the service, outcome and account. For a service with a configured posting
  /// rule, the accounts of any rule are accepted, because the configuration may have changed since.
  var isConsistent: Bool {
    guard amount >= (service.movesMoney ? 1 : 0) else { return false }
    guard outcome == .served, service.movesMoney || debit != nil || credit != nil else {
      return debit == nil && credit == nil
    }
    guard let debit, let credit, service != .juice, amount > 0,
      let rule = PostingRule(debit: debit, credit: credit, account: account)
    else { return false }
    return service.postingRule.map { $0 == rule } ?? true
  }
}

/// Numbers of stored customers, by state, line and service.
package struct CustomerCounts {
  package init() {}

  var waiting = LineCounts()
  var delayed: Int64 = 0
  /// Delayed customers by the index of the service; may be shorter than the number of services.
  var delayedByService: [Int64] = []
  var dead: Int64 = 0

  package mutating func count(_ state: CustomerState, _ line: Line) {
    switch state {
    case .waiting: waiting[line] += 1
    case .delayed:
      delayed += 1
      while delayedByService.count <= line.service.index { delayedByService.append(0) }
      delayedByService[line.service.index] += 1
    default: dead += 1
    }
  }
}

/// Numbers of the receipts of one day.
package struct DayReceipts {
  package init() {}

  package private(set) var served: Int64 = 0
  package private(set) var cancelled: Int64 = 0
  /// Served customers, including those that ended out of stock, by the index of the service; may be shorter than
  /// the number of services.
  var servedByService: [Int64] = []

  var count: Int64 { served + cancelled }

  mutating func count(_ service: Service, _ outcome: Outcome) {
    if outcome.isFinishedByWorker {
      served += 1
      while servedByService.count <= service.index { servedByService.append(0) }
      servedByService[service.index] += 1
    } else {
      cancelled += 1
    }
  }
}

/// Checks receipts, in ascending order of their days, and counts them by day.
package struct ReceiptScan {
  let last: BusinessDay
  package private(set) var counts: [BusinessDay: DayReceipts] = [:]
  /// Highest day of a receipt so far.
  private var latest: BusinessDay = 0

  package init(last: BusinessDay) { self.last = last }

  /// Checks and counts the next receipt. Returns false, and adds a finding, if its day does not exist.
  package mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ money: ReceiptMoney, _ report: inout AuditRecord
  ) -> Bool {
    if day < latest { report.note(MessageDetail(.receiptOutOfOrder, money.sequence, day, latest)) }
    latest = max(latest, day)
    guard 1 <= day, day <= last else {
      report.audit.duplicated += 1
      report.note(MessageDetail(.receiptOfUnissuedTicket, money.sequence, ticket, day))
      return false
    }
    // The subscript with a default modifies the value in place, so the counts of a day are not copied for every
    // row.
    counts[day, default: DayReceipts()].count(money.service, money.outcome)
    if money.outcome.isFinishedByWorker { report.audit.served += 1 } else { report.audit.cancelled += 1 }
    report.checkMoney(money)
    return true
  }
}

/// Checks the tickets of one day, in ascending order, and reports missing, repeated and surplus ones.
package struct TicketScan {
  let day: BusinessDay
  let issued: Int64
  /// Last ticket that was visited; 0 for none.
  private var last: TicketNumber = 0
  /// Number of further rows of the last ticket.
  private var repeats = 0

  package init(day: BusinessDay, issued: Int64) { (self.day, self.issued) = (day, issued) }

  /// Checks the next stored ticket. The caller calls it once for each row that contains the ticket.
  package mutating func visit(_ ticket: TicketNumber, _ report: inout AuditRecord) {
    guard ticket >= 1, ticket <= issued else {
      report.audit.duplicated += 1
      let (day, issued) = (day, issued)
      return report.note(MessageDetail(.neverIssued, ticket, day, issued))
    }
    if ticket == last {
      repeats += 1
      if repeats > 1 { return }
      report.audit.duplicated += 1
      let day = day
      return report.note(MessageDetail(.ticketDuplicated, ticket, day))
    }
    skip(to: ticket, &report)
    last = ticket
    repeats = 0
  }

  /// Ends the check. Issued tickets that were not visited are reported as lost.
  package mutating func end(_ report: inout AuditRecord) {
    skip(to: max(issued, 0) + 1, &report)
    last = max(issued, 0)
  }

  /// Reports the issued tickets between the last visited one and `ticket` as lost.
  private func skip(to ticket: TicketNumber, _ report: inout AuditRecord) {
    let missing = ticket - last - 1
    guard missing > 0 else { return }
    report.audit.lost += missing
    let (first, day) = (last + 1, day)
    report.note(
      missing == 1
        ? MessageDetail(.ticketLost, first, day) : MessageDetail(.ticketsLost, first, ticket - 1, day))
  }
}
