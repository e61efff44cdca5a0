// Newcomers that are ordered for later: customers whose tickets are not on disk yet. The type stores their number,
// and the first customers by due time.
// Invariant: all customers up to `horizon` are in `earliest`; if `horizon` is nil, `earliest` contains all customers.

import BankModel

/// Number of the delayed customers that are not on disk yet, and the first of them by due time.
struct DelayedNewcomers: Sendable {
  private(set) var count: Int64 = 0
  private(set) var earliest: [DelayedCustomer] = []
  private(set) var horizon: DuePosition?
  private(set) var tally = CountsByService()
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Number of customers that are counted and not in ``earliest``.
  var unseen: Int64 { count - Int64(earliest.count) }

  mutating func add(_ customer: DelayedCustomer) {
    tally.add(of: customer.customer.service)
    insertInOrder(customer)
  }

  private mutating func insertInOrder(_ customer: DelayedCustomer) {
    count += 1
    if let horizon, horizon < customer.place { return }
    earliest.append(customer)
    if earliest.count > 2 * capacity { cut() }
  }

  mutating func add(_ others: DelayedNewcomers) {
    tally.add(others.tally)
    for customer in others.earliest { insertInOrder(customer) }
    count += others.unseen
    guard let last = others.horizon, last < horizon ?? .last else { return }
    horizon = last
    earliest.removeAll { last < $0.place }
  }

  private mutating func cut() {
    earliest.sort { $0.place < $1.place }
    earliest.removeSubrange(capacity...)
    horizon = earliest[capacity - 1].place
  }
}
