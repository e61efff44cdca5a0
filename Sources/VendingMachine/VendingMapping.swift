// Translation between the machine's values and the protocol: refusals to codes and details. Translations for
// users are part of the client.

import BankModel
import Wire

extension VendingResult {
  /// Converts an answer of the state machine into the result that the client receives.
  public init(_ answer: VendingAnswer) {
    switch answer {
    case .done(let change): self = .done(change)
    case .refused(let refusal): self = .failure(VendingFailure(refusal))
    }
  }
}

extension VendingFailure {
  /// The reason for a refusal. Long text from a client is shortened.
  init(_ refusal: VendingRefusal) {
    switch refusal {
    case .badAmount(let amount):
      let (least, most) = (VendingLimits.insertion.lowerBound, VendingLimits.insertion.upperBound)
      self.init(.badRequest, subject: "\(amount)", messageDetail: MessageDetail(.insertionRange, least, most))
    case .badRequest(let name):
      self.init(
        .badRequest, subject: Self.cut(name),
        messageDetail: MessageDetail(.requestName, VendingLimits.requestLength))
    case .unknownProduct(let product): self.init(.unknownProduct, subject: Self.cut(product.name))
    case .requestConflict(let id):
      self.init(.orderConflict, subject: id.text, messageDetail: MessageDetail(.nameOfOtherRequest))
    case .tooLittleMoney(let product, let price, let available):
      self.init(.tooLittleMoney, subject: product.name, price: price, available: available)
    case .soldOut(let product): self.init(.soldOut, subject: product.name)
    case .onlyExpired(let product): self.init(.onlyExpired, subject: product.name)
    case .balanceLimit(let balance):
      self.init(
        .balanceLimit, messageDetail: MessageDetail(.balanceAtMost, VendingLimits.balance), available: balance
      )
    case .stockUnavailable(let product): self.init(.stockUnavailable, subject: product.name)
    case .crowded:
      self.init(.crowded, messageDetail: MessageDetail(.purchasesUnderWay, VendingLimits.maxOpenPurchases))
    // `Code` is written out because a refusal has a case of the same name.
    case .diskFull: self.init(Code.diskFull)
    }
  }

  /// The reason why the stock has refused a change by the manager.
  public init(_ failure: StockFailure) {
    let code: Code =
      switch failure.code {
      case .unknownItem: .stockUnavailable
      case .badRequest, .itemHasDates: .badRequest
      case .orderConflict, .wasReturned: .orderConflict
      case .overflow, .tooManyLots: .shelfFull
      case .diskFull: .diskFull
      case .crowded, .slowConsumer: .crowded
      }
    self.init(code, subject: failure.subject, detail: failure.detail)
    messageDetail = failure.messageDetail
  }

  /// Shortens long text from a client.
  static func cut(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}

/// Meaning of commands: a customer's command is a change of the machine's money, a manager's is a request to the
/// stock.
extension VendingCommand {
  /// The requested change of the money; nil for a command that is not a customer's change.
  public var action: VendingAction? {
    switch self {
    case .insert(let amount): .insert(amount)
    case .buy(let product): .buy(product)
    case .giveChange: .giveChange
    default: nil
    }
  }

  /// The request to the stock for a manager's command, or the reason why it is impossible. `today` is the
  /// default production day of drinks, and the day by which expiry is judged.
  public func stockCommand(selling table: ProductTable, on today: DayNumber) -> Result<
    StockCommand, VendingFailure
  > {
    switch self {
    case .add(let drinks):
      guard let product = table[drinks.product] else { return .failure(Self.unknown(drinks.product)) }
      if let refusal = Self.objection(to: drinks.quantity, of: product.id) { return .failure(refusal) }
      guard let dates = product.dates(made: drinks.made ?? today, expires: drinks.expires) else {
        let refusal = VendingFailure(
          .badRequest, subject: product.id.name, messageDetail: MessageDetail(.expiresBeforeMade))
        return .failure(refusal)
      }
      return .success(.putting(drinks.quantity, of: BeverageFactory.make(product, dates)))
    case .remove(let amount):
      guard let product = table[amount.item] else { return .failure(Self.unknown(amount.item)) }
      if let refusal = Self.objection(to: amount.quantity, of: product.id) { return .failure(refusal) }
      return .success(.change(ItemAmount(product.id, -amount.quantity), nil))
    case .discardExpired: return .success(.discardExpired(today: today))
    default: return .failure(VendingFailure(.badRequest, messageDetail: MessageDetail(.changesNothing)))
    }
  }

  /// Refusal of a product that the machine does not sell.
  private static func unknown(_ product: ItemID) -> VendingFailure {
    VendingFailure(.unknownProduct, subject: VendingFailure.cut(product.name))
  }

  /// Refusal of a quantity that is not from 1 to the limit; nil if it is.
  private static func objection(to quantity: Quantity, of product: ItemID) -> VendingFailure? {
    if (1...StockLimits.quantity).contains(quantity) { return nil }
    return VendingFailure(
      .badRequest, subject: product.name,
      messageDetail: MessageDetail(.amountRange, quantity, StockLimits.quantity))
  }
}

extension OrderID {
  /// Order name at the stock for a request of the manager.
  public init(ofManagersRequest name: OrderID) { self.init("m-" + name.text) }
}

extension StockCommand {
  /// The request to add pieces of a drink; `drink` is one of them.
  static func putting(_ quantity: Quantity, of drink: Beverage) -> StockCommand {
    .change(ItemAmount(drink.product, quantity), drink.dates)
  }
}

extension VendingResult {
  /// Converts an answer of the stock into the manager's answer, with the changes if the request was executed.
  public init(managersAnswer result: StockResult) {
    switch result {
    case .done(let changes): self = .stocked(changes)
    case .short(let shortages):
      let shortage = shortages.first
      self = .failure(
        VendingFailure(.soldOut, subject: shortage?.item.name ?? "", available: shortage?.available))
    case .failure(let failure): self = .failure(VendingFailure(failure))
    default:
      self = .failure(VendingFailure(.stockUnavailable, messageDetail: MessageDetail(.unexpectedReply)))
    }
  }
}
