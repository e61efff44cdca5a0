// Owns the end of the bank: what the drain wants is done here, step by step, logged, and told to whoever asked, and the
// last word is spoken when nothing is left to be done. It decides nothing about the steps: the drain does.
// Invariants: whoever was told "stopped" can start the bank again at once; a day is closed once, however often the disk is
// full; and a drain that is being looked at is not looked at by what it wants done.

import BankModel
import Posix
import QueueCore
import Supervision
import Time
import Wire

final class Ending: BankPart {
  private static let tellPause = TimeSpan.milliseconds(200)

  private struct State {
    var drain: Drain
    var seats: [Seat] = []
    var toldAt = MonotonicTime(nanoseconds: 0)
    /// Everything was handed to the store when nobody was left.
    var isHandedOver = false
    /// The last word and the last picture, once the day is closed.
    var last: (report: StoppedReport, picture: StatusReport)?
    /// The shared books were told that this branch leaves.
    var isLeaving = false
    /// Why the day of the whole bank could not be ended.
    var refusal: StoreError?
    /// Customers who were there when the present step began.
    var total: Int64 = 0
    /// Customers who had been served when it began.
    var servedBefore: Int64
    /// Windows whose tellers had to be killed.
    var killed: Set<Window> = []
    /// The queue has reported that nobody is at a window any more, and nobody will be.
    var isDrained = false
    /// There is nobody left; the day can be closed.
    var isOver = false
    /// Delayed customers stay for the next start.
    var leavesDelayed = false
    /// The drain is being looked at: what it wants done makes other things happen.
    var isLooking = false
    var isTold: Bool { !seats.isEmpty && drain.step != .kill }
  }

  private let intake: Intake
  private let outside: OutsideWorkers
  private let services: BranchServices
  private let words: LastWords
  private var state: State?
  /// Whether nobody is left for whom this bank was open.
  private(set) var isAbandoned = false

  init(
    _ ground: BankPart, _ intake: Intake, _ outside: OutsideWorkers, _ services: BranchServices,
    _ words: LastWords
  ) {
    self.intake = intake
    self.outside = outside
    self.services = services
    self.words = words
    super.init(ground)
  }

  // MARK: - What is asked

  /// - Parameter status: the answer to a client that does not wait.
  func stop(_ order: StopOrder, _ seat: Seat, _ status: () -> StatusReport) {
    if let timeout = order.timeoutMilliseconds, timeout < 0 {
      return server.answer(seat, .failure(Failure(.badRequest, remark: Remark(.timeoutNegative))))
    }
    let waits = order.noWait != true
    if state != nil, waits { tell(progress(), to: [seat]) }
    begin(now: order.now)
    if order.leavesDelayed == true { state?.leavesDelayed = true }
    if waits { state?.seats.append(seat) } else { server.answer(seat, .status(status())) }
    if order.endsBank == true, let shared {
      shared.askToDrain()
      shared.books.drainBank(for: requests.open(seat, for: .drain))
    }
    state?.drain.ask(
      for: [order.step, order.now || isOnlyThisBranch(order) ? .finishServing : nil].compactMap { $0 }.max(),
      bound: order.timeoutMilliseconds.map { .milliseconds($0) }, at: context.now.monotonic)
    advance()
    // The last ones may have been served by a drain that was in no hurry, as far as they could be.
    if order.now, state?.drain.step == .finishServing { queue.happen(.finish) }
  }

  /// Whether a branch closes alone: whom it has claimed goes back at once, and is served by the others.
  private func isOnlyThisBranch(_ order: StopOrder) -> Bool {
    guard let shared else { return false }
    return order.endsBank != true && !shared.isDraining
  }

  /// The bank that this branch shares ends its day: nobody new comes anywhere, and who waits is served.
  func stopWithTheBank() {
    guard state == nil else { return }
    begin(now: false)
    advance()
  }

  /// The day has ended for which this branch was opened, as it may hear when it was cut off for a while: it gives back whom it
  /// has of the next one, and waits for nobody of it.
  func stopBehindTheDay() {
    begin(now: false)
    state?.drain.ask(for: .finishServing, at: context.now.monotonic)
    advance()
  }

  /// A signal asks for the end: everyone is served, or only those at a window, and everyone else waits for the next
  /// start. Each further one goes one step further.
  func stopBySignal(now isUrgent: Bool) {
    if state != nil {
      state?.drain.askFurther(at: context.now.monotonic)
    } else {
      begin(now: isUrgent)
      if isUrgent || shared?.isDraining == false {
        state?.drain.ask(for: .finishServing, at: context.now.monotonic)
      }
    }
    advance()
  }

  /// Whoever opened this bank in its foreground was killed.
  func openerIsGone() {
    context.write(event: "opener_lost", level: .warn) {
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("serving", queue.machine.serving)
      $0.field("msg", "whoever had opened this bank in the foreground is gone; the bank closes")
    }
    isAbandoned = true
    context.end(with: 1)
  }

  private func begin(now isUrgent: Bool) {
    guard state == nil else { return }
    state = State(drain: Drain(at: context.now.monotonic), servedBefore: queue.machine.books.served)
    context.beginEnding()
    context.write(event: "stopping") {
      $0.field("waiting", queue.machine.waitingCount)
      $0.field("serving", queue.machine.serving)
      $0.field("now", isUrgent ? "true" : "false")
    }
    for seat in followers.takeWindowWaiters() { server.answer(seat, .failure(Failure(.draining))) }
    context.bindings.guardianship?.stopping()
  }

  // MARK: - The steps

  /// The queue has nobody left who can be served, and no window is busy.
  func drained() { state?.isDrained = true }

  /// The database has refused to end the day of the whole bank.
  func dayNotEnded(_ error: StoreError) { state?.refusal = error }

  /// Lets the drain look at the bank, and does what it wants.
  func advance() {
    guard let state, !state.isLooking else { return }
    self.state?.isLooking = true
    closeFailedServices()
    if state.leavesDelayed, state.drain.step == .serveWaiting, !queue.machine.hasWaitingBesidesDelayed {
      self.state?.drain.ask(for: .finishServing, at: context.now.monotonic)
    }
    let sight = DrainSight(
      isTakingIn: queue.machine.isTakingIn || !intake.isEmpty,
      hasWaiting: queue.machine.hasWaitingToServe || shared?.owesLook != nil,
      // Of a shared bank customers may come into hand after nobody was left.
      isDrained: state.isDrained && queue.machine.serving == 0,
      tellers: tellerSupervisor.posts.values.count { $0.child != nil } + serviceSupervisor.count)
    for action in self.state?.drain.look(at: sight, now: context.now.monotonic) ?? [] { perform(action) }
    self.state?.isLooking = false
    if self.state?.isOver == true { finishDay() }
  }

  /// Nobody will come to windows that were given up, nor can those serve who depend on a stock that was: a drain does not
  /// wait for them.
  private func closeFailedServices() {
    for service in context.services.directory.services {
      let posts = tellerSupervisor.posts.values.filter { $0.window.service == service }
      let isWithoutStock = service.drawsOnStock && serviceSupervisor.isStockGivenUp
      if !posts.isEmpty, posts.allSatisfy(\.isGivenUp) || isWithoutStock {
        queue.happen(.scale(service, windows: 0))
      }
    }
  }

  private func perform(_ action: DrainAction) {
    switch action {
    case .begin(let step): begin(step)
    case .closeDoor: queue.happen(.drain)
    case .turnAway: turnAway()
    case .leaveWaiting: queue.happen(.finish)
    case .takeBack: takeBack()
    case .dismiss:
      outside.close()
      for service in context.services.directory.services { queue.happen(.scale(service, windows: 0)) }
      services.dismiss()
    case .killRest:
      let left = tellerSupervisor.posts.values.filter { $0.child != nil }.map(\.window)
      state?.killed.formUnion(left)
      for window in left { tellerSupervisor.kill(window, reason: "has not gone", at: context.now) }
      serviceSupervisor.killAll()
    case .end: state?.isOver = true
    }
  }

  private func begin(_ step: DrainStep) {
    state?.total = customersLeft(in: step)
    context.write(event: "drain") {
      $0.field("step", step.name)
      $0.field("waiting", queue.machine.waitingCount + queue.machine.delayedCount)
      $0.field("serving", queue.machine.serving)
    }
    followers.changed = true
    tell(progress(), to: state?.seats ?? [])
    state?.toldAt = context.now.monotonic
  }

  /// Requests that are not taken in, or half, are refused; everything else is kept.
  func turnAway() {
    intake.turnAway(because: Failure(.draining))
    queue.commit()
  }

  /// The same where no turn comes any more: it is waited for until that is on disk.
  func turnAwayForGood() {
    turnAway()
    queue.awaitResults()
  }

  /// Everyone at a window goes back to the line, and the tellers who served them are killed.
  private func takeBack() {
    let windows = queue.machine.atWindows.map(\.window).filter { !$0.isOutside }
    queue.happen(.vacate)
    outside.close()
    state?.killed.formUnion(windows)
    for window in windows {
      tellerSupervisor.kill(window, reason: "was serving when the time was up", at: context.now)
    }
  }

  // MARK: - What is told

  /// Answers that a client is waiting for here.
  func count(of session: ControlSession) -> Int { state?.seats.count { $0.session === session } ?? 0 }
  func forget(_ session: ControlSession) { state?.seats.removeAll { $0.session === session } }
  /// When the drain cuts a step short, for which everybody is heard first who has spoken until then.
  var nextStep: MonotonicTime? { state?.drain.nextDeadline }

  var nextDeadline: MonotonicTime? {
    guard let state else { return nil }
    return .earlier(state.drain.nextDeadline, state.isTold ? state.toldAt + Self.tellPause : nil)
  }

  private func customersLeft(in step: DrainStep) -> Int64 {
    switch step {
    case .closeDoor, .serveWaiting:
      queue.machine.waitingCount + queue.machine.delayedCount + queue.machine.serving
    case .finishServing: queue.machine.serving
    case .kill: 0
    }
  }

  private func progress() -> ProgressReport? {
    guard let state else { return nil }
    let step = state.drain.step
    let phase: ProgressReport.Phase =
      switch step {
      case .closeDoor: .enqueuing
      case .serveWaiting: .serving
      case .finishServing: .finishing
      case .kill: .leaving
      }
    return ProgressReport(
      phase: phase, done: max(0, state.total - customersLeft(in: step)), total: state.total,
      drain: DrainReport(
        step: step, waiting: queue.machine.waitingCount + queue.machine.delayedCount,
        serving: queue.machine.serving,
        leftMilliseconds: state.drain.nextDeadline.map { $0.since(context.now.monotonic).milliseconds },
        delayed: queue.machine.delayedCount == 0 ? nil : queue.machine.delayedCount,
        delayedUntil: queue.machine.delayedUntil?.milliseconds))
  }

  private func tell(_ report: ProgressReport?, to seats: [Seat]) {
    guard let report else { return }
    for seat in seats { server.answer(seat, .progress(report), more: true) }
  }

  func tellProgress() {
    guard let state, state.isTold, context.now.monotonic.since(state.toldAt) >= Self.tellPause else { return }
    tell(progress(), to: state.seats)
    self.state?.toldAt = context.now.monotonic
  }

  // MARK: - The last word

  /// Everyone has gone: the day is closed if it is finished, and the bank ends.
  private func finishDay() {
    guard context.exitCode == nil, !queue.engine.isEmptying, let state else { return }
    // With the day goes whoever came with a request that was never whole: a few in each turn. Where the day goes on, the
    // next start does it.
    guard intake.remains == nil || !queue.machine.books.isFinished else { return }
    // What is on its way has its own books; those of the end come behind it.
    let isOwed = !state.isHandedOver && !queue.engine.isUnderway
    if isOwed || queue.engine.hasStaged || queue.machine.isUnsealed {
      self.state?.isHandedOver = true
      queue.commit()
    }
    // A full disk: the bank cannot say that it has ended before everything is kept. It is tried again. What is on its way
    // is waited for, and looked at again when it has come.
    guard isKept, !queue.machine.isUnsettled else { return }
    if let shared, !shared.hasLeft {
      if !state.isLeaving {
        self.state?.isLeaving = true
        shared.books.leave()
      }
      return
    }
    if state.last == nil || Kernel.makes("closesTheDayTwice") {
      let report = words.report(servedBefore: state.servedBefore, killed: state.killed.count, state.drain)
      self.state?.last = (report, words.picture())
      queue.happen(.endDay)
      queue.commit()
    }
    guard isKept, let (report, picture) = self.state?.last else { return }
    words.log(report)
    server.stopListening()
    // Who came in this very turn, after the drain had looked at the door.
    intake.refuseAll(because: Failure(.notOpen))
    words.tellLookersOn(picture)
    context.bindings.close()
    words.tellLastEvents()
    for seat in state.seats {
      server.answer(seat, state.refusal.map { .failure(Failure(store: $0)) } ?? .stopped(report))
    }
    server.flush()
    context.end(with: 0)
  }

  /// Whether everything that has happened is on disk. What a commit brings about may be staged right behind it, as after a full
  /// disk, and is committed in its turn.
  private var isKept: Bool {
    queue.engine.isWorking && !queue.engine.isUnderway && !queue.engine.hasStaged
  }

  // MARK: - Without an end

  /// Breaks everything off as if this process had been killed itself, and only tidier: what has happened is kept, who is at
  /// a window waits again at the head of the line, and of a request that is half taken in nothing is kept.
  func breakOff() {
    tellerSupervisor.killAll()
    let isTakingIn = queue.machine.isTakingIn
    turnAwayForGood()
    if isTakingIn {
      context.write(event: "withdrawn") {
        $0.field("issued", queue.machine.issuedCount)
        $0.field("msg", "the request that was being taken in is not kept: nobody of it was added")
      }
    }
    server.stopListening()
  }

  func leave() {
    context.bindings.close()
    context.write(event: "left") {
      $0.field("day", queue.machine.books.day)
      $0.field("waiting", queue.machine.waitingCount)
    }
  }
}
