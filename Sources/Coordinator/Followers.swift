// Owns everyone who waits for something to happen, or watches it happen: no polling, they are told.
// Invariant: whoever has left is forgotten at once. What a served
// customer costs here does not grow with the number of those who wait: they are counted in turn, in a share of the time.

import BankModel
import QueueCore
import Time
import Wire

/// A client that waits until nobody waits or is served.
struct IdleWaiter {
  var seat: Seat
  var since: MonotonicTime
  /// Delayed customers are not waited for.
  var leavesDelayed: Bool
}

final class Followers {
  /// Told every change: the events, or the state.
  var views = Views()
  /// Told when all of some tickets have come to their end.
  var tickets = TicketWatches()
  /// Told when nobody waits or is served, and since when they want to hear that.
  private(set) var idleWaiters: [IdleWaiter] = []
  /// Told when the windows are as they shall be.
  private(set) var windowWaiters: [Seat] = []
  /// Something has changed that watchers want to see.
  var changed = false { didSet { if changed { hasChangedForBoards = true } } }
  /// Something has changed that boards are to show.
  var hasChangedForBoards = false
  /// The last things that happened, for boards.
  let events = EventRing()
  /// A change was staged that is rare and was not staged before.
  var onRareChange: (StoreChange) -> Void = { _ in }
  var toldAt = MonotonicTime(nanoseconds: 0)

  static let watchPause = TimeSpan.milliseconds(100)

  /// Events whose receipts are on disk, and those behind them that still wait for it.
  private var certainEvents: [BranchEvent] = []
  private var pendingEvents: [BranchEvent] = []
  /// How many of these are on their way there, by transaction, the oldest first.
  private var sealedEvents: [Int] = []

  /// When those who look on, or wait for tickets, are to be looked after.
  func nextDeadline(isTimerRunning: Bool) -> MonotonicTime? {
    var earliest = tickets.nextDeadline
    if let due = views.audience.nextDeadline {
      earliest = .earlier(earliest, due)
    }
    if views.count(of: .state) > 0, changed || isTimerRunning {
      earliest = .earlier(earliest, toldAt + Self.watchPause)
    }
    return earliest
  }

  func awaitIdle(_ seat: Seat, since now: MonotonicTime, leavesDelayed: Bool) {
    idleWaiters.append(IdleWaiter(seat: seat, since: now, leavesDelayed: leavesDelayed))
    seat.session.seats += 1
  }

  func awaitWindows(_ seat: Seat) {
    windowWaiters.append(seat)
    seat.session.seats += 1
  }

  /// Those who have waited since then or longer; all where no moment is named.
  /// - Parameter hasDelayed: Customers are delayed, so that those alone are meant who do not wait for them.
  func takeIdleWaiters(since latest: MonotonicTime? = nil, hasDelayed: Bool = false) -> [Seat] {
    func isMeant(_ waiter: IdleWaiter) -> Bool {
      (waiter.leavesDelayed || !hasDelayed) && latest.map { waiter.since <= $0 } ?? true
    }
    var told = idleWaiters.filter(isMeant).map(\.seat)
    idleWaiters.removeAll(where: isMeant)
    return take(&told)
  }
  func takeWindowWaiters() -> [Seat] { take(&windowWaiters) }

  private func take(_ seats: inout [Seat]) -> [Seat] {
    defer { seats.removeAll() }
    for seat in seats { seat.session.seats -= 1 }
    return seats
  }

  func forget(_ session: ControlSession) {
    guard session.seats > 0 else { return }
    views.forget(session)
    tickets.forget(session)
    idleWaiters.removeAll { $0.seat.session === session }
    windowWaiters.removeAll { $0.session === session }
    session.seats = 0
  }

  func announce(
    _ happening: Happening, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay,
    in context: BankContext
  ) {
    changed = true
    if happening != .interrupted {
      events.append(
        EventRing.Event(
          kind: happening == .started ? .started : .served, time: context.now.wall.milliseconds,
          ticket: lease.ticket, service: customer.service, window: window, generation: lease.generation,
          attempt: lease.attempt))
    }
    guard views.followerCount > 0 else { return }
    let kind: BranchEvent.Happening =
      switch happening {
      case .started: .started
      case .completed: .completed
      case .interrupted: .interrupted
      }
    pendingEvents.append(
      BranchEvent(
        happening: kind, at: context.now.wall.milliseconds, day: day, ticket: lease.ticket,
        service: context.services.directory[customer.service], priority: customer.priority,
        window: context.name(of: window), attempt: lease.attempt))
  }

  /// Everything that was announced is on its way to the disk.
  func sealEvents() {
    events.seal()
    sealedEvents.append(pendingEvents.count - sealedEvents.reduce(0, +))
  }

  /// Nothing is on its way any more.
  func unsealEvents() {
    events.unseal()
    sealedEvents.removeAll()
  }

  /// What is not on disk never will be, and is told to nobody.
  func forgetUncertainEvents() {
    events.forgetUncertain()
    sealedEvents.removeAll()
    pendingEvents.removeAll()
    changed = true
  }

  /// What was on its way longest is on disk; everything that was announced where nothing was.
  func confirmEvents() {
    events.confirm()
    let count = sealedEvents.isEmpty ? pendingEvents.count : sealedEvents.removeFirst()
    guard count > 0 else { return }
    certainEvents += pendingEvents.prefix(count)
    pendingEvents.removeFirst(count)
  }

  /// Hands the events that are on disk to those who follow, in their order.
  /// - Parameter isSettled: Whether nothing waits for the disk, so that these are all.
  func publishEvents(all isSettled: Bool) {
    if isSettled { confirmEvents() }
    guard !certainEvents.isEmpty else { return }
    views.publish(certainEvents)
    certainEvents.removeAll(keepingCapacity: true)
  }

  /// A change was staged; one that is staged again after a full disk was counted the first time.
  func note(_ change: StoreChange, isRepeated: Bool, at now: WallTime) {
    changed = true
    guard !isRepeated else { return }
    if change.isRare { noteRare(change, at: now) }
    if !tickets.isEmpty { tickets.note(change) }
  }

  private func noteRare(_ change: StoreChange, at now: WallTime) {
    onRareChange(change)
    var event = EventRing.Event(kind: .reset, time: now.milliseconds)
    switch change {
    case .cancelEveryone: break
    case .record(let attempt):
      guard let kind = BoardEvent.Kind(endOfAttempt: attempt.end) else { return }
      (event.kind, event.ticket, event.attempt) = (kind, attempt.ticket, attempt.number)
      (event.service, event.window, event.pid) = (attempt.window.service, attempt.window, attempt.pid)
      (event.generation, event.end) = (attempt.generation, attempt.processEnd)
    default: return
    }
    events.append(event)
  }

  /// A customer is put aside.
  func noteDead(
    _ customer: Customer, _ window: Window, _ processEnd: ProcessEnd?, at now: WallTime
  ) {
    events.append(
      dead: EventRing.Event(
        kind: .dead, time: now.milliseconds, ticket: customer.ticket, service: customer.service,
        window: window, end: processEnd, attempt: customer.attempts))
  }

  /// A customer was taken out of the queue, and whoever has asked for it is told so.
  func noteCancelled(_ ticket: TicketNumber, at now: WallTime) {
    changed = true
    events.append(EventRing.Event(kind: .cancelled, time: now.milliseconds, ticket: ticket))
  }

  /// Tickets were issued, and are on disk.
  func noteIssued(_ tickets: IssuedTickets, at now: WallTime) {
    guard tickets.first <= tickets.last else { return }
    changed = true
    events.append(
      EventRing.Event(kind: .issued, time: now.milliseconds, ticket: tickets.first, last: tickets.last))
  }

  /// A process at a window has ended.
  ///
  /// - Parameter ticket: whom it was serving; nil for nobody.
  func noteDeath(
    at window: Window, _ generation: Generation, pid: Int32, _ end: ProcessEnd?, ticket: TicketNumber?,
    at now: WallTime
  ) {
    changed = true
    events.append(
      EventRing.Event(
        kind: .died, time: now.milliseconds, ticket: ticket ?? 0, service: window.service, window: window,
        generation: generation, pid: pid, end: end))
  }
}

extension StoreChange {
  /// Whether it is none of those that every customer makes who comes and is served.
  fileprivate var isRare: Bool {
    switch self {
    case .bury, .revive, .record, .cancelEveryone: true
    default: false
    }
  }
}

extension BoardEvent.Kind {
  /// What an attempt that has ended without a receipt is to those who look on. The end of a process is told by itself.
  fileprivate init?(endOfAttempt end: AttemptEnd) {
    switch end {
    case .failed, .leaseExpired, .lost: self = .failed
    case .deferred: self = .deferred
    case .recalled: self = .recalled
    case .killed, .served: return nil
    }
  }
}
