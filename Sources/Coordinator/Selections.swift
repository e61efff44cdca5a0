// Owns requests that are about several tickets at once: each of them is done with as if it had been asked for by itself, a few in
// each turn, and one answer tells with how many it was done and with which it was not, and why.
// Invariants: it is checked before anything is done; a ticket is asked for once, however often it was named; and the answer
// leaves when everything that it tells is on disk. Where the day ends in between, the rest is refused.

import BankModel
import Posix
import QueueCore
import Time
import Wire

/// What is done with each of them.
enum SelectionAct {
  case cancel, requeue

  func event(_ request: RequestNumber, _ ticket: TicketNumber) -> QueueEvent {
    switch self {
    case .cancel: .cancel(request, ticket)
    case .requeue: .requeue(request, ticket)
    }
  }
}

/// A selection with which something is being done.
final class SelectionWork {
  let seat: Seat
  let act: SelectionAct
  let day: BusinessDay
  /// Those that were not asked for yet, the lowest last.
  fileprivate var left: [TicketNumber]
  /// Those that were asked for and are not answered yet.
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

  /// Whether there is something to do for which nobody has to speak.
  var hasWork: Bool { !works.isEmpty && !context.isCutOff && !queue.engine.isEmptying }
  func count(of session: ControlSession) -> Int { works.count { $0.seat.session === session } }

  /// Begins with a selection, or says why not. Answer: `selection`.
  ///
  /// - Parameter day: the present one, which the selection means.
  func begin(_ selection: TicketSelection, _ act: SelectionAct, _ seat: Seat, on day: BusinessDay) {
    guard let tickets = Self.tickets(of: selection) else {
      return server.answer(
        seat, .failure(Failure(.badRequest, detail: "1 to \(TicketSelection.ticketsAtMost) tickets at once")))
    }
    let work = SelectionWork(seat, act, day: day, tickets)
    guard !tickets.isEmpty else { return tell(work) }
    works.append(work)
  }

  /// The tickets of a selection in the order of their numbers, each once; nil where they are too many or no tickets.
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

  /// Asks for a few more of each, for as long as a turn may take.
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

  /// The queue has answered for one of them.
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
    // What is said of a ticket, a refusal too, may rest on something that is only staged.
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
