// Owns one judgement of the audit: whether the vending machine's purchases and the stock's orders tell the same story.
// Both are asked, and whoever holds this decides when; it knows no socket and no file.
// Every drink that was paid for has left the stock, and none left it that was not, beyond those of purchases under way.
// The machine is asked before and after the stock, because both go on while they are asked; a purchase that began and was
// taken back between is in neither answer, so what differs is looked at again before it is a finding.
// Invariant: memory grows with a page, never with the machine's history.

import BankModel
import VendingCore
import Wire

/// Compares what a machine has sold with what the stock remembers of its orders.
struct VendingReckoning {
  /// What is to be asked next.
  enum Question: Equatable {
    /// The machine's own audit.
    case machine
    /// The stock's orders.
    case stock(StockCommand)
  }

  private enum Stage: Equatable {
    case before
    case orders(after: OrderID)
    case after
    case end
  }

  /// As many looks that differ are a finding. What really is missing is missing in each of them.
  private static let looks = 3

  private var stage = Stage.before
  private var look = 1
  private var before: VendingAuditReport?
  private var taken: Int64 = 0
  private var difference: Int64 = 0
  private var problems: [Remark] = []
  private var isIncomplete = false

  /// What is to be asked next; nil at the end.
  var question: Question? {
    switch stage {
    case .before, .after: .machine
    case .orders(let after): .stock(.orders(after: after, limit: StockLimits.ordersPerPage))
    case .end: nil
    }
  }

  /// Hears the machine's own audit.
  mutating func hear(_ report: VendingAuditReport) {
    guard let before else { return askForOrders(since: report) }
    let most = report.purchases &+ report.unfinished
    let differs = taken < before.purchases || taken > most
    if differs, look < Self.looks {
      look += 1
      return askForOrders(since: report)
    }
    difference = report.difference
    problems += report.told.map { $0.of(.machine) }
    if differs {
      difference &+= taken < before.purchases ? before.purchases &- taken : taken &- most
      problems.append(Remark(.drinksDiffer, taken, report.purchases))
    }
    stage = .end
  }

  private mutating func askForOrders(since report: VendingAuditReport) {
    before = report
    taken = 0
    stage = .orders(after: OrderID(Self.beginning(report.machine)))
  }

  /// Hears the stock's orders.
  mutating func hear(_ result: StockResult) {
    guard case .orders(let page) = result, let machine = before?.machine else {
      return fail(Remark(.strangeAnswer))
    }
    let own = page.filter { $0.id.text.hasPrefix(Self.beginning(machine)) }
    taken += Int64(own.count { $0.state == .done })
    stage = if let last = page.last, own.count == page.count { .orders(after: last.id) } else { .after }
  }

  /// One of them cannot be asked any more.
  mutating func fail(_ reason: Remark) {
    guard stage != .end else { return }
    problems.append(reason.of(.unauditedMachine))
    isIncomplete = true
    stage = .end
  }

  /// Adds what was found to a report.
  func complete(_ report: inout AuditReport) {
    report.moneyDifference = isIncomplete ? nil : difference
    for problem in problems { report.add(problem) }
  }

  /// What the names of all orders of a machine begin with.
  private static func beginning(_ machine: Int64) -> String {
    VendingStateMachine.beginningOfOrders(of: machine)
  }
}
