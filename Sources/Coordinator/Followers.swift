// Owns everyone who waits for something to happen, or watches it happen: no polling, they are told.
// Invariant: whoever has left is forgotten at once. What a served
// customer costs here does not grow with the number of those who wait: they are counted in turn, in a share of the time.

import BankModel
import QueueCore
import Time
import Wire

final class Followers {
  /// Told every change: the events, or the state.
  var views = Views()
  /// Told when all of some tickets have come to their end.
  var tickets = TicketWatches()
  /// Told when nobody waits or is served.
  private(set) var idleWaiters: [Seat] = []
  /// Told when the windows are as they shall be.
  private(set) var windowWaiters: [Seat] = []
  /// Something has changed that watchers want to see.
  var changed = false
  var toldAt = MonotonicTime(nanoseconds: 0)

  static let watchPause = TimeSpan.milliseconds(100)

  /// Events whose receipts are on disk, and those behind them that still wait for it.
  private var certainEvents: [BranchEvent] = []
  private var pendingEvents: [BranchEvent] = []

  /// When those who look on, or wait for tickets, are to be looked after.
  func nextDeadline(isTimerRunning: Bool) -> MonotonicTime? {
    var earliest = tickets.nextDeadline
    if let due = views.audience.nextDeadline {
      earliest = .earlier(earliest, due)
    }
    if views.watcherCount > 0, changed || isTimerRunning {
      earliest = .earlier(earliest, toldAt + Self.watchPause)
    }
    return earliest
  }

  func awaitIdle(_ seat: Seat) {
    idleWaiters.append(seat)
    seat.session.seats += 1
  }

  func awaitWindows(_ seat: Seat) {
    windowWaiters.append(seat)
    seat.session.seats += 1
  }

  func takeIdleWaiters() -> [Seat] { take(&idleWaiters) }
  func takeWindowWaiters() -> [Seat] { take(&windowWaiters) }

  private func take(_ seats: inout [Seat]) -> [Seat] {
    defer { seats.removeAll() }
    for seat in seats { seat.session.seats -= 1 }
    return seats
  }

  func forget(_ session: ControlSession) {
    guard session.seats > 0 else { return }
    views.forget(session)
    tickets.forget(session)
    idleWaiters.removeAll { $0.session === session }
    windowWaiters.removeAll { $0.session === session }
    session.seats = 0
  }

  func announce(
    _ happening: Happening, _ window: Window, _ lease: Lease, _ customer: Customer, day: BusinessDay,
    in context: BankContext
  ) {
    changed = true
    guard views.followerCount > 0 else { return }
    let kind: BranchEvent.Happening =
      switch happening {
      case .started: .started
      case .completed: .completed
      case .interrupted: .interrupted
      }
    pendingEvents.append(
      BranchEvent(
        happening: kind, at: context.now.wall.milliseconds, day: day, ticket: lease.ticket,
        service: context.services.directory[customer.service], priority: customer.priority,
        window: context.name(of: window), attempt: lease.attempt))
  }

  /// Everything that was announced is on disk.
  func confirmEvents() {
    guard !pendingEvents.isEmpty else { return }
    certainEvents += pendingEvents
    pendingEvents.removeAll(keepingCapacity: true)
  }

  /// Hands the events that are on disk to those who follow, in their order.
  /// - Parameter isSettled: Whether nothing waits for the disk, so that these are all.
  func publishEvents(all isSettled: Bool) {
    if isSettled { confirmEvents() }
    guard !certainEvents.isEmpty else { return }
    views.publish(certainEvents)
    certainEvents.removeAll(keepingCapacity: true)
  }

  /// A change was staged; one that is staged again after a full disk was counted the first time.
  func note(_ change: StoreChange, isRepeated: Bool) {
    changed = true
    guard !tickets.isEmpty, !isRepeated else { return }
    tickets.note(change)
  }
}
