// Owns the customers who wait for the moment of their next attempt: a binary heap by that moment.
// It knows no clock. Invariant: no child is due before its parent.

import BankModel
import Time

struct DelayedCustomers: Sendable {
  struct Entry: Sendable {
    var customer: Customer
    var due: MonotonicTime
    var dueAt: WallTime
  }

  private(set) var entries: [Entry] = []

  var count: Int { entries.count }
  var nextDue: MonotonicTime? { entries.first?.due }

  mutating func insert(_ customer: Customer, due: MonotonicTime, dueAt: WallTime) {
    entries.append(Entry(customer: customer, due: due, dueAt: dueAt))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard comesBefore(child, parent) else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func takeDue(at now: MonotonicTime) -> Customer? {
    guard let first = entries.first, first.due <= now else { return nil }
    remove(at: 0)
    return first.customer
  }

  mutating func remove(_ ticket: TicketNumber) -> Customer? {
    guard let place = entries.firstIndex(where: { $0.customer.ticket == ticket }) else { return nil }
    let customer = entries[place].customer
    remove(at: place)
    return customer
  }

  mutating func clear() { entries.removeAll() }

  private mutating func remove(at place: Int) {
    entries.swapAt(place, entries.count - 1)
    entries.removeLast()
    guard place < entries.count else { return }
    // The last entry took the place; it may belong nearer to the root or farther from it.
    var child = place
    while child > 0, comesBefore(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    var parent = place
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && comesBefore(child, least) {
        least = child
      }
      guard least != parent else { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }

  /// By moment, then by number, so that customers of one moment come back in order.
  private func comesBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (entries[left], entries[right])
    return first.due == second.due ? first.customer.ticket < second.customer.ticket : first.due < second.due
  }
}
