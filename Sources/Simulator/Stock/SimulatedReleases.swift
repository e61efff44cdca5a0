// Owns how the simulated coordinator has the stock give back what cancelled tickets hold, line for line as the real
// `ReleaseDesk` does. It must not know the queue. Invariant: a note goes only after the stock has answered.

import BankModel
import Logbook
import Posix
import QueueCore
import Storage
import Wire

/// Gives back what cancelled tickets hold of the stock.
final class SimulatedReleases {
  private unowned let world: Simulation
  private unowned let coordinator: SimulatedCoordinator
  let asker: SimulatedAsker<StockCommand>
  /// Tickets of which the stock was asked and has not answered.
  private var asked: Set<TicketOfDay> = []
  private var isDue = true
  /// Where the present walk through the notes has come to; nil while there is none.
  private var walk: Walk?
  private(set) var retryAt: MonotonicTime?

  private struct Walk { var place: TicketOfDay? }

  private static let limit = 64
  private static let pause = TimeSpan.seconds(1)

  init(_ coordinator: SimulatedCoordinator, world: Simulation) {
    self.coordinator = coordinator
    self.world = world
    asker = world.newAsker()
  }

  /// There may be something new to give back.
  func look() { isDue = true }

  /// The disk is full.
  func putOff() {
    guard world.hasStock else { return }
    isDue = false
    tryLater()
  }

  /// Asks for what is noted in the store and was not asked for yet.
  func advance(now: MonotonicTime) throws(StoreError) {
    if let due = retryAt, due <= now {
      retryAt = nil
      isDue = true
    }
    guard isDue || walk != nil, !world.disk.hasStagedChanges || world.bug == .givesBackTooEarly else {
      return
    }
    if walk == nil {
      isDue = false
      walk = Walk()
    }
    while asked.count < Self.limit, let walk {
      world.meetDisk(.read)
      let page = try world.disk.unreleased(after: walk.place, limit: Self.limit)
      for ticket in page where asked.count < Self.limit {
        guard coordinator.survives(), self.walk != nil else { return }
        self.walk?.place = ticket
        guard asked.insert(ticket).inserted else { continue }
        if world.bug == .neverGivesBack {
          asked.remove(ticket)
          coordinator.released(ticket)
        } else {
          ask(for: ticket)
        }
      }
      if page.count < Self.limit, self.walk?.place == page.last ?? walk.place { self.walk = nil }
    }
  }

  private func ask(for ticket: TicketOfDay) {
    let order = OrderID(day: ticket.day, ticket: ticket.ticket)
    world.statistics.releases += 1
    world.checker.stock.asked(for: ticket)
    let deadline = world.clock.now + world.plan.stock.releasePatience
    // The coordinator may die over the answer, and its last words are those here.
    asker.ask(.giveBack, as: order, until: deadline) { [self, coordinator] result in
      guard coordinator.isAlive else { return }
      asked.remove(ticket)
      // It is heard in the coordinator's process, not in that of the way to the stock.
      coordinator.process.call { answered(ticket, order, result) }
      coordinator.wake(at: world.clock.now)
    }
  }

  private func answered(_ ticket: TicketOfDay, _ order: OrderID, _ result: StockResult?) {
    switch result {
    case .done?: heard(ticket)
    case .failure(let failure)? where failure.code == .givenBack: heard(ticket)
    case nil where world.bug == .takesSilenceForGivenBack: heard(ticket)
    case .failure(let failure)? where failure.code != .diskFull:
      world.violate(.conversation, "the stock does not give back \(order): \(failure.code.rawValue)")
    default: tryLater()
    }
  }

  private func heard(_ ticket: TicketOfDay) {
    if world.releaseMeetsItsEnd() { return coordinator.die() }
    coordinator.released(ticket)
  }

  private func tryLater() {
    walk = nil
    retryAt = retryAt ?? world.clock.now + Self.pause
  }
}

extension SimulatedCoordinator {
  /// The stock has given back what a ticket held. While the disk is full the note stays, and the stock is asked again.
  func released(_ ticket: TicketOfDay) {
    now = SystemClock.moment()
    if retryAt == nil { stage(.released(ticket)) } else { releases.putOff() }
  }

  /// Asks the stock to give back what cancelled tickets hold.
  func advanceReleases() {
    guard isAlive, world.hasStock, retryAt == nil else { return }
    do throws(StoreError) { try releases.advance(now: now.monotonic) } catch {
      storeFailed(error)
    }
  }
}
