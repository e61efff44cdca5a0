// A notice in a query: it is read back, and no link can make the bank show anything else.

import BankModel
import JSON
import Testing
import WebPages

@Suite("The notice after a form")
struct NoticeTests {
  static let all: [Notice] =
    [
      .added(count: 10, first: 1), .added(count: 1, first: 7), .known(count: 10, first: 1), .reset(day: 2),
      .cancelled(count: 3), .requeued(count: 1), .partly(done: 2, of: 3), .paused(.loan),
      .resumed(ServiceName("a.b_c-d")!), .scaled(.deposit, windows: 3), .scaling(.loan, windows: 0),
      .ended(window: "loan-1"),
      .juiceReady("kiwi".item),
      .juiceShort("strawberry".item, fruit: "strawberry".item, needed: 16, available: 10),
      .stocked("kiwi".item, quantity: 10), .inserted(1_000), .returned(500), .bought("top".item),
      .restocked("top".item, count: 10), .discarded(count: 2), .welcome,
    ] + Refusal.allCases.map { .refused($0) }

  @Test("its code reads as the same notice, and needs no escape in a query", arguments: all)
  func codes(notice: Notice) {
    #expect(Notice(code: notice.code) == notice)
    #expect(
      notice.code.utf8.allSatisfy {
        switch $0 {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
      })
  }

  @Test(
    "any other text reads as none",
    arguments: [
      "", "~", "added", "added~10", "added~x~1", "added~10~1~2", "added~010~1", "refused~nothing", "refused",
      "bought~<b>", "bought~", "paused~Loan", "short~a~b~1", "<script>", "added~99999999999999999999~1",
      String(repeating: "a", count: 10_000),
    ])
  func junk(code: String) { #expect(Notice(code: code) == nil) }

  @Test("it has a text of its own in each language", arguments: all)
  func words(notice: Notice) {
    let (korean, english) = (notice.text(.korean), notice.text(.english))
    #expect(korean.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
    #expect(!english.isEmpty && english.unicodeScalars.allSatisfy { !(0xAC00...0xD7A3).contains($0.value) })
  }

  @Test("numbers at the ends of their range are shown and trap nowhere")
  func ends() {
    for number in [Int64.min, -1, 0, .max] {
      #expect(!Notice.added(count: number, first: number).text(.english).isEmpty)
      #expect(!Notice.partly(done: number, of: number).text(.korean).isEmpty)
    }
  }

  @Test("the alerts of the juice maker are the original's, and the question leads to the stock editor")
  func juice() throws {
    #expect(Notice.juiceReady("strawberry".item).text(.korean) == "딸기쥬스 나왔습니다! 맛있게 드세요!")
    let short = Notice.juiceShort("strawberry".item, fruit: "strawberry".item, needed: 16, available: 10)
    #expect(short.text(.korean).hasPrefix("딸기의 재고가 부족합니다."))
    #expect(short.text(.korean).hasSuffix("재료가 모자라요. 재고를 수정할까요?"))
    #expect(
      short.json(.korean).hasSuffix(
        #""tone":"question","text":"딸기의 재고가 부족합니다. (16개 필요, 10개 있음) 재료가 모자라요. 재고를 수정할까요?","#
          + #""yes":{"text":"예","href":"/juice/stock"},"no":{"text":"아니오"}}"#))
  }

  @Test("the answer to the script is JSON", arguments: all)
  func json(notice: Notice) throws {
    _ = try JSONReader.read(Array(notice.json(.english, to: "/ticket/7").utf8))
  }
}

extension String {
  var item: ItemID { ItemID(self) }
}
