// Owns how the simulated coordinator has the stock give back what cancelled tickets hold, line for line as the real
// `ReleaseDesk` does. It must not know the queue. Invariant: a note goes only after the stock has answered.

import BankModel
import QueueCore
import Storage
import Wire

/// Gives back what cancelled tickets hold of the stock.
final class SimulatedReleases {
  private unowned let world: Simulation
  private unowned let coordinator: SimulatedCoordinator
  let asker: SimulatedAsker
  /// Tickets of which the stock was asked and has not answered.
  private var asked: Set<TicketOfDay> = []
  private var isDue = true
  private(set) var retryAt: MonotonicTime?

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
    guard isDue, !world.disk.hasStagedChanges || world.bug == .givesBackTooEarly, asked.count < Self.limit
    else { return }
    isDue = false
    world.meetDisk(.read)
    for ticket in try world.disk.unreleased(limit: Self.limit) where asked.insert(ticket).inserted {
      guard coordinator.survives() else { return }
      if world.bug == .neverGivesBack {
        asked.remove(ticket)
        coordinator.released(ticket)
      } else {
        ask(for: ticket)
      }
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
      switch result {
      case .done?: heard(ticket)
      case .failure(let failure)? where failure.code == .givenBack: heard(ticket)
      case nil where world.bug == .takesSilenceForGivenBack: heard(ticket)
      case .failure(let failure)? where failure.code != .diskFull:
        world.violate(.conversation, "the stock does not give back \(order): \(failure.code.rawValue)")
      default: tryLater()
      }
      isDue = isDue || retryAt == nil
      coordinator.wake(at: world.clock.now)
    }
  }

  private func heard(_ ticket: TicketOfDay) {
    if world.releaseMeetsItsEnd() { return coordinator.die() }
    coordinator.released(ticket)
  }

  private func tryLater() { retryAt = retryAt ?? world.clock.now + Self.pause }
}

extension SimulatedCoordinator {
  /// The stock has given back what a ticket held. While the disk is full the note stays, and the stock is asked again.
  func released(_ ticket: TicketOfDay) {
    now = world.clock.moment
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
