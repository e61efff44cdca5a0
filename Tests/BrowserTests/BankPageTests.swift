// Bank page in a browser: two live lists, a running timer, adding customers, and a reset that asks first.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Bank page")
  struct BankPageTests {
    /// Places of all rows of a list, in the order on the screen.
    private static func tickets(_ list: String) -> String {
      "[...document.querySelectorAll('[data-list=\"\(list)\"] [data-ticket]')].map(row => Number(row.dataset.ticket))"
    }

    @Test("added customers move from waiting to serving to done, on every open page in either language")
    func story() throws {
      try withSite("--speed", "4") { site in
        let (korean, english) = try site.pair()
        for page in [korean, english] {
          // Every list in which the page has shown a ticket.
          try page.evaluate(
            """
            window.places = {};
            const note = () => {
              for (const list of document.querySelectorAll("[data-list]"))
                for (const row of list.querySelectorAll("[data-ticket]")) {
                  const seen = (window.places[row.dataset.ticket] ??= []);
                  if (seen.at(-1) !== list.dataset.list) seen.push(list.dataset.list);
                  window.label ??= row.textContent.replace(/\\s+/g, " ").trim();
                }
            };
            new MutationObserver(note).observe(document.body, {subtree: true, childList: true});
            note();
            """)
        }
        #expect(try korean.text("document.documentElement.lang") == "ko")
        #expect(try english.text("document.documentElement.lang") == "en")
        let body = try korean.text("document.body.innerText")
        for word in ["고객 10명 추가", "초기화", "대기중", "업무중", "업무시간 - 00:00:000"] {
          #expect(body.contains(word), "\(word)")
        }
        try korean.click("[data-action=\"add\"]")
        for page in [korean, english] {
          try page.waitWithoutReload("Object.keys(window.places).length === 10")
          let shown = try page.evaluate("document.querySelector('[data-timer]').textContent")
          try page.waitWithoutReload("document.querySelector('[data-timer]').textContent !== \(shown)")
        }
        for (page, names) in [(korean, ["예금", "대출"]), (english, ["deposit", "loan"])] {
          let label = try page.text("window.label")
          #expect(names.contains { label.wholeMatch(of: /\d+ - (.*)/)?.1.hasPrefix($0) == true }, "\(label)")
        }
        try site.branch.runSuccessfully("wait")
        for page in [korean, english] {
          try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 0")
          let places = try page.evaluate("window.places").members
          for (ticket, lists) in places where lists != ["waiting", "serving"] && lists != ["serving"] {
            Issue.record("\(ticket) was shown in \(lists)")
          }
          #expect(places.count == 10)
          // Each of the two lists shows a customer for a while, so most customers are seen in both.
          #expect(places.values.count { $0 == ["waiting", "serving"] } >= 5, "\(places)")
          try page.expectClean()
        }
        // The timer has stopped at the time that the bank reports.
        let status = try site.branch.status()
        #expect(
          try korean.text(of: "[data-timer]")?.contains(Self.timer(status.businessMilliseconds)) == true)
        #expect(try korean.text(of: "[data-timer] span") == english.text(of: "[data-timer] span"))
      }
    }

    /// `mm:ss:SSS`
    private static func timer(_ milliseconds: Int) -> String {
      func digits(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
      }
      return
        "\(digits(milliseconds / 60_000, 2)):\(digits(milliseconds / 1_000 % 60, 2)):\(digits(milliseconds % 1_000, 3))"
    }

    @Test("two quick double clicks add twenty customers each, and every customer has its own number")
    func haste() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page()
        try page.markDocument()
        // Two clicks in the same iteration of the event loop, then two clicks of a mouse.
        try page.evaluate("for (const _ of [1, 2]) document.querySelector('[data-action=\"add\"]').click()")
        try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 20")
        try page.click("[data-action=\"add\"]")
        try page.click("[data-action=\"add\"]")
        try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 40")
        let tickets = try page.evaluate("[...\(Self.tickets("waiting")), ...\(Self.tickets("serving"))]")
          .items
        #expect(Set(tickets.compactMap(\.integer)) == Set(1...40))
        #expect(try site.branch.status().queue("issued") == 40)
        // The first customer in line is the first row.
        let waiting = try page.evaluate(Self.tickets("waiting")).items.compactMap(\.integer)
        #expect(waiting == waiting.sorted())
        try page.expectClean()
      }
    }

    @Test("a reset asks first, and empties both lists of every open page")
    func reset() throws {
      try withSite("--speed", "0.01") { site in
        let (one, two) = try site.pair()
        try one.click("[data-action=\"add\"]")
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 10")
        }
        // "No" leaves everything as it is.
        try one.click("[data-action=\"reset\"]")
        try one.wait(for: "document.querySelector('dialog[open]')")
        let words = try one.text("document.querySelector('dialog[open]').innerText")
        #expect(words.contains("예") && words.contains("아니오"), "\(words)")
        try one.press(.escape)
        try one.wait(for: "!document.querySelector('dialog[open]')")
        #expect(try site.branch.status().queue("issued") == 10)
        try one.click("[data-action=\"reset\"]")
        try one.wait(for: "document.querySelector('dialog[open]')")
        try one.click("dialog[open] [data-answer=\"yes\"]")
        for page in [one, two] {
          try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 0")
          try page.waitWithoutReload(
            "document.querySelector('[data-timer]').textContent.includes('00:00:000')")
        }
        #expect(try site.branch.status().day == 2)
        try one.click("[data-action=\"add\"]")
        try two.waitWithoutReload("document.querySelector('[data-ticket=\"1\"]') !== null")
        for page in [one, two] { try page.expectClean() }
      }
    }

    @Test("without scripts every number is shown and every form works")
    func mute() throws {
      try withSite("--speed", "0.01") { site in
        let live = try site.page("/", .ko)
        let mute = try site.page("/", beside: live, .en, scripts: false)
        try mute.click("[data-action=\"add\"]")
        try mute.wait(for: "document.querySelectorAll('[data-list] [data-ticket]').length === 10")
        #expect(try mute.text("location.pathname") == "/")
        try live.wait(for: "document.querySelectorAll('[data-list] [data-ticket]').length === 10")
        // Reloading the document adds no customer.
        try mute.reload()
        #expect(try site.branch.status().queue("issued") == 10)
        try mute.click("[data-action=\"reset\"]")
        try mute.wait(for: "location.pathname === '/reset' && document.readyState === 'complete'")
        try mute.click("main [data-answer=\"yes\"]")
        try mute.wait(for: "location.pathname === '/' && document.readyState === 'complete'")
        #expect(try mute.count("[data-list] [data-ticket]") == 0)
        #expect(try site.branch.status().day == 2)
        for page in [live, mute] { try page.expectClean() }
      }
    }
  }
}
