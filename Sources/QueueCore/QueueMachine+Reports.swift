// Owns what can be asked of the queue without changing it. It knows nobody who asks.
// Whatever it says holds between two events, never in the middle of one.

import BankModel
import Time

extension QueueMachine {
  /// The numbers of one service at this moment.
  public struct ServiceNumbers: Sendable, Equatable {
    /// Windows that are open or shall be.
    public var windows: Int64
    /// Customers in line, at a window, and served today.
    public var waiting, serving, served: Int64
    /// Whether the service is paused.
    public var isPaused: Bool

    /// Whether there is nobody of this service, and nobody was served today.
    public var isEmpty: Bool { windows == 0 && waiting == 0 && serving == 0 && served == 0 }
  }

  /// One window at this moment.
  public struct WindowNumbers: Sendable, Equatable {
    /// The teller's generation; 0 before the first one was ready.
    public var generation: Generation
    /// Whether a teller is ready here.
    public var isReady: Bool
    /// Whom it serves, and since when.
    public var lease: Lease?
    /// Customers served at this window since the bank opened.
    public var served: Int64
  }

  /// Customers in line over all services, whose tickets are on disk.
  public var waitingCount: Int64 { lines.reduce(0) { $0 + $1.count } }
  /// Customers who are delayed, whose tickets are on disk.
  public var delayedCount: Int64 { delayed.count }
  /// The moment of the calendar at which the first of them is due; nil for none.
  public var delayedUntil: WallTime? { delayed.firstDue }
  /// Those of them who came for a service.
  public func delayedCount(of service: Service) -> Int64 {
    guard service.index < books.delayedByService.count else { return 0 }
    return admissions.reduce(books.delayedByService[service.index]) { $0 - $1.delayed[service] }
  }
  /// Customers at a window.
  public var serving: Int64 { servingCount }
  /// Tickets that were spoken.
  public var issuedCount: Int64 { books.issued - unsettledTickets }

  /// Whether nobody waits, is delayed or is served.
  public var isIdle: Bool { books.delayed == 0 && isIdleBesidesDelayed }

  /// The same of everybody who is not delayed.
  public var isIdleBesidesDelayed: Bool {
    waitingCount == 0 && servingCount == 0 && unsettledTickets == 0 && !isTakingIn
      && branch.remaining.allSatisfy { $0 == 0 }
  }

  /// Whether every service is paused.
  public var isPaused: Bool { books.paused.allSatisfy { $0 } }

  /// The services that are paused.
  public var pausedServices: [Service] {
    books.paused.indices.filter { books.paused[$0] }.map { Service(index: $0) }
  }

  /// The numbers of one service.
  public func numbers(of service: Service) -> ServiceNumbers {
    let index = service.index
    var waiting: Int64 = 0
    for place in books.waiting.places(of: service) { waiting += lines[place].count }
    guard index < windows.count else {
      return ServiceNumbers(windows: 0, waiting: waiting, serving: 0, served: 0, isPaused: false)
    }
    return ServiceNumbers(
      windows: Int64(windows[index].count(where: { !$0.isClosing && !$0.window.isOutside })),
      waiting: waiting,
      serving: Int64(windows[index].reduce(0) { $0 + $1.inHand }), served: books.servedByService[index],
      isPaused: books.paused[index])
  }

  /// One window; nil when there is none of this name.
  public func numbers(of window: Window) -> WindowNumbers? {
    guard let (service, place) = locate(window) else { return nil }
    let windowState = windows[service][place]
    return WindowNumbers(
      generation: windowState.generation,
      isReady: windowState.state != .vacant && windowState.state != .doomed,
      lease: windowState.isServing ? windowState.customer.map { windowState.lease(of: $0) } : nil,
      served: windowState.served)
  }

  /// Whether a lease is held at a window at this moment.
  public func holds(_ lease: Lease, at window: Window) -> Bool {
    guard let (service, place) = locate(window) else { return false }
    let windowState = windows[service][place]
    return windowState.generation == lease.generation && windowState.holds(lease.ticket)
  }

  /// When the ticket was issued that has waited longest; nil when nobody waits.
  ///
  /// Only the heads of the lines are looked at: within a line the numbers, and with them the times, are in order.
  /// The heads of ``unreadLines`` stand in the store alone.
  public var oldestWaiting: WallTime? { lines.compactMap { $0.front.peek?.issuedAt }.min() }

  /// The lines of which only the store knows who is first, and behind which number: nobody reads a line before a teller
  /// wants somebody of it, as after a start.
  public var unreadLines: [(line: Line, after: TicketNumber)] {
    lines.indices.compactMap { place in
      let waiting = lines[place]
      guard waiting.front.isEmpty, waiting.beyond > 0 else { return nil }
      return (books.waiting.lines[place], waiting.cursor)
    }
  }

  /// Somebody at a window, and since when.
  public typealias AtWindow = (
    window: Window, generation: Generation, pid: Int32, customer: Customer, since: WallTime
  )

  /// Everyone at a window, by window, and those in a teller's hands in the order in which they are served.
  public var atWindows: [AtWindow] {
    windows.flatMap { places in
      places.flatMap { windowState in
        guard windowState.isServing, let customer = windowState.customer else { return [] as [AtWindow] }
        return ([WindowState.HandedOut(customer: customer, at: windowState.startedAt)] + windowState.ahead)
          .map { (windowState.window, windowState.generation, windowState.pid, $0.customer, $0.at.wall) }
      }
    }
  }

  /// How many stand before a customer of this line who is found in memory, or behind it in the store.
  public enum Place: Sendable, Equatable {
    /// The place over all grades of the service, from 1.
    case exactly(Int64)
    /// The customer stands in the store: so many stand before those of its line who are there.
    case beyondMemory(before: Int64, cursor: TicketNumber)
  }

  /// The place of a waiting customer among those of its service.
  public func place(of customer: Customer) -> Place {
    var before: Int64 = 0
    for place in books.waiting.places(of: customer.service)
    where books.waiting.lines[place].priority < customer.priority { before += lines[place].count }
    guard let place = books.waiting.known(customer.line) else {
      return .beyondMemory(before: before, cursor: 0)
    }
    let line = lines[place]
    if let position = line.position(of: customer.ticket) { return .exactly(before + position) }
    return .beyondMemory(before: before + Int64(line.front.count), cursor: line.cursor)
  }

  /// Everything that this machine knows of itself and that does not agree, a sentence each; none when all is well.
  ///
  /// - Parameter directory: what the services are called.
  public func contradictions(_ directory: ServiceDirectory) -> [Remark] {
    var found: [Remark] = []
    let sum = books.waitingInAll + books.delayed + books.served + books.dead + books.cancelled
    if sum != books.issued { found.append(Remark(.booksDoNotAddUp, books.day, books.issued, sum)) }
    let present = waitingCount + servingCount + lines.reduce(0) { $0 + $1.newcomerCount }
    if present != books.waitingInAll { found.append(Remark(.waitingDiffers, books.waitingInAll, present)) }
    let later = delayed.count + delayed.newcomerCount
    if later != books.delayed { found.append(Remark(.delayedDiffers, books.delayed, later)) }
    let byService = books.delayedByService.reduce(0, +)
    if byService != books.delayed { found.append(Remark(.delayedDiffers, books.delayed, byService)) }
    for (place, line) in books.waiting.lines.enumerated() {
      var last: TicketNumber = 0
      for customer in lines[place].front {
        if customer.ticket <= last || customer.line != line {
          let name = directory[line.service].text
          found.append(Remark(.lineOutOfOrder, name, line.priority.name, customer.ticket, last))
        }
        last = customer.ticket
      }
    }
    return found
  }
}
