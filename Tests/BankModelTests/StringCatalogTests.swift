// The sentences of the branch, to the letter.

import BankModel
import Testing
import Time

@Suite struct StringCatalogTests {
  private let korean = StringCatalog(.korean)
  private let english = StringCatalog(.english)

  @Test("a start and a completion read as the originals' did")
  func lines() {
    #expect(korean.started(ticket: 3, priority: .regular, service: .loan) == "3번 고객 대출업무 시작")
    #expect(korean.completed(ticket: 3, priority: .regular, service: .loan) == "3번 고객 대출업무 완료")
    #expect(korean.started(ticket: 11, priority: .regular, service: .deposit) == "11번 고객 예금업무 시작")
    #expect(korean.started(ticket: 4, priority: .vip, service: .deposit) == "4번 VIP고객 예금업무 시작")
    #expect(korean.completed(ticket: 4, priority: .vvip, service: .loan) == "4번 VVIP고객 대출업무 완료")
    #expect(english.started(ticket: 3, priority: .regular, service: .loan) == "customer 3: loan started")
    #expect(
      english.completed(ticket: 4, priority: .vip, service: .deposit) == "VIP customer 4: deposit completed")
  }

  @Test("the closing message names the customers and the seconds with two decimals")
  func closing() {
    #expect(
      korean.closing(served: 10, business: .milliseconds(4_410))
        == "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 4.41초입니다.")
    #expect(
      english.closing(served: 10, business: .milliseconds(4_405))
        == "The bank has closed. Customers served today: 10. Total business time: 4.41 seconds.")
  }

  @Test(
    "seconds are rounded half up to hundredths",
    arguments: [(0, "0.00"), (4, "0.00"), (5, "0.01"), (994, "0.99"), (995, "1.00"), (60_000, "60.00")])
  func seconds(milliseconds: Int64, text: String) {
    #expect(StringCatalog.seconds(.milliseconds(milliseconds)) == text)
  }

  @Test("a locale that starts with ko selects Korean, any other English")
  func locales() {
    #expect(Language(locale: "ko_KR.UTF-8") == .korean)
    #expect(Language(locale: "ko") == .korean)
    #expect(Language(locale: "C.UTF-8") == .english)
    #expect(Language(locale: "") == .english)
  }
}
