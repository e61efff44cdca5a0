// Pages of records: tickets, dead letters and receipts with filters in the address, the audit and the ledger.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Pages of records")
  struct RecordPageTests {
    private static let rows =
      "[...document.querySelectorAll('main [data-ticket]')].map(row => Number(row.dataset.ticket))"

    @Test("lists come in pages of two hundred, and their filters are in the address")
    func lists() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("pause")
        try site.branch.runSuccessfully("enqueue", "300", "--service", "deposit")
        try site.branch.runSuccessfully("enqueue", "150", "--service", "loan")
        let page = try site.page("/tickets?state=waiting&service=deposit", .ko)
        #expect(try page.evaluate(Self.rows).items.compactMap(\.integer) == Array(1...200))
        let next = try page.text("document.querySelector('main a[href*=\"after=\"]').getAttribute('href')")
        #expect(next.contains("service=deposit") && next.contains("state=waiting"), "\(next)")
        try page.click("main a[href*=\"after=\"]")
        try page.wait(for: "location.search.includes('after=') && document.readyState === 'complete'")
        #expect(try page.evaluate(Self.rows).items.compactMap(\.integer) == Array(201...300))
        try page.evaluate("history.back()")
        try page.wait(for: "!location.search.includes('after=') && document.readyState === 'complete'")
        #expect(try page.evaluate(Self.rows).items.count == 200)
        try page.go(to: site.origin + "/tickets?service=loan")
        #expect(try page.evaluate(Self.rows).items.compactMap(\.integer) == Array(301...450))
        try page.expectClean()
      }
    }

    @Test("all customers of a selection are cancelled after their number was confirmed")
    func selection() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("pause")
        try site.branch.runSuccessfully("enqueue", "20", "--service", "deposit")
        let page = try site.page("/tickets?state=waiting", .en)
        for ticket in [3, 5, 8] { try page.click("main input[name=\"ticket\"][value=\"\(ticket)\"]") }
        try page.click(try page.button(of: "/tickets/cancel"))
        try page.wait(
          for: "(document.querySelector('dialog[open]') ?? document.body).innerText.includes('3')")
        try page.confirm()
        try site.branch.waitUntil("three customers are cancelled") {
          try site.branch.status().queue("cancelled") == 3
        }
        try page.go(to: site.origin + "/tickets?state=waiting")
        let left = Array(1...20).filter { ![3, 5, 8].contains($0) }
        try page.wait(
          for: "JSON.stringify(\(Self.rows)) === '\(JSONValue.list(left.map { .number(Double($0)) }))'")
        try page.expectClean()
      }
    }

    @Test("a dead letter shows its reason, and returns to the line")
    func dead() throws {
      try withSite(
        configuration: {
          try $0.configuration(
            more:
              #", "services": {"broken": {"run": ["/bin/sh", "-c", "test -e '\#($0.path("mended"))' || { echo no such picture >&2; exit 65; }"], "windows": 1}}"#
          )
        }
      ) { site in
        try site.branch.runSuccessfully("enqueue", "--service", "broken", "--payload", "x")
        try site.branch.waitUntil("the customer is a dead letter") {
          try site.branch.status().queue("dead") == 1
        }
        let page = try site.page("/dead", .ko)
        #expect(try page.evaluate(Self.rows).items.compactMap(\.integer) == [1])
        let english = try site.page("/dead", beside: page, .en)
        for (each, reason) in [(page, "종료 코드 65"), (english, "exit code 65")] {
          #expect(try each.text(of: "[data-ticket='1']")?.contains(reason) == true)
          #expect(try each.text(of: "[data-ticket='1']")?.contains("no such picture") == true)
        }
        let listed = try site.branch.lines("tickets", "--state", "dead").first
        #expect(listed?["last_attempt"]["code"].integer == 65)
        try page.go(to: site.origin + "/ticket/1")
        let story = try site.page("/ticket/1", beside: page, .ko)
        try story.wait(for: "document.querySelector('main').innerText.includes('65')")
        try page.go(to: site.origin + "/dead")
        _ = try site.branch.write("", to: "mended")
        if try page.count("main input[name=\"ticket\"][value=\"1\"]") > 0 {
          try page.click("main input[name=\"ticket\"][value=\"1\"]")
        }
        try page.click(try page.button(of: "/tickets/requeue"))
        try page.confirm()
        try site.branch.waitUntil("the customer is served") { try site.branch.status().queue("served") == 1 }
        try page.go(to: site.origin + "/dead")
        try page.wait(for: "\(Self.rows).length === 0")
        try page.go(to: site.origin + "/receipts")
        #expect(try page.count("main a[href=\"/ticket/1?day=1\"]") == 1)
        try page.expectClean()
      }
    }

    @Test("the audit page shows every guarantee as kept, and the ledger balances")
    func ledger() throws {
      try withSite("--speed", "100") { site in
        try site.branch.runSuccessfully(
          "enqueue", "--from", "-", input: #"{"service":"deposit","amount":50000,"account":12}"#)
        try site.branch.runSuccessfully("wait")
        let page = try site.page("/audit", .ko)
        try page.wait(for: "document.querySelectorAll('main .good').length > 0")
        #expect(try page.count("main .alarm, main .bad") == 0)
        try page.go(to: site.origin + "/ledger")
        let text = try page.text("document.querySelector('main').innerText")
        #expect(text.contains("고객 계좌 전체") && text.contains("50,000"), "\(text)")
        try page.go(to: site.origin + "/ledger?account=12")
        #expect(try page.text("document.querySelector('main').innerText").contains("50,000"))
        try page.expectClean()
      }
    }

    @Test("with a million customers in line a page appears at once and shows the exact number")
    func million() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("pause")
        try site.branch.runSuccessfully("enqueue", "1000000", "--service", "deposit", timeout: .seconds(60))
        let page = try site.page()
        #expect(
          try page.text("document.querySelector('[data-region=waiting-count]').textContent").contains(
            "1,000,000"))
        #expect(try page.rows("waiting") == 200)
        let began = ContinuousClock.now
        try page.go(to: site.origin + "/tickets?state=waiting&after=500000")
        #expect(try page.evaluate(Self.rows).items.first?.integer == 500_001)
        #expect(ContinuousClock.now - began < TimeLimits.scaled(.seconds(1)))
        try page.expectClean()
      }
    }
  }
}
