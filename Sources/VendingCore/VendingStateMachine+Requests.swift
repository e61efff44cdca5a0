// Decision about a request, repeated answers, and the end of a purchase.
// The functions do not read the store: the caller passes its records.

import BankModel
import Time

extension VendingStateMachine {
  /// Answers a request whose name has a record: with the recorded result, or at the end of its unfinished purchase.
  /// Refuses it if its content differs.
  mutating func repeated(
    _ known: StoredRequest, _ id: OrderID, _ action: VendingAction, for request: RequestNumber,
    into effects: inout [VendingEffect]
  ) {
    guard known.action == action else {
      return answer(request, .refused(.requestConflict(id)), into: &effects)
    }
    switch known {
    case .done(let change): answer(request, .done(change), into: &effects)
    case .purchase(let purchase):
      guard purchase.state == .open else {
        return answer(request, .refused(purchase.refusal), into: &effects)
      }
      waiting[purchase.number, default: []].append(request)
    }
  }

  /// Decides a request that has no record: stages its effect, or refuses it.
  mutating func decide(
    _ action: VendingAction, _ id: OrderID, for request: RequestNumber, at now: WallTime,
    into effects: inout [VendingEffect]
  ) {
    if isLowOnSpace, action != .giveChange { return answer(request, .refused(.diskFull), into: &effects) }
    switch action {
    case .insert(let amount):
      let (_, overflow) = state.account.inserted.addingReportingOverflow(amount)
      guard !overflow, state.account.balance + amount <= VendingLimits.balance else {
        return answer(request, .refused(.balanceLimit(balance: state.account.balance)), into: &effects)
      }
      let change = change(.inserted, amount, id, at: now)
      stage(VendingEntry(change: change), into: &effects)
      answer(request, .done(change), into: &effects)
    case .giveChange:
      // The money for purchases in progress is held until their end.
      let change = change(.returned, state.account.balance - state.reserved, id, at: now)
      stage(VendingEntry(change: change), into: &effects)
      answer(request, .done(change), into: &effects)
    case .buy(let product): startPurchase(product, id, for: request, at: now, into: &effects)
    }
  }

  /// Refuses a purchase, or stages its intent and reserves its price.
  private mutating func startPurchase(
    _ product: ItemID, _ id: OrderID, for request: RequestNumber, at now: WallTime,
    into effects: inout [VendingEffect]
  ) {
    let availableBalance = state.account.balance - state.reserved
    guard let price = prices[product] else {
      return answer(request, .refused(.unknownProduct(product)), into: &effects)
    }
    guard price <= availableBalance else {
      let refusal = VendingRefusal.tooLittleMoney(product, price: price, available: availableBalance)
      return answer(request, .refused(refusal), into: &effects)
    }
    guard state.unfinished.count < VendingLimits.maxOpenPurchases else {
      return answer(request, .refused(.crowded), into: &effects)
    }
    state.lastPurchase += 1
    let purchase = StoredPurchase(
      number: state.lastPurchase, request: id, product: product, price: price, state: .open, at: now)
    state.unfinished[purchase.number] = purchase
    state.reserved += price
    waiting[purchase.number] = [request]
    stage(VendingEntry(purchase: purchase), then: .take(purchase.number, product), into: &effects)
  }

  /// Stages the end of a purchase, or its abandonment, after the stock has answered.
  mutating func recordOutcome(
    _ number: PurchaseNumber, _ outcome: StockOutcome, at now: WallTime, into effects: inout [VendingEffect]
  ) {
    guard var purchase = state.unfinished[number], purchase.state == .open else { return }
    state.reserved -= purchase.price
    var recorded: MoneyChange?
    var effect: VendingEffect?
    switch outcome {
    case .taken(let dates):
      purchase.state = .bought
      var row = change(.bought, purchase.price, purchase.request, at: now)
      (row.product, row.dates) = (purchase.product, dates)
      recorded = row
    case .none(let onlyExpired): purchase.state = onlyExpired ? .onlyExpired : .soldOut
    case .unavailable:
      purchase.state = .releasing
      effect = .release(number)
    }
    state.unfinished[number] = purchase.state == .releasing ? purchase : nil
    stage(VendingEntry(change: recorded, purchase: purchase), then: effect, into: &effects)
    let end = recorded.map { VendingAnswer.done($0) } ?? .refused(purchase.refusal)
    for request in waiting.removeValue(forKey: number) ?? [] {
      answer(request, end, endOf: number, into: &effects)
    }
  }

  /// Records that the stock holds nothing of an abandoned purchase.
  mutating func recordRelease(_ number: PurchaseNumber, into effects: inout [VendingEffect]) {
    guard var purchase = state.unfinished.removeValue(forKey: number) else { return }
    purchase.state = .givenUp
    stage(VendingEntry(purchase: purchase), into: &effects)
  }

  /// Makes the next row of the ledger, with the balance after the change.
  private func change(
    _ kind: MoneyChange.Kind, _ amount: Won, _ request: OrderID, at now: WallTime
  ) -> MoneyChange {
    let balance = state.account.balance + (kind == .inserted ? amount : -amount)
    return MoneyChange(
      sequence: state.sequence + 1, kind: kind, amount: amount, balance: balance, request: request, at: now)
  }
}

extension StoredPurchase {
  /// Answer to the client if the purchase was not completed.
  var refusal: VendingRefusal {
    switch state {
    case .soldOut: .soldOut(product)
    case .onlyExpired: .onlyExpired(product)
    case .open, .releasing, .bought, .givenUp: .stockUnavailable(product)
    }
  }
}

extension StoredRequest {
  /// The requested change to which the record belongs.
  fileprivate var action: VendingAction {
    switch self {
    case .purchase(let purchase): .buy(purchase.product)
    case .done(let change):
      switch change.kind {
      case .inserted: .insert(change.amount)
      case .bought: .buy(change.product ?? ItemID(""))
      case .returned: .giveChange
      }
    }
  }
}
