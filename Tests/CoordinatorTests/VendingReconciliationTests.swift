// The audit's comparison of the vending machine's purchases with the stock's orders, while both change.

import BankModel
import QueueCore
import StockCore
import Testing
import VendingCore
import Wire

@testable import Coordinator

@Suite("Purchases compared with orders")
struct VendingReconciliationTests {
  private static let machine: Int64 = 7

  private enum Answer {
    case machine(VendingAuditReport)
    case stock(StockResult)
  }

  private func machine(_ purchases: Int64, unfinished: Int64 = 0) -> Answer {
    .machine(
      VendingAuditReport(
        changes: purchases, account: MoneyAccount(), purchases: purchases, unfinished: unfinished,
        difference: 0,
        problems: [], machine: Self.machine))
  }

  /// One page with this number of drinks that the machine has taken.
  private func taken(_ count: Int) -> Answer {
    let beginning = VendingStateMachine.beginningOfOrders(of: Self.machine)
    let taken = (0..<count).map { OrderRecord(id: OrderID(beginning + "\($0)"), content: "", state: .done) }
    // An order of another owner follows: there is no further page.
    return .stock(.orders(taken + [OrderRecord(id: OrderID("x"), content: "", state: .done)]))
  }

  /// Findings if the machine and the stock answer in turn like this; the machine has the last answer.
  private func judge(_ answers: Answer..., in reconciliation: VendingReconciliation = VendingReconciliation())
    -> AuditReport
  {
    var reconciliation = reconciliation
    for answer in answers {
      switch (reconciliation.question, answer) {
      case (.machine, .machine(let report)): reconciliation.handle(report)
      case (.stock, .stock(let result)): reconciliation.handle(result)
      default: Issue.record("asked \(String(describing: reconciliation.question)) and received \(answer)")
      }
    }
    #expect(reconciliation.question == nil)
    var report = AuditReport(StoreAudit())
    reconciliation.complete(&report)
    return report
  }

  @Test("drinks that are taken while both are asked are not a finding")
  func underWay() {
    #expect(judge(machine(3), taken(5), machine(5)).problems == [])
    #expect(judge(machine(3), taken(4), machine(3, unfinished: 1)).problems == [])
  }

  @Test("an order started and taken back between two answers of the machine is not a finding")
  func takenBack() {
    let report = judge(machine(3), taken(4), machine(3), taken(3), machine(3))
    #expect(report.problems == [])
    #expect(report.moneyDifference == 0)
  }

  @Test("what is missing in three looks is a finding, and is reported once", arguments: [2, 4])
  func missing(drinks: Int) {
    let report = judge(
      machine(3), taken(drinks), machine(3), taken(drinks), machine(3), taken(drinks), machine(3))
    #expect(report.problems.count == 1)
    #expect(report.moneyDifference == 1)
  }

  @Test("if nothing changes meanwhile one look is enough")
  func oneLook() {
    let report = judge(machine(3), taken(4), machine(3), in: VendingReconciliation(checks: 1))
    #expect(report.problems.count == 1)
  }
}
