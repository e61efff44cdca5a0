// Owns the queue's machine and how it is driven: every event reaches it here, and what it wants is performed here, in order.
// Failure: a store that leaves the disk in doubt ends everything; see `BankContext.cutOff(with:)`.
// Invariants: an event reaches the machine through `apply(_:into:)` and through nothing else; a change is staged before
// anything that was wanted after it; what waits for a commit is performed before anything else can be staged. How a commit
// comes about stands in `QueueDriver+Commits.swift`.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// Looks at everything that happens to a queue, and lets it happen.
package protocol QueueWitness: AnyObject {
  /// Lets an event happen to the queue at a moment; what it wants is appended, and will be performed in order.
  func apply(
    _ event: QueueEvent, to machine: inout QueueMachine, at now: Moment, into effects: inout [QueueEffect])
}

/// What the queue wants of a worker that has come by itself.
enum OutsideWish {
  case tell(WindowMessage)
  case expel(Generation, reason: String)
}

final class QueueDriver {
  private(set) var machine: QueueMachine
  let engine: CommitEngine

  /// Something is to be done with a worker that has come by itself.
  var onOutside: (OutsideWish, Window) -> Void = { _, _ in }
  /// Shared books are to do something with customers who are not in this branch's hands.
  var onForward: (OperatorOrder, RequestNumber) -> Void = { _, _ in }
  /// A service has paused by itself.
  var onPaused: () -> Void = {}
  var onReply: (RequestNumber, QueueAnswer) -> Void = { _, _ in }
  /// Nobody is left who can be served, and no window is busy.
  var onDrained: () -> Void = {}
  /// Everything is on disk, and nothing is staged yet: now the store shows what may be told.
  var onCommitted: () -> Void = {}
  /// The disk is full, and the queue has refused whoever was not on disk.
  var onRefused: () -> Void = {}
  /// The store has failed and nobody knows any more what is on disk: the last words are to be spoken.
  var onBroken: (StoreError) -> Void = { _ in }

  /// Why services have paused by themselves, as long as they are paused.
  var pauseReasons: [Service: String] = [:]

  /// How far workers have come with customers in their hands, as they said last.
  private(set) var progress: [TicketNumber: WorkProgress] = [:]

  var witness: (any QueueWitness)?

  /// What workers that keep no log have in its place.
  let journal: WorkerJournal

  let context: BankContext
  let tellerSupervisor: TellerSupervisor
  /// The customers in the hands of commands and workers, for the coordinator after this one.
  let hands: HandTable?
  /// Orders for workers that have not read what was sent before.
  var heldOrders = HeldOrders()
  /// Bytes that wait for the worker of a number that has come by itself.
  var outsideBacklog: (Int32) -> Int = { _ in 0 }
  let followers: Followers
  private let releases: ReleaseQueue
  private var effects: [QueueEffect] = []
  private var isPerforming = false
  /// The business day of the effects that are being performed. A reset among the events behind them has ended it for the queue
  /// already: what was handed out before the reset is still an order of that day.
  private(set) var effectsDay: BusinessDay
  /// Whether those are being told who have waited for a commit.
  var isTelling = false
  /// Whether a request is being answered: what the queue says of it is on disk, whatever else is not.
  private(set) var isReplying = false
  /// Changes to come that were staged before, when the disk was full, and were counted then.
  private var repeats = 0

  init(
    _ machine: consuming QueueMachine, _ engine: CommitEngine, _ context: BankContext,
    _ tellerSupervisor: TellerSupervisor, _ followers: Followers, _ releases: ReleaseQueue
  ) {
    hands = context.bindings.hands
    effectsDay = machine.books.day
    self.machine = machine
    self.engine = engine
    self.context = context
    journal = WorkerJournal(context)
    self.tellerSupervisor = tellerSupervisor
    self.followers = followers
    self.releases = releases
  }

  // MARK: - Events

  /// Lets an event happen and does everything that follows from it.
  func happen(_ event: QueueEvent) {
    apply(event)
    perform()
  }

  /// Lets an event happen; what follows from it is done with the next ``perform()``.
  func apply(_ event: QueueEvent) { apply(event, into: &effects) }

  /// The one way in which anything happens to the queue.
  private func apply(_ event: QueueEvent, into effects: inout [QueueEffect]) {
    if case .resume(_, let service) = event, !pauseReasons.isEmpty {
      if let service { pauseReasons[service] = nil } else { pauseReasons.removeAll() }
      keepPauseReasons()
    }
    guard let witness else { return machine.apply(event, at: context.now, into: &effects) }
    witness.apply(event, to: &machine, at: context.now, into: &effects)
  }

  /// A worker says how far it has come. It is remembered for those whom the queue knows to be in its hands.
  func note(_ progress: WorkProgress, of lease: Lease, at window: Window) {
    guard machine.holds(lease, at: window) else { return }
    self.progress[lease.ticket] = progress
    followers.changed = true
  }

  func adopt(_ policy: QueuePolicy) { machine.adopt(policy) }
  /// How many a reset has cancelled that is answered now; nil for every other request.
  func takeCancelled(by request: RequestNumber) -> Int64? { machine.takeCancelled(by: request) }

  // MARK: - Effects

  /// Performs everything that the queue wants, also what follows from performing it.
  ///
  /// Performing can make something happen that wants more: that is appended, and performed in its turn.
  func perform() {
    guard !isPerforming, !isTelling else { return }
    isPerforming = true
    if effectsDay != machine.books.day { effectsDay = firstEndedDay ?? machine.books.day }
    defer { (isPerforming, effectsDay) = (false, machine.books.day) }
    let isShuffled = Kernel.makes("performsLastFirst")
    var place = 0
    while place < effects.count, !context.isCutOff {
      if isShuffled { swapStages(from: place) }
      // Taken and not copied: what it holds would be counted up and down again.
      var effect = QueueEffect.reportDrained
      swap(&effect, &effects[place])
      place += 1
      perform(effect)
    }
    effects.removeAll(keepingCapacity: true)
  }

  /// The day that the first reset among the effects ends; nil if there is none.
  private var firstEndedDay: BusinessDay? {
    effects.lazy.compactMap { if case .stage(.cancelEveryone(let day, _)) = $0 { day } else { nil } }.first
  }

  /// A mistake that is never made outside of a simulation: a change is staged after the one that follows it.
  private func swapStages(from place: Int) {
    guard case .stage = effects[place] else { return }
    let next = effects[(place + 1)...].firstIndex { if case .stage = $0 { true } else { false } }
    if let next { effects.swapAt(place, next) }
  }

  private func perform(_ effect: QueueEffect) {
    switch effect {
    case .stage(let change):
      if case .cancelEveryone(let ended, _) = change { effectsDay = ended + 1 }
      stage(change)
    case .loadPage, .loadDelayed, .lookUp, .loadDead: read(effect)
    case .forward(let request, let order): onForward(order, request)
    case .assign(let window, let lease, let customer):
      if let hands, context.kinds[window.service].takesPayload { hands.take(lease.ticket) }
      entrust(customer, lease, at: window)
    case .acknowledge(let window, let lease):
      // A worker that is no teller is told nothing that its page does not name, whichever encoding it speaks.
      guard !window.isOutside, !context.kinds[window.service].isForeign else { break }
      tellerSupervisor.tell(window, .acknowledged(lease), canWait: machine.numbers(of: window)?.lease != nil)
    case .recall(let window, let lease): recall(lease, from: window)
    case .announceClosing(let window): tellerSupervisor.tell(window, .closing)
    case .openWindow(let window): tellerSupervisor.open(window, at: context.now)
    case .closeWindow(let window): tellerSupervisor.close(window)
    case .dismissTeller(let window): tellerSupervisor.dismiss(window, at: context.now)
    case .endStuckTeller(let window, let generation):
      tellerSupervisor.abort(window, generation, at: context.now)
    case .endRogueTeller(let window, let generation, let reason):
      if window.isOutside {
        onOutside(.expel(generation, reason: reason), window)
      } else {
        tellerSupervisor.expel(window, generation, reason: reason, at: context.now)
      }
    case .announce(let happening, let window, let lease, let customer):
      if happening != .started, !progress.isEmpty { progress[lease.ticket] = nil }
      journal.announce(happening, window, lease, customer, day: effectsDay)
      followers.announce(happening, window, lease, customer, day: effectsDay, in: context)
    case .reportDead(let customer, let window, let end, let processEnd):
      reportDead(customer, window, end, processEnd)
    case .reportWithoutEffect(let customer, let receipt):
      context.write(event: "without_effect", level: .warn) {
        $0.field("day", receipt.day)
        $0.field("ticket", customer.ticket)
        $0.field("msg", "the customer was finished by somebody else before")
      }
    case .reportPause(let service, let failure):
      pauseReasons[service] = failure.words
      keepPauseReasons()
      onPaused()
      followers.changed = true
      context.write(event: "service_paused", level: .error) {
        $0.field("service", context.services.directory[service].text)
        $0.field("msg", failure.words)
      }
    case .reply(let request, let answer):
      isReplying = true
      onReply(request, answer)
      isReplying = false
    case .reportDrained: onDrained()
    }
  }

  /// Says something at a window, or to a worker that has come by itself.
  func tell(_ window: Window, _ message: WindowMessage) {
    if window.isOutside { onOutside(.tell(message), window) } else { tellerSupervisor.tell(window, message) }
  }

  func stage(_ change: StoreChange) {
    guard !isTelling else { return effects.append(.stage(change)) }
    let isRepeated = repeats > 0
    if isRepeated { repeats -= 1 } else { noteHands(change) }
    followers.note(change, isRepeated: isRepeated, at: context.now.wall)
    if change.leavesSomethingPutBy { releases.look() }
    if !isRepeated, case .record(let attempt) = change { journal.note(attempt) }
    do throws(StoreError) { try engine.stage(change) } catch { fail(error) }
  }

  private func read(_ effect: QueueEffect) {
    do throws(StoreError) { if let event = try engine.read(effect) { apply(event) } } catch { fail(error) }
  }

  /// Reads what was put off because it takes long, as if it had been asked for now.
  func readPostponed() {
    guard engine.hasPostponed else { return }
    context.takeTime()
    effects.append(contentsOf: engine.takePostponed())
    perform()
  }

  private func reportDead(
    _ customer: Customer, _ window: Window, _ end: AttemptEnd, _ processEnd: ProcessEnd?
  ) {
    followers.noteDead(customer, window, processEnd, at: context.now.wall)
    context.write(event: "dead", level: .warn) {
      $0.field("day", effectsDay)
      $0.field("ticket", customer.ticket)
      $0.field("service", context.services.directory[customer.service].text)
      if !window.isUnknown { $0.field("window", context.name(of: window)) }
      $0.field("attempts", customer.attempts)
      if let most = machine.policy[customer.service.index].maxAttempts, customer.begun >= most {
        $0.field("max_attempts", Int64(most))
      }
      $0.field("end", end.name)
      switch processEnd {
      case .code(let code): $0.field("code", code)
      case .signal(let signal): $0.field("signal", signal)
      case nil: break
      }
    }
  }

  // MARK: - What the store is asked for

  /// Whether customers may be taken in, or out, in this turn.
  var mayTakeIn: Bool { !context.isCutOff && !engine.isEmptying && !machine.holdsBackIntake }

  /// Gives numbers to the services that have none, durable when it returns; what was staged is committed first.
  func giveNumbers(to names: [ServiceName]) throws(StoreError) {
    guard names.contains(where: { engine.services[$0] == nil }) else { return }
    commit()
    awaitResults()
    try engine.giveNumbers(to: names)
  }

  /// Everybody has been told: the store does what it has put off.
  func tidyUp() { do throws(StoreError) { try engine.tidyUp() } catch { fail(error) } }

  /// Takes out some of those whose request was never whole, and commits that; false where it could not be done.
  func withdrawArrivals(limit: Int) -> Bool {
    do throws(StoreError) { try engine.withdrawArrivals(limit: limit) } catch {
      fail(error)
      return false
    }
    commit()
    return true
  }

  /// Writes more of a reset, until a moment at most; false where the store has failed.
  func emptyFurther(until: MonotonicTime) -> Bool {
    do throws(StoreError) { try engine.emptyFurther(until: until) } catch {
      fail(error)
      return false
    }
    return true
  }

  // MARK: - A store that fails

  /// The store could not do something. A full disk is waited for; after anything worse nobody knows what is on disk, and
  /// this process ends so that the next one reads it again.
  func fail(_ error: StoreError) {
    guard !context.isCutOff else { return }
    var isFull = false
    if case .diskFull = error { isFull = true }
    guard isFull || Kernel.makes("takesEveryErrorForAFullDisk") else {
      context.cutOff(with: 1)
      return onBroken(error)
    }
    releases.putOff()
    let isFirst = !machine.isJammed
    engine.rollBack(isFirst: isFirst)
    followers.unsealEvents()
    noteRoom()
    if isFirst { refuse(because: error) }
  }

  /// The queue refuses tickets that nobody was told of, and these learn it now. What it stages again is staged when the
  /// disk is tried again, and not twice.
  private func refuse(because error: StoreError) {
    context.write(event: "disk_full", level: .error) { $0.field("msg", error.description) }
    var refused: [QueueEffect] = []
    var repeats = machine.unsettledCount
    apply(.commitRefused, into: &refused)
    for effect in refused {
      guard case .stage(let change) = effect, !Kernel.makes("stagesTwice") else {
        effects.append(effect)
        continue
      }
      if repeats == 0 { followers.note(change, isRepeated: false, at: context.now.wall) }
      repeats = max(0, repeats - 1)
    }
    onRefused()
    perform()
  }

  /// Tries a full disk again where it was left alone long enough.
  func retryIfDue() { if let due = engine.retryAt, due <= context.now.monotonic { retry() } }

  /// After a full disk: everything that is not on disk yet is staged again.
  func retry() {
    engine.beginRetry()
    stageAgain()
    guard engine.isWorking else { return }
    commit()
    guard engine.isWorking else { return }
    // Where it comes later it is said then.
    if !machine.isJammed { noteRoomAgain() }
    effects.append(contentsOf: engine.takeHeldBack())
    perform()
  }

  /// Everything that was staged and forgotten is staged again. What happens in the same event besides is new.
  private func stageAgain() {
    repeats = machine.unsettledCount
    happen(.commitRefused)
    repeats = 0
  }

  // MARK: - Room

  func noteRoomAgain() { context.write(event: "disk_available") }

  /// Tells the queue whether the store lives on its reserve.
  func noteRoom() {
    let isShort = engine.noteRoom()
    guard isShort != machine.isShort else { return }
    context.write(event: isShort ? "disk_short" : "disk_room", level: isShort ? .error : .info) {
      let words =
        isShort
        ? "the reserve is in use: no new customers, those who are here are served"
        : "there is room again: new customers can come"
      $0.field("msg", words)
    }
    happen(.roomChanged(isShort: isShort))
  }

  /// Looks whether there is room again, where a store that is short has been left alone long enough.
  func lookForRoomIfDue() { if engine.lookForRoomIfDue() { noteRoom() } }
  var nextDeadline: MonotonicTime? { .earlier(nextRetry, engine.nextDeadline) }
  var nextRetry: MonotonicTime? { Kernel.makes("neverWakes") ? nil : machine.nextRetry }
  /// When a lease runs out next, in the time that was attended.
  var nextLeaseEnd: MonotonicTime? { Kernel.makes("neverWakes") ? nil : machine.nextLeaseEnd }
}
