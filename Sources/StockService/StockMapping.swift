// Translation between the stock's values and the protocol: commands to actions, refusals to codes and
// details.

import BankModel
import Wire

extension StockCommand {
  /// The requested change; nil for a query, and for the introduction of items. `today` applies if the client sends no
  /// day.
  public func action(today: DayNumber) -> StockAction? {
    switch self {
    case .take(let amounts, let day): .take(amounts, today: day ?? today)
    case .returnItems: .returnItems
    case .set(let amount): .set(amount.item, amount.quantity)
    case .change(let amount, let dates): .change(amount.item, by: amount.quantity, dates: dates)
    case .discardExpired(let day): .discardExpired(today: day ?? today)
    case .assortment, .querySnapshot, .follow, .audit, .orders, .known, .introduce: nil
    }
  }
}

extension StockResult {
  /// Converts an answer of the state machine into the result that the client receives.
  public init(_ answer: StockAnswer) {
    switch answer {
    case .done(let changes): self = .done(changes)
    case .short(let shortages): self = .short(shortages)
    case .refused(let refusal): self = .failure(StockFailure(refusal))
    case .snapshot(let picture): self = .snapshot(picture)
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
        .badRequest, subject: item.name,
        messageDetail: MessageDetail(.amountOutOfRange, quantity, StockLimits.quantity))
    case .itemTwice(let item):
      self.init(.badRequest, subject: item.name, messageDetail: MessageDetail(.itemTwice))
    case .badItemCount(let count):
      self.init(.badRequest, messageDetail: MessageDetail(.itemCount, StockLimits.itemsPerOrder, count))
    case .badOrder(let text):
      self.init(
        .badRequest, subject: Self.cut(text),
        messageDetail: MessageDetail(.orderName, StockLimits.orderLength))
    case .badDates(let item):
      self.init(.badRequest, subject: item.name, messageDetail: MessageDetail(.badDates))
    case .orderConflict(let id):
      self.init(.orderConflict, subject: id.text, messageDetail: MessageDetail(.nameOfOtherOrder))
    case .wasReturned(let id):
      self.init(.wasReturned, subject: id.text, messageDetail: MessageDetail(.orderWasReturned))
    case .overflow(let item, let present):
      self.init(
        .overflow, subject: item.name,
        messageDetail: MessageDetail(.quantityLimit, present, StockLimits.quantity))
    case .itemHasDates(let item):
      self.init(.itemHasDates, subject: item.name, messageDetail: MessageDetail(.lotsHaveDates))
    case .tooManyLots(let item):
      self.init(
        .tooManyLots, subject: item.name, messageDetail: MessageDetail(.lotsAlready, StockLimits.lots))
    case .diskFull: self.init(Code.diskFull)
    }
  }

  private static func cut(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}
