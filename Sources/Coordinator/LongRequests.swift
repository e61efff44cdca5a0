// Requests that take long and run in pieces, so that other clients are served in between: a reset of millions of
// customers, and dead letters that are requeued. This part tracks their clients and sends progress; the queue decides
// about the changes, and the store writes them.
// Invariant: while a reset is written the transaction stays open, no customer is admitted, and the store is not read.
// Requests that read the store are answered afterwards, in order of arrival.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class LongRequests: BankPart {
  /// Time limit for this work in one loop iteration.
  static let turn = TimeSpan.milliseconds(4)
  private static let tellPause = TimeSpan.milliseconds(200)

  private let intake: Intake
  /// Requests that wait for the end of a reset.
  private var held: [(request: ControlRequest, session: ControlSession)] = []
  /// Requests whose clients receive progress, with the total of each.
  private var told: [RequestNumber: Int64] = [:]
  private var toldAt = MonotonicTime(nanoseconds: 0)

  init(_ ground: BankPart, _ intake: Intake) {
    self.intake = intake
    super.init(ground)
  }

  /// Cancels all customers. All receipts are written in one transaction, so the reset is refused if the disk
  /// has no space for it. It is also refused if `day` is not the present day. The reset does not wait for a
  /// partly admitted request, but gives the request up.
  func reset(on day: BusinessDay?, _ seat: Seat, tellsProgress: Bool) {
    let books = queue.machine.books
    if let day, day != books.day {
      let remark = Remark(.resetOtherDay, day, books.day)
      return server.answer(seat, .failure(Failure(.wrongState, remark: remark)))
    }
    let everyone = books.waitingInAll + books.delayed + books.dead + (queue.machine.arriving?.count ?? 0)
    guard queue.engine.hasRoom(toMove: everyone) else {
      return server.answer(seat, .failure(Failure(.diskFull)))
    }
    // If the reset will be refused for lack of disk space, no request is given up. If not, recently admitted
    // customers are committed first: a ticket that may still be refused cannot be cancelled.
    if !queue.machine.isJammed, !queue.machine.isShort {
      intake.giveUp(because: Failure(.withdrawn, remark: Remark(.resetMeanwhile)))
      if queue.machine.hasUnsettledTickets { queue.commit() }
    }
    let request = requests.open(seat, for: .reset)
    if tellsProgress { told[request] = everyone }
    queue.happen(.reset(request))
  }

  func requeueDead(_ seat: Seat, tellsProgress: Bool) {
    let request = requests.open(seat, for: .requeueDead)
    if tellsProgress { told[request] = queue.machine.books.dead }
    queue.happen(.requeueDead(request))
  }

  /// Holds back a request that reads the store. Returns false if the request can run now.
  func hold(_ request: ControlRequest, for session: ControlSession) -> Bool {
    guard queue.engine.isEmptying, request.command.readsStore else { return false }
    held.append((request, session))
    return true
  }

  func count(of session: ControlSession) -> Int { held.count { $0.session === session } }
  /// Stops progress reports of an answered request.
  func forget(_ request: RequestNumber) { told[request] = nil }

  var hasWork: Bool {
    queue.engine.isWorking && (queue.engine.isEmptying || queue.engine.hasPostponed || !held.isEmpty)
  }

  /// - Returns: The requests that have waited, in order of arrival, when they can run.
  func advance() -> [(request: ControlRequest, session: ControlSession)] {
    guard hasWork else { return [] }
    let until = SystemClock.monotonic() + Self.turn
    guard queue.emptyFurther(until: until) else { return [] }
    tellProgress()
    guard !queue.engine.isEmptying else { return [] }
    queue.readPostponed()
    defer { held.removeAll() }
    return held
  }

  private func tellProgress() {
    guard !told.isEmpty else { return }
    let moment = SystemClock.monotonic()
    guard moment.since(toldAt) >= Self.tellPause else { return }
    toldAt = moment
    for request in told.keys.sorted() {
      guard let total = told[request], let entry = requests.entry(request) else {
        told[request] = nil
        continue
      }
      let report: ProgressReport
      if let revived = queue.machine.revived(by: request) {
        report = ProgressReport(phase: .requeueing, done: revived, total: max(total, revived))
      } else if let emptying = queue.engine.emptying {
        report = ProgressReport(phase: .resetting, done: emptying.done, total: emptying.total)
      } else {
        continue
      }
      server.answer(entry.seat, .progress(report), more: true)
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
      .reload, .stop, .withdraw, .board, .endTeller, .web, .branches, .move:
      false
    }
  }
}
