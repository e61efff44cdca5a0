// The checker's model of the vending machine: the rows of its ledger on disk, the purchases, the requests and the
// answers.
// Invariant: after each commit the money inserted is the balance, the price of the purchases and the money returned.
// Every row belongs to one request of a user, and no request has two rows. The outcome of a purchase is the answer of
// the stock.
import BankModel
import QueueCore
import StockCore
import Storage
import VendingCore
import Wire

/// Checks the changes and the answers of the vending machine.
final class VendingChecker {
  /// The money on disk after a commit: number of rows, balance, and what open purchases have reserved.
  private struct State: Equatable {
    var sequence: Int
    var balance: Won
    var reserved: Won
  }

  unowned let checker: InvariantChecker
  /// The rows of the machine's ledger on disk, oldest first, and the money that they add up to.
  private(set) var rows: [MoneyChange] = []
  private(set) var account = MoneyAccount()
  /// The purchases on disk, by number from 1.
  private(set) var purchases: [StoredPurchase] = []
  /// Index of the row of each request, and of the purchase of each request and of each stock order.
  private(set) var rowByRequest: [OrderID: Int] = [:]
  private(set) var purchaseByRequest: [OrderID: Int] = [:]
  private(set) var purchaseByOrder: [OrderID: Int] = [:]
  /// Won reserved by open purchases on disk.
  private(set) var reserved: Won = 0
  /// States of the disk after each transaction that has changed the money or the reserved amount.
  private var states = [State(sequence: 0, balance: 0, reserved: 0)]
  /// The balance and the reserved amount, including everything staged.
  private var drafted: (balance: Won, reserved: Won) = (0, 0)
  /// What users have requested, by order ID.
  private(set) var wanted: [OrderID: VendingCommand] = [:]
  /// Days on which the machine has sent or received each order.
  var askedOn: [OrderID: [DayNumber]] = [:]
  /// Number of times that a request has arrived at the machine. A client that loses its connection sends it
  /// again on a new one, and the copy in flight may arrive too.
  var arrivals: [OrderID: Int] = [:]
  /// The request of each of the manager's orders.
  var requestByOrder: [OrderID: OrderID] = [:]
  /// The manager's orders that the stock has carried out.
  var doneManagerOrders: Set<OrderID> = []

  init(_ checker: InvariantChecker) { self.checker = checker }
  var world: Simulation { checker.world }
  private var store: MemoryVendingStore { world.vending.disk }
  func violate(_ kind: Violation.Kind, _ text: @autoclosure () -> String) { checker.violate(kind, text()) }
  /// Records a request before it is sent.
  func expect(_ command: VendingCommand, as name: OrderID) { wanted[name] = command }
  /// Price of a product; nil if the machine does not sell it.
  func price(of product: ItemID) -> Won? { world.plan.vending.table[product]?.price }
  /// True if a purchase on disk has no outcome.
  var hasUnfinished: Bool { purchases.contains { $0.isUnfinished } }
  /// The current state's index, for ``answered(_:askedAt:_:)``.
  var moment: Int { states.count - 1 }

  // MARK: - Decisions

  /// Checks a staged change: only free money is returned, and open purchases stay covered.
  func staged(_ entry: VendingEntry) {
    if let change = entry.change, change.kind == .returned {
      let availableBalance = drafted.balance - drafted.reserved
      if change.amount != availableBalance {
        violate(.money, "\(change.request) returns \(change.amount) won, but \(availableBalance) are free")
      }
    }
    if let purchase = entry.purchase {
      drafted.reserved += purchase.state == .open ? purchase.price : isOpen(purchase) ? -purchase.price : 0
    }
    drafted.balance += entry.change?.difference ?? 0
    if drafted.balance < drafted.reserved {
      violate(.money, "the balance is \(drafted.balance) won, but open purchases cost \(drafted.reserved)")
    }
  }

  /// True if a purchase that changes now is open on disk, and so has reserved its price. It cannot be open among the
  /// staged changes only, because the stock is asked after the commit.
  private func isOpen(_ purchase: StoredPurchase) -> Bool {
    let place = Int(purchase.number) - 1
    return purchases.indices.contains(place) && purchases[place].state == .open
  }

  /// Drops everything staged.
  func rolledBack() { drafted = (account.balance, reserved) }

  // MARK: - The disk

  /// Adds what has reached the disk to the model, and checks it.
  func committed() {
    for row in store.committedChanges[rows.count...] { follow(row) }
    var touched: [Int] = []
    for (place, purchase) in store.committedPurchases.enumerated() {
      if place == purchases.count {
        begin(purchase, at: place)
      } else if purchases[place] != purchase {
        end(purchase, at: place)
      } else {
        continue
      }
      touched.append(place)
    }
    reserved = purchases.reduce(0) { $0 + ($1.state == .open ? $1.price : 0) }
    let state = State(sequence: rows.count, balance: account.balance, reserved: reserved)
    if state != states.last { states.append(state) }
    for place in touched { verify(purchases[place]) }
    if reserved > account.balance {
      violate(.money, "open purchases cost \(reserved) won, but the balance is \(account.balance)")
    }
    rolledBack()
  }

  /// Checks what a machine has read from its disk at its start: everything that was answered must be there.
  func restarted(with stored: StoredVending) {
    committed()
    if stored.account != account || stored.sequence != Int64(rows.count) {
      violate(.money, "the machine starts with \(stored.account), but the rows add up to \(account)")
    }
    do throws(StoreError) {
      if let problem = try store.audit().problems.first { violate(.money, problem) }
    } catch {
      violate(.storeContradiction, "\(error)")
    }
  }

  /// Adds a row, and checks that it is the first one of its request and does what was requested.
  private func follow(_ row: MoneyChange) {
    rows.append(row)
    account.apply(row)
    if row.sequence != Int64(rows.count) || row.balance != account.balance || account.difference != 0
      || account.balance < 0
    {
      violate(.money, "change \(row.sequence) leaves \(row.balance) won, but the rows add up to \(account)")
    }
    guard let command = wanted[row.request], rowByRequest[row.request] == nil else {
      return violate(.money, "change \(row.sequence) is for \(row.request), which has no request")
    }
    rowByRequest[row.request] = rows.count - 1
    let isRight: Bool =
      switch (row.kind, command) {
      case (.inserted, .insert(let amount)): row.amount == amount
      case (.returned, .giveChange): true
      case (.bought, .buy(let product)): row.product == product && row.amount == price(of: product)
      default: false
      }
    if !isRight {
      violate(.money, "\(row.request) requests \(command), but \(row.amount) were \(row.kind.name)")
    }
    switch row.kind {
    case .inserted: world.statistics.wonInserted += row.amount
    case .bought: world.statistics.purchases += 1
    case .returned: break
    }
  }

  /// Adds a purchase that is new on disk, and checks that it was requested.
  private func begin(_ purchase: StoredPurchase, at place: Int) {
    purchases.append(purchase)
    let order = VendingStateMachine.stockOrder(machine: world.machineName, purchase: purchase)
    purchaseByOrder[order] = place
    if purchase.number != Int64(place + 1) || wanted[purchase.request] != .buy(purchase.product)
      || purchase.price != price(of: purchase.product) || purchaseByRequest[purchase.request] != nil
    {
      violate(.purchase, "purchase \(purchase.number) of \(purchase.request) has no request")
    }
    purchaseByRequest[purchase.request] = place
    if purchase.state != .open || effects(of: purchase) != nil {
      violate(.purchase, "purchase \(purchase.number) starts, but the stock has already received it")
    }
  }

  /// Replaces a purchase that has changed on disk, and checks that the change is possible.
  private func end(_ purchase: StoredPurchase, at place: Int) {
    let before = purchases[place]
    purchases[place] = purchase
    let isRight =
      before.isUnfinished && (before.state == .open || purchase.state == .givenUp)
      && purchase.state != .open && purchase.request == before.request
      && purchase.product == before.product && purchase.price == before.price
    if !isRight {
      violate(.purchase, "purchase \(purchase.number) was \(before.state) and is now \(purchase.state)")
    }
    switch purchase.state {
    case .soldOut, .onlyExpired, .releasing: world.statistics.refusedPurchases += 1
    case .open, .bought, .givenUp: break
    }
  }

  /// Checks that the outcome of a purchase is the answer of the stock, and that the purchase is paid for if and only if
  /// it was made.
  private func verify(_ purchase: StoredPurchase) {
    let row = rowByRequest[purchase.request].map { rows[$0] }
    let known = order(of: purchase)
    if (purchase.state == .bought) != (row != nil) {
      return violate(.purchase, "purchase \(purchase.number) is \(purchase.state) but paid by \(row.text)")
    }
    switch purchase.state {
    case .open, .releasing: break
    case .bought:
      let took = known?.changes.first
      if known?.outcome != .done || known?.returned != nil || took?.item != purchase.product
        || took?.dates != row?.dates
      {
        violate(.purchase, "purchase \(purchase.number) is paid for, but the stock has \(known.text) for it")
      }
    case .soldOut, .onlyExpired:
      guard case .short? = known?.outcome else {
        return violate(
          .purchase, "purchase \(purchase.number) is \(purchase.state), but the stock has \(known.text)")
      }
    case .givenUp:
      if known == nil || (known?.outcome == .done && known?.returned == nil) {
        violate(
          .purchase, "purchase \(purchase.number) is abandoned, but the stock has \(known.text) for it")
      }
    }
  }

  /// The stock's record of a purchase; nil if the stock has none.
  func order(of purchase: StoredPurchase) -> StoredOrder? {
    let name = VendingStateMachine.stockOrder(machine: world.machineName, purchase: purchase)
    return (try? world.stockDisk.order(name)) ?? nil
  }

  /// What a purchase has taken from the stock and returned; nil if nothing.
  private func effects(of purchase: StoredPurchase) -> StockChecker.OrderEffects? {
    checker.stock.effectsByOrder[
      VendingStateMachine.stockOrder(machine: world.machineName, purchase: purchase)]
  }

  // MARK: - Answers

  /// Checks that an answer reports only what is on disk, or that a refusal has a valid reason.
  ///
  /// An answer is observed when its last byte is written. If the socket is small, that is later than the time at which
  /// the answer was made. A query may therefore be answered with any state of the disk since the query was sent.
  ///
  /// - Parameter moment: the state when the request was sent; see ``moment``.
  func answered(_ request: VendingRequest, askedAt moment: Int, _ result: VendingResult) {
    switch result {
    case .done(let change):
      guard change.sequence <= rows.count, rows[Int(change.sequence) - 1] == change else {
        return violate(
          .notDurable, "\(change.request) was answered with change \(change.sequence), which is not on disk")
      }
      if change.request != request.order {
        violate(.answer, "\(request.order?.text ?? "") got the response of \(change.request)")
      }
    case .stocked(let changes): checkStocked(request, changes)
    case .failure(let failure): checkRefusal(request, failure)
    case .snapshot(let picture):
      let shown = State(
        sequence: Int(picture.sequence), balance: picture.balance,
        reserved: picture.balance - picture.availableBalance)
      if !states[moment...].contains(shown) {
        violate(
          .notDurable,
          "\(picture.balance) won were shown, \(picture.availableBalance) free, and \(account) is on disk")
      }
    case .history(let bought):
      guard case .history(let page) = request.command else { return }
      let wanted = rows.filter { $0.kind == .bought && $0.sequence > page.after }.prefix(Int(page.limit))
      let known = wanted.prefix { $0.sequence <= states[moment].sequence }
      if bought.count < known.count || !wanted.starts(with: bought) {
        violate(.notDurable, "purchases were shown that are not on disk")
      }
    case .news, .audit: break
    }
  }

  /// Checks that a purchase was refused for a valid reason.
  private func checkRefusal(_ request: VendingRequest, _ failure: VendingFailure) {
    guard case .buy(let product) = request.command, let name = request.order else {
      return checkNothing(request, failure)
    }
    let purchase = purchaseByRequest[name].map { purchases[$0] }
    let isRight: Bool =
      switch failure.code {
      case .soldOut: purchase?.state == .soldOut
      case .onlyExpired: purchase?.state == .onlyExpired
      case .stockUnavailable: purchase?.state == .releasing || purchase?.state == .givenUp
      case .tooLittleMoney:
        (purchase == nil || isAskedAgain(name)) && failure.price == price(of: product)
          && (failure.available ?? .max) < (failure.price ?? 0)
      case .unknownProduct: price(of: product) == nil
      case .diskFull: purchase == nil || isAskedAgain(name)
      default: false
      }
    if !isRight {
      violate(
        .refusal, "\(name) was refused for \(failure.code.name), but is \(purchase?.state.text ?? "not")"
      )
    }
  }

  /// True if a request was sent more than once. The request may have been refused first and done later, because an
  /// answer is sent at the end of the loop iteration.
  private func isAskedAgain(_ name: OrderID) -> Bool {
    world.vending.visitors.contains { ($0.history[name]?.asked ?? 0) > 1 }
  }

  /// Checks that any request but a purchase was refused for a valid reason, and had no effect.
  private func checkNothing(_ request: VendingRequest, _ failure: VendingFailure) {
    guard let name = request.order else { return }
    if rowByRequest[name] != nil, !isAskedAgain(name) {
      violate(.refusal, "\(name) was refused for \(failure.code.name), but is done")
    }
    switch (failure.code, request.command) {
    case (.badRequest, .insert(let amount)) where !VendingLimits.insertion.contains(amount): break
    case (.diskFull, _), (.wrongSide, _): break
    case (_, .add), (_, .remove), (_, .discardExpired): checkRefusedManager(name, request.command, failure)
    default: violate(.refusal, "\(name) for \(request.command) was refused for \(failure.code.name)")
    }
  }
}

extension StoredPurchase {
  /// True if the purchase is open, or if its drink may still have to be returned.
  var isUnfinished: Bool { state == .open || state == .releasing }
}

extension StoredPurchase.State {
  var text: String { String(describing: self) }
}

extension MoneyChange? {
  fileprivate var text: String { map { "change \($0.sequence)" } ?? "nothing" }
}

extension StoredOrder? {
  fileprivate var text: String {
    guard let self else { return "not received" }
    return "\(self.outcome)" + (self.returned == nil ? "" : ", returned,")
  }
}
