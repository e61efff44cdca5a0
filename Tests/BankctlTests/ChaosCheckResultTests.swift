// The check of the checker: one flaw at a time is planted into clean evidence, and exactly that one must be
// found.
import BankModel
import Testing
import Time
import Wire

@testable import BankctlCommands
@testable import bank_chaos

@Suite("The account of a chaos run")
struct ChaosCheckResultTests {
  /// Six deposits of one line in two orders, one after the other, and a loan.
  private func clean() -> ChaosCheckResult.Evidence {
    var evidence = ChaosCheckResult.Evidence()
    let orders = [
      ChaosOrder(key: "a", count: 3, service: .deposit, priority: .regular, amount: 1_000, account: 7),
      ChaosOrder(key: "b", count: 3, service: .deposit, priority: .regular, amount: 500, account: 8),
      ChaosOrder(key: "c", count: 1, service: .loan, priority: .vip, amount: 9_000, account: 9),
    ]
    var number: Int64 = 1
    for order in orders {
      evidence.ledger.ask(order)
      let promise = AcknowledgedTickets(day: 1, first: number, last: number + order.count - 1)
      evidence.ledger.acknowledge(key: order.key, promise)
      evidence.ledger.acknowledge(key: order.key, promise)
      for ticket in promise.first...promise.last {
        evidence.receipts.append(paper(order, ticket, at: ticket * 10))
      }
      number += order.count
    }
    evidence.windows = [.deposit: 2, .loan: 1]
    return evidence
  }

  private func paper(
    _ order: ChaosOrder, _ ticket: Int64, at start: Int64, attempts: Int32 = 1, outcome: Outcome = .served
  ) -> ReceiptReport {
    ReceiptReport(
      Receipt(
        sequence: ticket, day: 1, ticket: ticket, service: Self.service(of: order), priority: order.priority,
        outcome: outcome,
        window: Window(service: Self.service(of: order), place: 1), generation: 1, pid: 5, attempts: attempts,
        amount: order.amount, account: order.account, issuedAt: WallTime(milliseconds: 1),
        startedAt: WallTime(milliseconds: start), finishedAt: WallTime(milliseconds: start + 5)),
      ServiceDirectory())
  }

  private static func service(of order: ChaosOrder) -> Service { order.service == .loan ? .loan : .deposit }

  @Test("clean evidence has no violation, and a promise repeated counts once")
  func nothing() {
    let account = ChaosCheckResult(clean())
    #expect(account.isClean, "\(account.violations)")
    #expect(account.acknowledged == 7 && account.receipts == 7)
  }

  @Test("a promised ticket without a receipt is lost, and its money is missing")
  func lost() {
    var evidence = clean()
    evidence.receipts.remove(at: 1)
    let account = ChaosCheckResult(evidence)
    #expect(account.lost == 1 && account.moneyDifference == 1_000 && account.duplicated == 0)
    #expect(account.violations.contains(.lost(ChaosTicket(day: 1, number: 2))))
    #expect(account.violations.contains(.money(.deposit, difference: -1_000)))
  }

  @Test("a ticket with two receipts is a duplicate, and its money is there twice")
  func twice() {
    var evidence = clean()
    evidence.receipts.append(evidence.receipts[4])
    let account = ChaosCheckResult(evidence)
    #expect(account.duplicated == 1 && account.moneyDifference == 500 && account.lost == 0)
    #expect(account.violations.contains(.servedAgain(ChaosTicket(day: 1, number: 5), receipts: 2)))
  }

  @Test("a key with two sets of tickets is a duplicate")
  func twoPromises() {
    var evidence = clean()
    evidence.ledger.acknowledge(key: "a", AcknowledgedTickets(day: 1, first: 20, last: 22))
    let account = ChaosCheckResult(evidence)
    #expect(account.duplicated == 1)
    #expect(account.violations == [.keyAnsweredDifferently(key: "a")])
  }

  @Test("a ticket promised to two keys, and a promise of the wrong size, are found")
  func badPromises() {
    for promise in [
      AcknowledgedTickets(day: 1, first: 7, last: 7), AcknowledgedTickets(day: 1, first: 8, last: 9),
    ] {
      var evidence = clean()
      evidence.ledger.ask(
        ChaosOrder(key: "d", count: 1, service: .loan, priority: .vip, amount: 9_000, account: 9))
      evidence.ledger.acknowledge(key: "d", promise)
      #expect(ChaosCheckResult(evidence).violations.contains(.invalidAnswer(key: "d")))
    }
  }

  @Test("a receipt that was not requested, as of half a frame, is found")
  func uninvited() {
    var evidence = clean()
    evidence.receipts.append(paper(evidence.ledger.orders[2], 8, at: 100))
    let account = ChaosCheckResult(evidence)
    #expect(account.duplicated == 1 && account.moneyDifference == 9_000)
    #expect(account.violations.contains(.notRequested(ChaosTicket(day: 1, number: 8))))
  }

  @Test("an order that was never answered is found")
  func unanswered() {
    var evidence = clean()
    evidence.ledger.ask(ChaosOrder(key: "d", count: 1, service: .loan, priority: .vip, amount: 1, account: 9))
    #expect(ChaosCheckResult(evidence).violations == [.unanswered(key: "d")])
  }

  @Test("an overtaken customer is an order violation, also if the coordinator died at another time")
  func overtaken() {
    var evidence = clean()
    evidence.receipts[1] = paper(evidence.ledger.orders[0], 2, at: 35)
    let found = ChaosViolation.overtaken(ChaosTicket(day: 1, number: 2), by: ChaosTicket(day: 1, number: 3))
    #expect(ChaosCheckResult(evidence).violations == [found])
    #expect(ChaosCheckResult(evidence).orderViolations == 1)
    evidence.killTimes = [10...20, 40...45]
    #expect(ChaosCheckResult(evidence).violations == [found])
  }

  @Test("a coordinator's death between the two starts explains it, for one customer a window")
  func overtakenByCrash() {
    var evidence = clean()
    evidence.receipts[1] = paper(evidence.ledger.orders[0], 2, at: 35)
    evidence.killTimes = [31...33]
    #expect(ChaosCheckResult(evidence).isClean)
    #expect(ChaosCheckResult(evidence).overtakenByCrash == 1)
    for index in 0...2 {
      evidence.receipts[index] = paper(evidence.ledger.orders[0], Int64(index) + 1, at: 62 + Int64(index))
    }
    evidence.killTimes = [61...61]
    let account = ChaosCheckResult(evidence)
    #expect(account.violations == [.tooManyOvertaken(.deposit, count: 3, explained: 2)])
    #expect(account.orderViolations == 1)
  }

  @Test("another attempt explains a late start of the same customer, and of no other")
  func attempts() {
    var evidence = clean()
    evidence.receipts[1] = paper(evidence.ledger.orders[0], 2, at: 35, attempts: 2)
    #expect(ChaosCheckResult(evidence).isClean)
    #expect(ChaosCheckResult(evidence).reserved == 1)
    evidence.receipts[1] = paper(evidence.ledger.orders[0], 2, at: 35)
    evidence.receipts[2] = paper(evidence.ledger.orders[0], 3, at: 30, attempts: 2)
    #expect(ChaosCheckResult(evidence).orderViolations == 1)
  }

  @Test("other lines have an order of their own")
  func otherLines() {
    var evidence = clean()
    evidence.receipts[6] = paper(evidence.ledger.orders[2], 7, at: 1)
    #expect(ChaosCheckResult(evidence).isClean)
  }

  @Test("a wrong amount, account or outcome is found, even if the sums are right")
  func wrongReceipts() {
    var evidence = clean()
    evidence.receipts[0].amount = 900
    evidence.receipts[1].amount = 1_100
    #expect(ChaosCheckResult(evidence).moneyDifference == 0)
    #expect(ChaosCheckResult(evidence).violations.count == 2)
    evidence = clean()
    evidence.receipts[0].credit = "customer-8"
    #expect(ChaosCheckResult(evidence).violations == [.wrongReceipt(ChaosTicket(day: 1, number: 1))])
    evidence = clean()
    evidence.receipts[6] = paper(evidence.ledger.orders[2], 7, at: 70, outcome: .cancelled)
    let account = ChaosCheckResult(evidence)
    #expect(account.moneyDifference == 9_000)
    #expect(account.violations.contains(.wrongReceipt(ChaosTicket(day: 1, number: 7))))
  }

  @Test("orphans, a bank that did not come back and findings of the bank's own audit are violations")
  func others() {
    var evidence = clean()
    evidence.orphans = [(pid: 42, name: "deposit-1")]
    #expect(ChaosCheckResult(evidence).orphans == 1)
    evidence.recovered = false
    evidence.latePages = 2
    evidence.audit = ["ticket 3 is stored more than once"]
    #expect(
      ChaosCheckResult(evidence).violations == [
        .orphan(pid: 42, name: "deposit-1"), .notRecovered, .page(2),
        .audit("ticket 3 is stored more than once"),
      ])
  }
}
