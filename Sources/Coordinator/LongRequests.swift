// Owns the requests that take the coordinator long and are served in pieces, so that everybody else is heard in between: a
// reset that cancels millions, and dead letters that are brought back. It knows who waits for them, and who is told how far
// they are; what they do is decided by the queue and written by the store.
// Invariant: while a reset is being written the transaction stays open, nobody is taken in, and nobody reads the store;
// whoever asks something that has to be read is answered when it is done, in the order of asking.

import BankModel
import Posix
import QueueCore
import Time
import Wire

final class LongRequests: BankPart {
  /// How long a turn may work on them, and how often clients are told.
  static let turn = TimeSpan.milliseconds(4)
  private static let tellPause = TimeSpan.milliseconds(200)

  private let intake: Intake
  /// Requests that have to wait for the end of a reset.
  private var held: [(request: ControlRequest, session: ControlSession)] = []
  /// Requests whose clients want to hear how far they have come, and of how many.
  private var told: [RequestNumber: Int64] = [:]
  private var toldAt = MonotonicTime(nanoseconds: 0)

  init(_ ground: BankPart, _ intake: Intake) {
    self.intake = intake
    super.init(ground)
  }

  /// Everyone's receipt is one transaction: it is not begun where there is no room for it, nor on another day than it
  /// was meant for. It cancels everybody, and waits for nobody: a request that is half taken in is given up.
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
    // Where it will be refused for want of room nothing is given up for it. Otherwise those who were let in a moment ago
    // are on disk first: nobody can be cancelled whose ticket may still be refused.
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

  /// Keeps a request for later that has to read the store; false where it can be served now.
  func hold(_ request: ControlRequest, for session: ControlSession) -> Bool {
    guard queue.engine.isEmptying, request.command.readsStore else { return false }
    held.append((request, session))
    return true
  }

  func count(of session: ControlSession) -> Int { held.count { $0.session === session } }
  /// A request was answered: there is nothing more to tell of it.
  func forget(_ request: RequestNumber) { told[request] = nil }

  var hasWork: Bool {
    queue.engine.isWorking && (queue.engine.isEmptying || queue.engine.hasPostponed || !held.isEmpty)
  }

  /// - Returns: the requests that have waited, in the order of asking, when nothing is in their way any more.
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
  /// Whether the answer is read from the store, or found by reading it.
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
