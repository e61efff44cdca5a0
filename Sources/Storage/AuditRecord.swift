// Owns what an audit has found so far, and the two judgements that are the same for every store: whether tickets
// stand exactly once, and whether a receipt's money is its own. It knows no database. Invariant: memory does not
// grow with the queue; of many problems the first hundred are told and the rest are counted.

import BankModel
import QueueCore

package struct AuditRecord {
  /// What the services are called.
  let services: ServiceDirectory
  package var audit = StoreAudit()
  var findings = Findings()

  package init(services: ServiceDirectory) { self.services = services }

  package mutating func note(_ problem: @autoclosure () -> Remark) { findings.note(problem()) }

  /// Adds a problem where two counts that must agree do not.
  ///
  /// - Parameter about: What is counted: values that come before the two counts.
  package mutating func compare(
    _ kind: Remark.Kind, _ about: @autoclosure () -> [String] = [], books: Int64, rows: Int64
  ) {
    guard books != rows else { return }
    var remark = Remark(kind)
    remark.values = about() + ["\(books)", "\(rows)"]
    note(remark)
  }

  /// Holds the books of the present day against the customers who are there, and those who were served.
  ///
  /// - Parameter delayed: how many of the delayed came for which service, by what is kept of it; nil where nothing is.
  package mutating func compare(
    _ books: Books, _ customers: CustomerCounts, _ receipts: DayReceipts?, delayed: [Int64]?
  ) {
    let names = services
    compare(.booksDelayed, books: books.delayed, rows: customers.delayed)
    compare(.booksDead, books: books.dead, rows: customers.dead)
    for line in Set(books.waiting.lines + customers.waiting.lines).sorted() {
      compare(
        .booksWaiting, [names[line.service].text, line.priority.name], books: books.waiting[line],
        rows: customers.waiting[line])
    }
    for (index, count) in (delayed ?? []).enumerated() {
      let rows = index < customers.delayedByService.count ? customers.delayedByService[index] : 0
      compare(.booksDelayedOfService, [names[Service(index: index)].text], books: count, rows: rows)
    }
    let served = (receipts ?? DayReceipts()).servedByService
    for service in names.services {
      let rows = service.index < served.count ? served[service.index] : 0
      compare(
        .booksOfService, [names[service].text], books: books.servedByService[service.index], rows: rows)
    }
  }

  package mutating func count(_ customers: CustomerCounts) {
    audit.waiting = customers.waiting.total
    (audit.delayed, audit.dead) = (customers.delayed, customers.dead)
  }

  /// Adds what is wrong with the money of one receipt to the difference.
  mutating func weigh(_ receipt: ReceiptMoney) {
    if receipt.debit != nil { audit.ledgerDifference &+= receipt.amount }
    if receipt.credit != nil { audit.ledgerDifference &-= receipt.amount }
    if receipt.isItsOwn { return }
    audit.ledgerDifference &+= 1
    note(Remark(.wrongTransfer, receipt.sequence))
  }

  package func finished() -> StoreAudit {
    var audit = audit
    audit.remarks = findings.remarks
    return audit
  }
}

struct Findings {
  static let limit = 100

  private var told: [Remark] = []
  private var untold = 0

  package mutating func note(_ problem: @autoclosure () -> Remark) {
    if told.count < Self.limit { told.append(problem()) } else { untold += 1 }
  }

  /// All of them, or as many as are kept and how many there are besides.
  var remarks: [Remark] { untold > 0 ? told + [Remark(.more, untold)] : told }
}

package struct ReceiptMoney {
  var sequence: Int64
  var service: Service
  var outcome: Outcome
  var amount: Won
  var account: AccountNumber
  /// Codes of accounts; nil where nothing was done.
  var debit, credit: Int64?

  package init(
    sequence: Int64, service: Service, outcome: Outcome, amount: Won, account: AccountNumber, debit: Int64?,
    credit: Int64?
  ) {
    (self.sequence, self.service, self.outcome, self.amount) = (sequence, service, outcome, amount)
    (self.account, self.debit, self.credit) = (account, debit, credit)
  }

  /// Whether the transfer follows from service, outcome and account. Of services that have their accounts from a configuration
  /// the receipt alone says which they were: the configuration may say others now.
  var isItsOwn: Bool {
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

package struct CustomerCounts {
  package init() {}

  var waiting = LineCounts()
  var delayed: Int64 = 0
  /// By the index of the service, as far as somebody is delayed.
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

package struct DayReceipts {
  package init() {}

  package private(set) var served: Int64 = 0
  package private(set) var cancelled: Int64 = 0
  /// By the index of the service, as far as somebody was served.
  var servedByService: [Int64] = []

  var count: Int64 { served + cancelled }

  mutating func count(_ service: Service, _ outcome: Outcome) {
    if outcome.isAttended {
      served += 1
      while servedByService.count <= service.index { servedByService.append(0) }
      servedByService[service.index] += 1
    } else {
      cancelled += 1
    }
  }
}

/// Walks over all receipts in the order of their commits, and counts them by day.
package struct ReceiptWalk {
  let last: BusinessDay
  package private(set) var counts: [BusinessDay: DayReceipts] = [:]
  private var latest: BusinessDay = 0

  package init(last: BusinessDay) { self.last = last }

  /// The next receipt; false where there was no such day.
  package mutating func visit(
    _ day: BusinessDay, _ ticket: TicketNumber, _ money: ReceiptMoney, _ report: inout AuditRecord
  ) -> Bool {
    if day < latest { report.note(Remark(.receiptOutOfOrder, money.sequence, day, latest)) }
    latest = max(latest, day)
    guard 1 <= day, day <= last else {
      report.audit.duplicated += 1
      report.note(Remark(.receiptOfNobody, money.sequence, ticket, day))
      return false
    }
    // Subscripts with a default work in place, so a day's counts are not copied for every row.
    counts[day, default: DayReceipts()].count(money.service, money.outcome)
    if money.outcome.isAttended { report.audit.served += 1 } else { report.audit.cancelled += 1 }
    report.weigh(money)
    return true
  }
}

/// Walks over the tickets of a day, which come in rising order, and finds the ones that are missing or too many.
package struct TicketWalk {
  let day: BusinessDay
  let issued: Int64
  private var last: TicketNumber = 0
  private var repeats = 0

  package init(day: BusinessDay, issued: Int64) { (self.day, self.issued) = (day, issued) }

  /// The next ticket that stands somewhere, once for each place.
  package mutating func visit(_ ticket: TicketNumber, _ report: inout AuditRecord) {
    guard ticket >= 1, ticket <= issued else {
      report.audit.duplicated += 1
      let (day, issued) = (day, issued)
      return report.note(Remark(.neverIssued, ticket, day, issued))
    }
    if ticket == last {
      repeats += 1
      if repeats > 1 { return }
      report.audit.duplicated += 1
      let day = day
      return report.note(Remark(.ticketTwice, ticket, day))
    }
    skip(to: ticket, &report)
    last = ticket
    repeats = 0
  }

  /// The end of the walk: everything up to the last issued ticket was seen or is lost.
  package mutating func end(_ report: inout AuditRecord) {
    skip(to: max(issued, 0) + 1, &report)
    last = max(issued, 0)
  }

  private func skip(to ticket: TicketNumber, _ report: inout AuditRecord) {
    let missing = ticket - last - 1
    guard missing > 0 else { return }
    report.audit.lost += missing
    let (first, day) = (last + 1, day)
    report.note(missing == 1 ? Remark(.ticketLost, first, day) : Remark(.ticketsLost, first, ticket - 1, day))
  }
}
