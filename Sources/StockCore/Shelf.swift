// Lots of one item, and their changes.
// Invariant: lots are in the order in which they are sold, no two have the same dates, none is empty, and
// `present` is their sum.

import BankModel

/// The lots of one item, and their sum.
struct Shelf: Sendable, Equatable {
  let item: ItemID
  private(set) var lots: [Lot] = []
  /// Number of pieces in all lots.
  private(set) var present: Quantity = 0

  /// A change of one lot: pieces added, or removed if negative.
  struct Step: Sendable, Equatable {
    var dates: LotDates?
    var difference: Quantity
    /// Pieces in the lot after the change.
    var lot: Quantity
    /// Pieces of the item in all lots after the change.
    var present: Quantity
  }

  /// A shelf without pieces.
  init(_ item: ItemID) { self.item = item }

  /// The shelf that a store has loaded.
  init(_ stock: ItemStock) {
    item = stock.item
    for lot in stock.lots { _ = put(lot.quantity, dates: lot.dates) }
  }

  /// The lots as a value for snapshots.
  var stock: ItemStock { ItemStock(item: item, lots: lots) }
  /// True if a lot has dates.
  var isDated: Bool { lots.contains { $0.dates != nil } }
  func has(_ dates: LotDates?) -> Bool { lots.contains { $0.dates == dates } }
  /// Number of pieces in the lot with these dates; 0 if there is none.
  func quantity(of dates: LotDates?) -> Quantity { lots.first { $0.dates == dates }?.quantity ?? 0 }
  /// Number of pieces that have not expired on this day.
  func quantity(on today: DayNumber) -> Quantity { stock.quantity(on: today) }

  /// Adds pieces to the lot with these dates, which is created if it is missing.
  mutating func put(_ quantity: Quantity, dates: LotDates?) -> Step {
    precondition(quantity > 0, "an added quantity is positive")
    present += quantity
    let place = lots.firstIndex { !$0.comesBefore(dates) } ?? lots.count
    if place < lots.count, lots[place].dates == dates {
      lots[place].quantity += quantity
    } else {
      lots.insert(Lot(dates: dates, quantity: quantity), at: place)
    }
    return Step(dates: dates, difference: quantity, lot: lots[place].quantity, present: present)
  }

  /// Takes pieces out of the lot with these dates, which must have as many.
  mutating func take(_ quantity: Quantity, dates: LotDates?) -> Step {
    guard let place = lots.firstIndex(where: { $0.dates == dates }) else {
      preconditionFailure("there is no such lot of \(item)")
    }
    precondition(0 < quantity && quantity <= lots[place].quantity, "a lot of \(item) is never below 0")
    lots[place].quantity -= quantity
    present -= quantity
    let left = lots[place].quantity
    if left == 0 { lots.remove(at: place) }
    return Step(dates: dates, difference: -quantity, lot: left, present: present)
  }

  /// Takes pieces out of the lots in the order in which they are sold. If `today` is given, expired lots are skipped.
  mutating func take(_ quantity: Quantity, on today: DayNumber?) -> [Step] {
    var (left, steps) = (quantity, [Step]())
    for lot in lots where left > 0 && !(today.map { lot.isExpired(on: $0) } ?? false) {
      let part = min(left, lot.quantity)
      steps.append(take(part, dates: lot.dates))
      left -= part
    }
    precondition(left == 0, "more of \(item) is taken than is present")
    return steps
  }

  /// Takes out all lots that have expired on this day.
  mutating func discardExpired(on today: DayNumber) -> [Step] {
    lots.filter { $0.isExpired(on: today) }.map { take($0.quantity, dates: $0.dates) }
  }
}
