// Sentences about juices and their orders,
// in English and Korean.
import Arguments
import BankModel
import Wire

extension MessageCatalog {
  /// Sentence: there is too little of a fruit, with needed and available pieces.
  func shortageSentence(_ shortage: Shortage, of fruit: String) -> String {
    let (needed, available) = (Self.grouped(shortage.needed), Self.grouped(shortage.available))
    return phrases.outOfStock(fruit)
      + say(" (\(needed) needed, \(available) available)", " (\(needed)개 필요, \(available)개 있음)")
  }

  /// The commands that add the missing pieces to the stock.
  func restockCommands(by shortages: [Shortage]) -> String {
    let commands = shortages.map { "bankctl stock add \($0.item.name) \($0.needed - $0.available)" }
    let line = commands.joined(separator: " && ")
    return say("To restock: \(line)", "재고를 채우려면: \(line)")
  }

  func juicesMade(_ made: Int, of count: Int) -> String {
    say("Made \(made) of \(count).", "\(count)잔 중 \(made)잔만 만들었습니다.")
  }

  /// An ingredient of which there is too little: `kiwi 1 of 2`.
  func missingText(_ shortage: Shortage, of fruit: String) -> String {
    say(
      "\(fruit) \(shortage.available) of \(shortage.needed)",
      "\(fruit) \(shortage.available)/\(shortage.needed)개")
  }

  /// Text for a juice that cannot be made, with its missing ingredients.
  func cannotBeMade(_ lacking: [String]) -> String {
    say("missing: ", "재료 부족: ") + lacking.joined(separator: ", ")
  }

  /// Parses the answer to a yes-or-no question: true for yes, false for no, nil for another answer.
  func parseYesNo(of answer: String) -> Bool? {
    switch answer.lowercased().filter({ !$0.isWhitespace }) {
    case "예", "네", "응", "ㅇ", "yes", "y": true
    case "아니오", "아니요", "아니", "ㄴ", "no", "n": false
    default: nil
    }
  }

  var neitherYesNorNo: String {
    say(
      "Please answer '\(phrases.yes)' or '\(phrases.no)'.",
      "잘못된 입력입니다. '\(phrases.yes)' 또는 '\(phrases.no)'라고 답하세요.")
  }

  /// Sentence: no juice has this name, with near names or all names.
  func noSuchJuice(_ name: String, _ near: [String], _ known: [String]) -> String {
    say("There is no juice \(quoted(name)). ", "\(quoted(name)) 쥬스는 없습니다. ") + hint(near, known, "쥬스는")
  }

  /// Sentence: no fruit has this name, with near names or all names.
  func noSuchFruit(_ name: String, _ near: [String], _ known: [String]) -> String {
    say("There is no fruit \(quoted(name)). ", "\(quoted(name)) 과일은 없습니다. ") + hint(near, known, "과일은")
  }

  /// Near names, or all known names if none is near.
  private func hint(_ near: [String], _ known: [String], _ things: String) -> String {
    near.isEmpty
      ? say(
        "Known names: \(known.joined(separator: ", ")).",
        "쓸 수 있는 \(things) \(known.joined(separator: ", "))입니다.")
      : say("Did you mean \(alternatives(near))?", "혹시 \(alternatives(near))인가요?")
  }

  /// Sentence: of `count` ordered juices, `undone` were neither made nor refused for lack of ingredients. `order` is
  /// the first of these.
  func notMade(
    _ juice: Juice, _ outcome: JuiceOrderTracker.OrderOutcome, _ order: OrderID, undone: Int, of count: Int,
    trouble: StationTrouble?
  ) -> String {
    let name = juice.name(in: language)
    let many =
      count == 1
      ? say("The \(name) (order \(order)) ", "\(KoreanParticle.object.on("\(name)(주문 \(order))")) ")
      : say(
        "\(undone) of \(count) \(name) (from order \(order)) ",
        "\(name) \(count)잔 중 \(undone)잔(주문 \(order)부터)을 ")
    let end =
      switch outcome {
      case .cancelled:
        say(
          "was not made: another user cancelled it. Nothing was taken from the stock.",
          "만들지 않았습니다. 다른 사용자가 취소했습니다. 재고는 변하지 않았습니다.")
      case .failed:
        say(
          "could not be made: the juice station failed repeatedly. The order was cancelled and nothing was taken from "
            + "the stock. See 'bankctl logs', then try again.",
          "만들지 못했습니다. 쥬스 스테이션이 반복해서 실패했습니다. 주문을 취소했고 재고는 변하지 않았습니다. 'bankctl logs'를 확인한 뒤 다시 시도하세요.")
      case .unfinished:
        say(
          "is being made and is not ready yet. The order stays queued: see 'bankctl receipts' for the result.",
          "만들고 있지만 아직 끝나지 않았습니다. 주문은 남아 있으니 결과는 'bankctl receipts'로 확인하세요.")
      case .made, .short, .withdrawn:
        say(
          "was not made: \(reason(trouble)). The order was cancelled and nothing was taken from the stock. Try again "
            + "later.",
          "만들지 못했습니다. \(reason(trouble)). 주문을 취소했고 재고는 변하지 않았습니다. 나중에 다시 시도하세요.")
      }
    return many + end
  }

  /// Reason why the juice station made no juice.
  private func reason(_ trouble: StationTrouble?) -> String {
    switch trouble {
    case .stock(let why): say("the stock service is unavailable (\(why))", "재고 서비스를 쓸 수 없습니다(\(why))")
    case .paused:
      say(
        "juices are paused; resume with 'bankctl resume juice'",
        "쥬스 업무가 일시 중지되어 있습니다('bankctl resume juice'로 다시 시작)"
      )
    case .noStation:
      say(
        "there is no juice station; open one with 'bankctl scale juice=1'",
        "쥬스 스테이션이 없습니다('bankctl scale juice=1'로 열기)")
    case .failed:
      say("every juice station has failed; see 'bankctl status'", "쥬스 스테이션이 모두 실패했습니다('bankctl status' 참고)")
    case nil: say("the juice station did not respond in time", "쥬스 스테이션이 제때 응답하지 않았습니다")
    }
  }

  /// Sentence: the order is accepted, but the bank closed during the wait.
  func juiceLost(_ tickets: EnqueuedReport) -> String {
    say(
      "The order is safe on disk (\(self.tickets(tickets.first, tickets.last)) of \(day(tickets.day))), but the bank "
        + "closed during the wait. Open it with 'bankctl start', and see 'bankctl receipts'.",
      "주문은 디스크에 안전하게 있지만(\(day(tickets.day)) \(self.tickets(tickets.first, tickets.last))) 기다리는 동안 은행이 "
        + "닫혔습니다. 'bankctl start'로 열고 'bankctl receipts'로 확인하세요.")
  }
}
