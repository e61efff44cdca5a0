// Owns the end of the bank, step by step: the door closes, those who wait are served, those at a window are finished,
// the tellers go, the day is closed, and the last word is spoken when nothing is left to be done.
// Invariant: whoever was told "stopped" can start the bank again at once.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Wire

extension Coordinator {
  /// A client, or a signal, asks for the end. Asking again, or asking for it now, goes one step further.
  func stop(_ order: StopOrder, _ seat: Followers.Seat?) {
    if let timeout = order.timeoutMilliseconds, timeout < 0 {
      if let seat {
        server.answer(
          seat.session, seat.number, .failure(Failure(.badRequest, detail: "a timeout is not negative")))
      }
      return
    }
    var ending = self.ending ?? Ending(step: .serving)
    let isFirst = self.ending == nil
    if let seat { ending.seats.append(seat) }
    if let timeout = order.timeoutMilliseconds {
      let until = now.monotonic + .milliseconds(timeout)
      ending.serveUntil = min(ending.serveUntil ?? until, until)
    }
    if isFirst {
      ending.total = machine.waitingCount + machine.books.delayed + machine.serving
      log.write(event: "stopping", at: now) {
        $0.field("waiting", machine.waitingCount)
        $0.field("serving", machine.serving)
        $0.field("now", order.now ? "true" : "false")
      }
      for seat in followers.windowWaiters {
        server.answer(seat.session, seat.number, .failure(Failure(.draining)))
      }
      followers.windowWaiters.removeAll()
    }
    self.ending = ending
    guardianship?.stopping()
    if isFirst { happen(.drain) }
    if order.now { finishServing() }
  }

  /// A signal asks for the end: everyone is served, or only those at a window, and everyone else waits for the next
  /// start.
  func stopBySignal(now isUrgent: Bool) {
    takeTime()
    stop(StopOrder(now: isUrgent, timeoutMilliseconds: nil), nil)
  }

  /// Whoever opened this bank in its foreground was killed.
  func openerIsGone() {
    guard exitCode == nil else { return }
    log.write(event: "opener_lost", level: .warn, at: now) {
      $0.field("waiting", machine.waitingCount)
      $0.field("serving", machine.serving)
    }
    isAbandoned = true
    exitCode = 1
  }

  /// Ends as if this process had been killed itself, and only tidier: what has happened is kept, who is at a window
  /// waits again at the head of the line, and nobody is told.
  func leaveAtOnce() {
    staff.killAll()
    commit()
    server.stopListening()
    onClosed?()
  }

  /// Nobody is handed out any more.
  private func finishServing() {
    guard ending?.step == .serving else { return }
    ending?.step = .finishing
    ending?.serveUntil = nil
    ending?.total = machine.serving
    happen(.finish)
  }

  /// The queue has nobody left who can be served, and no window is busy: the tellers go.
  func drained() {
    guard ending != nil, ending?.step != .leaving else { return }
    ending?.step = .leaving
    ending?.leaveUntil = now.monotonic + Ending.leaveGrace
    for service in Service.allCases { machine.apply(.scale(service, windows: 0), at: now, into: &effects) }
  }

  func keepEndingTime() {
    guard let ending else { return }
    if let until = ending.serveUntil, until <= now.monotonic { finishServing() }
    if ending.step == .leaving {
      if let until = ending.leaveUntil, until <= now.monotonic {
        staff.killAll()
        self.ending?.leaveUntil = nil
      }
      if staff.isEmpty, !machine.isTakingIn, intake.isEmpty { finishDay() }
    }
  }

  /// Tells those who asked how far it is.
  func tellEnding() {
    guard let ending, !ending.seats.isEmpty, ending.step != .leaving,
      now.monotonic.since(ending.toldAt) >= Ending.tellPause
    else { return }
    let left = machine.waitingCount + machine.books.delayed + machine.serving
    let report =
      ending.step == .serving
      ? ProgressReport(phase: .serving, done: max(0, ending.total - left), total: ending.total)
      : ProgressReport(phase: .finishing, done: max(0, ending.total - machine.serving), total: ending.total)
    for seat in ending.seats { server.answer(seat.session, seat.number, .progress(report), more: true) }
    self.ending?.toldAt = now.monotonic
  }

  /// Everyone has gone: the day is closed if it is finished, and the bank ends.
  private func finishDay() {
    guard exitCode == nil else { return }
    commit()
    // A full disk: the bank cannot say that it has ended before everything is kept. It is tried again.
    guard retryAt == nil, !machine.isUnsettled else { return }
    if ending?.last == nil {
      let books = machine.books
      let report = StoppedReport(
        day: books.day, served: books.served, businessMilliseconds: books.businessTime.milliseconds,
        waiting: books.waitingInAll + books.delayed, dead: books.dead, isDayClosed: books.isFinished)
      var picture = statusReport()
      picture.state = .closed
      ending?.last = (report, picture)
      happen(.endDay)
      commit()
    }
    guard retryAt == nil, let (report, lastPicture) = ending?.last else { return }
    log.write(event: "stopped", at: now) {
      $0.field("day", report.day)
      $0.field("served", report.served)
      $0.field("waiting", report.waiting)
    }
    log.flush()
    server.stopListening()
    tellLookersOn(lastPicture)
    onClosed?()
    for event in followers.takeEvents() {
      for seat in followers.audience { server.answer(seat.session, seat.number, .event(event), more: true) }
    }
    for seat in ending?.seats ?? [] { server.answer(seat.session, seat.number, .stopped(report)) }
    server.flush()
    exitCode = 0
  }

  /// Those who look on see the bank close: the last receipts are sent while there is a store to read them from, and
  /// the last picture is one that no other follows.
  private func tellLookersOn(_ picture: StatusReport) {
    followers.committed = true
    pumpStreams()
    for session in server.sessions.values { session.streams.removeAll() }
    for seat in followers.watchers { server.answer(seat.session, seat.number, .status(picture)) }
    followers.watchers.removeAll()
  }
}
