// Owns those who have ordered for later and whose tickets are not on disk yet: how many they are, and who is due first of
// them. Invariant: all of them who are due at `horizon` or before it are in `earliest`; nil means that all of them are.

import BankModel

struct DelayedNewcomers: Sendable {
  private(set) var count: Int64 = 0
  private(set) var earliest: [DelayedCustomer] = []
  private(set) var horizon: DuePlace?
  private(set) var tally = ServiceTally()
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Those of whom only the number is known.
  var unseen: Int64 { count - Int64(earliest.count) }

  mutating func add(_ customer: DelayedCustomer) {
    tally.add(of: customer.customer.service)
    hold(customer)
  }

  private mutating func hold(_ customer: DelayedCustomer) {
    count += 1
    if let horizon, horizon < customer.place { return }
    earliest.append(customer)
    if earliest.count > 2 * capacity { cut() }
  }

  mutating func add(_ others: DelayedNewcomers) {
    tally.add(others.tally)
    for customer in others.earliest { hold(customer) }
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
