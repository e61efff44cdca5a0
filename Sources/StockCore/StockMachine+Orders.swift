// Decisions about requests: refusals, shortages, and the resulting rows of the ledger. All items of an order are
// checked before any shelf changes.

import BankModel
import Time

extension StockMachine {
  /// Adds those items that the stock does not have. At the maximum number of items the rest is left out.
  mutating func seedItems(_ amounts: [ItemAmount], at now: WallTime, into effects: inout [StockEffect]) {
    var items: [ItemID] = []
    var changes: [StockChange] = []
    for amount in amounts where shelfIndices[amount.item] == nil && shelves.count < StockLimits.items {
      precondition(
        amount.item.isValid && (0...StockLimits.quantity).contains(amount.quantity),
        "the initial amounts were checked")
      shelfIndices[amount.item] = shelves.count
      shelves.append(Shelf(amount.item))
      items.append(amount.item)
      guard amount.quantity > 0 else { continue }
      let index = shelves.count - 1
      changes += record([put(amount.quantity, dates: nil, at: index)], index, .initial, nil, at: now)
    }
    if !items.isEmpty { stage(StockEntry(items: items, changes: changes, at: now), into: &effects) }
  }

  /// Adds items that the stock does not have yet, without pieces, at a client's request. Adds none if one is invalid or
  /// they are too many.
  mutating func introduce(
    _ items: [ItemID], for request: RequestNumber, at now: WallTime, into effects: inout [StockEffect]
  ) {
    if let item = items.first(where: { !$0.isValid }) {
      return answer(request, .refused(.unknownItem(item)), into: &effects)
    }
    let new = Set(items.filter { shelfIndices[$0] == nil })
    guard shelves.count + new.count <= StockLimits.items else {
      return answer(request, .refused(.badItemCount(shelves.count + new.count)), into: &effects)
    }
    seedItems(items.map { ItemAmount($0, 0) }, at: now, into: &effects)
    answer(request, .done([]), into: &effects)
  }

  /// Reason to refuse a request before the store is asked for its order; nil if there is none.
  func objection(to action: StockAction, _ id: OrderID?) -> StockRefusal? {
    if let id, !id.isValid { return .badOrder(id.text) }
    switch action {
    case .take(let amounts, let today):
      if id == nil { return .badOrder("") }
      guard (1...StockLimits.itemsPerOrder).contains(amounts.count) else {
        return .badItemCount(amounts.count)
      }
      for (index, amount) in amounts.enumerated() {
        if let refusal = objection(to: amount) { return refusal }
        if amounts[..<index].contains(where: { $0.item == amount.item }) { return .itemTwice(amount.item) }
      }
      return StockLimits.days.contains(today) ? nil : .badDates(amounts[0].item)
    case .returnItems: return id == nil ? .badOrder("") : nil
    case .set(let item, let quantity):
      if shelfIndices[item] == nil { return .unknownItem(item) }
      return (0...StockLimits.quantity).contains(quantity) ? nil : .badQuantity(item, quantity)
    case .change(let item, let difference, let dates):
      if shelfIndices[item] == nil { return .unknownItem(item) }
      let isPossible = difference != 0 && (-StockLimits.quantity...StockLimits.quantity).contains(difference)
      if !isPossible { return .badQuantity(item, difference) }
      return dates?.isValid == false ? .badDates(item) : nil
    case .discardExpired(let today): return StockLimits.days.contains(today) ? nil : .badDates(ItemID(""))
    }
  }

  /// Reason to refuse one item of an order: unknown, or a quantity outside the limits.
  private func objection(to amount: ItemAmount) -> StockRefusal? {
    if shelfIndices[amount.item] == nil { return .unknownItem(amount.item) }
    let isPossible = (1...StockLimits.quantity).contains(amount.quantity)
    return isPossible ? nil : .badQuantity(amount.item, amount.quantity)
  }

  /// Decides a request that has no record: stages its changes or its shortage, or refuses it.
  mutating func decide(
    _ action: StockAction, _ id: OrderID?, for request: RequestNumber, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    let changes: [StockChange]
    switch action {
    case .take(let amounts, let today):
      let shortages = shortages(of: amounts, on: today)
      guard shortages.isEmpty else {
        return short(shortages, action, id, for: request, at: now, into: &effects)
      }
      changes = amounts.flatMap { amount in
        change(amount.item, .taken, id, at: now) { $0.take(amount.quantity, on: today) }
      }
    case .returnItems:
      guard let id else { return }
      stage(StockEntry(name: .ordered(id, content: action.content, .void), at: now), into: &effects)
      return answer(request, .done([]), into: &effects)
    case .set(let item, let quantity):
      let shelf = shelf(of: item)
      guard !shelf.isDated else { return answer(request, .refused(.itemHasDates(item)), into: &effects) }
      let difference = quantity - shelf.present
      changes = change(item, .set, id, at: now) { shelf in
        if difference == 0 { return [] }
        return [difference > 0 ? shelf.put(difference, dates: nil) : shelf.take(-difference, dates: nil)]
      }
    case .change(let item, let difference, let dates) where difference > 0:
      if let refusal = objection(toAdding: difference, of: item, dates) {
        return answer(request, .refused(refusal), into: &effects)
      }
      changes = change(item, .added, id, at: now) { [$0.put(difference, dates: dates)] }
    case .change(let item, let difference, let dates):
      let shelf = shelf(of: item)
      let available = dates == nil ? shelf.present : shelf.quantity(of: dates)
      guard available >= -difference else {
        let shortage = Shortage(item: item, needed: -difference, available: available)
        return short([shortage], action, id, for: request, at: now, into: &effects)
      }
      changes = change(item, .removed, id, at: now) { shelf in
        dates == nil ? shelf.take(-difference, on: nil) : [shelf.take(-difference, dates: dates)]
      }
    case .discardExpired(let today):
      changes = shelves.map(\.item).flatMap { item in
        change(item, .discarded, id, at: now) { $0.discardExpired(on: today) }
      }
    }
    let name = id.map { StockEntry.Name.ordered($0, content: action.content, .done) }
    // A request without a name that changes nothing leaves nothing to store.
    if name != nil || !changes.isEmpty {
      stage(StockEntry(changes: changes, name: name, at: now), into: &effects)
    }
    answer(request, .done(changes), into: &effects)
  }

  /// Returns what an order has taken, if it has taken anything and still holds it.
  mutating func returnItems(
    _ known: StoredOrder, _ id: OrderID, for request: RequestNumber, at now: WallTime,
    into effects: inout [StockEffect]
  ) {
    if let returned = known.returned { return answer(request, .done(returned), into: &effects) }
    guard known.outcome == .void || StockAction.amounts(inContent: known.content) != nil else {
      return answer(request, .refused(.orderConflict(id)), into: &effects)
    }
    let taken = known.outcome == .done ? known.changes : []
    guard !taken.isEmpty else { return answer(request, .done([]), into: &effects) }
    if let refusal = objection(toReturning: taken) {
      return answer(request, .refused(refusal), into: &effects)
    }
    let changes = taken.flatMap { row in
      change(row.item, .returned, id, at: now) { [$0.put(-row.difference, dates: row.dates)] }
    }
    stage(StockEntry(changes: changes, name: .wasReturned(id), at: now), into: &effects)
    var order = known
    order.returned = changes
    uncommittedOrders[id] = order
    answer(request, .done(changes), into: &effects)
  }

  /// Answers that too few pieces are present. For an order with a name this answer is stored, too, so that a repetition
  /// gets the same answer.
  private mutating func short(
    _ shortages: [Shortage], _ action: StockAction, _ id: OrderID?, for request: RequestNumber,
    at now: WallTime, into effects: inout [StockEffect]
  ) {
    if let id {
      let name = StockEntry.Name.ordered(id, content: action.content, .short(shortages))
      stage(StockEntry(name: name, at: now), into: &effects)
    }
    answer(request, .short(shortages), into: &effects)
  }

  /// The items of an order of which too few pieces are usable on this day.
  private func shortages(of amounts: [ItemAmount], on today: DayNumber) -> [Shortage] {
    amounts.compactMap { amount in
      let available = shelf(of: amount.item).quantity(on: today)
      guard available < amount.quantity else { return nil }
      return Shortage(item: amount.item, needed: amount.quantity, available: available)
    }
  }

  /// Reason why pieces cannot be added to a shelf: the item or the number of lots would exceed its limit.
  private func objection(toAdding quantity: Quantity, of item: ItemID, _ dates: LotDates?) -> StockRefusal? {
    let shelf = shelf(of: item)
    if shelf.present + quantity > StockLimits.quantity { return .overflow(item, present: shelf.present) }
    return !shelf.has(dates) && lotCount >= StockLimits.lots ? .tooManyLots(item) : nil
  }

  /// Reason why the pieces of an order cannot be returned: a limit would be exceeded.
  private func objection(toReturning taken: [StockChange]) -> StockRefusal? {
    var (more, lots) = ([ItemID: Quantity](), 0)
    for row in taken {
      let shelf = shelf(of: row.item)
      more[row.item, default: 0] -= row.difference
      if shelf.present + (more[row.item] ?? 0) > StockLimits.quantity {
        return .overflow(row.item, present: shelf.present)
      }
      if !shelf.has(row.dates) { lots += 1 }
      if lotCount + lots > StockLimits.lots { return .tooManyLots(row.item) }
    }
    return nil
  }

  private func shelf(of item: ItemID) -> Shelf {
    guard let index = shelfIndices[item] else { preconditionFailure("\(item) was checked to be known") }
    return shelves[index]
  }

  /// Adds pieces to the shelf at this index, and counts a new lot.
  private mutating func put(_ quantity: Quantity, dates: LotDates?, at index: Int) -> Shelf.Step {
    let before = shelves[index].lots.count
    let step = shelves[index].put(quantity, dates: dates)
    lotCount += shelves[index].lots.count - before
    return step
  }

  /// Changes the shelf of an item by the closure, and saves its former state for a rollback. Returns the rows of the
  /// ledger for the steps.
  private mutating func change(
    _ item: ItemID, _ kind: StockChange.Kind, _ order: OrderID?, at now: WallTime,
    _ body: (inout Shelf) -> [Shelf.Step]
  ) -> [StockChange] {
    guard let index = shelfIndices[item] else { preconditionFailure("\(item) was checked to be known") }
    let before = shelves[index]
    let steps = body(&shelves[index])
    if steps.isEmpty { return [] }
    if shelvesBefore[index] == nil { shelvesBefore[index] = before }
    lotCount += shelves[index].lots.count - before.lots.count
    return record(steps, index, kind, order, at: now)
  }

  /// Makes one row of the ledger for each step, with the next sequence numbers.
  private mutating func record(
    _ steps: [Shelf.Step], _ index: Int, _ kind: StockChange.Kind, _ order: OrderID?, at now: WallTime
  ) -> [StockChange] {
    steps.map { step in
      sequence += 1
      return StockChange(
        sequence: sequence, item: shelves[index].item, kind: kind, dates: step.dates,
        difference: step.difference, lot: step.lot, present: step.present, order: order, at: now)
    }
  }
}
