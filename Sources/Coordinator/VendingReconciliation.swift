// Audit of the vending machine's purchases against the stock's orders. The caller queries both services. The audit
// compares the numbers of drinks that were paid and that the stock has given. The machine is queried before and after
// the stock, because both continue to work. A purchase that was started and cancelled in between is in neither answer,
// so a difference is checked again before it is a finding.
// Invariant: the memory in use depends on the size of a part of the orders, not on their number.

import BankModel
import VendingCore
import Wire

struct VendingReconciliation {
  enum Query: Equatable {
    case machine
    case stock(StockCommand)
  }

  /// What is requested next: the machine's report, a part of the stock's orders, or nothing more.
  private enum Stage: Equatable {
    case before, after, end
    case orders(after: OrderID)
  }

  /// Number of checks that must find a difference before it is reported. A real difference appears in all of
  /// them.
  private let checks: Int
  private var stage = Stage.before
  private var check = 1
  /// Report of the machine from before the orders were queried; nil before the first report.
  private var before: VendingAuditReport?
  /// Number of drinks that the stock has recorded as taken for the machine.
  private var taken: Int64 = 0
  private var difference: Int64 = 0
  private var problems: [MessageDetail] = []
  private var isIncomplete = false

  /// - Parameter checks: Number of checks; 1 if no service is running, so that nothing changes meanwhile.
  init(checks: Int = 3) { self.checks = checks }

  /// Next query; nil at the end of the audit.
  var question: Query? {
    switch stage {
    case .before, .after: .machine
    case .orders(let after): .stock(.orders(after: after, limit: StockLimits.ordersPerPage))
    case .end: nil
    }
  }

  /// Compares a report of the machine with the orders of the stock, or starts the first comparison.
  mutating func handle(_ report: VendingAuditReport) {
    guard let before else { return requestOrders(since: report) }
    let most = report.purchases &+ report.unfinished
    let differs = taken < before.purchases || taken > most
    if differs, check < checks {
      check += 1
      return requestOrders(since: report)
    }
    difference = report.difference
    problems += report.findings.map { $0.of(.machine) }
    if differs {
      difference &+= taken < before.purchases ? before.purchases &- taken : taken &- most
      problems.append(MessageDetail(.drinksDiffer, taken, report.purchases))
    }
    stage = .end
  }

  /// Starts another query of the machine's orders at the stock, part by part.
  private mutating func requestOrders(since report: VendingAuditReport) {
    before = report
    taken = 0
    stage = .orders(after: OrderID(VendingStateMachine.beginningOfOrders(of: report.machine)))
  }

  /// Counts a part of the stock's orders.
  mutating func handle(_ result: StockResult) {
    guard case .orders(let page) = result, let machine = before?.machine else {
      return fail(MessageDetail(.unexpectedReply))
    }
    let beginning = VendingStateMachine.beginningOfOrders(of: machine)
    let own = page.filter { $0.id.text.hasPrefix(beginning) }
    taken += Int64(own.count { $0.state == .done })
    stage = if let last = page.last, own.count == page.count { .orders(after: last.id) } else { .after }
  }

  /// Ends the audit with a finding, because a service could not be queried.
  mutating func fail(_ reason: MessageDetail) {
    guard stage != .end else { return }
    problems.append(reason.of(.unauditedMachine))
    isIncomplete = true
    stage = .end
  }

  /// Adds the findings to a report.
  func complete(_ report: inout AuditReport) {
    report.moneyDifference = isIncomplete ? nil : difference
    report.add(problems)
  }
}
