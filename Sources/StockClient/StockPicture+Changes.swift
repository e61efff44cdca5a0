// Owns how a picture of the stock follows what a viewer is told. It knows no service and no client.
// Invariant: a picture that was told every change behind it shows the present stock.

import BankModel
import Wire

extension StockPicture {
  /// Applies changes that follow the picture, so that a viewer who was told them sees the present stock.
  public mutating func apply(_ changes: [StockChange]) {
    for change in changes {
      let place = items.firstIndex { $0.item == change.item } ?? items.count
      if place == items.count { items.append(ItemStock(item: change.item, lots: [])) }
      var lots = items[place].lots.filter { $0.dates != change.dates }
      if change.lot > 0 {
        let position = lots.firstIndex { !$0.comesBefore(change.dates) } ?? lots.count
        lots.insert(Lot(dates: change.dates, quantity: change.lot), at: position)
      }
      items[place].lots = lots
      sequence = change.sequence
    }
  }
}
