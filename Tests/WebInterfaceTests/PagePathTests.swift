// Which page an address is of, and what is read from forms and bodies.

import BankModel
import Testing
import WebCore
import WebPages
import Wire

@testable import WebInterface

@Suite("Addresses of pages")
struct PagePathTests {
  private func path(_ text: String) -> PagePath? { RequestTarget(text.utf8).flatMap { PagePath($0) } }

  @Test("every page has its address, and nothing else has one")
  func pages() {
    #expect(path("/") == .bank && path("/?said=x&lang=ko") == .bank)
    #expect(path("/ticket/7") == .ticket(7, day: nil) && path("/ticket/7?day=2") == .ticket(7, day: 2))
    #expect(path("/windows/deposit-1/log") == .log("deposit-1"))
    #expect(path("/ledger?account=customer-12") == .ledger(account: 12))
    var filter = PageFilter()
    (filter.state, filter.service, filter.after) = (.dead, .loan, 200)
    #expect(path("/tickets?state=dead&service=loan&after=200&x=y") == .tickets(filter))
    for text in [
      "/nope", "/ticket/x", "/ticket/0", "/ticket/-1", "/ticket/99999999999999999999", "/ticket/7/8",
      "/windows/..%2f..%2fbank.db/log", "/windows/%2e%2e/log", "/windows/deposit-1/log/x", "/kiosk/x",
    ] { #expect(path(text) == nil, "\(text)") }
  }

  @Test("numbers that stand behind one another are one span")
  func spans() {
    let spans = FormActions.spans([5, 3, 9, 4, 4, 10, 1])
    #expect(
      spans == [
        TicketNumbers(1), TicketNumbers(first: 3, last: 5), TicketNumbers(first: 9, last: 10),
      ])
    #expect(FormActions.spans([]).isEmpty && FormActions.spans([.max]) == [TicketNumbers(.max)])
  }

  @Test("a body is one object, whose numbers are whole, or it is none")
  func bodies() throws {
    let body = try #require(APIBody(Array(#"{"a":3,"b":"x","c":null,"d":[1,2],"e":1.5}"#.utf8)))
    #expect(body.number("a") == 3 && body.text("b") == "x" && !body.has("c") && body.has("e"))
    #expect(body.numbers("d") == [1, 2] && body.number("e") == nil && body.number("b") == nil)
    #expect(body.hasOnly(["a", "b", "c", "d", "e"]) && !body.hasOnly(["a"]))
    #expect(APIBody([]) != nil)
    for text in ["[]", "1", "{", #"{"a":1,"a":2}"#, "count=1"] {
      #expect(APIBody(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("the server's command line is read, or refused")
  func options() throws {
    let options = try WebOptions(["--home", "/h", "--port", "0", "--chaos", "--read-only"])
    #expect(options.home == "/h" && options.port == 0 && options.hasChaos && options.isReadOnly)
    for words in [
      [], ["--home"], ["--home", "h"], ["--home", "/h", "--port", "65536"], ["--home", "/h", "-x"],
    ] {
      #expect(throws: Failure.self) { try WebOptions(words) }
    }
  }
}
