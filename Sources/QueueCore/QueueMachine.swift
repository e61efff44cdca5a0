// Pure state machine of the customers' queue, without I/O, clock or randomness. It receives events, each with a moment,
// and produces effects. In this target, a *teller* is any worker, or, in contrast to a side-by-side worker, one that
// serves one customer after the other.
//
// Life of a customer. `enqueue` issues a ticket and stages it. `committed` adds the customer to its line, or to the
// delayed customers, and replies with the ticket. The first customer of the highest priority is assigned to an idle
// teller of its service. The teller's answer ends the lease. `done` stages the receipt and assigns the next customer.
// `failed` usually delays the customer; see `WorkFailure.Consequence`. If the teller exits or the lease runs out, the
// customer returns to the position of its number, which is usually the head of its line. A customer that has failed or
// crashed too often becomes a dead letter.
//
// If a service counts its attempts (`max_attempts`), an attempt is on disk before it starts; see
// `QueueMachine+Starts.swift`.
//
// Durability. `sealed` closes one transaction over the changes staged since the last one and marks it as in flight.
// Several transactions may be in flight. `committed` settles the oldest transaction in flight, with everything that
// waits for this transaction alone. If none is in flight, `committed` settles everything that was staged, because the
// store committed synchronously. When the disk is full, the store drops all transactions that are not on disk, in
// flight or open. The queue then revokes the tickets, and the pauses and resumes by operators, that are not on disk; it
// stages all other changes again until there is space. A reply that depends on a change is sent with `committed`; a
// refusal is sent at once. If the store is short of space, new customers and resets are refused; all other work
// continues.
//
// Invariant: issued = waiting + delayed + serving + served + dead + cancelled.

import BankModel
import Time

/// State machine of the customers' queue. The type is not copyable, because implicit copies would be slow.
public struct QueueMachine: ~Copyable, Sendable {
  /// Settings of the queue.
  public internal(set) var policy: QueuePolicy
  /// Day counters, including staged changes.
  public internal(set) var dayCounters: DayCounters
  /// Progress towards the shutdown of the bank.
  public internal(set) var stage: Stage = .open
  /// True if the last commit failed because the disk was full.
  public internal(set) var isDiskFull = false
  /// True if the store has space only to finish the customers that it already has.
  public internal(set) var isLowOnSpace = false

  /// Progress towards the shutdown of the bank.
  public enum Stage: Sendable, Equatable {
    /// Accepts new customers and assigns waiting ones.
    case open
    /// Refuses new customers and assigns waiting ones.
    case draining
    /// Refuses new customers and assigns no customers.
    case finishing
  }

  /// Waiting customers, by the index of their line in ``DayCounters/waiting``.
  var lines: [WaitingLine]
  /// Customers that are delayed after a failure or ordered for later.
  var delayed: DelayedCustomers
  /// Windows by the service's index and place − 1, followed by the slots of outside workers.
  var windows: [[WindowState]]
  /// Number of slots of outside workers, by the service's index.
  var outsideCounts: [Int]
  /// Connected outside workers, each by its generation.
  var outsideWorkers: [Generation: OutsideWorker] = [:]
  /// Serial number of the last assignment of each service to an outside worker, by the service's index; see
  /// ``assignToOutsideWorkers(at:into:)``.
  var outsideAssignmentSerials: [UInt64] = []
  /// Number of idle windows by the service's index, without the slots of outside workers.
  var idleWindows: [Int]
  /// Number of customers that are assigned to a window or an outside worker.
  var servingCount: Int64 = 0
  /// True if the end of the drain was reported.
  var hasReportedDrained = false

  /// Changes that are not on disk, without new customers. They are staged again if the store drops the transactions
  /// that are not on disk.
  var uncommitted: [StoreChange] = []
  /// Number of bytes of the results in ``uncommitted``.
  var uncommittedBytes = 0
  /// Requests whose tickets are not on disk, in ticket order.
  var pendingEnqueues: [PendingEnqueue] = []
  /// Replies that are sent with a later commit, in order.
  var pendingReplies: [QueueEffect] = []
  /// Assignments that wait for the disk; see `QueueMachine+Starts.swift`.
  var pendingStarts: [PendingStart] = []
  /// Transactions in flight, the oldest first; see `QueueMachine+Commits.swift`.
  var underway: [InFlightTransaction] = []
  /// Large request whose last slice has not arrived. Until then, ``dayCounters`` does not count its customers, and no
  /// commit issues its numbers.
  public internal(set) var arriving: InProgressEnqueue?
  /// First customers of each line of ``arriving``, at most ``QueuePolicy/lineCapacity``, by the index of the line in
  /// the request.
  var arrivingFronts: [[Customer]] = []
  /// Delayed customers of ``arriving``.
  var arrivingDelayed: DelayedNewcomers
  /// Pauses that remain if the disk is full, by the service's index: those on disk, and those that a worker's report
  /// has caused. ``pausing`` contains the requests whose pauses or resumes are not on disk yet.
  var committedPauses: [Bool]
  var pausing: [RequestNumber] = []
  /// Resets that wait until all issued tickets are on disk and no request is arriving.
  var deferredRequests: [QueueEvent] = []
  /// Requests to cancel that wait for the store's answer about their ticket.
  var cancellations: Set<RequestNumber> = []
  /// Number of dead letters that each unfinished request has requeued so far.
  var requeuedCounts: [RequestNumber: Int64] = [:]

  /// Number of customers that each unanswered reset has cancelled.
  var resetCounts: [RequestNumber: Int64] = [:]

  /// Customers that were assigned when an earlier coordinator crashed; see
  /// `QueueMachine+CoordinatorCrashes.swift`.
  var coordinatorCrashes: [TicketNumber: CoordinatorCrashes]

  /// State of the shared store as this branch knows it; see `QueueMachine+SharedStore.swift`.
  var branch = SharedStoreState()

  /// Moment of the last event: the maximum of the monotonic clock, and the last reading of the wall clock.
  var lastMoment: Moment

  /// A request whose tickets are issued and not on disk.
  struct PendingEnqueue: Sendable {
    var request: RequestNumber
    var first: TicketNumber
    var count: Int64
    /// Customers by the index of their line, as runs in arrival order. A line keeps its index until these customers
    /// are on disk.
    var runs: [(place: Int, count: Int64)] = []
    var delayed = CountsByService()

    mutating func register(_ count: Int64, at place: Int) {
      if runs.last?.place == place {
        runs[runs.count - 1].count += count
      } else {
        runs.append((place, count))
      }
    }
  }

  /// Restores the queue from a store. A customer that was at a window waits again, at the position of its number.
  ///
  /// - Parameter coordinatorCrashes: customers that were assigned when earlier coordinators crashed.
  public init(
    _ stored: StoredQueue, policy: QueuePolicy, at now: Moment,
    coordinatorCrashes: [TicketNumber: CoordinatorCrashes] = [:]
  ) {
    self.policy = policy
    self.coordinatorCrashes = coordinatorCrashes
    dayCounters = stored.dayCounters
    committedPauses = stored.dayCounters.paused
    lines = stored.dayCounters.waiting.lines.indices.map {
      WaitingLine(stored: stored.dayCounters.waiting[$0], capacity: policy.capacity(ofLineAt: $0))
    }
    windows = Array(repeating: [], count: stored.dayCounters.paused.count)
    idleWindows = Array(repeating: 0, count: stored.dayCounters.paused.count)
    outsideCounts = idleWindows
    outsideAssignmentSerials = Array(repeating: 0, count: stored.dayCounters.paused.count)
    lastMoment = now
    delayed = DelayedCustomers(
      stored.delayed, of: stored.dayCounters.delayed, capacity: policy.delayedCapacity, at: now,
      limit: { policy[$0.index].longestPause })
    arrivingDelayed = DelayedNewcomers(capacity: policy.delayedCapacity)
  }

  /// Applies one event at a moment. Appends effects, which the caller performs in order.
  public mutating func apply(_ event: QueueEvent, at now: Moment, into effects: inout [QueueEffect]) {
    advanceBusinessTime(now)
    switch event {
    case .enqueue(let request, let orders, let total, let isLast, let heldBack, let attachments):
      enqueueCustomers(
        orders, attachments, of: total, isLast: isLast, heldBack: heldBack, for: request, at: now,
        into: &effects)
    case .sealed: return seal()
    case .committed: settle(at: now, into: &effects)
    case .commitRefused: handleDiskFull(into: &effects)
    case .enqueueAbandoned: abandonEnqueue(at: now, into: &effects)
    case .roomChanged(let isLowOnSpace): self.isLowOnSpace = isLowOnSpace
    case .pageLoaded(let line, let page): addPage(page, line)
    case .lineMayHaveCustomers(let line): lines[index(of: line)].noteUnclaimedCustomers()
    case .leaseExtended(let end): branch.leaseEnd = end
    case .withoutEffect(let tickets): revertEffects(of: tickets, into: &effects)
    case .cancelledElsewhere(let ticket): handleLoss(ticket, at: now, into: &effects)
    case .claimsLost: handleLeaseLoss(at: now, into: &effects)
    case .openCountsChanged(let tally): branch.remaining = tally
    case .delayedLoaded(let page): addPage(page, at: now)
    case .found(let request, let ticket, let stored):
      resolve(request, ticket, stored, at: now, into: &effects)
    case .deadLoaded(let request, let letters): makeWaiting(letters, for: request, into: &effects)

    case .tellerReady(let window, let generation, let pid):
      registerReady(window, generation, pid: pid, into: &effects)
    case .workerReady(let window, let generation, let pid, let inFlight):
      registerReady(window, generation, pid: pid, inFlight: inFlight, into: &effects)
    case .workerConnected(let services, let number, let generation, let pid, let inFlight):
      admit(services, number: number, generation, pid: pid, inFlight: inFlight)
    case .workerDisconnected(let generation):
      handleWorkerDisconnect(generation, at: now, into: &effects)
    case .tellerAnswered(let window, let generation, let lease, let answer):
      handle(answer, of: lease, from: window, generation, at: now, into: &effects)
    case .tellerProgressed(let window, let generation, let lease):
      renew(lease, of: window, generation, at: now, into: &effects)
    case .tellerLost(let window, let generation, let end):
      handleLoss(window, generation, end, at: now, into: &effects)

    case .cancel(let request, let ticket): cancel(ticket, for: request, at: now, into: &effects)
    case .requeue(let request, let ticket): requeue(ticket, for: request, into: &effects)
    case .requeueDead(let request):
      guard admitsChanges(request, into: &effects) else { break }
      guard !policy.isShared else { return effects.append(.forward(request, .requeueDead)) }
      requeuedCounts[request] = 0
      effects.append(.loadDead(request, limit: Self.deadPage))
    case .pause(let request, let service): setPaused(true, service, for: request, into: &effects)
    case .resume(let request, let service): setPaused(false, service, for: request, into: &effects)
    case .scale(let service, let windows): scale(service, to: windows, into: &effects)
    case .replace(let window): replace(window, into: &effects)
    case .reset(let request): reset(for: request, at: now, into: &effects)
    case .drain: if stage == .open { stage = .draining }
    case .finish: finish(into: &effects)
    case .returnAllClaims: vacate(at: now, into: &effects)
    case .endDay: endDay(at: now)
    case .tick: break
    }
    let hasCalled = event.returnsDueCustomers && returnDue(at: now, into: &effects)
    requestDelayedPage(into: &effects)
    // Other messages of the same teller may still be unread after this event, so a lease expires only on a tick, which
    // the caller sends after it has handled all received messages.
    if case .tick = event { expireLeases(at: now, into: &effects) }
    if !hasCalled, let service = event.onlyService, windows.indices.contains(service.index) {
      assignWaiting(service.index, at: now, into: &effects)
    } else {
      for service in windows.indices where !windows[service].isEmpty {
        assignWaiting(service, at: now, into: &effects)
      }
    }
    if !outsideWorkers.isEmpty { assignToOutsideWorkers(at: now, into: &effects) }
    reportIfDrained(into: &effects)
  }

  /// The next moment at which a tick is needed; nil for never. Valid only if the monotonic and the listening clock
  /// agree (see ``Moment``).
  public var nextDeadline: MonotonicTime? {
    guard let lease = nextLeaseEnd, let retry = nextRetry else { return nextLeaseEnd ?? nextRetry }
    return min(lease, retry)
  }

  /// The next moment at which a delayed customer in memory may be due; nil for never. While `maxUncommitted` changes
  /// wait for the disk, delayed customers return with the next commit instead.
  public var nextRetry: MonotonicTime? {
    uncommitted.count < policy.maxUncommitted ? delayed.nextDue(after: lastMoment) : nil
  }

  /// The next moment, by the listening clock (see ``Moment``), at which a lease or the time to return recalled
  /// customers runs out; nil for never.
  public var nextLeaseEnd: MonotonicTime? {
    var earliest: MonotonicTime?
    for places in windows {
      for windowState in places
      where windowState.isServing || isRecalling(windowState) {
        earliest = min(earliest ?? windowState.nextLeaseEnd, windowState.nextLeaseEnd)
      }
    }
    // An attempt that is not on disk yet has no running lease.
    if !pendingStarts.isEmpty, earliest == MonotonicTime(nanoseconds: .max) { return nil }
    return earliest
  }

  /// True if the queue waits for the return of all customers of the window.
  private func isRecalling(_ windowState: WindowState) -> Bool {
    if case .recalling = windowState.state { true } else { false }
  }

  /// True while a large request has arrived in part.
  public var isTakingIn: Bool { if case .some = arriving { true } else { false } }
  /// Number of customers that another request may add in one slice while a large request arrives; `.max` if none
  /// arrives.
  public var concurrentEnqueueLimit: Int64 { arriving?.gap(above: dayCounters.issued) ?? .max }
  /// True if any change or reply waits for a commit. A partly arrived request does not count.
  public var hasUncommittedChanges: Bool {
    !uncommitted.isEmpty || !pendingEnqueues.isEmpty || !pendingReplies.isEmpty || !underway.isEmpty
  }
  /// True if tickets were issued that are not on disk. A reset waits for these tickets.
  public var hasUncommittedTickets: Bool { !pendingEnqueues.isEmpty }
  /// True if changes or result bytes that wait for the disk have reached their limit, so that no customer is assigned.
  var isSaturated: Bool {
    uncommitted.count >= policy.maxUncommitted || uncommittedBytes >= policy.maxUncommittedBytes
  }
  /// Number of changes that are not on disk, without new customers.
  public var uncommittedCount: Int { uncommitted.count }
  /// True if a reply or the start of an attempt needs a new commit. Transactions in flight do not count.
  public var hasRepliesToCommit: Bool {
    guard !underway.isEmpty else {
      return !pendingReplies.isEmpty || !pendingEnqueues.isEmpty || !pendingStarts.isEmpty
    }
    let open = unsealed
    return open.answers > 0 || open.pendingEnqueues > 0 || open.pendingStarts > 0
  }

  /// Advances the business time, which runs while any customer waits, is delayed or is served. Counts backward steps
  /// of the wall clock, because receipts on both sides of such a step cannot be ordered by time.
  private mutating func advanceBusinessTime(_ now: Moment) {
    dayCounters.businessTime = businessTime(at: now.monotonic)
    if now.wall < lastMoment.wall { dayCounters.clockSteps += 1 }
    lastMoment = Moment(monotonic: max(lastMoment.monotonic, now.monotonic), wall: now.wall)
  }

  /// Business time of the day up to `now`.
  public func businessTime(at now: MonotonicTime) -> TimeSpan {
    guard isTimerRunning, now > lastMoment.monotonic else { return dayCounters.businessTime }
    return dayCounters.businessTime + now.since(lastMoment.monotonic)
  }

  /// True if the business time is running.
  public var isTimerRunning: Bool { dayCounters.waitingInAll + dayCounters.delayed > uncommittedTickets }
  /// Number of issued tickets that are not on disk.
  var uncommittedTickets: Int64 { pendingEnqueues.reduce(0) { $0 + $1.count } }

  /// Extends the per-service arrays to include this service.
  mutating func know(_ service: Service) {
    guard service.index >= windows.count else { return }
    dayCounters.know(services: service.index + 1)
    while windows.count <= service.index {
      windows.append([])
      idleWindows.append(0)
      outsideCounts.append(0)
      outsideAssignmentSerials.append(0)
      committedPauses.append(false)
      for place in underway.indices { underway[place].paused.append(false) }
    }
  }

  mutating func stage(_ change: StoreChange, into effects: inout [QueueEffect]) {
    if !coordinatorCrashes.isEmpty { discardCrashes(with: change) }
    uncommitted.append(change)
    effects.append(.stage(change))
  }

  /// Adds a reply that is sent when the changes staged so far are on disk.
  mutating func replyWhenCommitted(
    _ request: RequestNumber, _ answer: QueueAnswer, into effects: inout [QueueEffect]
  ) {
    pendingReplies.append(.reply(request, answer))
  }

  /// Returns true if requests may change the queue. While the disk is full, refuses the request and returns false.
  func admitsChanges(_ request: RequestNumber, into effects: inout [QueueEffect]) -> Bool {
    if isDiskFull { effects.append(.reply(request, .refused(.diskFull))) }
    return !isDiskFull
  }
}
