// Owns the lots of every item as the rows of the stock's ledger make them. It must not know an order.
// Invariant: the lots of an item stand in the order in which they are sold, and none is empty.

import BankModel

struct StockLots {
  private(set) var lots: [ItemID: [Lot]] = [:]
  private var totals: [ItemID: Quantity] = [:]

  func total(of item: ItemID) -> Quantity { totals[item, default: 0] }

  /// Pieces of an item that may be sold on a day; all of them where there is no day.
  func available(_ item: ItemID, on day: DayNumber?) -> Quantity {
    guard let day else { return total(of: item) }
    return (lots[item] ?? []).reduce(0) { $0 + ($1.isExpired(on: day) ? 0 : $1.quantity) }
  }

  /// Follows a row; the lot and the item afterwards.
  mutating func apply(_ row: StockChange) -> (lot: Quantity, present: Quantity) {
    totals[row.item, default: 0] += row.difference
    var shelf = lots[row.item] ?? []
    let place = shelf.firstIndex { !$0.comesBefore(row.dates) } ?? shelf.count
    if place < shelf.count, shelf[place].dates == row.dates {
      shelf[place].quantity += row.difference
    } else {
      shelf.insert(Lot(dates: row.dates, quantity: row.difference), at: place)
    }
    let left = shelf[place].quantity
    if left == 0 { shelf.remove(at: place) }
    lots[row.item] = shelf
    return (left, totals[row.item, default: 0])
  }
}
