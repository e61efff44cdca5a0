// Owns everyone who waits for something to happen, or watches it happen: no polling, they are told.
// It knows no socket beyond "answer this session". Invariant: whoever has left is forgotten at once.

import BankModel
import QueueCore
import Wire

/// Clients who are told later.
final class Followers {
  /// A client and its request.
  struct Seat {
    var session: ControlSession
    var number: UInt32
  }

  /// A client who waits for the end of some tickets of the present day.
  struct TicketWatch {
    var seat: Seat
    var tickets: ClosedRange<TicketNumber>
    var remaining: Int64
    var dead: Int64 = 0
  }

  /// A client who wants to wait for the end of some tickets, while the disk is full and nobody can say how many of them
  /// have not come to it: what was staged is forgotten for now, and nothing is told of it a second time.
  struct TicketWish {
    var seat: Seat
    var day: BusinessDay
    var tickets: ClosedRange<TicketNumber>
  }

  /// Told the state of the bank after every change.
  var watchers: [Seat] = []
  /// Told every start and completion.
  var audience: [Seat] = []
  /// Told when nobody waits or is served.
  var idleWaiters: [Seat] = []
  /// Told when the windows are as they shall be.
  var windowWaiters: [Seat] = []
  var ticketWatches: [TicketWatch] = []
  var ticketWishes: [TicketWish] = []
  /// Whether the next commit ends what somebody waits for.
  var owesAnEnd: Bool { ticketWatches.contains { $0.remaining <= 0 } }
  /// Something has changed that watchers want to see.
  var changed = false
  /// A commit has come, so there may be new receipts.
  var committed = false
  /// When the watchers were last told.
  var toldAt = MonotonicTime(nanoseconds: 0)

  /// Watchers are told at most so often.
  static let watchPause = TimeSpan.milliseconds(100)

  private var pendingEvents: [BranchEvent] = []

  /// When watchers are to be told.
  var nextDeadline: MonotonicTime? { changed && !watchers.isEmpty ? toldAt + Self.watchPause : nil }

  /// Answers that a client is waiting for here.
  func count(of session: ControlSession) -> Int {
    guard
      !watchers.isEmpty || !audience.isEmpty || !idleWaiters.isEmpty || !windowWaiters.isEmpty
        || !ticketWatches.isEmpty || !ticketWishes.isEmpty
    else { return 0 }
    let seats =
      watchers + audience + idleWaiters + windowWaiters + ticketWatches.map(\.seat) + ticketWishes.map(\.seat)
    return seats.count { $0.session === session }
  }

  /// Takes out those whose tickets have all come to their end.
  func takeEnded() -> [TicketWatch] {
    guard owesAnEnd else { return [] }
    let ended = ticketWatches.filter { $0.remaining <= 0 }
    ticketWatches.removeAll { $0.remaining <= 0 }
    return ended
  }

  /// A client has left.
  func forget(_ session: ControlSession) {
    watchers.removeAll { $0.session === session }
    audience.removeAll { $0.session === session }
    idleWaiters.removeAll { $0.session === session }
    windowWaiters.removeAll { $0.session === session }
    ticketWatches.removeAll { $0.seat.session === session }
    ticketWishes.removeAll { $0.seat.session === session }
  }

  /// Somebody at a window began or ended.
  func announce(
    _ happening: Happening, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay,
    at now: Moment
  ) {
    changed = true
    guard !audience.isEmpty else { return }
    let kind: BranchEvent.Happening =
      switch happening {
      case .started: .started
      case .completed: .completed
      case .interrupted: .interrupted
      }
    pendingEvents.append(
      BranchEvent(
        happening: kind, at: now.wall.milliseconds, day: day, ticket: lease.ticket, service: customer.service,
        grade: customer.grade, window: window.description, attempt: lease.attempt))
  }

  /// The events since the last time this was asked.
  func takeEvents() -> [BranchEvent] {
    guard !pendingEvents.isEmpty else { return [] }
    defer { pendingEvents.removeAll(keepingCapacity: true) }
    return pendingEvents
  }

  /// A change was staged; one that is staged again after a full disk was counted the first time.
  func note(_ change: StoreChange, isRepeated: Bool) {
    changed = true
    guard !ticketWatches.isEmpty, !isRepeated else { return }
    switch change {
    case .finish(let customer, let state, _) where state != .dead:
      count(customer.ticket, remaining: -1, dead: 0)
    case .finish(let customer, _, _): count(customer.ticket, remaining: 0, dead: -1)
    case .bury(let customer): count(customer.ticket, remaining: -1, dead: 1)
    case .revive(let customer, .dead): count(customer.ticket, remaining: 1, dead: -1)
    case .cancelEveryone:
      for index in ticketWatches.indices { ticketWatches[index].remaining = 0 }
    default: break
    }
  }

  private func count(_ ticket: TicketNumber, remaining: Int64, dead: Int64) {
    for index in ticketWatches.indices where ticketWatches[index].tickets.contains(ticket) {
      ticketWatches[index].remaining += remaining
      ticketWatches[index].dead += dead
    }
  }
}
