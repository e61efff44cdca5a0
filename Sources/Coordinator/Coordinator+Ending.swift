// Owns the end of the bank: what the drain wants is done here, step by step, logged, and told to whoever asked, and the
// last word is spoken when nothing is left to be done. It decides nothing about the steps: the drain does.
// Invariant: whoever was told "stopped" can start the bank again at once.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Supervision
import Wire

extension Coordinator {
  /// A client asks for the end, or for a step of it.
  func stop(_ order: StopOrder, _ seat: Followers.Seat) {
    if let timeout = order.timeoutMilliseconds, timeout < 0 {
      let failure = Failure(.badRequest, remark: Remark(.timeoutNegative))
      return server.answer(seat.session, seat.number, .failure(failure))
    }
    if ending != nil { tell(progress(), to: [seat]) }
    beginEnding(now: order.now)
    ending?.seats.append(seat)
    ending?.drain.ask(
      for: [order.step, order.now ? .finishServing : nil].compactMap { $0 }.max(),
      bound: order.timeoutMilliseconds.map { .milliseconds($0) }, at: now.monotonic)
    advanceEnding()
    // The last ones may have been served by a drain that was in no hurry, as far as they could be.
    if order.now, ending?.drain.step == .finishServing { happen(.finish) }
  }

  /// A signal asks for the end: everyone is served, or only those at a window, and everyone else waits for the next
  /// start. Each further one goes one step further; after the end, while the last words leave, none does anything.
  func stopBySignal(now isUrgent: Bool) {
    guard exitCode == nil else { return }
    takeTime()
    if ending != nil {
      ending?.drain.askFurther(at: now.monotonic)
    } else {
      beginEnding(now: isUrgent)
      if isUrgent { ending?.drain.ask(for: .finishServing, at: now.monotonic) }
    }
    advanceEnding()
  }

  /// Whoever opened this bank in its foreground was killed.
  func openerIsGone() {
    guard exitCode == nil else { return }
    log.write(event: "opener_lost", level: .warn, at: now) {
      $0.field("waiting", machine.waitingCount)
      $0.field("serving", machine.serving)
      $0.field("msg", "whoever had opened this bank in the foreground is gone; the bank closes")
    }
    isAbandoned = true
    exitCode = 1
  }

  /// Ends as if this process had been killed itself, and only tidier: what has happened is kept, who is at a window
  /// waits again at the head of the line, and of a request that is half taken in nothing is kept.
  func leaveAtOnce() {
    staff.killAll()
    let isTakingIn = machine.isTakingIn
    turnAway()
    if isTakingIn {
      log.write(event: "withdrawn", at: now) {
        $0.field("issued", machine.issuedCount)
        $0.field("msg", "the request that was being taken in is not kept: nobody of it was added")
      }
    }
    server.stopListening()
    // The last words are still sent while those who were killed end, and others may answer: nothing follows from it.
    staff.onEvent = nil
    (house.onDatabase, house.onChange) = (nil, nil)
    (releases.onReleased, releases.onTrouble) = (nil, nil)
    homeWatch?.onLoss = nil
    onClosed?()
    log.write(event: "left", at: now) {
      $0.field("day", machine.books.day)
      $0.field("waiting", machine.waitingCount)
    }
  }

  private func beginEnding(now isUrgent: Bool) {
    guard ending == nil else { return }
    ending = Ending(at: now.monotonic, served: machine.books.served)
    log.write(event: "stopping", at: now) {
      $0.field("waiting", machine.waitingCount)
      $0.field("serving", machine.serving)
      $0.field("now", isUrgent ? "true" : "false")
    }
    for seat in followers.takeWindowWaiters() {
      server.answer(seat.session, seat.number, .failure(Failure(.draining)))
    }
    guardianship?.stopping()
  }

  /// The queue has nobody left who can be served, and no window is busy.
  func drained() { ending?.isDrained = true }

  /// Lets the drain look at the bank, and does what it wants.
  func advanceEnding() {
    guard let ending, !ending.isLooking else { return }
    self.ending?.isLooking = true
    closeFailedServices()
    let sight = DrainSight(
      isTakingIn: machine.isTakingIn || !intake.isEmpty, hasWaiting: machine.hasWaitingToServe,
      isDrained: ending.isDrained, tellers: staff.posts.values.count { $0.child != nil } + house.count)
    for action in self.ending?.drain.look(at: sight, now: now.monotonic) ?? [] { perform(action) }
    self.ending?.isLooking = false
    if self.ending?.isOver == true { finishDay() }
  }

  /// Nobody will come to windows that were given up, nor can those serve who depend on a stock that was: a drain does not
  /// wait for them.
  private func closeFailedServices() {
    for service in Service.allCases {
      let posts = staff.posts.values.filter { $0.window.service == service }
      let isWithoutStock = service.drawsOnStock && house.isStockGivenUp
      if !posts.isEmpty, posts.allSatisfy(\.isGivenUp) || isWithoutStock {
        happen(.scale(service, windows: 0))
      }
    }
  }

  private func perform(_ action: DrainAction) {
    switch action {
    case .begin(let step): begin(step)
    case .closeDoor: happen(.drain)
    case .turnAway: turnAway()
    case .leaveWaiting: happen(.finish)
    case .takeBack: takeBack()
    case .dismiss:
      ending?.isDismissing = true
      for service in Service.allCases { happen(.scale(service, windows: 0)) }
      house.closeAll(at: now)
    case .killRest:
      let left = staff.posts.values.filter { $0.child != nil }.map(\.window).sorted()
      ending?.killed.formUnion(left)
      for window in left { staff.kill(window, reason: "has not gone", at: now) }
      house.killAll()
    case .end: ending?.isOver = true
    }
  }

  private func begin(_ step: DrainStep) {
    ending?.total = customersLeft(in: step)
    log.write(event: "drain", at: now) {
      $0.field("step", step.name)
      $0.field("waiting", machine.waitingCount + machine.books.delayed)
      $0.field("serving", machine.serving)
    }
    followers.changed = true
    tell(progress(), to: ending?.seats ?? [])
    ending?.toldAt = now.monotonic
  }

  /// Requests that are not taken in, or half, are refused; everything else is kept.
  func turnAway() {
    let waiting = intake.abandonAll()
    giveUpIntake(Failure(.draining))
    for request in waiting { failRequest(request, Failure(.draining)) }
    commit()
  }

  /// Everyone at a window goes back to the line, and the tellers who served them are killed.
  private func takeBack() {
    let windows = machine.atWindows.map(\.window)
    happen(.vacate)
    ending?.killed.formUnion(windows)
    for window in windows { staff.kill(window, reason: "was serving when the time was up", at: now) }
  }

  // MARK: - What is told

  private func customersLeft(in step: DrainStep) -> Int64 {
    switch step {
    case .closeDoor, .serveWaiting: machine.waitingCount + machine.books.delayed + machine.serving
    case .finishServing: machine.serving
    case .kill: 0
    }
  }

  private func progress() -> ProgressReport? {
    guard let ending else { return nil }
    let step = ending.drain.step
    let phase: ProgressReport.Phase =
      switch step {
      case .closeDoor: .enqueuing
      case .serveWaiting: .serving
      case .finishServing: .finishing
      case .kill: .leaving
      }
    return ProgressReport(
      phase: phase, done: max(0, ending.total - customersLeft(in: step)), total: ending.total,
      drain: DrainReport(
        step: step, waiting: machine.waitingCount + machine.books.delayed, serving: machine.serving,
        leftMilliseconds: ending.drain.nextDeadline.map { $0.since(now.monotonic).milliseconds }))
  }

  private func tell(_ report: ProgressReport?, to seats: [Followers.Seat]) {
    guard let report else { return }
    for seat in seats { server.answer(seat.session, seat.number, .progress(report), more: true) }
  }

  /// Tells those who asked how far it is.
  func tellEnding() {
    guard let ending, ending.isTold, now.monotonic.since(ending.toldAt) >= Ending.tellPause else { return }
    tell(progress(), to: ending.seats)
    self.ending?.toldAt = now.monotonic
  }

  // MARK: - The last word

  /// Everyone has gone: the day is closed if it is finished, and the bank ends.
  private func finishDay() {
    guard exitCode == nil, !isEmptying, let ending else { return }
    // With the day goes whoever came with a request that was never whole: a few in each turn. Where the day goes on, the
    // next start does it.
    guard remains == nil || !machine.books.isFinished else { return }
    commit()
    // A full disk: the bank cannot say that it has ended before everything is kept. It is tried again.
    guard retryAt == nil, !machine.isUnsettled else { return }
    if ending.last == nil {
      let report = lastReport(ending)
      var picture = statusReport()
      picture.close()
      self.ending?.last = (report, picture)
      happen(.endDay)
      commit()
    }
    guard retryAt == nil, let (report, lastPicture) = self.ending?.last else { return }
    log.write(event: "stopped", at: now) {
      $0.field("day", report.day)
      $0.field("served", report.served)
      $0.field("finished", report.finished ?? 0)
      $0.field("waiting", report.waiting)
      $0.field("killed", report.killed ?? 0)
    }
    log.flush()
    server.stopListening()
    // Who came in this very turn, after the drain had looked at the door.
    for request in intake.abandonAll() { failRequest(request, Failure(.notOpen)) }
    tellLookersOn(lastPicture)
    onClosed?()
    tellLastEvents()
    for seat in ending.seats { server.answer(seat.session, seat.number, .stopped(report)) }
    server.flush()
    exitCode = 0
  }

  private func lastReport(_ ending: Ending) -> StoppedReport {
    let books = machine.books
    return StoppedReport(
      day: books.day, served: books.served,
      businessMilliseconds: machine.businessTime(at: now.monotonic).milliseconds,
      waiting: books.waitingInAll + books.delayed, dead: books.dead, isDayClosed: books.isFinished,
      // A reset in the middle of a drain begins to count anew.
      finished: max(0, books.served - ending.servedBefore), killed: Int64(ending.killed.count),
      steps: ending.drain.spans(at: now.monotonic).map {
        DrainStepReport(step: $0.step, milliseconds: $0.span.milliseconds)
      }, sentAway: sentAway(books))
  }

  /// How many of those whom the books count as served were sent away. Everything is on disk by now; a store that cannot
  /// say it leaves the count unsaid.
  private func sentAway(_ books: Books) -> Int64? {
    guard books.servedByService[Int(Service.juice.rawValue) - 1] > 0 else { return 0 }
    return try? store.countSentAway(on: books.day)
  }

  /// Those who look on see the bank close: the last receipts are sent while there is a store to read them from, and
  /// the last picture is one that no other follows.
  private func tellLookersOn(_ picture: StatusReport) {
    followers.committed = true
    pumpDue = now.monotonic
    pumpStreams()
    for session in server.sessions.values { session.streams.removeAll() }
    for seat in followers.views.takeWatchers() {
      server.answer(seat.session, seat.number, .status(picture))
    }
    // Whoever waited for this very moment has not waited in vain.
    let queue = picture.queue
    let isIdle = queue.waiting + queue.serving + queue.delayed == 0
    for seat in followers.takeIdleWaiters() {
      server.answer(seat.session, seat.number, isIdle ? .status(picture) : .failure(Failure(.notOpen)))
    }
  }
}
