// Performance of the store without a bank: the same rows, written by a loop that does nothing else. No process is
// started. Together with the bank's own figures, the result shows the database's share of the time.
import BankModel
import Posix
import QueueCore
import Storage
import Time

extension Bench {
  /// Number of receipts in one commit.
  private static let customersPerCommit: Int64 = 1_000
  private static let lines = [
    Line(service: .deposit, priority: .regular), Line(service: .loan, priority: .regular),
  ]

  /// Rate of new customers in one transaction, in all graded lines but those for juice, until the commit is on disk.
  func arrivalsPerSecond(_ count: Int64) throws -> Double {
    try withStore { store, dayCounters in
      let begin = SystemClock.monotonic()
      try fill(store, &dayCounters, count, Line.graded.filter { !$0.service.usesStock })
      return Double(count) / SystemClock.monotonic().since(begin).inSeconds
    }
  }

  /// Rate of receipts for waiting customers, with a commit after every `customersPerCommit` receipts.
  func receiptsPerSecond(_ count: Int64) throws -> Double {
    try withStore { store, dayCounters in
      try fill(store, &dayCounters, count, Self.lines)
      let begin = SystemClock.monotonic()
      for ticket in 1...count {
        let customer = Self.customer(ticket, Self.lines)
        let receipt = Receipt(
          day: dayCounters.day, ticket: ticket, service: customer.service, priority: customer.priority,
          outcome: .served,
          window: Window(service: customer.service, place: 1), generation: 1, pid: 1, attempts: 1,
          amount: customer.amount, account: customer.account, issuedAt: customer.issuedAt,
          startedAt: customer.issuedAt, finishedAt: customer.issuedAt, itemName: customer.itemName)
        try store.stage(.finish(customer, from: .waiting, receipt))
        dayCounters.waiting[customer.line] -= 1
        dayCounters.served += 1
        dayCounters.servedByService[customer.service.index] += 1
        if ticket % Self.customersPerCommit == 0 || ticket == count { try store.commit(dayCounters) }
      }
      return Double(count) / SystemClock.monotonic().since(begin).inSeconds
    }
  }

  /// Inserts waiting customers in one transaction.
  private func fill(_ store: SQLiteStore, _ dayCounters: inout DayCounters, _ count: Int64, _ lines: [Line])
    throws
  {
    for ticket in 1...count {
      let customer = Self.customer(ticket, lines)
      try store.stage(.insert(customer))
      dayCounters.waiting[customer.line] += 1
    }
    dayCounters.issued += count
    try store.commit(dayCounters)
  }

  /// The customer of a ticket, in one of the lines.
  private static func customer(_ ticket: TicketNumber, _ lines: [Line]) -> Customer {
    // The lines are in mixed order, as in a bank.
    let line = lines[Int(ticket &* 0x9E37_79B9 >> 7 & 0xFFFF) % lines.count]
    return Customer(
      ticket: ticket, service: line.service, priority: line.priority, amount: 50_000, account: ticket % 1_000,
      issuedAt: WallTime(milliseconds: 1_790_000_000_000 + ticket), itemName: lines.count > 2 ? "" : payload)
  }

  /// Calls a measurement with a new store, which is removed afterwards.
  private func withStore(_ body: (SQLiteStore, inout DayCounters) throws -> Double) throws -> Double {
    let directory = newHome().path
    defer { Directory.removeTree(directory) }
    try Directory.create(path: directory)
    let store = try SQLiteStore(path: Paths.join(directory, "bank.db"))
    var dayCounters = try store.load(now: SystemClock.moment().wall).dayCounters
    let figure = try body(store, &dayCounters)
    try store.close()
    return figure
  }
}
