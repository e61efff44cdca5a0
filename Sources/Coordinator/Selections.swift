// Requests about several tickets. Each ticket is processed like a single request, a few per iteration. One answer
// reports the number of successes, and each refusal with its reason.
// Invariants: the selection is checked before any ticket is processed. A ticket is processed once, even if it was named
// repeatedly. The answer is sent when all its facts are on disk. If the day ends meanwhile, the remaining tickets are
// refused.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// Action on each ticket.
enum SelectionAct {
  case cancel, requeue

  func event(_ request: RequestNumber, _ ticket: TicketNumber) -> QueueEvent {
    switch self {
    case .cancel: .cancel(request, ticket)
    case .requeue: .requeue(request, ticket)
    }
  }
}

/// Selection in progress.
final class SelectionWork {
  let seat: Seat
  let act: SelectionAct
  let day: BusinessDay
  /// Unprocessed tickets, lowest last.
  fileprivate var left: [TicketNumber]
  /// Number of tickets sent to the queue and not answered yet.
  fileprivate var open = 0
  fileprivate var done: Int64 = 0
  fileprivate var refused: [(ticket: TicketNumber, refusal: QueueRefusal)] = []
  fileprivate var isLate = false

  fileprivate init(_ seat: Seat, _ act: SelectionAct, day: BusinessDay, _ tickets: [TicketNumber]) {
    (self.seat, self.act, self.day, left) = (seat, act, day, tickets.reversed())
  }
}

final class Selections: BankPart {
  private let readings: Readings
  private var works: [SelectionWork] = []

  init(_ ground: BankPart, _ readings: Readings) {
    self.readings = readings
    super.init(ground)
  }

  /// True if there is work that no message will trigger.
  var hasWork: Bool { !works.isEmpty && !context.isCutOff && !queue.engine.isEmptying }
  func count(of session: ControlSession) -> Int { works.count { $0.seat.session === session } }

  /// Starts a selection or refuses it. The client receives `selection` at the end.
  ///
  /// - Parameter day: The present day, to which the selection applies.
  func begin(_ selection: TicketSelection, _ act: SelectionAct, _ seat: Seat, on day: BusinessDay) {
    guard let tickets = Self.tickets(of: selection) else {
      return server.answer(
        seat, .failure(Failure(.badRequest, detail: "1 to \(TicketSelection.ticketsAtMost) tickets at once")))
    }
    let work = SelectionWork(seat, act, day: day, tickets)
    guard !tickets.isEmpty else { return tell(work) }
    works.append(work)
  }

  /// Tickets of a selection in ascending order without repetition; nil if there are too many or a span is
  /// invalid.
  static func tickets(of selection: TicketSelection) -> [TicketNumber]? {
    guard selection.spans.count <= TicketSelection.ticketsAtMost else { return nil }
    var last: TicketNumber = 0
    var tickets: [TicketNumber] = []
    for span in selection.spans.sorted(by: { $0.first < $1.first }) {
      guard span.first >= 1, span.first <= span.last, span.last <= BankModel.Limits.ticket else { return nil }
      let first = max(span.first, last + 1)
      guard first <= span.last else { continue }
      guard span.last - first < TicketSelection.ticketsAtMost - Int64(tickets.count) else { return nil }
      tickets += first...span.last
      last = span.last
    }
    return tickets
  }

  /// Sends a few more tickets to the queue, within the time limit of an iteration.
  func advance() {
    guard hasWork else { return }
    let until = SystemClock.monotonic() + ClientLimits.turn
    while hasWork, let work = works.first {
      guard work.day == queue.machine.books.day else {
        (work.isLate, works) = (true, Array(works.dropFirst()))
        finishIfDone(work)
        continue
      }
      guard let ticket = work.left.popLast() else {
        works.removeFirst()
        continue
      }
      work.open += 1
      queue.happen(work.act.event(requests.open(work.seat, for: .selected(ticket, work)), ticket))
      guard SystemClock.monotonic() < until else { break }
    }
  }

  /// Handles the queue's answer for one ticket.
  func note(_ answer: QueueAnswer, _ ticket: TicketNumber, of work: SelectionWork) {
    work.open -= 1
    if case .refused(let refusal) = answer {
      work.refused.append((ticket, refusal))
    } else {
      work.done += 1
      if work.act == .cancel { followers.noteCancelled(ticket, at: context.now.wall) }
    }
    finishIfDone(work)
  }

  private func finishIfDone(_ work: SelectionWork) {
    if work.open == 0, work.left.isEmpty || work.isLate { tell(work) }
  }

  private func tell(_ work: SelectionWork) {
    // An answer about a ticket, even a refusal, may depend on staged changes.
    readings.whenKept(work.seat, isInStep: !queue.machine.isJammed) { [server] store throws(StoreError) in
      var refused: [RefusedTicket] = []
      for (ticket, refusal) in work.refused {
        refused.append(try Self.report(ticket, refusal, on: work.day, store))
      }
      refused += work.left.map { RefusedTicket(ticket: $0, reason: .wrongDay) }
      refused.sort { $0.ticket < $1.ticket }
      server.answer(work.seat, .selection(SelectionReport(done: work.done, refused: refused)))
    }
  }

  private static func report(
    _ ticket: TicketNumber, _ refusal: QueueRefusal, on day: BusinessDay, _ store: any QueueReading
  ) throws(StoreError) -> RefusedTicket {
    switch refusal {
    case .wrongState(_, let state): RefusedTicket(ticket: ticket, reason: .wrongState, state: state)
    case .noSuchTicket:
      try store.receipt(day: day, ticket: ticket) != nil
        ? RefusedTicket(ticket: ticket, reason: .wrongState, state: .done)
        : RefusedTicket(ticket: ticket, reason: .noSuchTicket)
    case .diskFull: RefusedTicket(ticket: ticket, reason: .diskFull)
    default: RefusedTicket(ticket: ticket, reason: .wrongState)
    }
  }
}
