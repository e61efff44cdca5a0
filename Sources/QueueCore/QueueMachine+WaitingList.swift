// Data of a snapshot of the whole queue: first waiting customers over all lines, assigned customers, and the number
// of waiting customers per priority.
// Invariants: the cost does not depend on the number of waiting customers. Only customers whose tickets are on disk
// appear.

import BankModel
import Time

extension QueueMachine {
  /// The part of a line that is only in the store.
  public struct UnloadedRange: Sendable, Hashable {
    /// Index of the line.
    public var place: Int
    /// The line itself.
    public var line: Line
    /// The part starts after this number.
    public var after: TicketNumber
    /// Number of customers in this part, without assigned customers.
    public var count: Int64
    /// Version of the part. While the day and all fields except ``count`` are unchanged, the part has changed only by
    /// newcomers that were added at its end.
    public var version: UInt32
  }

  /// The first waiting customers over all lines, by number.
  ///
  /// - Parameters:
  ///   - limit: maximum number of customers.
  ///   - read: returns numbers after the given one that are only in the store, in order. It returns at least one number
  ///     if there is any, and no number that is assigned or not on disk.
  public func firstWaiting(
    limit: Int, reading read: (UnloadedRange, _ after: TicketNumber) -> [TicketNumber]
  ) -> [(ticket: TicketNumber, line: Line)] {
    var places: [Int] = []
    for place in lines.indices where lines[place].count > 0 { places.append(place) }
    return withoutActuallyEscaping(read) { read in
      var rows: [TicketIterator] = []
      for place in places { rows.append(numbers(ofLineAt: place, reading: read)) }
      return firstNumbers(of: rows, limit: limit).map {
        ($0.ticket, dayCounters.waiting.lines[places[$0.line]])
      }
    }
  }

  /// Iterator over the ticket numbers of the waiting customers of one line: those in memory, then those that `read`
  /// returns.
  private func numbers(
    ofLineAt place: Int, reading read: @escaping (UnloadedRange, TicketNumber) -> [TicketNumber]
  ) -> TicketIterator {
    let waiting = lines[place]
    var front = waiting.front.makeIterator()
    let unloaded = UnloadedRange(
      place: place, line: dayCounters.waiting.lines[place], after: waiting.cursor, count: waiting.unloaded,
      version: waiting.version)
    var page: ArraySlice<TicketNumber> = []
    var last = waiting.cursor
    var mayContinue = waiting.unloaded > 0
    return {
      if let customer = front.next() { return customer.ticket }
      if page.isEmpty, mayContinue {
        page = read(unloaded, last)[...]
        mayContinue = !page.isEmpty
        last = page.last ?? last
      }
      return page.popFirst()
    }
  }

  /// Number of waiting customers of a service by priority, in the order of service, including those only in the store.
  public func waitingByPriority(of service: Service) -> [(priority: Priority, count: Int64)] {
    dayCounters.waiting.places(of: service).compactMap { place in
      lines[place].count > 0 ? (dayCounters.waiting.lines[place].priority, lines[place].count) : nil
    }
  }

  /// Assigned customers, by window, at most `limit`; see ``servingCustomers``.
  public func atWindows(limit: Int) -> [ServingCustomer] {
    var found: [ServingCustomer] = []
    for places in windows {
      for windowState in places where found.count < limit {
        guard windowState.isServing, let customer = windowState.customer else { continue }
        let hand =
          [WindowState.PrefetchedCustomer(customer: customer, at: windowState.startedAt)]
          + windowState.prefetched
        for next in hand.prefix(limit - found.count) {
          found.append(
            (windowState.window, windowState.generation, windowState.pid, next.customer, next.at.wall))
        }
      }
    }
    return found
  }

  /// Tickets of the customers at a window, at most `limit`, and the time at which the current customer, which is the
  /// first ticket, was assigned; nil if the window has no customer or `limit` is 0.
  public func hand(
    at window: Window, limit: Int
  ) -> (tickets: [TicketNumber], since: WallTime)? {
    guard let (service, place) = locate(window) else { return nil }
    let windowState = windows[service][place]
    guard windowState.isServing, let customer = windowState.customer, limit > 0 else { return nil }
    let tickets = [customer.ticket] + windowState.prefetched.prefix(limit - 1).map(\.customer.ticket)
    return (tickets, windowState.startedAt.wall)
  }
}
