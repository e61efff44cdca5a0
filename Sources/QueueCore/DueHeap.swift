// Binary heap of customers by due time, then by number.
// Invariant: no customer is due before its parent.

import BankModel

struct DueHeap<Moment: Comparable & Sendable>: Sendable {
  /// A delayed customer with its due time by the clock of the heap.
  struct Entry: Sendable {
    var customer: DelayedCustomer
    var due: Moment
  }

  /// Entries in heap order: the children of entry `i` are `2 * i + 1` and `2 * i + 2`.
  private(set) var entries: [Entry] = []

  /// Entry of the customer that is due first; nil if the heap is empty.
  var first: Entry? { entries.first }

  mutating func insert(_ customer: DelayedCustomer, due: Moment) {
    entries.append(Entry(customer: customer, due: due))
    rise(from: entries.count - 1)
  }

  /// Removes and returns the customer that is due first; nil if the heap is empty.
  mutating func takeFirst() -> Customer? { entries.isEmpty ? nil : remove(at: 0) }

  /// Removes and returns a customer; nil if the heap does not contain the ticket.
  mutating func remove(_ ticket: TicketNumber) -> Customer? {
    entries.firstIndex { $0.customer.customer.ticket == ticket }.map { remove(at: $0) }
  }

  /// Removes all customers and returns them in any order.
  mutating func takeAll() -> [Entry] {
    defer { entries.removeAll(keepingCapacity: true) }
    return entries
  }

  /// Removes and returns the customer of one entry, and restores the heap order.
  private mutating func remove(at place: Int) -> Customer {
    let customer = entries[place].customer.customer
    entries.swapAt(place, entries.count - 1)
    entries.removeLast()
    // The last entry was moved here; it may belong closer to the root or farther from the root.
    if place < entries.count { sink(from: rise(from: place)) }
    return customer
  }

  /// Moves an entry towards the root until its parent comes before it. Returns its new index.
  @discardableResult
  private mutating func rise(from place: Int) -> Int {
    var child = place
    while child > 0, comesBefore(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
    return child
  }

  /// Moves an entry away from the root until no child comes before it.
  private mutating func sink(from place: Int) {
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

  /// True if the first entry is due before the second; at equal times, if its number is lower.
  private func comesBefore(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (entries[left], entries[right])
    return first.due == second.due
      ? first.customer.customer.ticket < second.customer.customer.ticket : first.due < second.due
  }
}
