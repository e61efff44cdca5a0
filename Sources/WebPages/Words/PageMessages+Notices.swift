// Texts of form results, in both languages.
// Invariant: every notice and every refusal has a sentence in both languages.
import Arguments
import BankModel

extension PageMessages {
  /// The sentence for the result of a form.
  func notice(_ notice: Notice) -> String {
    switch notice {
    case .added(let count, let first):
      count == 1
        ? localized("Ticket \(first) was issued.", "\(first)번 번호표가 나왔습니다.")
        : localized(
          "\(customerCount(count)): tickets \(first)–\(first &+ count &- 1).",
          "고객 \(customerCount(count)): \(first)–\(first &+ count &- 1)번.")
    case .known(let count, let first):
      localized(
        "This request was already sent; no customers were added (\(customerCount(count)) from ticket \(first)).",
        "이미 보낸 요청이라 두 번 추가하지 않았습니다(\(first)번부터 \(customerCount(count))).")
    case .reset(let day): localized("Reset. It is \(self.day(day)) now.", "초기화했습니다. 이제 \(self.day(day))입니다.")
    case .cancelled(let count):
      localized("\(customerCount(count)) cancelled.", "고객 \(customerCount(count))을 취소했습니다.")
    case .requeued(let count):
      localized("Requeued: \(customerCount(count)).", "고객 \(customerCount(count))을 다시 줄 세웠습니다.")
    case .partly(let done, let all):
      localized(
        "\(count(done)) of \(count(all)) done; the state of the others has changed.",
        "\(count(all))명 중 \(count(done))명만 처리했습니다. 나머지는 상태가 바뀌었습니다.")
    case .paused(let service):
      localized("\(phrases.service(service)) is paused.", "\(phrases.service(service)) 업무를 일시 중지했습니다.")
    case .resumed(let service):
      localized("\(phrases.service(service)) resumed.", "\(phrases.service(service)) 업무를 다시 시작했습니다.")
    case .scaled(let service, let windows):
      localized(
        "\(phrases.service(service)): \(windows) \(windows == 1 ? "window" : "windows").",
        "\(phrases.service(service)) 창구를 \(windows)개로 바꿨습니다.")
    case .scaling(let service, let windows):
      localized(
        "\(phrases.service(service)): \(windows) \(windows == 1 ? "window" : "windows"). The others close after "
          + "serving their customers.",
        "\(phrases.service(service)) 창구를 \(windows)개로 바꾸는 중입니다. 나머지 창구는 보던 업무를 마치고 닫습니다.")
    case .ended(let window):
      localized("The worker at \(window) was killed.", "\(window) 워커를 강제 종료했습니다.")
    case .juiceReady(let juice): phrases.juiceReady(self.juice(juice))
    case .juiceShort(_, let fruit, let needed, let available):
      phrases.outOfStock(item(fruit))
        + localized(
          " (\(count(needed)) needed, \(count(available)) available) ",
          " (\(count(needed))개 필요, \(count(available))개 있음) ") + phrases.tooLittleFruit
    case .stocked(let item, let quantity):
      localized("\(self.item(item)): \(count(quantity)).", "\(self.item(item)) 재고: \(count(quantity))개")
    case .inserted(let amount): localized("Inserted \(won(amount)).", "\(won(amount))을 넣었습니다.")
    case .returned(let amount): localized("Returned \(won(amount)).", "\(won(amount))이 반환되었습니다.")
    case .bought(let drink): phrases.drinkBought(item(drink))
    case .restocked(let drink, let count):
      localized(
        "\(item(drink)): added \(self.count(count)).", "\(item(drink)): \(self.count(count))개를 넣었습니다.")
    case .discarded(let count):
      localized(
        "\(self.count(count)) expired \(count == 1 ? "drink" : "drinks") discarded.",
        "유통기한이 지난 음료 \(self.count(count))개를 폐기했습니다.")
    case .welcome: localized("Signed in as manager.", "관리자로 로그인했습니다.")
    case .refused(let refusal): self.refusal(refusal)
    }
  }

  /// The sentence for the reason of a refusal.
  func refusal(_ refusal: Refusal) -> String {
    switch refusal {
    case .notOpen: localized("The bank is not open. Nothing was changed.", "은행이 열려 있지 않습니다. 변경된 내용은 없습니다.")
    case .draining:
      localized("The bank is closing and accepts no new customers.", "은행이 마감 중이라 새 고객을 받지 않습니다.")
    case .queueFull: localized("The queue is full. Try again later.", "대기열이 가득 찼습니다. 나중에 다시 시도하세요.")
    case .diskFull: localized("The disk is full. Nothing was changed.", "디스크가 가득 찼습니다. 변경된 내용은 없습니다.")
    case .crowded: localized("Too many requests. Try again.", "요청이 너무 많습니다. 다시 시도하세요.")
    case .noSuchTicket: localized("There is no such ticket.", "그런 번호표는 없습니다.")
    case .noSuchService: localized("There is no such service.", "그런 업무는 없습니다.")
    case .noSuchWindow: localized("There is no such window.", "그런 창구는 없습니다.")
    case .noSuchItem, .noSuchJuice, .noSuchProduct: localized("No such item.", "그런 이름의 상품은 없습니다.")
    case .wrongState:
      localized("Not possible in the current state. Nothing was changed.", "지금 상태에서는 할 수 없습니다. 변경된 내용은 없습니다.")
    case .changed:
      localized("It has changed in the meantime. Reload and try again.", "그사이에 변경되었습니다. 새로 고친 뒤 다시 시도하세요.")
    case .dayChanged:
      localized(
        "The business day has changed; these numbers belong to other customers now. Nothing was changed.",
        "영업일이 바뀌어 이 번호는 이제 다른 고객의 것입니다. 변경된 내용은 없습니다.")
    case .otherGeneration:
      localized(
        "Another process is at this window by now. Nothing was killed.", "이미 다른 프로세스가 이 창구에 있어 종료하지 않았습니다.")
    case .keyConflict: localized("This key was used for a different request.", "이 키는 다른 요청에 쓰였습니다.")
    case .tooLittleMoney: phrases.tooLittleMoney
    case .soldOut: phrases.soldOut
    case .onlyExpired: phrases.onlyExpired
    case .balanceLimit: localized("The balance limit is reached.", "잔액 한도에 이르렀습니다.")
    case .shelfFull: localized("The machine cannot hold more.", "더 넣을 자리가 없습니다.")
    case .tooFew: localized("Not enough in stock. Nothing was changed.", "그만큼 남아 있지 않습니다. 변경된 내용은 없습니다.")
    case .stockUnavailable:
      localized("The stock service does not respond. Try again.", "재고 서비스가 응답하지 않습니다. 다시 시도하세요.")
    case .vendingUnavailable:
      localized("The vending machine does not respond. Try again.", "자판기가 응답하지 않습니다. 다시 시도하세요.")
    case .noStation:
      localized("No juice station is open. Nothing was taken.", "열린 쥬스 스테이션이 없습니다. 재고는 변하지 않았습니다.")
    case .unfinished:
      localized(
        "The juice is being made: the station is busy. Its ticket shows when it is ready.",
        "쥬스를 주문했습니다. 만드는 곳이 바빠 줄에서 기다리는 중이며, 번호표에서 확인할 수 있습니다.")
    case .juiceUnnamed:
      localized(
        "Order juice by name on the juice page. No ticket was issued.",
        "쥬스는 쥬스 화면에서 이름으로 주문합니다. 번호표는 발급되지 않았습니다.")
    case .payloadUnread:
      localized(
        "This service takes no payload. Leave the field empty, or choose a service of your own. No ticket was issued.",
        "이 업무는 페이로드를 받지 않습니다. 칸을 비우거나 직접 만든 업무를 선택하세요. 번호표는 발급되지 않았습니다.")
    case .inDoubt:
      localized(
        "It is not known whether that was done. Check before retrying.", "처리되었는지 알 수 없습니다. 확인한 뒤 다시 시도하세요.")
    case .nothingSelected: localized("No customer selected.", "선택한 고객이 없습니다.")
    case .badForm:
      localized("Invalid input. Nothing was changed.", "입력이 올바르지 않습니다. 변경된 내용은 없습니다.")
    case .readOnly: self.readOnly
    case .noChaos:
      localized(
        "Killing is disabled: start the web interface with 'bankctl web --chaos'.",
        "'bankctl web --chaos'로 시작해야 종료할 수 있습니다.")
    case .notAllowed:
      localized("This link does not allow that. Nothing was changed.", "이 링크로는 할 수 없는 일입니다. 변경된 내용은 없습니다.")
    case .runNotAllowed:
      localized(
        "Commands require a link from 'bankctl web --allow-run'. Nothing was changed.",
        "명령은 'bankctl web --allow-run'으로 받은 링크에서만 실행할 수 있습니다. 변경된 내용은 없습니다.")
    case .notManager: self.managerOnly
    case .wrongCode: self.wrongCode
    case .codePause: self.codePause
    case .leaseLost:
      localized(
        "This branch has lost its lease and is rejoining. Nothing was changed; try again.",
        "이 지점의 리스가 만료되어 다시 합류하는 중입니다. 변경된 내용은 없습니다. 다시 시도하세요.")
    case .unsupportedWithSharedStore:
      localized(
        "Not possible for a single branch. End the day of the whole bank with 'bankctl stop --bank'.",
        "한 지점이 모든 지점의 일을 할 수는 없습니다. 은행 전체의 영업일은 'bankctl stop --bank'로 끝냅니다.")
    case .failed: localized("The request failed.", "처리하지 못했습니다.")
    }
  }
}
