// A vending machine with a shell, a disk and a stock of its own, all as plain as possible. A request to the
// stock is answered when the world decides, or never. The world records every answer, and can crash or run
// out of disk at any moment. A bug can be planted in the shell, to show that the checks would find it.

import BankModel
import Time

@testable import VendingCore

/// A possible mistake of a programmer.
enum PlantedBug: String, CaseIterable {
  /// Requests that were answered are not found again.
  case forgetsRequests
  /// The stock is asked before the intent is on disk.
  case takesBeforeCommit
  /// A restarted machine has lost its open purchases.
  case forgetsOpenPurchases
  /// A purchase that was given up is never put back.
  case neverReleases
  /// A drink is free.
  case doesNotCharge
  /// After a crash the stock is asked under another name.
  case changesPurchaseIDs
}

final class VendingWorld {
  static let prices: [ItemID: Won] = [ItemID("top"): 1_700, ItemID("hot6"): 1_000, ItemID("coke"): 3_500]

  struct Disk {
    var changes: [MoneyChange] = []
    var purchases: [PurchaseNumber: StoredPurchase] = [:]

    var account: MoneyAccount {
      var account = MoneyAccount()
      for change in changes { account.apply(change) }
      return account
    }

    var stored: StoredVending {
      StoredVending(
        machine: 7, account: account, sequence: Int64(changes.count), lastPurchase: purchases.keys.max() ?? 0,
        unfinished: purchases.values.filter { $0.state == .open || $0.state == .releasing }
          .sorted { $0.number < $1.number })
    }

    func request(_ id: OrderID) -> StoredRequest? {
      if let change = changes.first(where: { $0.request == id }) { return .done(change) }
      return purchases.values.first { $0.request == id }.map { .purchase($0) }
    }
  }

  /// The stock's record of a name.
  enum StockRecord: Equatable {
    case taken(ItemID)
    case short
    case void
  }

  let bug: PlantedBug?
  private(set) var machine: VendingStateMachine
  private(set) var answers: [RequestNumber: VendingAnswer] = [:]
  private(set) var committed = Disk()
  private var staged = Disk()
  /// Requests to the stock without an answer.
  private(set) var requested: [(purchase: PurchaseNumber, product: ItemID?)] = []
  /// The contents of the shelves, and the records of the stock.
  var shelves: [ItemID: Quantity] = [:]
  private(set) var names: [OrderID: StockRecord] = [:]
  private var lastRequest: RequestNumber = 0
  private var clock: Int64 = 1_000
  private var epoch = 0

  init(_ bug: PlantedBug? = nil) {
    self.bug = bug
    machine = VendingStateMachine(Disk().stored, prices: Self.prices)
  }

  func process(_ event: VendingEvent) {
    clock += 1
    var effects: [VendingEffect] = []
    machine.apply(event, at: WallTime(milliseconds: clock), into: &effects)
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: VendingEffect) {
    switch effect {
    case .lookUp(let id): process(.found(id, bug == .forgetsRequests ? nil : staged.request(id)))
    case .stage(let entry):
      if var change = entry.change {
        if bug == .doesNotCharge, change.kind == .bought { change.amount = 0 }
        staged.changes.append(change)
      }
      if let purchase = entry.purchase {
        staged.purchases[purchase.number] = purchase
        if bug == .takesBeforeCommit, purchase.state == .open { take(purchase.number, purchase.product) }
      }
    case .reply(let request, let answer):
      precondition(answers[request] == nil, "request \(request) is answered twice")
      answers[request] = answer
    case .take(let purchase, let product): requested.append((purchase, product))
    case .release(let purchase): if bug != .neverReleases { requested.append((purchase, nil)) }
    }
  }

  // MARK: - The stock

  private func name(_ purchase: PurchaseNumber) -> OrderID {
    guard let order = machine.stockOrder(of: purchase) else {
      preconditionFailure("purchase \(purchase) has ended")
    }
    return bug == .changesPurchaseIDs ? OrderID(order.text + "-\(epoch)") : order
  }

  @discardableResult
  private func take(_ purchase: PurchaseNumber, _ product: ItemID) -> StockOutcome {
    switch names[name(purchase)] {
    case .taken: return .taken(nil)
    case .short: return .none(onlyExpired: false)
    case .void: return .unavailable
    case nil: break
    }
    guard let left = shelves[product], left > 0 else {
      names[name(purchase)] = .short
      return .none(onlyExpired: false)
    }
    shelves[product] = left - 1
    names[name(purchase)] = .taken(product)
    return .taken(nil)
  }

  /// The stock answers its first open request; or does it, and its answer is lost.
  func stockAnswers(isLost: Bool = false) {
    guard !requested.isEmpty else { return }
    let (purchase, product) = requested.removeFirst()
    guard let product else {
      if case .taken(let product) = names[name(purchase)] { shelves[product, default: 0] += 1 }
      names[name(purchase)] = .void
      return isLost ? requested.append((purchase, nil)) : process(.released(purchase))
    }
    let outcome = take(purchase, product)
    process(.stockAnswered(purchase, isLost ? .unavailable : outcome))
  }

  /// The stock does not answer in time, and has not received it.
  func stockIsAway() {
    guard let place = requested.firstIndex(where: { $0.product != nil }) else { return }
    let (purchase, _) = requested.remove(at: place)
    process(.stockAnswered(purchase, .unavailable))
  }

  // MARK: - Requests, the disk, the end

  func ask(_ action: VendingAction, as name: String) -> RequestNumber {
    lastRequest += 1
    process(.requested(lastRequest, OrderID(name), action))
    return lastRequest
  }

  /// Sends a request, and lets the disk and the stock answer; returns the answer.
  func order(_ action: VendingAction, as name: String) -> VendingAnswer? {
    let request = ask(action, as: name)
    commit()
    while answers[request] == nil, !requested.isEmpty {
      stockAnswers()
      commit()
    }
    return answers[request]
  }

  func commit() {
    if machine.hasUnwritten { process(.retry) }
    guard machine.hasUncommittedChanges else { return }
    committed = staged
    process(.committed)
  }

  /// The disk is full: the store has forgotten what was staged.
  func refuseCommit() {
    guard machine.hasUncommittedChanges else { return }
    staged = committed
    process(.commitRefused)
  }

  /// The process is killed, and the next one reads what is on disk.
  func crash() {
    staged = committed
    requested = []
    epoch += 1
    var stored = committed.stored
    if bug == .forgetsOpenPurchases { stored.unfinished = [] }
    machine = VendingStateMachine(stored, prices: Self.prices)
    process(.began)
  }
}

extension VendingAnswer {
  var change: MoneyChange? { if case .done(let change) = self { change } else { nil } }
  var refusal: VendingRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}
