// Sentences about amounts, changes and refusals of the stock,
// in English and Korean.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  /// Sentence: the new amount of a fruit.
  func nowInStock(_ fruit: String, _ quantity: Quantity) -> String {
    say("\(fruit): \(Self.grouped(quantity)) in stock.", "\(fruit) 재고: \(Self.grouped(quantity))개")
  }

  /// Sentence: a change would make the amount of a fruit negative.
  func belowZero(_ shortage: Shortage, of fruit: String) -> String {
    say(
      "\(Self.grouped(shortage.needed)) \(fruit) cannot be removed: only \(Self.grouped(shortage.available)) in stock. "
        + "Nothing was changed.",
      "\(fruit) 재고는 \(Self.grouped(shortage.available))개뿐이라 \(Self.grouped(shortage.needed))개를 뺄 수 없습니다. 변경된 내용은 없습니다."
    )
  }

  func kind(_ kind: StockChange.Kind) -> String {
    switch kind {
    case .initial: say("initial", "초기 재고")
    case .added: say("added", "추가")
    case .removed: say("removed", "뺌")
    case .taken: say("taken", "사용")
    case .returned: say("returned", "반환")
    case .set: say("set", "설정")
    case .discarded: say("discarded", "폐기")
    }
  }

  /// One change: `strawberry 10 → 16 (set)`, with the order if pieces were taken or returned.
  func changed(_ change: StockChange, _ fruit: String) -> String {
    let before = Self.grouped(change.present - change.difference)
    let isTicket = change.kind == .taken || change.kind == .returned
    let order = isTicket ? change.order.map { say(", order \($0)", ", 주문 \($0)") } ?? "" : ""
    return "\(fruit) \(before) → \(Self.grouped(change.present)) (\(kind(change.kind))\(order))"
  }

  /// Sentence: the stock service does not respond, for the reason `why`. `isInDoubt`: a sent change may have been made.
  func stockSilent(_ why: String, _ isInDoubt: Bool) -> String {
    let fate =
      isInDoubt
      ? say(
        "It is not known whether the change was made: see 'bankctl stock'.",
        "변경되었는지 알 수 없으니 'bankctl stock'으로 확인하세요.") : self.nothingChanged
    return say(
      "The stock service does not respond (\(why)). \(fate) See 'bankctl status' and 'bankctl logs stock', then try "
        + "again.",
      "재고 서비스가 응답하지 않습니다(\(why)). \(fate) 'bankctl status'와 'bankctl logs stock'을 확인한 뒤 다시 시도하세요.")
  }

  /// Error of the command for a refusal of the stock service.
  func commandFailure(about failure: StockFailure) -> CommandFailure {
    CommandFailure(stock: failure.code, sentence(failure))
  }

  private func sentence(_ failure: StockFailure) -> String {
    let detail = aside(localizedDetail(failure.detail, failure.messageDetail))
    let sentence =
      switch failure.code {
      case .unknownItem:
        say(
          "There is no stock item \(quoted(failure.subject))\(detail).",
          "재고에 \(KoreanParticle.topic.on(quoted(failure.subject))) 없습니다\(detail).")
      case .badRequest:
        say(
          "The stock refused the request: \(failure.subject)\(detail).",
          "재고가 요청을 거절했습니다: \(failure.subject)\(detail).")
      case .orderConflict, .wasReturned:
        say(
          "The order \(failure.subject) cannot be repeated\(detail).",
          "주문 \(KoreanParticle.topic.on(failure.subject)) 다시 실행할 수 없습니다\(detail).")
      case .overflow:
        say(
          "The limit is \(Self.grouped(StockLimits.quantity)) of \(item(failure.subject)).",
          "\(item(failure.subject)) 재고는 \(Self.grouped(StockLimits.quantity))개까지입니다.")
      case .itemHasDates:
        say(
          "\(item(failure.subject)) has lots with dates, so its amount cannot be set\(detail).",
          "\(item(failure.subject))에는 날짜가 있는 묶음이 있어 개수를 정할 수 없습니다\(detail).")
      case .tooManyLots:
        say(
          "There are too many lots of \(item(failure.subject))\(detail).",
          "\(item(failure.subject))의 묶음이 너무 많습니다\(detail).")
      case .diskFull:
        say(
          "The disk is full\(detail). Free space and try again.", "디스크가 가득 찼습니다\(detail). 공간을 확보한 뒤 다시 시도하세요."
        )
      case .crowded: say("The stock service is busy\(detail). Try again.", "재고 서비스가 바쁩니다\(detail). 다시 시도하세요.")
      case .slowConsumer:
        say(
          "The stock changes faster than it can be displayed; some changes were skipped. See 'bankctl stock'.",
          "재고가 너무 빨리 바뀌어 일부를 생략했습니다. 지금의 재고는 'bankctl stock'으로 볼 수 있습니다.")
      }
    return failure.code == .slowConsumer ? sentence : sentence + " " + self.nothingChanged
  }
}

extension ProgramExit {
  /// Exit code for a refusal of the stock service.
  init(_ code: StockFailure.Code) {
    self =
      switch code {
      case .unknownItem: .notFound
      case .badRequest: .usage
      case .orderConflict, .wasReturned, .overflow, .itemHasDates, .tooManyLots: .refused
      case .diskFull, .crowded: .later
      case .slowConsumer: .failed
      }
  }
}
