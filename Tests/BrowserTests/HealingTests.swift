// Open pages while processes are killed: a page reports the failure and then shows the current state without a reload.
import BranchFixture
import HeadlessBrowser
import Glibc
import Testing

extension PageTests {
  @Suite("Pages while processes are killed")
  struct HealingTests {
    /// Waits until both lists of a page match the bank: counts, and the customer at each window.
    private func expectRight(_ page: Page, _ site: TestSite) throws {
      try site.branch.waitUntil("the page matches the bank") {
        guard let status = try site.branch.statusIfAnswered() else { return false }
        let serving = status.workers.compactMap(\.ticket)
        let shown = try page.evaluate(
          "[...document.querySelectorAll('[data-list=serving] [data-ticket]')].map(row => Number(row.dataset.ticket))"
        )
        let waiting = try page.number("[data-region=waiting-count]")
        return try waiting == status.queue("waiting")
          && Set(shown.items.compactMap(\.integer)) == Set(serving)
          && page.rows("waiting") == min(status.queue("waiting"), 200)
      }
      #expect(try page.shows("window.isTheSame === true"), "the page was reloaded")
    }

    /// Expects no error except for the connection that was cut.
    private func expectClean(_ page: Page) throws { try page.expectClean(except: ["net::ERR_", "/events"]) }

    private func withQuietBank(_ test: (TestSite, Page) throws -> Void) throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page()
        try page.markDocument()
        try site.branch.runSuccessfully("enqueue", "8", "--seed", "3")
        try expectRight(page, site)
        try test(site, page)
        try expectClean(page)
      }
    }

    @Test("teller: its customer is served at a window again, in another attempt")
    func teller() throws {
      try withQuietBank { site, page in
        let victim = try #require(try site.branch.status().tellers.first { $0.ticket != nil })
        try site.branch.kill(worker: victim.name)
        try page.waitWithoutReload("document.querySelector('[data-ticket=\"\(victim.ticket ?? 0)\"] .again')")
        try expectRight(page, site)
        try page.waitWithoutReload(
          "document.querySelector('[data-region=events]').textContent.includes('SIGKILL')")
      }
    }

    @Test("coordinator: the lists of its successor are shown, and new customers appear")
    func coordinator() throws {
      try withQuietBank { site, page in
        let before = try site.branch.status()
        #expect(site.branch.processes.signal(before.pid, SIGKILL))
        try site.branch.waitUntil("the coordinator is back") {
          try site.branch.statusIfAnswered().map { $0.pid != before.pid } == true
        }
        try site.branch.runSuccessfully("enqueue", "2", "--seed", "4")
        try expectRight(page, site)
        #expect(try page.number("[data-region=waiting-count]") != nil)
        // The page is operated as before.
        try page.click("[data-action=\"add\"]")
        try site.branch.waitUntil("ten more customers have come") {
          try site.branch.status().queue("issued") == 20
        }
        try expectRight(page, site)
      }
    }

    @Test("web server: address, cookie and document stay the same")
    func web() throws {
      try withQuietBank { site, page in
        let before = try #require(try site.branch.status().worker("web"))
        let began = ContinuousClock.now
        try site.branch.kill(worker: "web")
        try site.branch.runSuccessfully("enqueue", "3", "--seed", "4")
        try expectRight(page, site)
        #expect(ContinuousClock.now - began < TimeLimits.scaled(.seconds(3)))
        #expect(try site.branch.status().worker("web")?.pid != before.pid)
        try page.click("[data-action=\"add\"]")
        try site.branch.waitUntil("ten more customers have come") {
          try site.branch.status().queue("issued") == 21
        }
        try expectRight(page, site)
        #expect(try page.reload()?.status == 200, "the cookie is still valid")
        try page.markDocument()
      }
    }

    @Test(
      "stock and vending machine: their pages follow the new processes",
      arguments: ["stock", "vending"])
    func shop(worker: String) throws {
      try withSite { site in
        try site.branch.runSuccessfully("vending", "admin", "add", "coke", "3")
        let stock = try site.page("/juice")
        let vending = try site.page("/vending", beside: stock)
        for page in [stock, vending] { try page.markDocument() }
        try site.branch.kill(worker: worker)
        try site.branch.waitUntil("the stock is back") {
          try site.branch.run("stock", "set", "kiwi", "77").code == 0
        }
        try site.branch.waitUntil("the vending machine is back") {
          try site.branch.run("vending", "insert", "1000").code == 0
        }
        try stock.waitWithoutReload(
          "document.querySelector('[data-fruit=\"kiwi\"]').textContent.trim() === '77'")
        let balance = try #require(try site.branch.json("vending", "balance")["balance"].integer)
        try vending.waitWithoutReload("document.querySelector('[data-balance=\"\(balance)\"]')")
        #expect(try vending.number("[data-product=\"coke\"] .stock") == 3)
        for page in [stock, vending] { try expectClean(page) }
      }
    }
  }
}
