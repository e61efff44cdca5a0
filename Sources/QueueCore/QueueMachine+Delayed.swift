// Return of delayed customers to their lines, each at the position of its number: failed customers after a pause, other
// delayed customers at the time for which they were ordered.

import BankModel
import Time

extension QueueMachine {
  /// Maximum number of delayed customers that return in one event. Very many may be due at the same moment, and other
  /// events must be handled in between.
  static let dueBatchSize = 1_024

  /// Returns due customers to their lines, at most ``dueBatchSize``. Returns true if any customer returned.
  mutating func returnDue(at now: Moment, into effects: inout [QueueEffect]) -> Bool {
    var called = 0
    while called < Self.dueBatchSize, uncommitted.count < policy.maxUncommitted,
      let customer = delayed.takeDue(at: now)
    {
      restoreToLine(customer, from: .delayed, into: &effects)
      called += 1
    }
    return called > 0
  }

  /// Requests the next page if few delayed customers are left in memory.
  mutating func requestDelayedPage(into effects: inout [QueueEffect]) {
    let wanted = delayed.nextPage(lowWater: policy.delayedLowWater)
    if wanted > 0 { effects.append(.loadDelayed(after: delayed.horizon, limit: wanted)) }
  }

  mutating func addPage(_ page: [DelayedCustomer], at now: Moment) {
    let issued = issuedCount
    delayed.append(page: page, at: now, limit: { [policy] in policy[$0.index].longestPause }) { $0 > issued }
  }

  /// Due time of a new customer that was ordered for later; nil if the time has passed or none was given.
  func dueAt(of order: CustomerOrder, at now: Moment) -> WallTime? {
    order.dueAt.flatMap { $0 > now.wall ? $0 : nil }
  }
}
