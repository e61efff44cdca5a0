// The checker's model of the stock: the rows of the ledger on disk, the effects of each order, the answers, and the
// customer of each order.
// Invariant: after each commit the order of a juice holds nothing or exactly the recipe of the juice. The amounts
// follow from the initial ones and from what was added, removed, set, taken and returned.
import BankModel
import QueueCore
import StockCore
import Storage
import Wire

/// Checks the changes and the answers of the stock.
final class StockChecker {
  /// Effects of one order so far, according to the ledger.
  struct OrderEffects {
    var taken: [ItemID: Quantity] = [:]
    var returned: [ItemID: Quantity] = [:]
    /// Sequence number of its last change.
    var last: Int64 = 0

    /// True if the order has taken something and returned nothing.
    var isHolding: Bool { !taken.isEmpty && returned.isEmpty }
  }

  unowned let checker: InvariantChecker
  /// The rows of the ledger on disk, oldest first.
  private(set) var rows: [StockChange] = []
  /// Number of rows before the last commit that added rows.
  private var olderRows = 0
  /// The lots on disk.
  private(set) var present = StockLots()
  /// The lots including everything staged.
  private var drafted = StockLots()
  /// The day of the last request for each order.
  private var days: [OrderID: DayNumber] = [:]
  private(set) var effectsByOrder: [OrderID: OrderEffects] = [:]
  /// The first answer to each order.
  private var answers: [OrderID: StockResult] = [:]
  /// Orders that the stock has reported as returned.
  private var givenBack: Set<OrderID> = []
  /// Changes that the operators have requested.
  private var changes: [OrderID: StockCommand] = [:]

  init(_ checker: InvariantChecker) { self.checker = checker }
  private var store: MemoryStockStore { checker.world.stockDisk }
  func violate(_ kind: Violation.Kind, _ text: @autoclosure () -> String) { checker.violate(kind, text()) }
  /// Records what an operator requests under an order ID.
  func expect(_ command: StockCommand, as order: OrderID) { changes[order] = command }

  /// Records the day that a request to take items under this order names.
  func requestReceived(_ action: StockAction, of order: OrderID) {
    if case .take(_, let today) = action { days[order] = today }
  }

  // MARK: - Decisions

  /// Checks a decision. If there is enough of every item, the order must be done. If not, the reported shortages must
  /// be exactly the missing pieces.
  func staged(_ entry: StockEntry) {
    if case .ordered(let order, let content, let outcome)? = entry.name { verify(order, content, outcome) }
    for change in entry.changes {
      checker.vending.left(change, from: drafted.lots[change.item] ?? [])
      _ = drafted.apply(change)
    }
  }

  /// Drops everything staged.
  func rolledBack() { drafted = present }

  /// Checks the outcome of an order against the lots at the time of the decision.
  private func verify(_ order: OrderID, _ content: String, _ outcome: StoredOrder.Outcome) {
    var wanted = StockAction.amounts(inContent: content) ?? []
    if checker.vending.owns(order) {
      checker.vending.decided(order, outcome)
      if let removed = checker.vending.removal(order) { wanted = [removed] }
    } else if case .change(let amount, _)? = changes[order], amount.quantity < 0 {
      wanted = [ItemAmount(amount.item, -amount.quantity)]
    } else if let (_, recipe) = recipe(of: order), outcome != .void {
      let asked = Dictionary(wanted.map { ($0.item, $0.quantity) }, uniquingKeysWith: +)
      if asked != recipe {
        return violate(
          .stockOrder, "order \(order) is decided for \(asked.text), but its juice is \(recipe.text)")
      }
    }
    let missing = wanted.compactMap { part -> Shortage? in
      let available = drafted.available(part.item, on: days[order])
      guard available < part.quantity else { return nil }
      return Shortage(item: part.item, needed: part.quantity, available: available)
    }
    switch outcome {
    case .done where !missing.isEmpty:
      violate(.stockOrder, "order \(order) is done despite a shortage: \(missing)")
    case .short(let shortages) where Set(shortages) != Set(missing) || missing.isEmpty:
      violate(.stockOrder, "order \(order) is short of \(shortages), but missing are \(missing)")
    default: break
    }
  }

  // MARK: - The disk

  /// Applies the rows that have reached the disk, after a commit or at the start of a service.
  func committed() {
    guard let fresh = try? store.changes(after: Int64(rows.count), limit: .max) else { return }
    var touched: [OrderID] = []
    if !fresh.isEmpty { olderRows = rows.count }
    for row in fresh {
      follow(row)
      if let order = row.order, touched.last != order { touched.append(order) }
    }
    for order in touched { verify(order, fresh) }
    drafted = present
  }

  /// Applies a row to the lots and to the effects of its order, and checks the amounts in it.
  private func follow(_ row: StockChange) {
    rows.append(row)
    let (lot, there) = present.apply(row)
    if row.sequence != Int64(rows.count) || there != row.present || lot < 0 || lot != row.lot {
      violate(
        .stock, "change \(row.sequence) leaves \(row.present) \(row.item), expected \(there)")
    }
    guard row.kind != .initial, let order = row.order else {
      if row.kind != .initial { violate(.stock, "change \(row.sequence) of \(row.item) has no order") }
      return
    }
    effectsByOrder[order, default: OrderEffects()].last = row.sequence
    switch row.kind {
    case .taken: effectsByOrder[order, default: OrderEffects()].taken[row.item, default: 0] -= row.difference
    case .returned:
      effectsByOrder[order, default: OrderEffects()].returned[row.item, default: 0] += row.difference
    default: effectsByOrder[order, default: OrderEffects()].returned[row.item, default: 0] = row.difference
    }
  }

  /// Checks the effects of an order after a commit: its juice, purchase or manual change.
  private func verify(_ order: OrderID, _ fresh: [StockChange]) {
    guard let effects = effectsByOrder[order] else { return }
    if checker.vending.owns(order) {
      return checker.vending.verify(order, effects, fresh.filter { $0.order == order })
    }
    if let command = changes[order] { return verify(order, effects, command) }
    guard let (name, recipe) = recipe(of: order) else {
      return violate(.stockOrder, "order \(order) changes the stock, but there is no such ticket")
    }
    if effects.taken != recipe {
      return violate(
        .stockOrder, "order \(order) has taken \(effects.taken.text), but its juice is \(recipe.text)")
    }
    if !effects.returned.isEmpty {
      if effects.returned != recipe {
        violate(.stockOrder, "order \(order) has taken \(recipe.text) and returned \(effects.returned.text)")
      }
      if checker.outcomes[name] != .cancelled {
        violate(.stockOrder, "order \(order) was returned, but its ticket is not cancelled on disk")
      }
    } else if checker.outcomes[name] == .outOfStock {
      violate(.stockOrder, "order \(order) takes fruit after its customer was rejected")
    }
  }

  /// Checks that a manual change was made once, as requested.
  private func verify(_ order: OrderID, _ effects: OrderEffects, _ command: StockCommand) {
    let own = rows.filter { $0.order == order }
    var isRight = own.count == 1 && effects.taken.isEmpty
    switch command {
    case .change(let amount, _):
      isRight = isRight && own[0].item == amount.item && own[0].difference == amount.quantity
    case .set(let amount):
      isRight = isRight && own[0].item == amount.item && own[0].present == amount.quantity
    default: isRight = false
    }
    if !isRight { violate(.stock, "order \(order) for \(command) changed \(own.map(\.difference))") }
  }

  /// The ticket of an order, and the recipe of its juice; nil if there is no such ticket.
  private func recipe(of order: OrderID) -> (TicketID, [ItemID: Quantity])? {
    let numbers = order.text.split(separator: "-").compactMap { Int64($0) }
    guard numbers.count == 2, order == OrderID(day: numbers[0], ticket: numbers[1]) else { return nil }
    let name = TicketID(day: numbers[0], ticket: numbers[1])
    guard let itemName = checker.onDisk[name]?.itemName, let juice = JuiceOrder(itemName)?.juice,
      let recipe = checker.world.plan.stock.assortment.juices.first(where: { $0.id == juice })?.recipe
    else { return nil }
    return (name, Dictionary(recipe.map { ($0.item, $0.quantity) }, uniquingKeysWith: +))
  }

  // MARK: - Answers

  /// Checks an answer: what it reports is on disk, and a repeated order gets the same answer.
  func answered(_ order: OrderID, _ action: StockAction, _ result: StockResult) {
    switch result {
    case .done(let changes):
      for change in changes where change.sequence > rows.count || rows[Int(change.sequence) - 1] != change {
        return violate(
          .notDurable, "order \(order) was answered with change \(change.sequence), which is not on disk")
      }
      if case .returnItems = action {
        givenBack.insert(order)
        return checkGivenBack(order)
      }
      if case .take = action, !mayBeReported(order) {
        return violate(.stockOrder, "order \(order) got a success without its fruit")
      }
    case .short:
      guard !store.hasStagedChanges, (try? store.order(order)) != nil else {
        return violate(.notDurable, "the shortage of order \(order) was reported but is not on disk")
      }
    default: return
    }
    if let first = answers[order], first != result {
      violate(.repeatedOrder, "order \(order) was answered \(first) and now \(result)")
    }
    answers[order] = result
  }

  /// True if an answer may report the order as done: it holds what it has taken, or held it until the last commit
  /// returned it.
  private func mayBeReported(_ order: OrderID) -> Bool {
    guard let effects = effectsByOrder[order], !effects.taken.isEmpty else { return false }
    return effects.returned.isEmpty || effects.last > olderRows
  }

  /// Checks that the return of a ticket's fruit is requested only after the cancellation is on disk.
  func asked(for ticket: TicketOfDay) {
    if checker.outcomes[TicketID(day: ticket.day, ticket: ticket.ticket)] != .cancelled {
      violate(.stockOrder, "ticket \(ticket.ticket) is to be returned, but is not cancelled on disk")
    }
  }

  /// Checks that the stock has confirmed a return whose record the coordinator has removed from its disk.
  func released(_ ticket: TicketOfDay) {
    if !givenBack.contains(OrderID(day: ticket.day, ticket: ticket.ticket)) {
      violate(.stockOrder, "ticket \(ticket.ticket) counts as returned, but the stock has not confirmed it")
    }
  }

  /// Checks that an order that is reported as returned holds nothing, and that its ticket is cancelled.
  private func checkGivenBack(_ order: OrderID) {
    if checker.vending.owns(order) {
      return checker.vending.checkGivenBack(order, isHolding: effectsByOrder[order]?.isHolding == true)
    }
    if effectsByOrder[order]?.isHolding == true {
      violate(
        .stockOrder,
        "order \(order) is reported as returned, but holds \(effectsByOrder[order]?.taken.text ?? "")")
    }
    guard let (name, _) = recipe(of: order), checker.outcomes[name] == .cancelled else {
      return violate(.stockOrder, "order \(order) was returned, but its ticket is not cancelled on disk")
    }
  }

  /// Checks a snapshot that the stock has sent: it has the amounts after its last change, which must be on disk.
  func shown(_ picture: StockSnapshot) {
    var there: [ItemID: Quantity] = [:]
    guard picture.sequence <= rows.count else {
      return violate(.notDurable, "change \(picture.sequence) was shown but is not on disk")
    }
    for row in rows.prefix(Int(picture.sequence)) { there[row.item, default: 0] += row.difference }
    for shelf in picture.items where shelf.quantity != there[shelf.item, default: 0] {
      violate(
        .stock, "\(shelf.quantity) \(shelf.item) were shown, actual \(there[shelf.item, default: 0])")
    }
  }

  /// Checks that a subscriber whose last change had the number `seen` receives the next change, as it is on disk.
  func sent(_ change: StockChange, seen: Int) {
    guard change.sequence <= rows.count else {
      return violate(.notDurable, "change \(change.sequence) was reported but is not on disk")
    }
    if change.sequence != seen + 1 || rows[seen] != change {
      violate(.news, "after change \(seen) a subscriber received change \(change.sequence): \(change)")
    }
  }

  /// Checks the receipt of a juice: its fruit must be taken, or its shortages must be those that the stock has
  /// reported.
  func check(_ receipt: Receipt, _ name: TicketID) {
    guard receipt.service.usesStock else { return }
    let order = OrderID(day: name.day, ticket: name.ticket)
    switch receipt.outcome {
    case .served:
      checker.world.statistics.juices += 1
      if effectsByOrder[order]?.isHolding != true {
        violate(.stockOrder, "ticket \(name.ticket) got its juice, but no fruit was taken for it")
      }
    case .outOfStock:
      checker.world.statistics.shortages += 1
      if answers[order] != .short(receipt.shortages) || effectsByOrder[order]?.isHolding == true {
        violate(.stockOrder, "ticket \(name.ticket) was rejected without a shortage of the stock")
      }
    case .cancelled: break
    }
  }

  // MARK: - The end

  /// Checks that the lots are the sum of the ledger.
  func checkShelves(_ shelves: [ItemStock]) {
    committed()
    for shelf in shelves where shelf.lots != present.lots[shelf.item] ?? [] {
      violate(
        .stock,
        "\(shelf.quantity) \(shelf.item) are present, the ledger says \(present.total(of: shelf.item))")
    }
    do throws(StoreError) {
      if let problem = try store.audit().problems.first { violate(.stock, problem) }
    } catch {
      violate(.storeContradiction, "\(error)")
    }
  }

  /// Checks the stock after the bank has closed: no customer without a juice holds fruit, and the fruit of
  /// every cancelled ticket was returned.
  func checkEnd() throws(StoreError) {
    guard checker.world.hasStock else { return }
    store.crash()
    checkShelves(try store.load(newLedger: 1).items)
    for (order, effects) in effectsByOrder.sorted(by: { $0.key.text < $1.key.text })
    where changes[order] == nil {
      guard let (name, _) = recipe(of: order) else { continue }
      let outcome = checker.outcomes[name]
      if effects.isHolding, outcome == .cancelled || outcome == .outOfStock {
        violate(
          .stockOrder, "ticket \(name.ticket) of day \(name.day) ended without a juice but holds its fruit")
      }
    }
    if let left = try checker.world.disk.unreleased(after: nil, limit: 1).first {
      violate(
        .notDrained, "ticket \(left.ticket) of day \(left.day) was cancelled, but nothing was returned")
    }
  }
}

extension [ItemID: Quantity] {
  fileprivate var text: String {
    isEmpty
      ? "nothing" : sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: " and ")
  }
}

/// The lots of every item, computed from the rows of the stock's ledger.
/// Invariant: the lots of an item are in the order in which they are sold, and none is empty.
struct StockLots {
  private(set) var lots: [ItemID: [Lot]] = [:]
  private var totals: [ItemID: Quantity] = [:]

  /// Pieces of an item, in all its lots.
  func total(of item: ItemID) -> Quantity { totals[item, default: 0] }

  /// Pieces of an item that may be sold on a day; all of them if there is no day.
  func available(_ item: ItemID, on day: DayNumber?) -> Quantity {
    guard let day else { return total(of: item) }
    return (lots[item] ?? []).reduce(0) { $0 + ($1.isExpired(on: day) ? 0 : $1.quantity) }
  }

  /// Applies a row. Returns the new amounts of the lot and of the item.
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
