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

/// Operation on each selected ticket.
enum SelectionAction {
  case cancel, requeue

  /// Event with which the queue performs the operation on a ticket.
  func event(_ request: RequestNumber, _ ticket: TicketNumber) -> QueueEvent {
    switch self {
    case .cancel: .cancel(request, ticket)
    case .requeue: .requeue(request, ticket)
    }
  }
}

/// Request about several tickets that is in progress.
final class ActiveSelection {
  let requester: RequestHandle
  let action: SelectionAction
  let day: BusinessDay
  /// Unprocessed tickets, lowest last.
  fileprivate var left: [TicketNumber]
  /// Number of tickets sent to the queue and not answered yet.
  fileprivate var open = 0
  /// Number of tickets for which the queue has performed the operation.
  fileprivate var done: Int64 = 0
  /// Tickets for which the queue has refused the operation.
  fileprivate var refused: [(ticket: TicketNumber, refusal: QueueRefusal)] = []
  /// True if the day has ended, so that the remaining tickets are refused.
  fileprivate var isOutdated = false

  fileprivate init(
    _ requester: RequestHandle, _ action: SelectionAction, day: BusinessDay, _ tickets: [TicketNumber]
  ) {
    (self.requester, self.action, self.day, left) = (requester, action, day, tickets.reversed())
  }
}

final class Selections: CoordinatorComponent {
  private let durableReads: DurableReads
  /// Selections with unprocessed tickets, oldest first.
  private var active: [ActiveSelection] = []

  init(_ dependencies: CoordinatorComponent, _ durableReads: DurableReads) {
    self.durableReads = durableReads
    super.init(dependencies)
  }

  /// True if there is work that no message will trigger.
  var hasWork: Bool { !active.isEmpty && !context.isHalted && !queue.engine.isResetting }
  /// Number of a client's selections that are not completely passed to the queue.
  func count(of session: ControlSession) -> Int { active.count { $0.requester.session === session } }

  /// Starts a selection or refuses it. At the end the client receives a `SelectionReport`.
  ///
  /// - Parameter day: The present day, to which the selection applies.
  func begin(
    _ selection: TicketSelection, _ action: SelectionAction, _ requester: RequestHandle, on day: BusinessDay
  ) {
    guard let tickets = Self.tickets(of: selection) else {
      return server.answer(
        requester,
        .failure(Failure(.badRequest, detail: "1 to \(TicketSelection.ticketsAtMost) tickets at once")))
    }
    let selection = ActiveSelection(requester, action, day: day, tickets)
    guard !tickets.isEmpty else { return sendReport(selection) }
    active.append(selection)
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
    let until = SystemClock.monotonic() + ClientLimits.timeLimit
    while hasWork, let selection = active.first {
      guard selection.day == queue.machine.dayCounters.day else {
        (selection.isOutdated, active) = (true, Array(active.dropFirst()))
        finishIfDone(selection)
        continue
      }
      guard let ticket = selection.left.popLast() else {
        active.removeFirst()
        continue
      }
      selection.open += 1
      queue.process(
        selection.action.event(requests.open(selection.requester, for: .selected(ticket, selection)), ticket))
      guard SystemClock.monotonic() < until else { break }
    }
  }

  /// Handles the queue's answer for one ticket.
  func note(_ answer: QueueAnswer, _ ticket: TicketNumber, of selection: ActiveSelection) {
    selection.open -= 1
    if case .refused(let refusal) = answer {
      selection.refused.append((ticket, refusal))
    } else {
      selection.done += 1
      if selection.action == .cancel { subscriptions.noteCancelled(ticket, at: context.now.wall) }
    }
    finishIfDone(selection)
  }

  /// Sends the report if no answer of the queue is pending and no further ticket is to be processed.
  private func finishIfDone(_ selection: ActiveSelection) {
    if selection.open == 0, selection.left.isEmpty || selection.isOutdated { sendReport(selection) }
  }

  /// Answers the client with the number of successes and all refusals, when these facts are on disk.
  private func sendReport(_ selection: ActiveSelection) {
    // An answer about a ticket, even a refusal, may depend on staged changes.
    durableReads.whenDurable(selection.requester, mustMatchMemory: !queue.machine.isDiskFull) {
      [server] store throws(StoreError) in
      var refused: [RefusedTicket] = []
      for (ticket, refusal) in selection.refused {
        refused.append(try Self.report(ticket, refusal, on: selection.day, store))
      }
      refused += selection.left.map { RefusedTicket(ticket: $0, reason: .wrongDay) }
      refused.sort { $0.ticket < $1.ticket }
      server.answer(
        selection.requester, .selection(SelectionReport(done: selection.done, refused: refused)), from: .read)
    }
  }

  /// Refused ticket in the form for the client.
  private static func report(
    _ ticket: TicketNumber, _ refusal: QueueRefusal, on day: BusinessDay, _ store: any QueueReader
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
