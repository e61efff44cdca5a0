// Owns how delayed customers come back to their lines: those who failed after a pause, and those who ordered for later at
// their moment, each at the place of its number. Who is where stands in `DelayedCustomers`.

import BankModel
import Time

extension QueueMachine {
  /// Delayed customers who are called in one stroke. Ten million may be due in one moment, and others want to be heard.
  static let calledAtOnce = 1_024

  /// Calls those who are due, as many as may be called at once.
  ///
  /// - Returns: whether there was anybody.
  mutating func callDue(at now: Moment, into effects: inout [QueueEffect]) -> Bool {
    var called = 0
    while called < Self.calledAtOnce, unsettled.count < policy.maxUnsettled,
      let customer = delayed.takeDue(at: now)
    {
      bringBack(customer, from: .delayed, into: &effects)
      called += 1
    }
    return called > 0
  }

  /// Has the next page read where few are left in memory.
  mutating func askForDelayed(into effects: inout [QueueEffect]) {
    let wanted = delayed.nextPage(lowWater: policy.delayedLowWater)
    if wanted > 0 { effects.append(.loadDelayed(after: delayed.horizon, limit: wanted)) }
  }

  mutating func join(_ page: [DelayedCustomer], at now: Moment) {
    let issued = issuedCount
    delayed.append(page: page, at: now, limit: { [policy] in policy[$0.index].longestPause }) { $0 > issued }
  }

  /// Somebody with a new ticket has ordered for later, and that is still to come; nil where the customer waits at once.
  func dueAt(of order: CustomerOrder, at now: Moment) -> WallTime? {
    order.dueAt.flatMap { $0 > now.wall ? $0 : nil }
  }
}
