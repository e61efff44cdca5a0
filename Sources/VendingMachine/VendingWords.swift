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
