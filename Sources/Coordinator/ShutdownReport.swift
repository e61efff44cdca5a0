// Final messages of a bank: the answer to the client that stopped it, the last status for subscribers, and the log
// entry.
// Errors: if the store cannot count the customers sent away (out of stock), the count is omitted.

import BankModel
import QueueCore
import Supervision
import Wire

final class ShutdownReport: CoordinatorComponent {
  private let streams: ResultStreams
  private let views: SubscriptionSender
  private let reports: BankReports
  private let board: BoardFeed

  init(
    _ dependencies: CoordinatorComponent, _ streams: ResultStreams, _ views: SubscriptionSender,
    _ reports: BankReports,
    _ board: BoardFeed
  ) {
    self.board = board
    self.streams = streams
    self.views = views
    self.reports = reports
    super.init(dependencies)
  }

  /// Answer to the stop request, for a day that is not closed yet.
  func report(servedBefore: Int64, killed: Int, _ drain: Drain) -> StoppedReport {
    let dayCounters = queue.machine.dayCounters
    var report = StoppedReport(
      day: dayCounters.day, served: dayCounters.served,
      businessMilliseconds: queue.machine.businessTime(at: context.now.monotonic).milliseconds,
      waiting: dayCounters.waitingInAll + dayCounters.delayed, dead: dayCounters.dead,
      isDayClosed: dayCounters.isFinished,
      // A reset during the drain restarts the counter.
      finished: max(0, dayCounters.served - servedBefore), killed: Int64(killed),
      steps: drain.spans(at: context.now.monotonic).map {
        DrainStepReport(step: $0.step, milliseconds: $0.span.milliseconds)
      }, sentAway: sentAway(dayCounters))
    guard let shared else { return report }
    // The day belongs to the whole bank.
    if shared.isDraining {
      let bank = wholeBank(shared, report)
      if bank.isDayClosed || shared.isAlone { return bank }
    }
    report.isDayClosed = false
    if !shared.isAlone { report.branch = shared.identity.number }
    return report
  }

  /// Report of the whole bank while its day is being ended: its last counts, whether the day is closed, and the
  /// branches with customers that no other branch can serve.
  private func wholeBank(_ shared: SharedStoreSession, _ own: StoppedReport) -> StoppedReport {
    guard shared.numbers.day <= own.day else { return ended(shared, own) }
    var report = own
    report.isDayClosed = false
    guard shared.numbers.day == report.day else { return report }
    let all = shared.numbers.all
    (report.waiting, report.dead) = (all.waiting + all.delayed, all.dead)
    (report.served, report.sentAway) = (all.served, all.sentAway)
    report.isDayClosed = own.isDayClosed && report.waiting + report.dead == 0
    let branches = shared.branchReports.filter { $0.juices != nil }
    if !branches.isEmpty { report.branches = branches }
    return report
  }

  /// Report of a day that has ended, and so has no customers left. The counts are those of this branch if those of all
  /// branches are unknown, because the database did not answer or another day has ended since.
  private func ended(_ shared: SharedStoreSession, _ own: StoppedReport) -> StoppedReport {
    var report = own
    (report.isDayClosed, report.waiting, report.dead) = (true, 0, 0)
    if let all = shared.numbers.ended, all.day == report.day {
      (report.served, report.sentAway) = (all.served, all.sentAway)
    } else {
      report.branch = shared.identity.number
    }
    return report
  }

  /// Number of customers sent away (out of stock), who are among those counted as served.
  private func sentAway(_ dayCounters: DayCounters) -> Int64? {
    guard dayCounters.servedByService[Service.juice.index] > 0 else { return 0 }
    return try? store.countOutOfStock(on: dayCounters.day)
  }

  func finalStatus() -> StatusReport {
    var finalStatus = reports.status()
    finalStatus.close()
    return finalStatus
  }

  func log(_ report: StoppedReport) {
    context.write(event: "stopped") {
      $0.field("day", report.day)
      $0.field("served", report.served)
      $0.field("finished", report.finished ?? 0)
      $0.field("waiting", report.waiting)
      $0.field("killed", report.killed ?? 0)
    }
    context.log.flush()
  }

  /// Reports the closing of the bank to subscribers: the last receipts while the store is open, and a final
  /// status report.
  func notifySubscribers(_ finalStatus: StatusReport) {
    streams.endAll()
    for requester in subscriptions.views.takeAll(of: .state) {
      server.answer(requester, .status(finalStatus))
    }
    let viewers = subscriptions.views.takeAll(of: .board)
    if !viewers.isEmpty {
      let frame = board.last()
      for requester in viewers { server.answer(requester, .board(frame)) }
    }
    // Clients that waited for an idle bank receive the status if the bank is idle now, and a failure if it is
    // not.
    let queue = finalStatus.queue
    let isIdle = queue.waiting + queue.serving + queue.delayed == 0
    for requester in subscriptions.takeIdleWaiters() {
      server.answer(requester, isIdle ? .status(finalStatus) : .failure(Failure(.notOpen)))
    }
  }

  func sendLastEvents() { views.sendLast() }
}
