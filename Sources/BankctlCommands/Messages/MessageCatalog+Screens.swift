// Sentences of full screens about a service that does not answer,
// and about pending requests.
import BankModel
import Wire

extension MessageCatalog {
  /// A service as the subject of a sentence.
  private func subject(_ role: WorkerRole) -> String {
    role == .vending ? say("The vending machine", "자판기가") : say("The stock service", "재고 서비스가")
  }

  /// Notice of a screen while the service is slow or does not answer its request; nil while it answers in time.
  func waiting<Request>(
    for role: WorkerRole, _ queue: RequestQueue<Request>, _ name: (Request) -> String
  ) -> String? {
    let request = queue.inDoubt.map(name)
    switch queue.pace {
    case .prompt: return nil
    case .slow:
      return say(
        "\(subject(role)) is slow to respond: \(request ?? "")",
        "\(subject(role)) 아직 응답하지 않았습니다: \(request ?? "")")
    case .silent:
      var text = say("\(subject(role)) does not respond.", "\(subject(role)) 응답하지 않습니다.")
      if let request {
        text += say(" Sent; may still take effect: \(request).", " 전송했으므로 나중에 처리될 수 있습니다: \(request).")
      }
      return text + (queue.refused > 0 ? " " + keysIgnored(queue.refused) : "")
    }
  }

  func keysIgnored(_ count: Int) -> String {
    say(
      count == 1 ? "1 key press was ignored." : "\(Self.grouped(count)) key presses were ignored.",
      "키 입력 \(Self.grouped(count))개를 무시했습니다.")
  }

  /// Sentence: the service responds again; the result of `request`, which it had not answered, can be seen on the
  /// screen.
  func answersAgain(_ role: WorkerRole, _ request: String?) -> String {
    let text = say("\(subject(role)) responds again.", "\(subject(role)) 다시 응답합니다.")
    guard let request else { return text }
    return text
      + say(" See the screen for the result: \(request).", " 결과는 화면에서 확인하세요: \(request).")
  }

  /// Sentence: the screen waits for the answer of the service.
  func exitWaits(_ role: WorkerRole) -> String {
    say(
      "\(subject(role)) is slow to respond. Press q again to leave immediately.",
      "\(subject(role)) 아직 응답하지 않았습니다. q를 다시 누르면 바로 나갑니다.")
  }

  /// Sentence after the screen: it is unknown whether the last request was executed.
  func exitedUnanswered(_ role: WorkerRole, _ request: String) -> String {
    let how = role == .vending ? "bankctl vending history" : "bankctl stock"
    return say(
      "\(subject(role)) did not respond, so it is not known whether this was done: \(request). See '\(how)'.",
      "\(subject(role)) 응답하지 않아 처리되었는지 알 수 없습니다: \(request). '\(how)'에서 확인하세요.")
  }

  /// A request to the vending machine, with the product names of the screen.
  func request(_ command: VendingCommand, _ picture: VendingSnapshot?) -> String {
    /// Display name of a product or item.
    func name(_ id: ItemID) -> String {
      picture?.products.first { $0.id == id }?.name(in: language) ?? item(id.name)
    }
    switch command {
    case .insert(let amount): return say("insert \(won(amount))", "\(won(amount)) 넣기")
    case .buy(let product): return say("buy \(name(product))", "\(name(product)) 구매")
    case .giveChange: return say("return the change", "잔액 반환")
    case .add(let drinks): return added(name(drinks.product), drinks.quantity)
    case .remove(let amount): return added(name(amount.item), -amount.quantity)
    case .discardExpired: return say("discard expired drinks", "유통기한 지난 음료 폐기")
    default: return say("look up earlier purchases", "이전 구매 내역 보기")
    }
  }

  /// The number of pieces added, or removed if `difference` is negative.
  func added(_ name: String, _ difference: Quantity) -> String {
    let count = Self.grouped(abs(difference))
    return difference >= 0
      ? say("add \(count) \(name)", "\(name) \(count)개 넣기")
      : say("remove \(count) \(name)", "\(name) \(count)개 빼기")
  }
}
