// Owns somebody who looks on in the simulated world, as `bankctl stock watch` does: a picture of the stock that every
// change is added to. It must not ask the ledger. Invariant: the picture after each change is what was there after it,
// whatever happened to the connection and the service in between.

import BankModel
import StockClient
import Wire

final class SimulatedViewer {
  private unowned let world: Simulation
  private let asker: SimulatedAsker<StockCommand>
  private var quantities: [ItemID: Quantity] = [:]
  private(set) var seen = 0

  init(number: Int, world: Simulation) {
    self.world = world
    asker = world.newAsker()
    asker.follow(StockView()) { [unowned self] in hear($0) }
  }

  var pid: Int32 { asker.pid }
  func stop() { asker.stand(true) }

  private func hear(_ news: StockNews) {
    switch news {
    case .picture(let picture):
      seen = Int(picture.sequence)
      quantities = [:]
      for shelf in picture.items { quantities[shelf.item] = shelf.quantity }
      world.checker.stock.shown(picture)
    case .changes(let changes):
      world.statistics.news += Int64(changes.count)
      for change in changes {
        world.checker.stock.told(change, seen: seen)
        seen = Int(change.sequence)
        let there = quantities[change.item, default: 0] + change.difference
        quantities[change.item] = there
        if there != change.present {
          world.violate(.news, "after change \(change.sequence) somebody sees \(there) \(change.item)")
        }
      }
    case .refused(let failure): world.violate(.conversation, "somebody who looks on is refused: \(failure)")
    }
  }
}
