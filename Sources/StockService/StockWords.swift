// Translation between the stock's values and the protocol: commands to actions, refusals to codes and
// details. Translations for users are part of the client.

import BankModel
import Wire

extension StockCommand {
  /// The requested change; nil for a query.
  public func action(today: DayNumber) -> StockAction? {
    switch self {
    case .take(let amounts, let day): .take(amounts, today: day ?? today)
    case .giveBack: .giveBack
    case .set(let amount): .set(amount.item, amount.quantity)
    case .change(let amount, let dates): .change(amount.item, by: amount.quantity, dates: dates)
    case .discardExpired(let day): .discardExpired(today: day ?? today)
    case .assortment, .look, .follow, .audit, .orders, .known, .introduce: nil
    }
  }
}

extension StockResult {
  /// The result of a request.
  public init(_ answer: StockAnswer) {
    switch answer {
    case .done(let changes): self = .done(changes)
    case .short(let shortages): self = .short(shortages)
    case .refused(let refusal): self = .failure(StockFailure(refusal))
    case .picture(let picture): self = .picture(picture)
    }
  }
}

extension StockFailure {
  /// The reason for a refusal. Long text from a client is shortened.
  init(_ refusal: StockRefusal) {
    switch refusal {
    case .unknownItem(let item): self.init(.unknownItem, subject: Self.cut(item.name))
    case .badQuantity(let item, let quantity):
      self.init(
        .badRequest, subject: item.name, remark: Remark(.amountImpossible, quantity, StockLimits.quantity))
    case .itemTwice(let item): self.init(.badRequest, subject: item.name, remark: Remark(.itemTwice))
    case .badItemCount(let count):
      self.init(.badRequest, remark: Remark(.itemCount, StockLimits.itemsPerOrder, count))
    case .badOrder(let text):
      self.init(.badRequest, subject: Self.cut(text), remark: Remark(.orderName, StockLimits.orderLength))
    case .badDates(let item): self.init(.badRequest, subject: item.name, remark: Remark(.badDates))
    case .otherOrder(let id): self.init(.otherOrder, subject: id.text, remark: Remark(.nameOfOther))
    case .givenBack(let id): self.init(.givenBack, subject: id.text, remark: Remark(.wasGivenBack))
    case .overflow(let item, let present):
      self.init(.overflow, subject: item.name, remark: Remark(.presentAtMost, present, StockLimits.quantity))
    case .datedItem(let item): self.init(.datedItem, subject: item.name, remark: Remark(.lotsHaveDates))
    case .tooManyLots(let item):
      self.init(.tooManyLots, subject: item.name, remark: Remark(.lotsAlready, StockLimits.lots))
    case .diskFull: self.init(Code.diskFull)
    }
  }

  private static func cut(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}
