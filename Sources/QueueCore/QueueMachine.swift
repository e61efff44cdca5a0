// Owns the whole logic of the customers' queue. It knows no input, no output, no clock and no chance:
// an event and a moment go in, effects come out, and the same history always has the same end.
//
// A customer's way. `enqueue` gives a ticket and stages it; `committed` puts the customer in line and speaks the
// ticket. An idle teller gets the first of the highest grade of its own service, at once and without the disk.
// The teller's answer ends the lease: `done` stages the receipt and hands out the next customer in the same breath,
// `failed` puts the customer off, and the end of the teller or of its lease brings the customer back to the place
// of its number, which is the head of its line. Whoever failed too often stands among the dead letters.
//
// Where a service counts its attempts (`max_attempts`), an attempt is on disk before it begins: `QueueMachine+Starts.swift`.
//
// What is durable. Everything staged and not on disk is *unsettled*. `sealed` makes one transaction of what was staged since
// the last one and says that it is on its way; several may be. `committed` settles the oldest of them, and with it what waits
// for this one and for no other; where none is on its way it settles everything, as a store does that answers at once. When
// the disk is full the store forgets all that is not on disk, under way or not: tickets that nobody was told of and pauses
// are taken back, everything else is staged again until there is room. Answers leave only with `committed`. Before that the
// store may be short of room: nobody new comes then, and the line is not emptied in one stroke; everything else goes on.
//
// Invariant: issued = waiting + delayed + serving + served + dead + cancelled, after every event.

import BankModel
import Time

/// The customers' queue as a pure state machine. There is one of it: a copy would cost a shell hundreds of instructions
/// whenever it asks something, so none can be made.
public struct QueueMachine: ~Copyable, Sendable {
  /// The rules.
  public internal(set) var policy: QueuePolicy
  /// The numbers of the day, with everything that is staged.
  public internal(set) var books: Books
  /// Whether the bank takes customers and hands them out.
  public internal(set) var stage: Stage = .open
  /// Whether the disk was full when it was last asked.
  public internal(set) var isJammed = false
  /// Whether there is only room for finishing those who are here.
  public internal(set) var isShort = false

  /// How far the bank is from its end.
  public enum Stage: Sendable, Equatable {
    /// Takes customers and serves them.
    case open
    /// Takes no new customers, and serves those who wait.
    case draining
    /// Hands out nobody any more.
    case finishing
  }

  /// Those who wait, by the place of their line in the books.
  var lines: [WaitingLine]
  var delayed: DelayedCustomers
  /// Windows by the service's index and place − 1, and behind them the places of workers that have come by themselves.
  var windows: [[WindowState]]
  /// Places of workers that have come by themselves, by the service's index.
  var outsideCounts: [Int]
  var outsideWorkers: [Generation: OutsideWorker] = [:]
  /// The last turn of each service with workers that have come by themselves, by its index; see ``handOutside(at:into:)``.
  var outsideTurns: [UInt64] = []
  var idleWindows: [Int]
  var servingCount: Int64 = 0
  var hasReportedDrained = false

  /// Changes that must be staged again if the store forgets the open transaction.
  var unsettled: [StoreChange] = []
  /// Bytes of the results among them.
  var unsettledBytes = 0
  var admissions: [Admission] = []
  var settling: [QueueEffect] = []
  /// Who was handed out and is told to nobody before it is on disk; see `QueueMachine+Starts.swift`.
  var starts: [Start] = []
  /// Transactions on their way to the disk, the oldest first; see `QueueMachine+Commits.swift`.
  var underway: [UnderwayTransaction] = []
  /// The request of which a slice was taken in and the last one has not come. Until then it is not in the books, and
  /// whatever is committed is committed without it.
  public internal(set) var arriving: ArrivingRequest?
  /// The first of its customers, as far as they would stand in memory, by the place of their line in it.
  var arrivingFronts: [[Customer]] = []
  /// Those of its customers who are delayed.
  var arrivingDelayed: DelayedNewcomers
  /// Services that are paused on disk, and the requests for pauses that are not there yet.
  var settledPauses: [Bool]
  var pausing: [RequestNumber] = []
  /// Requests that wait until no ticket is unsettled.
  var postponed: [QueueEvent] = []
  var cancellations: Set<RequestNumber> = []
  /// Dead letters that a request has brought back so far.
  var revivals: [RequestNumber: Int64] = [:]

  /// Customers whom each reset has cancelled that was not answered yet.
  var resetCounts: [RequestNumber: Int64] = [:]

  /// Customers who were in hand when a coordinator died; see `QueueMachine+Falls.swift`.
  var falls: [TicketNumber: CoordinatorFall]

  /// What a branch knows of books that it shares; see `QueueMachine+Branch.swift`.
  var branch = BranchKnowledge()

  /// When the last event happened: by the steady clock the latest moment, by the calendar's the last reading.
  var lastMoment: Moment

  struct Admission: Sendable {
    var request: RequestNumber
    var first: TicketNumber
    var count: Int64
    /// How many of them stand in the line at each place, in runs as they came. A line keeps its place while they are not
    /// on disk.
    var runs: [(place: Int, count: Int64)] = []
    /// Those of them who are delayed.
    var delayed = ServiceTally()

    mutating func note(_ count: Int64, at place: Int) {
      if runs.last?.place == place {
        runs[runs.count - 1].count += count
      } else {
        runs.append((place, count))
      }
    }
  }

  /// The queue as a store has kept it. Whoever was being served waits again, at the head of the line.
  ///
  /// - Parameter falls: customers who were in hand when former coordinators died.
  public init(
    _ stored: StoredQueue, policy: QueuePolicy, at now: Moment, falls: [TicketNumber: CoordinatorFall] = [:]
  ) {
    self.policy = policy
    self.falls = falls
    books = stored.books
    settledPauses = stored.books.paused
    lines = stored.books.waiting.lines.indices.map {
      WaitingLine(stored: stored.books.waiting[$0], capacity: policy.capacity(ofLineAt: $0))
    }
    windows = Array(repeating: [], count: stored.books.paused.count)
    idleWindows = Array(repeating: 0, count: stored.books.paused.count)
    outsideCounts = idleWindows
    outsideTurns = Array(repeating: 0, count: stored.books.paused.count)
    lastMoment = now
    delayed = DelayedCustomers(
      stored.delayed, of: stored.books.delayed, capacity: policy.delayedCapacity, at: now,
      limit: { policy[$0.index].longestPause })
    arrivingDelayed = DelayedNewcomers(capacity: policy.delayedCapacity)
  }

  /// Lets one event happen at a moment. Effects are appended and are to be performed in order.
  public mutating func apply(_ event: QueueEvent, at now: Moment, into effects: inout [QueueEffect]) {
    keepTime(now)
    switch event {
    case .enqueue(let request, let orders, let total, let isLast, let heldBack):
      takeIn(orders, of: total, isLast: isLast, heldBack: heldBack, for: request, at: now, into: &effects)
    case .sealed: return seal()
    case .committed: settle(at: now, into: &effects)
    case .commitRefused: unsettle(into: &effects)
    case .intakeAbandoned: abandonIntake(at: now, into: &effects)
    case .roomChanged(let isShort): self.isShort = isShort
    case .pageLoaded(let line, let page): join(page, line)
    case .somebodyMayWait(let line): lines[index(of: line)].hearOfMore()
    case .leaseHolds(let end): branch.leaseEnd = end
    case .withoutEffect(let tickets): takeBackEffects(of: tickets, into: &effects)
    case .takenOut(let ticket): lose(ticket, at: now, into: &effects)
    case .branchLost: loseEverybody(at: now, into: &effects)
    case .remains(let tally): branch.remaining = tally
    case .delayedLoaded(let page): join(page, at: now)
    case .found(let request, let ticket, let stored):
      resolve(request, ticket, stored, at: now, into: &effects)
    case .deadLoaded(let request, let letters): revive(letters, for: request, into: &effects)

    case .tellerReady(let window, let generation, let pid):
      welcome(window, generation, pid: pid, into: &effects)
    case .workerReady(let window, let generation, let pid, let inHand):
      welcome(window, generation, pid: pid, inHand: inHand, into: &effects)
    case .workerCame(let services, let number, let generation, let pid, let inHand):
      admit(services, number: number, generation, pid: pid, inHand: inHand)
    case .workerGone(let generation):
      loseOutside(generation, at: now, into: &effects)
    case .tellerAnswered(let window, let generation, let lease, let answer):
      hear(answer, of: lease, from: window, generation, at: now, into: &effects)
    case .tellerProgressed(let window, let generation, let lease):
      renew(lease, of: window, generation, at: now, into: &effects)
    case .tellerLost(let window, let generation, let end):
      lose(window, generation, end, at: now, into: &effects)

    case .cancel(let request, let ticket): cancel(ticket, for: request, at: now, into: &effects)
    case .requeue(let request, let ticket): requeue(ticket, for: request, into: &effects)
    case .requeueDead(let request):
      guard admitsChanges(request, into: &effects) else { break }
      guard !policy.isShared else { return effects.append(.forward(request, .requeueDead)) }
      revivals[request] = 0
      effects.append(.loadDead(request, limit: Self.deadPage))
    case .pause(let request, let service): setPaused(true, service, for: request, into: &effects)
    case .resume(let request, let service): setPaused(false, service, for: request, into: &effects)
    case .scale(let service, let windows): scale(service, to: windows, into: &effects)
    case .replace(let window): replace(window, into: &effects)
    case .reset(let request): reset(for: request, at: now, into: &effects)
    case .drain: if stage == .open { stage = .draining }
    case .finish: finish(into: &effects)
    case .vacate: vacate(at: now, into: &effects)
    case .endDay: endDay(at: now)
    case .tick: break
    }
    let hasCalled = event.callsWhoeverIsDue && callDue(at: now, into: &effects)
    askForDelayed(into: &effects)
    // Nobody's silence is judged by the word of somebody else: more words may wait behind that one. A tick comes when
    // everything that was said has been heard.
    if case .tick = event { expireLeases(at: now, into: &effects) }
    if !hasCalled, let service = event.onlyService, windows.indices.contains(service.index) {
      handOut(service.index, at: now, into: &effects)
    } else {
      for service in windows.indices where !windows[service].isEmpty {
        handOut(service, at: now, into: &effects)
      }
    }
    if !outsideWorkers.isEmpty { handOutside(at: now, into: &effects) }
    reportDrainedIfSo(into: &effects)
  }

  /// When something happens by itself next; nil for never. Both clocks are one where everything is heard at once.
  public var nextDeadline: MonotonicTime? {
    guard let lease = nextLeaseEnd, let retry = nextRetry else { return nextLeaseEnd ?? nextRetry }
    return min(lease, retry)
  }

  /// When delayed customers are to be called next; nil for never. Where as much waits for a commit as may, they are called
  /// with the commit.
  public var nextRetry: MonotonicTime? {
    unsettled.count < policy.maxUnsettled ? delayed.nextDue(after: lastMoment) : nil
  }

  /// When a lease runs out next, in the time that was attended; nil for never.
  public var nextLeaseEnd: MonotonicTime? {
    var earliest: MonotonicTime?
    for places in windows {
      for windowState in places
      where windowState.isServing || isRecalling(windowState) {
        earliest = min(earliest ?? windowState.nextLeaseEnd, windowState.nextLeaseEnd)
      }
    }
    // Of whoever has not begun no lease runs.
    if !starts.isEmpty, earliest == MonotonicTime(nanoseconds: .max) { return nil }
    return earliest
  }

  private func isRecalling(_ windowState: WindowState) -> Bool {
    if case .recalling = windowState.state { true } else { false }
  }

  /// Whether a request is half taken in.
  public var isTakingIn: Bool { if case .some = arriving { true } else { false } }
  /// How many may come in one slice beside a request that is half taken in.
  public var roomBeside: Int64 { arriving?.gap(above: books.issued) ?? .max }
  /// Whether anything waits to be written. A request that is half taken in is not waited for.
  public var isUnsettled: Bool {
    !unsettled.isEmpty || !admissions.isEmpty || !settling.isEmpty || !underway.isEmpty
  }
  /// Whether tickets were given out that are not on disk. A reset has to wait for them.
  public var hasUnsettledTickets: Bool { !admissions.isEmpty }
  /// Whether so much waits for the disk that nobody is handed out before it has come there.
  var isSaturated: Bool {
    unsettled.count >= policy.maxUnsettled || unsettledBytes >= policy.maxUnsettledBytes
  }
  /// Changes that are staged first of all when the store has forgotten the open transaction.
  public var unsettledCount: Int { unsettled.count }
  /// Whether somebody waits for an answer that leaves with the next commit; what is on its way is hurried by nobody.
  public var hasPromises: Bool {
    guard !underway.isEmpty else { return !settling.isEmpty || !admissions.isEmpty || !starts.isEmpty }
    let open = unsealed
    return open.answers > 0 || open.admissions > 0 || open.starts > 0
  }

  /// Business time runs while somebody waits or is served. The calendar's clock is read and not trusted: where it goes
  /// back, the books say so, because order is judged by what was read from it.
  private mutating func keepTime(_ now: Moment) {
    books.businessTime = businessTime(at: now.monotonic)
    if now.wall < lastMoment.wall { books.clockSteps += 1 }
    lastMoment = Moment(monotonic: max(lastMoment.monotonic, now.monotonic), wall: now.wall)
  }

  /// How long somebody waited or was served today, up to this moment.
  public func businessTime(at now: MonotonicTime) -> TimeSpan {
    guard isTimerRunning, now > lastMoment.monotonic else { return books.businessTime }
    return books.businessTime + now.since(lastMoment.monotonic)
  }

  /// Whether somebody waits or is served, so that the business time goes on by itself.
  public var isTimerRunning: Bool { books.waitingInAll + books.delayed > unsettledTickets }
  var unsettledTickets: Int64 { admissions.reduce(0) { $0 + $1.count } }

  /// Makes room for what is kept of a service, as soon as the bank has it.
  mutating func know(_ service: Service) {
    guard service.index >= windows.count else { return }
    books.know(services: service.index + 1)
    while windows.count <= service.index {
      windows.append([])
      idleWindows.append(0)
      outsideCounts.append(0)
      outsideTurns.append(0)
      settledPauses.append(false)
      for place in underway.indices { underway[place].paused.append(false) }
    }
  }

  mutating func stage(_ change: StoreChange, into effects: inout [QueueEffect]) {
    if !falls.isEmpty { forgetFalls(with: change) }
    unsettled.append(change)
    effects.append(.stage(change))
  }

  mutating func replyWhenSettled(
    _ request: RequestNumber, _ answer: QueueAnswer, into effects: inout [QueueEffect]
  ) {
    settling.append(.reply(request, answer))
  }

  /// Refuses a request that would change something while the disk is full.
  func admitsChanges(_ request: RequestNumber, into effects: inout [QueueEffect]) -> Bool {
    if isJammed { effects.append(.reply(request, .refused(.diskFull))) }
    return !isJammed
  }
}
