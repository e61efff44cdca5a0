// Newcomers that are ordered for later: customers whose tickets are not on disk yet.
// Invariant: customers up to `horizon` are in `earliest`; if `horizon` is nil, `earliest` contains all of them.

import BankModel

struct DelayedNewcomers: Sendable {
  /// Number of newcomers, including those after ``horizon``.
  private(set) var count: Int64 = 0
  /// The first newcomers by due time.
  private(set) var earliest: [DelayedCustomer] = []
  /// Position up to which ``earliest`` is complete; nil if it contains all newcomers.
  private(set) var horizon: DuePosition?
  /// Number of newcomers by service.
  private(set) var tally = CountsByService()
  /// Maximum number of customers in ``earliest``; temporarily twice as many.
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Number of customers that are counted and not in ``earliest``.
  var unseen: Int64 { count - Int64(earliest.count) }

  mutating func add(_ customer: DelayedCustomer) {
    tally.add(of: customer.customer.service)
    insertInOrder(customer)
  }

  /// Counts a newcomer, and keeps the customer if it is not after ``horizon``.
  private mutating func insertInOrder(_ customer: DelayedCustomer) {
    count += 1
    if let horizon, horizon < customer.place { return }
    earliest.append(customer)
    if earliest.count > 2 * capacity { cut() }
  }

  /// Adds the newcomers of another collection; its horizon limits this collection too.
  mutating func add(_ others: DelayedNewcomers) {
    tally.add(others.tally)
    for customer in others.earliest { insertInOrder(customer) }
    count += others.unseen
    guard let last = others.horizon, last < horizon ?? .last else { return }
    horizon = last
    earliest.removeAll { last < $0.place }
  }

  /// Keeps the first ``capacity`` newcomers by due time, and moves ``horizon`` to the last of them.
  private mutating func cut() {
    earliest.sort { $0.place < $1.place }
    earliest.removeSubrange(capacity...)
    horizon = earliest[capacity - 1].place
  }
}
