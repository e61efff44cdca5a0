// Korean messages with inserted words, and names in the language of the sentence around them.

import BankModel
import Testing
import Wire

@testable import BankctlCommands
@testable import bank_chaos

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

@Suite("MessageCatalog in both languages")
struct KoreanWordsTests {
  private func hasHangul(_ text: String) -> Bool {
    text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
  }

  @Test("a particle follows the last sound of an inserted word")
  func particles() {
    #expect(korean.deadLetter(3) == "보류: 'bankctl requeue 3'이나 'bankctl cancel 3'을 실행하세요")
    #expect(korean.deadLetter(2) == "보류: 'bankctl requeue 2'나 'bankctl cancel 2'를 실행하세요")
    #expect(korean.deadLetter(1) == "보류: 'bankctl requeue 1'이나 'bankctl cancel 1'을 실행하세요")
    #expect(korean.chaosBroken(6, "/h").contains("--seed 6으로 다시 실행하세요"))
    #expect(korean.chaosBroken(7, "/h").contains("--seed 7로 다시 실행하세요"))
    let unusable = Failure(.badConfiguration, subject: "/etc/bank.json", detail: "")
    #expect(korean.sentence(unusable, home: "/h").hasPrefix("설정 /etc/bank.json을 쓸 수 없습니다."))
    let home = Failure(.badHome, subject: "", detail: "")
    #expect(korean.sentence(home, home: "/tmp/a").hasPrefix("홈 /tmp/a를 쓸 수 없습니다."))
    #expect(korean.sentence(home, home: "/srv/은행").hasPrefix("홈 /srv/은행을 쓸 수 없습니다."))
    #expect(korean.paused(.juice).contains("'bankctl resume juice'로 다시"))
    #expect(korean.paused(.loan).contains("'bankctl resume loan'으로 다시"))
    for role in [WorkerRole.stock, .vending] {
      let worker = WorkerReport(
        name: role.name, role: role, service: nil, window: nil, pid: 0, generation: 1, state: .stopped,
        ticket: nil, restarts: 9, served: 0, residentKilobytes: 0, isFailed: true)
      #expect(korean.notWorking(worker)?.contains("'bankctl logs \(role.name)'을 확인한 뒤") == true)
    }
  }

  @Test("running states have the same name in every sentence")
  func tasks() {
    #expect(
      korean.doing(.audit) == "점검" && BankctlTable.table.help(for: [], language: .korean).contains("점검"))
    #expect(korean.doing(.ledger).hasPrefix("원장") && korean.noEntries.hasPrefix("원장"))
  }

  @Test("states and ends have the names that the screens use")
  func states() {
    #expect(korean.state(WorkerState.idle) == "쉬는 중")
    #expect(korean.state(WorkerState.serving) == "업무중" && korean.state(CustomerState.serving) == "업무중")
    #expect(korean.attemptEnded(.killed) == "워커가 종료되어 줄의 맨 앞으로 돌아감")
    let noCustomers = EnqueuedReport(day: 1, first: 0, last: 0, count: 0)
    #expect(korean.enqueued(noCustomers, ofList: true) == "추가된 고객이 없습니다.")
    #expect(korean.noSuchProduct("colla", ["coke"], []) == "'colla' 상품은 없습니다. 혹시 coke인가요?")
  }

  @Test("fruits, drinks and brands are named in the language of the sentence")
  func names() {
    #expect(korean.item("strawberry") == "딸기" && english.item("strawberry") == "strawberry")
    #expect(korean.item("top") == "맥심TOP" && english.item("top") == "Maxim T.O.P")
    #expect(korean.item("durian") == "durian")
    #expect(
      korean.business(.juice, 0, "mango") == "망고쥬스" && english.business(.juice, 0, "mango") == "mango juice")
    #expect(korean.business(.juice, 0, "durian") == "durian" && korean.business(.juice, 0, nil) == "-")
    #expect(korean.brand("맥심") == "맥심" && english.brand("맥심") == "Maxim")
    #expect(english.brand("Acme") == "Acme")
    for product in ProductTable.standard.products { #expect(!hasHangul(english.brand(product.brand))) }
  }

  @Test("the machine prints no Korean in English: its list, its lots")
  func machine() {
    let products = ProductTable.standard.products.map { product in
      ProductReport(
        product, stock: 2, expired: 0,
        lots: [
          LotReport(
            dates: LotDates(made: 20_500, expires: 20_507), quantity: 2,
            description: "\(product.brand), 200ml")
        ])
    }
    let picture = VendingSnapshot(
      sequence: 1, balance: 5_000, availableBalance: 5_000, today: 20_501, products: products, sales: [],
      recent: [])
    for language in [Language.english, .korean] {
      let messages = MessageCatalog(language: language)
      let text =
        VendingListing(picture: picture, messages: messages, palette: .none).lines
        + VendingListing(picture: picture, messages: messages, palette: .none).shelves
      #expect(hasHangul(text.joined()) == (language == .korean), "\(text.filter(hasHangul))")
    }
  }
}
