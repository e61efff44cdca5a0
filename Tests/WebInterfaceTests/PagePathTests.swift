// The page of an address, and the fields read from forms and bodies.

import BankModel
import Testing
import Time
import WebCore
import WebPages
import Wire

@testable import WebInterface

@Suite("Addresses of pages")
struct PagePathTests {
  private func path(_ text: String) throws -> PagePath? {
    try RequestTarget(text.utf8).flatMap { try PagePath.page(of: $0) }
  }

  @Test("every page has its address, and nothing else has one")
  func pages() throws {
    #expect(try path("/") == .bank && path("/?notice=x&lang=ko") == .bank)
    #expect(try path("/ticket/7") == .ticket(7, day: nil) && path("/ticket/7?day=2") == .ticket(7, day: 2))
    #expect(try path("/windows/deposit-1/log") == .log("deposit-1"))
    #expect(try path("/ledger?account=customer-12") == .ledger(account: 12))
    var filter = PageFilter()
    (filter.state, filter.service, filter.after) = (.dead, .loan, 200)
    #expect(try path("/tickets?state=dead&service=loan&after=200") == .tickets(filter))
    #expect(try path("/tickets?state=&service=&after=") == .tickets(PageFilter()))
    for text in [
      "/nope", "/ticket/x", "/ticket/0", "/ticket/-1", "/ticket/99999999999999999999", "/ticket/7/8",
      "/windows/..%2f..%2fbank.db/log", "/windows/%2e%2e/log", "/windows/deposit-1/log/x", "/kiosk/x",
    ] { #expect(try path(text) == nil, "\(text)") }
  }

  @Test("a field that a page does not have, or without meaning, is refused by its name")
  func faults() {
    for (text, field) in [
      ("/?x=1", "x"), ("/lobby?x=1", "x"), ("/tickets?state=bogus", "state"), ("/tickets?sate=dead", "sate"),
      ("/tickets?after=-1", "after"), ("/tickets?day=1", "day"), ("/tickets?state=dead&state=dead", "state"),
      ("/dead?state=dead", "state"), ("/dead?service=No", "service"), ("/receipts?day=x", "day"),
      ("/receipts?day=0", "day"), ("/receipts?outcome=lost", "outcome"), ("/ticket/7?day=x", "day"),
      ("/kiosk?latest=0", "latest"), ("/vending?before=x", "before"), ("/ledger?account=x", "account"),
      ("/windows/deposit-1/log?x=1", "x"),
    ] {
      #expect("\(text)") { _ = try path(text) } throws: { ($0 as? FieldError)?.field == field }
    }
  }

  @Test("every window of every service has a log page, however long its name is")
  func longNames() throws {
    for length in [1, 62, 63, 64] {
      let service = try #require(ServiceName(String(repeating: "a", count: length)))
      for window in [service.window(1), service.window(256), service.outside(.max)] {
        #expect(try path("/windows/\(window)/log") == .log(window))
        #expect(Notice(code: Notice.ended(window: window).code) == .ended(window: window))
      }
    }
    #expect(try path("/windows/\(String(repeating: "a", count: 90))/log") == nil)
  }

  @Test("the display shows the customers at the windows, whatever else has happened since")
  func calls() throws {
    var frame = BoardFrame(
      day: 2, state: .open, coordinator: BoardCoordinator(pid: 1, generation: 1, openedAt: 0), time: 9_000,
      businessTime: .zero, isBusinessTimeRunning: false, counts: BoardCounts(serving: 2))
    func started(_ ticket: Int64, _ time: Int64, day: Int64) -> BoardEvent {
      BoardEvent(
        sequence: time, time: time, kind: .started, ticket: ticket, service: .loan, window: "loan-1",
        attempt: 1, day: day)
    }
    frame.serving = [
      BoardServing(ticket: 1, service: .deposit, priority: .vip, window: "deposit-1", since: 10, attempt: 2),
      BoardServing(ticket: 9, service: .loan, priority: .regular, window: "loan-1", since: 30, attempt: 1),
    ]
    #expect(LobbyPage(frame).calls.map(\.ticket) == [9, 1])
    #expect(LobbyPage(frame).calls.map(\.isRepeat) == [false, true])
    // Events add those who were called before; the same call is not there twice, nor is one of another day.
    frame.events = [started(7, 5, day: 1), started(8, 20, day: 2), started(9, 30, day: 2)]
    #expect(LobbyPage(frame).calls.map(\.ticket) == [9, 8, 1])
  }

  @Test("a view has one address, for any order and spelling of its query")
  func addresses() throws {
    for text in ["/", "//", "/?notice=added~1~1&lang=ko"] {
      #expect(try path(text)?.address == "/", "\(text)")
    }
    for text in [
      "/tickets?service=loan&state=dead&after=200",
      "/tickets?after=0200&notice=z&state=dead&service=loan&lang=en",
    ] { #expect(try path(text)?.address == "/tickets?service=loan&state=dead&after=200", "\(text)") }
    for (text, address) in [
      ("/ticket/07?day=2", "/ticket/7?day=2"), ("/kiosk?latest=3", "/kiosk"),
      ("/ledger?account=customer-12", "/ledger?account=12"), ("/vending?before=4", "/vending?before=4"),
      ("/windows/loan-1/log?lang=ko", "/windows/loan-1/log"), ("/juice/stock", "/juice/stock"),
      ("/receipts?outcome=served&day=2", "/receipts?outcome=served&day=2"),
    ] { #expect(try path(text)?.address == address, "\(text)") }
  }

  @Test("consecutive numbers are one span")
  func spans() {
    let spans = FormActions.spans([5, 3, 9, 4, 4, 10, 1])
    #expect(
      spans == [
        TicketNumbers(1), TicketNumbers(first: 3, last: 5), TicketNumbers(first: 9, last: 10),
      ])
    #expect(FormActions.spans([]).isEmpty && FormActions.spans([.max]) == [TicketNumbers(.max)])
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
