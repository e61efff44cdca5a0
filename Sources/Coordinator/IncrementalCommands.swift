// Requests that take long and run in pieces, so that other clients are served in between: a reset of millions of
// customers, and dead letters that are requeued.
// Invariant: requests that read the store wait for the end of a reset.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class IncrementalCommands: CoordinatorComponent {
  /// Time limit for this work in one loop iteration.
  static let timeLimit = TimeSpan.milliseconds(4)
  private static let progressPause = TimeSpan.milliseconds(200)

  private let enqueueHandler: EnqueueHandler
  /// Requests that wait for the end of a reset.
  private var deferred: [(request: ControlRequest, session: ControlSession)] = []
  /// Requests whose clients receive progress, with the total of each.
  private var progressTotals: [RequestNumber: Int64] = [:]
  private var reportedAt = MonotonicTime(nanoseconds: 0)

  init(_ dependencies: CoordinatorComponent, _ enqueueHandler: EnqueueHandler) {
    self.enqueueHandler = enqueueHandler
    super.init(dependencies)
  }

  /// Cancels all customers. All receipts are written in one transaction, so the reset is refused if the disk
  /// has no space for it. It is also refused if `day` is not the present day. The reset does not wait for a
  /// partly admitted request, but gives the request up.
  func reset(on day: BusinessDay?, _ requester: RequestHandle, reportsProgress: Bool) {
    let dayCounters = queue.machine.dayCounters
    if let day, day != dayCounters.day {
      let messageDetail = MessageDetail(.resetOtherDay, day, dayCounters.day)
      return server.answer(requester, .failure(Failure(.wrongState, messageDetail: messageDetail)))
    }
    let everyone =
      dayCounters.waitingInAll + dayCounters.delayed + dayCounters.dead + (queue.machine.arriving?.count ?? 0)
    guard queue.engine.hasRoom(toMove: everyone) else {
      return server.answer(requester, .failure(Failure(.diskFull)))
    }
    // If the reset will be refused for lack of disk space, no request is given up. If not, recently admitted
    // customers are committed first: a ticket that may still be refused cannot be cancelled.
    if !queue.machine.isDiskFull, !queue.machine.isLowOnSpace {
      enqueueHandler.giveUp(because: Failure(.withdrawn, messageDetail: MessageDetail(.resetMeanwhile)))
      if queue.machine.hasUncommittedTickets { queue.commit() }
    }
    let request = requests.open(requester, for: .reset)
    if reportsProgress { progressTotals[request] = everyone }
    queue.process(.reset(request))
  }

  /// Returns all dead letters to their lines, and sends the client the result.
  func requeueDead(_ requester: RequestHandle, reportsProgress: Bool) {
    let request = requests.open(requester, for: .requeueDead)
    if reportsProgress { progressTotals[request] = queue.machine.dayCounters.dead }
    queue.process(.requeueDead(request))
  }

  /// While a reset is written, holds back a request that reads the store. Returns false if the request can run now.
  func deferUntilReset(_ request: ControlRequest, for session: ControlSession) -> Bool {
    guard queue.engine.isResetting, request.command.readsStore else { return false }
    deferred.append((request, session))
    return true
  }

  /// Number of requests of this client that wait for the end of a reset.
  func count(of session: ControlSession) -> Int { deferred.count { $0.session === session } }
  /// Stops progress reports of an answered request.
  func forget(_ request: RequestNumber) { progressTotals[request] = nil }

  /// True if a reset, a deferred read or a request that waited can continue now.
  var hasWork: Bool {
    queue.engine.isWorking && (queue.engine.isResetting || queue.engine.hasPostponed || !deferred.isEmpty)
  }

  /// Continues the reset and the requeue. Returns the requests that have waited for a reset, in order of arrival, once
  /// they can run.
  func advance() -> [(request: ControlRequest, session: ControlSession)] {
    guard hasWork else { return [] }
    let until = SystemClock.monotonic() + Self.timeLimit
    guard queue.continueReset(until: until) else { return [] }
    sendProgress()
    guard !queue.engine.isResetting else { return [] }
    queue.readPostponed()
    defer { deferred.removeAll() }
    return deferred
  }

  /// Sends each client its progress, if the last reports are old enough.
  private func sendProgress() {
    guard !progressTotals.isEmpty else { return }
    let moment = SystemClock.monotonic()
    guard moment.since(reportedAt) >= Self.progressPause else { return }
    reportedAt = moment
    for request in progressTotals.keys.sorted() {
      guard let total = progressTotals[request], let entry = requests.entry(request) else {
        progressTotals[request] = nil
        continue
      }
      let report: ProgressReport
      if let revived = queue.machine.requeuedCount(by: request) {
        report = ProgressReport(phase: .requeueing, done: revived, total: max(total, revived))
      } else if let resetProgress = queue.engine.resetProgress {
        report = ProgressReport(phase: .resetting, done: resetProgress.done, total: resetProgress.total)
      } else {
        continue
      }
      server.answer(entry.requester, .progress(report), more: true)
    }
  }
}

extension ControlCommand {
  /// True if the answer requires reading the store.
  fileprivate var readsStore: Bool {
    switch self {
    case .tickets, .ticket, .receipts, .awaitTickets, .cancel, .requeue, .requeueDead, .reset, .audit,
      .ledger, .account, .cancelAll, .requeueAll:
      true
    case .status, .watch, .awaitOpen, .enqueue, .enqueueList, .follow, .awaitIdle, .pause, .resume, .scale,
      .reload, .stop, .withdraw, .board, .killWorker, .web, .branches, .move:
      false
    }
  }
}
