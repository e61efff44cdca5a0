// Owns the end of the simulated bank, step by step as in the real one: those who wait are served, those at a window are
// finished, the tellers go, the day is closed, and the last word is spoken when everything is kept.
// It must not know a rule of the queue. Invariant: whoever is told "stopped" can start the bank again at once.

import BankModel
import QueueCore
import Wire

/// How far the end of the bank has come.
struct SimulatedEnding {
  enum Step {
    case serving
    case finishing
    case leaving
  }

  var step: Step
  var seats: [(link: Int, number: UInt32)] = []
  var serveUntil: MonotonicTime?
  /// How long those at a window have once nobody is handed out any more; nil for no bound.
  var bound: TimeSpan?
  var finishUntil: MonotonicTime?
  var leaveUntil: MonotonicTime?
  /// The last word, once the day is closed.
  var report: StoppedReport?

  var nextDeadline: MonotonicTime? {
    switch step {
    case .serving: serveUntil
    case .finishing: finishUntil
    case .leaving: leaveUntil
    }
  }
}

extension SimulatedCoordinator {
  private static let leaveGrace = TimeSpan.seconds(3)

  /// A client asks for the end. Asking again, or asking for it now, goes one step further.
  func stop(_ order: StopOrder, _ link: Int, _ number: UInt32) {
    let isFirst = ending == nil
    var ending = self.ending ?? SimulatedEnding(step: .serving)
    ending.seats.append((link, number))
    if let timeout = order.timeoutMilliseconds {
      let until = now.monotonic + .milliseconds(timeout)
      ending.serveUntil = min(ending.serveUntil ?? until, until)
      ending.bound = min(ending.bound ?? .milliseconds(timeout), .milliseconds(timeout))
    }
    self.ending = ending
    if isFirst {
      disappointWindowWaiters(.draining)
      happen(.drain)
    }
    if order.now { finishServing() }
  }

  private func finishServing() {
    guard isAlive, ending?.step == .serving else { return }
    ending?.step = .finishing
    ending?.serveUntil = nil
    let bound = ending?.bound
    ending?.finishUntil = bound.map { now.monotonic + $0 }
    happen(.finish)
  }

  /// Time is up for those at a window: they go back to the line, and their tellers are killed.
  private func vacate() {
    ending?.finishUntil = nil
    happen(.vacate)
    if isAlive { staff.killAll() }
  }

  /// The queue has nobody left who can be served, and no window is busy: the tellers go.
  func drained() {
    guard ending != nil, ending?.step != .leaving else { return }
    ending?.step = .leaving
    ending?.leaveUntil = now.monotonic + Self.leaveGrace
    house.closeAll(at: loop.moment())
    for service in Service.allCases { apply(.scale(service, windows: 0)) }
  }

  func keepEndingTime() {
    guard isAlive, let ending else { return }
    if let until = ending.serveUntil, until <= now.monotonic { finishServing() }
    if isAlive, self.ending?.step == .finishing, let until = self.ending?.finishUntil, until <= now.monotonic
    {
      vacate()
    }
    guard isAlive, self.ending?.step == .leaving else { return }
    if let until = ending.leaveUntil, until <= now.monotonic {
      staff.killAll()
      house.killAll()
      self.ending?.leaveUntil = nil
    }
    if staff.isEmpty, house.count == 0, !core.isTakingIn, intake.isEmpty { finishDay() }
  }

  /// Everyone has gone: the day is closed if it is finished, and the bank ends.
  private func finishDay() {
    commit()
    guard isAlive, retryAt == nil, !core.isUnsettled else { return }
    if ending?.report == nil || bug == .closesTheDayTwice {
      let books = core.books
      ending?.report = StoppedReport(
        day: books.day, served: books.served, businessMilliseconds: books.businessTime.milliseconds,
        waiting: books.waitingInAll + books.delayed, dead: books.dead, isDayClosed: books.isFinished)
      happen(.endDay)
      commit()
    }
    guard isAlive, retryAt == nil, let report = ending?.report else { return }
    for seat in ending?.seats ?? [] { answer(seat.link, seat.number, .stopped(report)) }
    leave()
  }
}
