// Owns what takes the coordinator long and is done in pieces, so that everybody else is heard in between: a reset that
// cancels millions, and dead letters that are brought back. It decides nothing: the queue does, and the store writes.
// Invariant: while a reset is being written the transaction stays open, nobody is taken in, and nobody reads the store;
// whoever asks something that has to be read is answered when it is done, in the order of asking.

import BankModel
import Posix
import QueueCore
import Wire

/// Work in pieces that is under way, and who waits for it.
struct PatientWork {
  /// What the queue has asked of the store, for a later turn.
  var reads: [QueueEffect] = []
  /// Requests that have to wait for the end of a reset.
  var held: [(request: ControlRequest, session: ControlSession)] = []
  /// Requests whose clients want to hear how far they have come, and of how many.
  var told: [RequestNumber: Int64] = [:]
  /// When they were last told.
  var toldAt = MonotonicTime(nanoseconds: 0)

  /// How long a turn may work on it, and how often clients are told.
  static let turn = TimeSpan.milliseconds(4)
  static let tellPause = TimeSpan.milliseconds(200)
}

extension Coordinator {
  /// Whether a reset is being written: whatever is staged stays in an open transaction until it is done.
  var isEmptying: Bool { store.emptying != nil }

  /// Everyone's receipt is one transaction: it is not begun where there is no room for it, nor on another day than it
  /// was meant for. It cancels everybody, and waits for nobody: a request that is half taken in is given up.
  func reset(on day: BusinessDay?, _ seat: Followers.Seat, tellsProgress: Bool) {
    if let day, day != machine.books.day {
      let remark = Remark(.resetOtherDay, day, machine.books.day)
      return server.answer(seat.session, seat.number, .failure(Failure(.wrongState, remark: remark)))
    }
    let arriving = machine.arriving?.count ?? 0
    let everyone = machine.books.waitingInAll + machine.books.delayed + machine.books.dead + arriving
    guard store.hasRoom(toMove: everyone) else {
      return server.answer(seat.session, seat.number, .failure(Failure(.diskFull)))
    }
    // Where it will be refused for want of room nothing is given up for it. Otherwise those who were let in a moment ago
    // are on disk first: nobody can be cancelled whose ticket may still be refused.
    if !machine.isJammed, !machine.isShort {
      giveUpIntake(Failure(.withdrawn, remark: Remark(.resetMeanwhile)))
      if machine.hasUnsettledTickets { commit() }
    }
    let request = requests.open(seat.session, seat.number, for: .reset)
    if tellsProgress { patient.told[request] = everyone }
    happen(.reset(request))
  }

  /// Brings all dead letters back.
  func requeueDead(_ seat: Followers.Seat, tellsProgress: Bool) {
    let request = requests.open(seat.session, seat.number, for: .requeueDead)
    if tellsProgress { patient.told[request] = machine.books.dead }
    happen(.requeueDead(request))
  }

  /// Keeps a request for later that has to read the store; false where it can be served now.
  func hold(_ request: ControlRequest, for session: ControlSession) -> Bool {
    guard isEmptying, request.command.readsStore else { return false }
    patient.held.append((request, session))
    return true
  }

  /// Whether there is work to be done in pieces.
  var hasPatientWork: Bool {
    retryAt == nil && (isEmptying || !patient.reads.isEmpty || !patient.held.isEmpty)
  }

  /// Works on it for a while.
  func advancePatientWork() {
    guard hasPatientWork else { return }
    let until = MonotonicInstant(SystemClock.moment().monotonic + PatientWork.turn)
    do throws(StoreError) {
      while isEmptying, SystemClock.monotonic() < until { try store.emptyFurther() }
    } catch {
      return storeFailed(error)
    }
    tellPatientWork()
    guard !isEmptying else { return }
    if !patient.reads.isEmpty {
      // The turn begins anew for them.
      takeTime()
      effects.append(contentsOf: patient.reads)
      patient.reads.removeAll()
      perform()
    }
    let held = patient.held
    patient.held.removeAll()
    for (request, session) in held where session.isOpen { serve(request, for: session) }
  }

  private func tellPatientWork() {
    guard !patient.told.isEmpty else { return }
    let moment = SystemClock.moment().monotonic
    guard moment.since(patient.toldAt) >= PatientWork.tellPause else { return }
    patient.toldAt = moment
    for (request, total) in patient.told {
      guard let entry = requests.entry(request) else {
        patient.told[request] = nil
        continue
      }
      let report: ProgressReport
      if let revived = machine.revived(by: request) {
        report = ProgressReport(phase: .requeueing, done: revived, total: max(total, revived))
      } else if let emptying = store.emptying {
        report = ProgressReport(phase: .resetting, done: emptying.done, total: emptying.total)
      } else {
        continue
      }
      server.answer(entry.session, entry.number, .progress(report), more: true)
    }
  }
}

extension ControlCommand {
  /// Whether the answer is read from the store, or found by reading it.
  fileprivate var readsStore: Bool {
    switch self {
    case .tickets, .ticket, .receipts, .awaitTickets, .cancel, .requeue, .requeueDead, .reset, .audit,
      .ledger, .account:
      true
    case .status, .watch, .awaitOpen, .enqueue, .enqueueList, .follow, .awaitIdle, .pause, .resume, .scale,
      .reload, .stop, .withdraw:
      false
    }
  }
}
