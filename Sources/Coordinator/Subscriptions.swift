// Clients that wait for an event or subscribe to changes.
// Invariant: the cost of a served customer is bounded, however many clients wait for tickets; see `TicketWaiters`.

import BankModel
import QueueCore
import Time
import Wire

/// Client that waits until no customer waits, is delayed or is served.
struct IdleWaiter {
  var requester: RequestHandle
  var since: MonotonicTime
  /// True to ignore delayed customers.
  var leavesDelayed: Bool
}

final class Subscriptions {
  /// Subscriptions to events, to the state or to the dashboard.
  var views = SubscriptionTable()
  var tickets = TicketWaiters()
  /// Clients that wait for an idle bank, with the time of each request.
  private(set) var idleWaiters: [IdleWaiter] = []
  /// Clients that wait until the windows are settled; see ``TellerSupervisor/isSettled``.
  private(set) var windowWaiters: [RequestHandle] = []
  /// True after a change that subscribers to the state have not received.
  var changed = false { didSet { if changed { hasChangedForBoards = true } } }
  /// True after a change that dashboards have not received.
  var hasChangedForBoards = false
  /// Last events, for dashboards.
  let events = EventRing()
  /// Called when a rare change is staged for the first time.
  var onRareChange: (StoreChange) -> Void = { _ in }
  /// Time of the last status that was sent to the subscribers to the state.
  var reportedAt = MonotonicTime(nanoseconds: 0)

  /// Shortest time between two status reports for the same subscriber.
  static let watchPause = TimeSpan.milliseconds(100)

  /// Announced events that are on disk and were not sent yet.
  private var durableEvents: [AttemptEvent] = []
  /// Announced events that are not on disk yet, oldest first.
  private var pendingEvents: [AttemptEvent] = []
  /// Number of pending events per transaction in flight, oldest first.
  private var sealedEvents: [Int] = []

  /// Next deadline of subscriptions and of waits for tickets. `isTimerRunning`: the business time runs, so subscribers
  /// to the state receive a status even without changes.
  func nextDeadline(isTimerRunning: Bool) -> MonotonicTime? {
    var earliest = tickets.nextDeadline
    if let due = views.scheduler.nextDeadline {
      earliest = .earlier(earliest, due)
    }
    if views.count(of: .state) > 0, changed || isTimerRunning {
      earliest = .earlier(earliest, reportedAt + Self.watchPause)
    }
    return earliest
  }

  /// Adds a client that waits since `now` until no customer waits or is served, nor is delayed unless `leavesDelayed`.
  func awaitIdle(_ requester: RequestHandle, since now: MonotonicTime, leavesDelayed: Bool) {
    idleWaiters.append(IdleWaiter(requester: requester, since: now, leavesDelayed: leavesDelayed))
    requester.session.requesters += 1
  }

  /// Adds a client that waits until the windows are settled; see ``TellerSupervisor/isSettled``.
  func awaitWindows(_ requester: RequestHandle) {
    windowWaiters.append(requester)
    requester.session.requesters += 1
  }

  /// Removes and returns the clients that wait for an idle bank and asked by `latest`, or at any time if it is nil.
  /// - Parameter hasDelayed: True if customers are delayed: then only clients that ignore delayed customers are
  ///   returned.
  func takeIdleWaiters(since latest: MonotonicTime? = nil, hasDelayed: Bool = false) -> [RequestHandle] {
    func isMeant(_ waiter: IdleWaiter) -> Bool {
      (waiter.leavesDelayed || !hasDelayed) && latest.map { waiter.since <= $0 } ?? true
    }
    var told = idleWaiters.filter(isMeant).map(\.requester)
    idleWaiters.removeAll(where: isMeant)
    return take(&told)
  }
  /// Removes and returns the clients that wait for the windows.
  func takeWindowWaiters() -> [RequestHandle] { take(&windowWaiters) }

  /// Empties a list of waiting clients and returns its contents.
  private func take(_ requesters: inout [RequestHandle]) -> [RequestHandle] {
    defer { requesters.removeAll() }
    for requester in requesters { requester.session.requesters -= 1 }
    return requesters
  }

  /// Removes a client that has disconnected.
  func forget(_ session: ControlSession) {
    guard session.requesters > 0 else { return }
    views.forget(session)
    tickets.forget(session)
    idleWaiters.removeAll { $0.requester.session === session }
    windowWaiters.removeAll { $0.session === session }
    session.requesters = 0
  }

  /// Records the start or the end of an attempt, for dashboards and for subscribers to events.
  func announce(
    _ phase: CustomerEvent, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay,
    in context: BankContext
  ) {
    changed = true
    if phase != .interrupted {
      events.append(
        EventRing.Event(
          kind: phase == .started ? .started : .served, time: context.now.wall.milliseconds,
          ticket: lease.ticket, service: customer.service, window: window, generation: lease.generation,
          attempt: lease.attempt))
    }
    guard views.followerCount > 0 else { return }
    let kind: AttemptEvent.CustomerEvent =
      switch phase {
      case .started: .started
      case .completed: .completed
      case .interrupted: .interrupted
      }
    pendingEvents.append(
      AttemptEvent(
        phase: kind, at: context.now.wall.milliseconds, day: day, ticket: lease.ticket,
        service: context.services.directory[customer.service], priority: customer.priority,
        window: context.name(of: window), attempt: lease.attempt))
  }

  /// After the start of a commit: assigns the events announced since the previous commit to this transaction, whose
  /// result confirms them.
  func sealEvents() {
    events.seal()
    sealedEvents.append(pendingEvents.count - sealedEvents.reduce(0, +))
  }

  /// After a rollback because of a full disk: events that are not on disk belong to no transaction any more, and the
  /// next commit confirms them.
  func unsealEvents() {
    events.unseal()
    sealedEvents.removeAll()
  }

  /// Discards all events that are not on disk, because their changes were discarded.
  func discardUncommittedEvents() {
    events.discardUncommitted()
    sealedEvents.removeAll()
    pendingEvents.removeAll()
    changed = true
  }

  /// After a commit: the events of the oldest transaction in flight, or all events if none is in flight, are on disk
  /// and may be sent.
  func confirmEvents() {
    events.confirm()
    let count = sealedEvents.isEmpty ? pendingEvents.count : sealedEvents.removeFirst()
    guard count > 0 else { return }
    durableEvents += pendingEvents.prefix(count)
    pendingEvents.removeFirst(count)
  }

  /// Sends the events that are on disk to subscribers, in order.
  /// - Parameter isSettled: True if nothing waits for the disk, so that all events are confirmed.
  func publishEvents(all isSettled: Bool) {
    if isSettled { confirmEvents() }
    guard !durableEvents.isEmpty else { return }
    views.publish(durableEvents)
    durableEvents.removeAll(keepingCapacity: true)
  }

  /// Handles a staged change. A change staged again after a full disk was already counted the first time.
  func note(_ change: StoreChange, isRepeated: Bool, at now: WallTime) {
    changed = true
    guard !isRepeated else { return }
    if change.isRare { noteRare(change, at: now) }
    if !tickets.isEmpty { tickets.note(change) }
  }

  /// Reports a rare change, and records a reset or the end of an attempt as an event for dashboards.
  private func noteRare(_ change: StoreChange, at now: WallTime) {
    onRareChange(change)
    var event = EventRing.Event(kind: .reset, time: now.milliseconds)
    switch change {
    case .cancelAllCustomers: break
    case .record(let attempt):
      guard let kind = BoardEvent.Kind(endOf: attempt) else { return }
      (event.kind, event.ticket, event.attempt) = (kind, attempt.ticket, attempt.number)
      (event.service, event.window, event.pid) = (attempt.window.service, attempt.window, attempt.pid)
      (event.generation, event.end) = (attempt.generation, attempt.processEnd)
    default: return
    }
    events.append(event)
  }

  /// Records that a customer became a dead letter.
  func noteDead(
    _ customer: Customer, _ window: Window, _ processEnd: ProcessEnd?, at now: WallTime
  ) {
    events.append(
      dead: EventRing.Event(
        kind: .dead, time: now.milliseconds, ticket: customer.ticket, service: customer.service,
        window: window, end: processEnd, attempt: customer.attempts))
  }

  /// Records a cancellation that is on disk.
  func noteCancelled(_ ticket: TicketNumber, at now: WallTime) {
    changed = true
    events.append(EventRing.Event(kind: .cancelled, time: now.milliseconds, ticket: ticket))
  }

  /// Records tickets that were issued and are on disk.
  func noteIssued(_ tickets: IssuedTickets, at now: WallTime) {
    guard tickets.first <= tickets.last else { return }
    changed = true
    events.append(
      EventRing.Event(kind: .issued, time: now.milliseconds, ticket: tickets.first, last: tickets.last))
  }

  /// Records the exit of a process at a window, or the disconnection of an outside worker.
  ///
  /// - Parameter ticket: Ticket that the process was serving; nil for none.
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
  /// True for some changes that most customers do not cause.
  fileprivate var isRare: Bool {
    switch self {
    case .bury, .revive, .record, .cancelAllCustomers: true
    default: false
    }
  }
}

extension BoardEvent.Kind {
  /// Kind of event for the end of an attempt; nil if the attempt ended with a receipt, or with the exit of the process
  /// at the window, which is an event of its own.
  fileprivate init?(endOf attempt: Attempt) {
    switch attempt.end {
    case .failed, .leaseExpired, .lost: self = .failed
    // The process has reported a crash, for example that of its command, and did not exit.
    case .killed where !attempt.words.isEmpty: self = .failed
    case .deferred: self = .deferred
    case .recalled: self = .recalled
    case .killed, .served: return nil
    }
  }
}
