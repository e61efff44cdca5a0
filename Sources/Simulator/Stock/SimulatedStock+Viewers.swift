// Owns how the simulated stock service tells those who look on, after the real one: what somebody has missed, and every
// change from then on, in pages. It must not know who looks on. Invariant: a viewer gets every change behind its place,
// in order and once, and none that is not on disk.

import BankModel
import QueueCore
import StockCore
import Storage
import Wire

extension SimulatedStock {
  /// Small, so that histories are long enough for more than one page and for a viewer who has missed too much.
  private static let page = 4
  private static let replayed: Int64 = 12

  private var settled: Int64 { Int64(world.checker.stock.rows.count) }

  /// Goes on telling somebody who was here before; false where the viewer has to begin with a picture.
  func replay(behind place: StockPlace, to number: UInt32, on link: Int) -> Bool {
    guard place.ledger == world.stockLedger, max(0, settled - Self.replayed)...settled ~= place.sequence
    else {
      return false
    }
    var place = place
    if place.sequence == settled {
      tell(number, .changes([]), on: link, more: true)
    } else if bug == .leavesOutAChange {
      place.sequence += 1
    }
    if bug == .forgetsWhoComesBack, place.sequence > 0 {
      let missed = (try? store.changes(after: place.sequence, limit: .max)) ?? []
      tell(number, .changes(missed.filter { $0.sequence <= settled }), on: link, more: true)
    } else {
      viewers.append(Viewer(link: link, number: number, sequence: place.sequence))
    }
    return true
  }

  /// Sends every viewer the changes that it has not seen.
  func tellViewers() {
    guard isAlive, !isUnsettled, world.violation == nil else { return }
    for place in viewers.indices {
      while viewers[place].sequence < settled {
        guard let page = try? store.changes(after: viewers[place].sequence, limit: Self.page),
          let last = page.last
        else { break }
        viewers[place].sequence = last.sequence
        tell(viewers[place].number, .changes(page), on: viewers[place].link, more: true)
      }
    }
  }

  /// Tells them of what is only staged: a planted bug.
  func tellViewers(of changes: [StockChange]) {
    guard let last = changes.last else { return }
    for place in viewers.indices where viewers[place].sequence == changes[0].sequence - 1 {
      viewers[place].sequence = last.sequence
      tell(viewers[place].number, .changes(changes), on: viewers[place].link, more: true)
    }
    flush()
  }
}
