// The cases of receipts, results, attempts, delays, dead letters, operators, crashes and days. Each uses only
// what the interface guarantees.

import BankModel
import Posix
import QueueCore
import Testing
import Time

extension ConformanceCase {
  // MARK: - Receipts

  /// A receipt is read as it was handed over, and the customer is gone.
  func receipts(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [10])
    try bank.enqueue(ConformanceBank.loans, [20])
    let page = try bank.claim(ConformanceBank.deposits, 9) + bank.claim(ConformanceBank.loans, 9)
    let written = page.map { bank.receipt(for: $0) }
    for (customer, receipt) in zip(page, written) {
      try bank.stage(.finish(customer, from: .waiting, receipt))
    }
    #expect(try bank.commit() == [])
    #expect(try found(bank) == written)
    #expect(try bank.reading.find(1) == nil && bank.reading.receipt(day: 1, ticket: 3) == nil)
    try bank.crash()
    #expect(try found(bank) == written)
    #expect(try bank.reading.audit().ledgerDifference == 0)
    #expect(written.allSatisfy { $0.transfer != nil })
  }

  /// All receipts, without the fields that their database adds.
  private func found(_ bank: ConformanceBank, day: BusinessDay? = nil) throws -> [Receipt] {
    try bank.reading.receipts(day: day, after: 0, limit: 99).map { receipt in
      var receipt = receipt
      (receipt.sequence, receipt.branch) = (0, nil)
      return receipt
    }.sorted { $0.ticket < $1.ticket }
  }

  func results(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    let page = try bank.claim(ConformanceBank.deposits, 9)
    let output = try #require(TruncatedOutput(first: [0, 1], last: [9], length: 500))
    let result = WorkResult(
      ending: .code(0), duration: .milliseconds(12), output: output,
      errors: try #require(TruncatedOutput(first: [7]))
    )
    try bank.stage(.finish(page[0], from: .waiting, bank.receipt(for: page[0]) { $0.result = result }))
    try bank.stage(.finish(page[1], from: .waiting, bank.receipt(for: page[1])))
    try bank.commit()
    let receipts = try found(bank)
    #expect(receipts.count == 2 && receipts[0].result == result && receipts[1].result == nil)
  }

  /// Attempts are numbered, kept in order with their messages, and known with the receipt.
  func attempts(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1])
    var customer = try #require(try bank.claim(ConformanceBank.deposits, 1).first)
    customer = try bank.fail(customer, words: "no 종이")
    try bank.stage(.update(customer))
    try bank.commit()
    customer = try bank.fail(customer, .killed)
    try bank.stage(.update(customer))
    try bank.commit()
    let attempts = try bank.reading.attempts(day: 1, ticket: 1)
    #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.end) == [.failed, .killed])
    #expect(attempts.map(\.words) == ["no 종이", ""] && attempts.map(\.processEnd) == [nil, .signal(9)])
    try bank.crash()
    let again = try #require(try bank.claim(ConformanceBank.deposits, 1).first)
    #expect(again == customer && again.attempts == 2 && again.failures == 1 && again.crashes == 1)
    try bank.serve([again])
    #expect(try found(bank).map(\.attempts) == [3])
  }

  // MARK: - Later

  /// A delayed customer is in no page until it is due, and keeps the counts.
  func delays(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    let page = try bank.claim(ConformanceBank.deposits, 9)
    let failed = try bank.fail(page[0])
    try bank.stage(.postpone(failed, dueAt: WallTime(milliseconds: SystemClock.wall().milliseconds + 60)))
    try bank.commit()
    #expect(try bank.reading.audit().delayed == 1)
    try bank.serve([page[1]])
    try bank.requeueAllDue()
    let back = try bank.claim(ConformanceBank.deposits, 9)
    #expect(back == [failed])
    try bank.serve(back)
    #expect(try found(bank).map(\.attempts) == [2, 1])
  }

  /// A customer ordered for later comes when due, also after a crash; and not before.
  func later(_ bank: ConformanceBank) throws {
    let hour = WallTime(milliseconds: SystemClock.wall().milliseconds + 3_600_000)
    try bank.enqueue(ConformanceBank.deposits, [1], dueAt: hour)
    try bank.enqueue(ConformanceBank.deposits, [2])
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [2])
    try bank.crash()
    let found = try #require(try bank.reading.find(1))
    #expect(found.state == .delayed && found.customer.amount == 1)
    #expect(try abs(#require(found.dueAt).milliseconds - hour.milliseconds) < 1_000)
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [2])
  }

  /// A dead letter waits for an operator, and is requeued as new, before later customers.
  func dead(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2, 3])
    let page = try bank.claim(ConformanceBank.deposits, 2)
    for customer in page { try bank.stage(.bury(try bank.fail(customer))) }
    try bank.commit()
    #expect(try bank.reading.attempts(day: 1, ticket: 1).map(\.isFatal) == [true])
    try bank.crash()
    #expect(try bank.reading.find(2)?.state == .dead)
    #expect(try bank.perform(.requeue(2)) == .queue(.done))
    let back = try bank.claim(ConformanceBank.deposits, 9)
    #expect(back.map(\.ticket) == [2, 3])
    #expect(back[0].attempts == 1 && back[0].failures == 0)
    #expect(try bank.reading.audit().dead == 1)
  }

  func deadAtOnce(_ bank: ConformanceBank) throws {
    #expect(try bank.perform(.requeueDead) == .queue(.requeued(0)))
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    try bank.enqueue(ConformanceBank.loans, [3])
    for customer in try bank.claim(ConformanceBank.deposits, 9) + bank.claim(ConformanceBank.loans, 9) {
      try bank.stage(.bury(try bank.fail(customer, .killed)))
    }
    try bank.commit()
    #expect(try bank.perform(.requeueDead) == .queue(.requeued(3)))
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [1, 2])
    #expect(try bank.claim(ConformanceBank.loans, 9).map(\.ticket) == [3])
    #expect(try bank.perform(.requeueDead) == .queue(.requeued(0)))
  }

  // MARK: - Crashes and operators

  /// A change that was staged and not handed over is lost, and its customer waits.
  func staged(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    let page = try bank.claim(ConformanceBank.deposits, 9)
    try bank.serve([page[0]])
    try bank.stage(.finish(page[1], from: .waiting, bank.receipt(for: page[1])))
    try bank.crashWithStaged()
    #expect(try found(bank).map(\.ticket) == [1])
    let again = try bank.claim(ConformanceBank.deposits, 9)
    #expect(again == [page[1]])
    try bank.serve(again)
    #expect(try found(bank).map(\.ticket) == [1, 2])
  }

  /// A claimed customer is first in line when the process died, before all that came meanwhile.
  func handedBack(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2, 3])
    #expect(try bank.claim(ConformanceBank.deposits, 2).count == 2)
    try bank.enqueue(ConformanceBank.deposits, [4])
    try bank.crash()
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket).sorted() == [1, 2, 3, 4])
  }

  /// A cancelled customer has a receipt of that outcome, is in no page, and moves no money; in any state.
  func cancelled(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2, 3, 4])
    let page = try bank.claim(ConformanceBank.deposits, 2)
    try bank.stage(.bury(try bank.fail(page[0])))
    try bank.stage(
      .postpone(
        try bank.fail(page[1]), dueAt: WallTime(milliseconds: SystemClock.wall().milliseconds + 3_600_000)))
    try bank.commit()
    for ticket: TicketNumber in 1...3 { #expect(try bank.perform(.cancel(ticket)) == .queue(.done)) }
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [4])
    let receipts = try found(bank)
    #expect(receipts.map(\.ticket) == [1, 2, 3] && receipts.map(\.attempts) == [1, 1, 0])
    #expect(receipts.allSatisfy { $0.outcome == .cancelled && $0.window == nil && $0.transfer == nil })
    let audit = try bank.reading.audit()
    #expect(audit.cancelled == 3 && audit.waiting == 1 && audit.delayed == 0 && audit.dead == 0)
  }

  /// An impossible request is refused by the state of the customer, and changes nothing.
  func wrongStates(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    #expect(try bank.perform(.requeue(1)) == .queue(.refused(.wrongState(1, .waiting))))
    #expect(try bank.perform(.cancel(77)) == .queue(.refused(.noSuchTicket(77))))
    #expect(try bank.perform(.requeue(77)) == .queue(.refused(.noSuchTicket(77))))
    try bank.serve(try bank.claim(ConformanceBank.deposits, 1))
    #expect(try bank.perform(.cancel(1)) == .queue(.refused(.wrongState(1, .done))))
    #expect(try bank.perform(.requeue(1)) == .queue(.refused(.wrongState(1, .done))))
    #expect(try bank.perform(.cancel(2)) == .queue(.done))
    #expect(try bank.perform(.cancel(2)) == .queue(.refused(.wrongState(2, .done))))
  }

  // MARK: - Days

  /// The next day starts with ticket 1 and no customer in line; the former is stored with its keys.
  func nextDay(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2], key: "k")
    try bank.serve(try bank.claim(ConformanceBank.deposits, 9))
    try bank.endDay()
    #expect(bank.day == 2)
    let first = IssuedTickets(day: 2, first: 1, last: 3)
    #expect(try bank.enqueue(ConformanceBank.deposits, [3, 4, 5]) == .issued(first, known: []))
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [1, 2], key: "k")
        == .issued(nil, known: [IssuedTickets(day: 1, first: 1, last: 2)]))
    let page = try bank.claim(ConformanceBank.deposits, 9)
    #expect(page.map(\.amount) == [3, 4, 5])
    try bank.serve(Array(page.prefix(1)))
    #expect(try found(bank, day: 1).map(\.amount) == [1, 2] && found(bank, day: 2).map(\.amount) == [3])
    #expect(try bank.reading.audit().issued == 5)
  }

  /// With a customer left it does not end: the same day continues, and accepts customers.
  func dayContinues(_ bank: ConformanceBank) throws {
    try bank.enqueue(ConformanceBank.deposits, [1, 2])
    try bank.serve(try bank.claim(ConformanceBank.deposits, 1))
    try bank.endDay()
    #expect(bank.day == 1)
    #expect(
      try bank.enqueue(ConformanceBank.deposits, [3])
        == .issued(IssuedTickets(day: 1, first: 3, last: 3), known: [])
    )
    #expect(try bank.claim(ConformanceBank.deposits, 9).map(\.ticket) == [2, 3])
  }

  /// The counts match the rows after every step, as the audit counts them.
  func deltas(_ bank: ConformanceBank) throws {
    func expect(_ waiting: Int64, _ delayed: Int64, _ dead: Int64, _ served: Int64, _ cancelled: Int64) throws
    {
      let audit = try bank.reading.audit()
      #expect(
        [audit.waiting, audit.delayed, audit.dead, audit.served, audit.cancelled]
          == [waiting, delayed, dead, served, cancelled])
      #expect(audit.problems == [] && audit.lost == 0 && audit.duplicated == 0 && audit.ledgerDifference == 0)
    }
    try bank.enqueue(ConformanceBank.deposits, [1, 2, 3, 4])
    try bank.enqueue(ConformanceBank.loans, [5])
    try expect(5, 0, 0, 0, 0)
    let page = try bank.claim(ConformanceBank.deposits, 9)
    // Several changes of one transaction are counted by their sum.
    try bank.stage(.update(try bank.fail(page[0])))
    try bank.stage(.finish(page[1], from: .waiting, bank.receipt(for: page[1])))
    try bank.stage(
      .postpone(
        try bank.fail(page[2]), dueAt: WallTime(milliseconds: SystemClock.wall().milliseconds + 3_600_000)))
    try bank.stage(.bury(try bank.fail(page[3])))
    try bank.commit()
    try expect(2, 1, 1, 1, 0)
    #expect(try bank.perform(.requeue(4)) == .queue(.done))
    #expect(try bank.perform(.cancel(3)) == .queue(.done))
    try expect(3, 0, 0, 1, 1)
    try bank.crash()
    try bank.serve(try bank.claim(ConformanceBank.deposits, 9) + bank.claim(ConformanceBank.loans, 9))
    try expect(0, 0, 0, 4, 1)
  }
}
