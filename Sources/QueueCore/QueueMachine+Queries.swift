// Queries of the queue that change nothing.
// A result is valid until the next event.

import BankModel
import Time

extension QueueMachine {
  /// Counters of one service.
  public struct ServiceCounters: Sendable, Equatable {
    /// Number of windows that are open or opening.
    public var windows: Int64
    /// Number of customers in line, at a window, and served today.
    public var waiting, serving, served: Int64
    /// True if an operator or a worker's report has paused the service.
    public var isPaused: Bool

    /// True if the service has no windows and no waiting or assigned customers, and served none today.
    public var isEmpty: Bool { windows == 0 && waiting == 0 && serving == 0 && served == 0 }
  }

  /// State of one window.
  public struct WindowStatus: Sendable, Equatable {
    /// Generation of the last teller that was ready; 0 before the first one.
    public var generation: Generation
    /// True if a teller is ready at this window.
    public var isReady: Bool
    /// Lease that the teller serves now; nil for none.
    public var lease: Lease?
    /// Number of customers served at this window since it was opened.
    public var served: Int64
  }

  /// Number of customers in line over all services whose tickets are on disk.
  public var waitingCount: Int64 { lines.reduce(0) { $0 + $1.count } }
  /// Number of delayed customers whose tickets are on disk.
  public var delayedCount: Int64 { delayed.count }
  /// Due time, by the wall clock, of the first delayed customer in memory; nil for none.
  public var delayedUntil: WallTime? { delayed.firstDue }
  /// Number of delayed customers of one service whose tickets are on disk.
  public func delayedCount(of service: Service) -> Int64 {
    guard service.index < dayCounters.delayedByService.count else { return 0 }
    return pendingEnqueues.reduce(dayCounters.delayedByService[service.index]) { $0 - $1.delayed[service] }
  }
  /// Number of customers that are assigned to a window or an outside worker.
  public var serving: Int64 { servingCount }
  /// Number of issued tickets that are on disk, so that clients may receive them.
  public var issuedCount: Int64 { dayCounters.issued - uncommittedTickets }

  /// True if no customer waits, is delayed or is served, and no request is in progress.
  public var isIdle: Bool { dayCounters.delayed == 0 && isIdleBesidesDelayed }

  /// True if no customer waits or is served, and no request is in progress; delayed customers do not count. In a shared
  /// bank, the customers of `SharedStoreState.remaining` count too, including delayed ones.
  public var isIdleBesidesDelayed: Bool {
    waitingCount == 0 && servingCount == 0 && uncommittedTickets == 0 && !isTakingIn
      && branch.remaining.allSatisfy { $0 == 0 }
  }

  /// True if every service is paused.
  public var isPaused: Bool { dayCounters.paused.allSatisfy { $0 } }

  /// Services that are paused.
  public var pausedServices: [Service] {
    dayCounters.paused.indices.filter { dayCounters.paused[$0] }.map { Service(index: $0) }
  }

  /// Counters of one service; all zero if it is unknown.
  public func numbers(of service: Service) -> ServiceCounters {
    let index = service.index
    var waiting: Int64 = 0
    for place in dayCounters.waiting.places(of: service) { waiting += lines[place].count }
    guard index < windows.count else {
      return ServiceCounters(windows: 0, waiting: waiting, serving: 0, served: 0, isPaused: false)
    }
    return ServiceCounters(
      windows: Int64(windows[index].count(where: { !$0.isClosing && !$0.window.isOutside })),
      waiting: waiting,
      serving: Int64(windows[index].reduce(0) { $0 + $1.inFlight }),
      served: dayCounters.servedByService[index],
      isPaused: dayCounters.paused[index])
  }

  /// State of one window; nil if it does not exist.
  public func numbers(of window: Window) -> WindowStatus? {
    guard let (service, place) = locate(window) else { return nil }
    let windowState = windows[service][place]
    return WindowStatus(
      generation: windowState.generation,
      isReady: windowState.state != .vacant && windowState.state != .terminating,
      lease: windowState.isServing ? windowState.customer.map { windowState.lease(of: $0) } : nil,
      served: windowState.served)
  }

  /// True if the teller with the generation of this lease holds the ticket of the lease at a window. The attempt is not
  /// compared.
  public func holds(_ lease: Lease, at window: Window) -> Bool {
    guard let (service, place) = locate(window) else { return false }
    let windowState = windows[service][place]
    return windowState.generation == lease.generation && windowState.holds(lease.ticket)
  }

  /// Earliest issue time among the first customers of the lines; nil if no line has its first customer in memory. Lines
  /// in ``unloadedLines`` are not included.
  public var oldestWaiting: WallTime? { lines.compactMap { $0.front.peek?.issuedAt }.min() }

  /// Lines whose first customer is only in the store, each with the number after which to read it.
  public var unloadedLines: [(line: Line, after: TicketNumber)] {
    lines.indices.compactMap { place in
      let waiting = lines[place]
      guard waiting.front.isEmpty, waiting.unloaded > 0 else { return nil }
      return (dayCounters.waiting.lines[place], waiting.cursor)
    }
  }

  /// An assigned customer, and the time of the assignment.
  public typealias ServingCustomer = (
    window: Window, generation: Generation, pid: Int32, customer: Customer, since: WallTime
  )

  /// All assigned customers, by window, and within a window the current customer first.
  public var servingCustomers: [ServingCustomer] {
    windows.flatMap { places in
      places.flatMap { windowState in
        guard windowState.isServing, let customer = windowState.customer else {
          return [] as [ServingCustomer]
        }
        return
          ([WindowState.PrefetchedCustomer(customer: customer, at: windowState.startedAt)]
          + windowState.prefetched)
          .map { (windowState.window, windowState.generation, windowState.pid, $0.customer, $0.at.wall) }
      }
    }
  }

  /// Position of a waiting customer in its service.
  public enum LinePosition: Sendable, Equatable {
    /// Position among all waiting customers of the service, from 1.
    case exactly(Int64)
    /// The customer is only in the store. `before` customers precede the first customer of its line with a number
    /// above `cursor`.
    case beyondMemory(before: Int64, cursor: TicketNumber)
  }

  /// Position of a waiting customer among the waiting customers of its service.
  public func place(of customer: Customer) -> LinePosition {
    var before: Int64 = 0
    for place in dayCounters.waiting.places(of: customer.service)
    where dayCounters.waiting.lines[place].priority < customer.priority { before += lines[place].count }
    guard let place = dayCounters.waiting.known(customer.line) else {
      return .beyondMemory(before: before, cursor: 0)
    }
    let line = lines[place]
    if let position = line.position(of: customer.ticket) { return .exactly(before + position) }
    return .beyondMemory(before: before + Int64(line.front.count), cursor: line.cursor)
  }

  /// Inconsistencies between the counters of this machine, one message each; empty if there are none.
  ///
  /// - Parameter directory: names of the services.
  public func inconsistencies(_ directory: ServiceDirectory) -> [MessageDetail] {
    var found: [MessageDetail] = []
    let sum =
      dayCounters.waitingInAll + dayCounters.delayed + dayCounters.served + dayCounters.dead
      + dayCounters.cancelled
    if sum != dayCounters.issued {
      found.append(MessageDetail(.dayCountersInconsistent, dayCounters.day, dayCounters.issued, sum))
    }
    let present = waitingCount + servingCount + lines.reduce(0) { $0 + $1.newcomerCount }
    if present != dayCounters.waitingInAll {
      found.append(MessageDetail(.waitingDiffers, dayCounters.waitingInAll, present))
    }
    let later = delayed.count + delayed.newcomerCount
    if later != dayCounters.delayed {
      found.append(MessageDetail(.delayedDiffers, dayCounters.delayed, later))
    }
    let byService = dayCounters.delayedByService.reduce(0, +)
    if byService != dayCounters.delayed {
      found.append(MessageDetail(.delayedDiffers, dayCounters.delayed, byService))
    }
    for (place, line) in dayCounters.waiting.lines.enumerated() {
      var last: TicketNumber = 0
      for customer in lines[place].front {
        if customer.ticket <= last || customer.line != line {
          let name = directory[line.service].text
          found.append(MessageDetail(.lineOutOfOrder, name, line.priority.name, customer.ticket, last))
        }
        last = customer.ticket
      }
    }
    return found
  }
}
