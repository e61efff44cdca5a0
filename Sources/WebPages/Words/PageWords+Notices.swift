// Texts of form results, in both languages.
// Invariant: a refusal contains what was not done, and a remedy if the user has one.
import Arguments
import BankModel

extension PageWords {
  func notice(_ notice: Notice) -> String {
    switch notice {
    case .added(let count, let first):
      count == 1
        ? say("Ticket \(first) was issued.", "\(first)번 번호표가 나왔습니다.")
        : say(
          "\(people(count)): tickets \(first)–\(first &+ count &- 1).",
          "고객 \(people(count)): \(first)–\(first &+ count &- 1)번.")
    case .known(let count, let first):
      say(
        "This was sent before; nobody was added a second time (\(people(count)) from ticket \(first)).",
        "이미 보낸 요청이라 두 번 추가하지 않았습니다(\(first)번부터 \(people(count))).")
    case .reset(let day): say("Reset. It is \(self.day(day)) now.", "초기화했습니다. 이제 \(self.day(day))입니다.")
    case .cancelled(let count):
      say("\(people(count)) taken out; the receipts say cancelled.", "\(people(count))을 내보내고 취소 영수증을 남겼습니다.")
    case .requeued(let count): say("Back in line: \(people(count)).", "\(people(count))이 다시 줄을 섰습니다.")
    case .partly(let done, let all):
      say(
        "\(count(done)) of \(count(all)) done; the others are in another state by now.",
        "\(count(all))명 중 \(count(done))명만 처리했습니다. 나머지는 상태가 바뀌었습니다.")
    case .paused(let service):
      say("\(phrases.service(service)) is paused.", "\(phrases.service(service)) 업무를 멈췄습니다.")
    case .resumed(let service):
      say("\(phrases.service(service)) goes on.", "\(phrases.service(service)) 업무를 다시 시작했습니다.")
    case .scaled(let service, let windows):
      say(
        "\(phrases.service(service)): \(windows) \(windows == 1 ? "window" : "windows").",
        "\(phrases.service(service)) 창구를 \(windows)개로 바꿨습니다.")
    case .scaling(let service, let windows):
      say(
        "\(phrases.service(service)): \(windows) \(windows == 1 ? "window" : "windows"). The others close when they have "
          + "served their customers.",
        "\(phrases.service(service)) 창구를 \(windows)개로 바꾸는 중입니다. 나머지 창구는 보던 업무를 마치고 닫습니다.")
    case .ended(let window): say("The teller at \(window) was killed.", "\(window) 은행원 프로세스를 강제 종료했습니다.")
    case .juiceReady(let juice): phrases.juiceReady(self.juice(juice))
    case .juiceShort(_, let fruit, let needed, let available):
      phrases.outOfStock(item(fruit))
        + say(
          " (\(count(needed)) needed, \(count(available)) there) ",
          " (\(count(needed))개 필요, \(count(available))개 있음) ") + phrases.tooLittleFruit
    case .stocked(let item, let quantity):
      say("\(self.item(item)): \(count(quantity)).", "\(self.item(item)) 재고: \(count(quantity))개")
    case .inserted(let amount): say("\(won(amount)) put in.", "\(won(amount))을 넣었습니다.")
    case .returned(let amount): say("\(won(amount)) given back.", "\(won(amount))을 돌려받았습니다.")
    case .bought(let drink): phrases.drinkBought(item(drink))
    case .restocked(let drink, let count):
      say("\(item(drink)): \(self.count(count)) added.", "\(item(drink)): \(self.count(count))개를 넣었습니다.")
    case .discarded(let count):
      say(
        "\(self.count(count)) expired drinks thrown away.", "유통기한이 지난 음료 \(self.count(count))개를 버렸습니다.")
    case .welcome: say("You are the manager now.", "관리자로 들어왔습니다.")
    case .refused(let refusal): self.refusal(refusal)
    }
  }

  func refusal(_ refusal: Refusal) -> String {
    switch refusal {
    case .notOpen: say("The bank is not open. Nothing was changed.", "은행이 열려 있지 않습니다. 바뀐 것은 없습니다.")
    case .draining: say("The bank is closing and takes no new customers.", "은행이 마감 중이라 새 고객을 받지 않습니다.")
    case .queueFull: say("The line is full. Try again later.", "대기 줄이 가득 찼습니다. 나중에 다시 시도하세요.")
    case .diskFull: say("The disk is full. Nothing was changed.", "디스크가 가득 찼습니다. 바뀐 것은 없습니다.")
    case .crowded: say("Too much is asked at once. Try again.", "요청이 너무 많습니다. 다시 시도하세요.")
    case .noSuchTicket: say("There is no such ticket.", "그런 번호표는 없습니다.")
    case .noSuchService: say("There is no such service.", "그런 업무는 없습니다.")
    case .noSuchWindow: say("There is no such window.", "그런 창구는 없습니다.")
    case .noSuchItem, .noSuchJuice, .noSuchProduct: say("There is nothing of that name.", "그런 이름의 상품은 없습니다.")
    case .wrongState:
      say("That cannot be done in its present state. Nothing was changed.", "지금 상태에서는 할 수 없습니다. 바뀐 것은 없습니다.")
    case .changed:
      say("It has changed in the meantime. Look again, then decide.", "그사이에 바뀌었습니다. 다시 보고 정해 주세요.")
    case .dayChanged:
      say(
        "The business day has changed; these numbers belong to other customers now. Nothing was changed.",
        "영업일이 바뀌어 이 번호는 이제 다른 고객의 것입니다. 바뀐 것은 없습니다.")
    case .otherGeneration:
      say("Another process is at this window by now. Nobody was killed.", "이미 다른 프로세스가 이 창구에 있어 종료하지 않았습니다.")
    case .keyConflict: say("This key stands for another request.", "이 키는 다른 요청에 쓰였습니다.")
    case .tooLittleMoney: phrases.tooLittleMoney
    case .soldOut: phrases.soldOut
    case .onlyExpired: phrases.onlyExpired
    case .tillFull: say("The machine holds as much money as it may.", "돈통이 가득 찼습니다.")
    case .shelfFull: say("There is no room for more.", "더 넣을 자리가 없습니다.")
    case .tooFew: say("There are not so many. Nothing was changed.", "그만큼 남아 있지 않습니다. 바뀐 것은 없습니다.")
    case .stockAway: say("The stock service does not answer. Try again.", "재고 서비스가 대답하지 않습니다. 다시 시도하세요.")
    case .machineAway: say("The vending machine does not answer. Try again.", "자판기가 대답하지 않습니다. 다시 시도하세요.")
    case .noStation:
      say("Nobody makes juice at the moment. Nothing was taken.", "지금은 쥬스를 만드는 곳이 없습니다. 재고는 그대로입니다.")
    case .unfinished:
      say(
        "The juice is ordered and stays in line: the station is busy. Its ticket shows when it is ready.",
        "쥬스를 주문했습니다. 만드는 곳이 바빠 줄에서 기다리는 중이며, 번호표에서 확인할 수 있습니다.")
    case .juiceUnnamed:
      say(
        "A juice is ordered by its name, on the juice page. No ticket was issued.",
        "쥬스는 쥬스 화면에서 이름으로 주문합니다. 번호표는 나오지 않았습니다.")
    case .payloadUnread:
      say(
        "This service reads nothing that is handed over. Leave the field empty, or choose a service of your own. "
          + "No ticket was issued.",
        "이 업무는 맡긴 내용을 읽지 않습니다. 칸을 비우거나 직접 만든 업무를 고르세요. 번호표는 나오지 않았습니다.")
    case .inDoubt:
      say(
        "It is not known whether that was done. Look before you repeat it.", "처리되었는지 알 수 없습니다. 확인한 뒤 다시 하세요.")
    case .nothingSelected: say("Nobody is selected.", "선택한 고객이 없습니다.")
    case .badForm:
      say("Something in the form cannot be so. Nothing was changed.", "입력이 올바르지 않습니다. 바뀐 것은 없습니다.")
    case .readOnly: self.readOnly
    case .noChaos:
      say(
        "Nobody is killed here: start the page with 'bankctl web --chaos'.",
        "'bankctl web --chaos'로 시작해야 종료할 수 있습니다.")
    case .notAllowed:
      say("This link does not allow that. Nothing was changed.", "이 링크로는 할 수 없는 일입니다. 바뀐 것은 없습니다.")
    case .runNotAllowed:
      say(
        "A command runs only by a link of 'bankctl web --allow-run'. Nothing was changed.",
        "명령은 'bankctl web --allow-run'으로 받은 링크에서만 실행할 수 있습니다. 바뀐 것은 없습니다.")
    case .notManager: self.managerOnly
    case .wrongCode: self.wrongCode
    case .codePause: self.codePause
    case .leaseLost:
      say(
        "This branch has lost its place among the branches and is joining them again. Nothing was changed; try again.",
        "이 지점이 다른 지점들과 연결이 끊겨 다시 합류하는 중입니다. 바뀐 것은 없습니다. 다시 시도하세요.")
    case .notInSharedBank:
      say(
        "One branch cannot do that for all. 'bankctl stop --bank' ends the day of the whole bank.",
        "한 지점이 모든 지점의 일을 할 수는 없습니다. 은행 전체의 영업일은 'bankctl stop --bank'로 끝냅니다.")
    case .failed: say("That failed. Nothing is known to have changed.", "처리하지 못했습니다.")
    }
  }
}
