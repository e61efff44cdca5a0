// Owns the translation between the machine's words and those of the protocol: refusals to codes and particulars.
// It decides nothing and finds no words for people; those are the client's.

import BankModel
import Wire

extension VendingResult {
  /// What became of a request.
  public init(_ answer: VendingAnswer) {
    switch answer {
    case .done(let change): self = .done(change)
    case .refused(let refusal): self = .failure(VendingFailure(refusal))
    }
  }
}

extension VendingFailure {
  /// Why the machine has refused a request. What a client wrote is repeated in part only.
  init(_ refusal: VendingRefusal) {
    switch refusal {
    case .badAmount(let amount):
      let (least, most) = (VendingLimits.insertion.lowerBound, VendingLimits.insertion.upperBound)
      self.init(.badRequest, subject: "\(amount)", remark: Remark(.insertionRange, least, most))
    case .badRequest(let name):
      self.init(
        .badRequest, subject: Self.cut(name), remark: Remark(.requestName, VendingLimits.requestLength))
    case .unknownProduct(let product): self.init(.unknownProduct, subject: Self.cut(product.name))
    case .otherRequest(let id): self.init(.otherOrder, subject: id.text, remark: Remark(.nameOfOtherRequest))
    case .tooLittleMoney(let product, let price, let available):
      self.init(.tooLittleMoney, subject: product.name, price: price, available: available)
    case .soldOut(let product): self.init(.soldOut, subject: product.name)
    case .onlyExpired(let product): self.init(.onlyExpired, subject: product.name)
    case .tillFull(let balance):
      self.init(.tillFull, remark: Remark(.balanceAtMost, VendingLimits.balance), available: balance)
    case .stockAway(let product): self.init(.stockUnavailable, subject: product.name)
    case .crowded: self.init(.crowded, remark: Remark(.purchasesUnderWay, VendingLimits.openPurchases))
    // With its type, because a refusal is called so too.
    case .diskFull: self.init(Code.diskFull)
    }
  }

  /// Why the stock has refused what the manager wants.
  public init(_ failure: StockFailure) {
    let code: Code =
      switch failure.code {
      case .unknownItem: .stockUnavailable
      case .badRequest, .datedItem: .badRequest
      case .otherOrder, .givenBack: .otherOrder
      case .overflow, .tooManyLots: .shelfFull
      case .diskFull: .diskFull
      case .crowded, .tooSlow: .crowded
      }
    self.init(code, subject: failure.subject, detail: failure.detail)
    remark = failure.remark
  }

  /// A part of what a client wrote.
  static func cut(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}

/// What a command means: the change of the machine's money that a customer's is, and what the manager's asks of the
/// stock.
/// Invariant: what can never be done is refused here, before the stock is asked.
extension VendingCommand {
  /// The change of the money that a command asks for; nil for whatever is not a customer's to change.
  public var action: VendingAction? {
    switch self {
    case .insert(let amount): .insert(amount)
    case .buy(let product): .buy(product)
    case .giveChange: .giveChange
    default: nil
    }
  }

  /// What a command of the manager's asks of the stock, or why that can never be. `today` is the day on which drinks were made
  /// that say nothing else, and before which they have expired.
  public func stockCommand(selling table: ProductTable, on today: DayNumber) -> Result<
    StockCommand, VendingFailure
  > {
    switch self {
    case .add(let drinks):
      guard let product = table[drinks.product] else { return .failure(Self.unknown(drinks.product)) }
      if let refusal = Self.objection(to: drinks.quantity, of: product.id) { return .failure(refusal) }
      guard let dates = product.dates(made: drinks.made ?? today, expires: drinks.expires) else {
        let refusal = VendingFailure(
          .badRequest, subject: product.id.name, remark: Remark(.expiresBeforeMade))
        return .failure(refusal)
      }
      return .success(.putting(drinks.quantity, of: BeverageFactory.make(product, dates)))
    case .remove(let amount):
      guard let product = table[amount.item] else { return .failure(Self.unknown(amount.item)) }
      if let refusal = Self.objection(to: amount.quantity, of: product.id) { return .failure(refusal) }
      return .success(.change(ItemAmount(product.id, -amount.quantity), nil))
    case .discardExpired: return .success(.discardExpired(today: today))
    default: return .failure(VendingFailure(.badRequest, remark: Remark(.changesNothing)))
    }
  }

  private static func unknown(_ product: ItemID) -> VendingFailure {
    VendingFailure(.unknownProduct, subject: VendingFailure.cut(product.name))
  }

  private static func objection(to quantity: Quantity, of product: ItemID) -> VendingFailure? {
    if (1...StockLimits.quantity).contains(quantity) { return nil }
    return VendingFailure(
      .badRequest, subject: product.name, remark: Remark(.amountRange, quantity, StockLimits.quantity))
  }
}

extension OrderID {
  /// The name under which the stock is asked for a request of the manager's.
  public init(ofManagersRequest name: OrderID) { self.init("m-" + name.text) }
}

extension StockCommand {
  /// Puts so many of a drink in: whoever stocks the machine hands one of them in.
  static func putting(_ quantity: Quantity, of drink: Beverage) -> StockCommand {
    .change(ItemAmount(drink.product, quantity), drink.dates)
  }
}

extension VendingResult {
  /// What the manager is told of what the stock has answered; the changes where it was done.
  public init(managersAnswer result: StockResult) {
    switch result {
    case .done(let changes): self = .stocked(changes)
    case .short(let shortages):
      let shortage = shortages.first
      self = .failure(
        VendingFailure(.soldOut, subject: shortage?.item.name ?? "", available: shortage?.available))
    case .failure(let failure): self = .failure(VendingFailure(failure))
    default: self = .failure(VendingFailure(.stockUnavailable, remark: Remark(.strangeAnswer)))
    }
  }
}
