// Owns what a picture of the whole queue is made of: who waits first, over all lines, who is at the windows, and how many of
// each priority wait. It knows nobody who looks. Invariant: whatever it costs is bounded by what is asked for and by the
// number of lines and windows, and never by the number of those who wait; and only those are named whose tickets are on disk.

import BankModel
import Time

extension QueueMachine {
  /// The part of a line that stands in the store alone.
  public struct BeyondMemory: Sendable, Hashable {
    /// The place of the line.
    public var place: Int
    /// Which line that is.
    public var line: Line
    /// Behind this number.
    public var after: TicketNumber
    /// So many, beside those who are at a window.
    public var count: Int64
    /// While this and the others stay, and the day, nobody else is there but newcomers, who come at the end.
    public var version: UInt32
  }

  /// The first who wait in the order of their numbers, over all lines.
  ///
  /// - Parameters:
  ///   - limit: how many at most.
  ///   - read: the numbers behind one of those who stand in the store alone, in order: at least one where there is any, and none
  ///     that is at a window or is not on disk. It is asked for no more than are needed.
  public func firstWaiting(
    limit: Int, reading read: (BeyondMemory, _ after: TicketNumber) -> [TicketNumber]
  ) -> [(ticket: TicketNumber, line: Line)] {
    var places: [Int] = []
    for place in lines.indices where lines[place].count > 0 { places.append(place) }
    return withoutActuallyEscaping(read) { read in
      var rows: [NumbersOfLine] = []
      for place in places { rows.append(numbers(ofLineAt: place, reading: read)) }
      return firstNumbers(of: rows, limit: limit).map {
        ($0.ticket, books.waiting.lines[places[$0.line]])
      }
    }
  }

  private func numbers(
    ofLineAt place: Int, reading read: @escaping (BeyondMemory, TicketNumber) -> [TicketNumber]
  ) -> NumbersOfLine {
    let waiting = lines[place]
    var front = waiting.front.makeIterator()
    let beyond = BeyondMemory(
      place: place, line: books.waiting.lines[place], after: waiting.cursor, count: waiting.beyond,
      version: waiting.version)
    var page: ArraySlice<TicketNumber> = []
    var last = waiting.cursor
    var mayGoOn = waiting.beyond > 0
    return {
      if let customer = front.next() { return customer.ticket }
      if page.isEmpty, mayGoOn {
        page = read(beyond, last)[...]
        mayGoOn = !page.isEmpty
        last = page.last ?? last
      }
      return page.popFirst()
    }
  }

  /// How many of each priority wait for a service, whoever is served first at the head; nobody is left out.
  public func waitingByPriority(of service: Service) -> [(priority: Priority, count: Int64)] {
    books.waiting.places(of: service).compactMap { place in
      lines[place].count > 0 ? (books.waiting.lines[place].priority, lines[place].count) : nil
    }
  }

  /// Those at windows, by window, at most so many; see ``atWindows``.
  public func atWindows(limit: Int) -> [AtWindow] {
    var found: [AtWindow] = []
    for places in windows {
      for windowState in places where found.count < limit {
        guard windowState.isServing, let customer = windowState.customer else { continue }
        let hand = [WindowState.HandedOut(customer: customer, at: windowState.startedAt)] + windowState.ahead
        for next in hand.prefix(limit - found.count) {
          found.append(
            (windowState.window, windowState.generation, windowState.pid, next.customer, next.at.wall))
        }
      }
    }
    return found
  }

  /// Whom a window has in hand, at most so many, and since when it has the first of them; nil where there is nobody.
  public func hand(
    at window: Window, limit: Int
  ) -> (tickets: [TicketNumber], since: WallTime)? {
    guard let (service, place) = locate(window) else { return nil }
    let windowState = windows[service][place]
    guard windowState.isServing, let customer = windowState.customer, limit > 0 else { return nil }
    let tickets = [customer.ticket] + windowState.ahead.prefix(limit - 1).map(\.customer.ticket)
    return (tickets, windowState.startedAt.wall)
  }
}
