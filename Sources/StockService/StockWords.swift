// Owns the translation between the stock's words and those of the protocol: commands to actions, refusals to codes and
// particulars. It decides nothing and finds no words for people; those are the client's.

import BankModel
import QueueCore
import StockCore
import Wire

extension StockCommand {
  /// The change that is asked for; nil for a question.
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
  /// What became of a request.
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
  /// Why the stock has refused a request. What a client wrote is repeated in part only.
  init(_ refusal: StockRefusal) {
    switch refusal {
    case .unknownItem(let item): self.init(.unknownItem, subject: Self.cut(item.name))
    case .badQuantity(let item, let quantity):
      let words = "\(quantity) is not among the amounts there can be, up to \(StockLimits.quantity)"
      self.init(.badRequest, subject: item.name, detail: words)
    case .itemTwice(let item): self.init(.badRequest, subject: item.name, detail: "the item stands twice")
    case .badItemCount(let count):
      let words = "an order is of 1 to \(StockLimits.itemsPerOrder) items, not \(count)"
      self.init(.badRequest, detail: words)
    case .badOrder(let text):
      let words = "an order has a name of 1 to \(StockLimits.orderLength) bytes of visible ASCII"
      self.init(.badRequest, subject: Self.cut(text), detail: words)
    case .badDates(let item):
      self.init(.badRequest, subject: item.name, detail: "the dates are no days, or in the wrong order")
    case .otherOrder(let id):
      self.init(.otherOrder, subject: id.text, detail: "the name belongs to an order of something else")
    case .givenBack(let id): self.init(.givenBack, subject: id.text, detail: "the order was given back")
    case .overflow(let item, let present):
      let words = "there are \(present), and \(StockLimits.quantity) may be there at most"
      self.init(.overflow, subject: item.name, detail: words)
    case .datedItem(let item):
      self.init(.datedItem, subject: item.name, detail: "its lots have dates; add or remove pieces")
    case .tooManyLots(let item):
      self.init(.tooManyLots, subject: item.name, detail: "there are \(StockLimits.lots) lots already")
    case .diskFull: self.init(Code.diskFull)
    }
  }

  private static func cut(_ text: String) -> String { text.count > 80 ? text.prefix(80) + "…" : text }
}

extension Failure {
  /// Why the stock's database could not be used.
  init(stock error: StoreError, path: String) {
    let code: Code =
      switch error {
      case .diskFull: .diskFull
      case .inUse: .alreadyOpen
      case .newerSchema: .newerSchema
      case .damaged: .damaged
      case .failed: .system
      }
    let detail = if case .damaged(_, let detail) = error { detail } else { error.description }
    self.init(code, subject: path, detail: detail)
  }
}
