// Open pages when the bank closes and opens again, and pages that are reached from another site.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Pages when a bank closes")
  struct EndOfBankTests {
    @Test("an open page reports that the bank has closed, its timer stops, and it reconnects by itself")
    func closing() throws {
      try withSite("--speed", "0.01") { site in
        let (korean, english) = try site.pair("/")
        try site.branch.runSuccessfully("enqueue", "2")
        for page in [korean, english] {
          try page.waitWithoutReload("document.querySelector('[data-timer][data-runs=true]')")
        }
        try site.branch.runSuccessfully("stop", "--now", "--timeout", "1s")
        for (page, word) in [(korean, "마감"), (english, "closed")] {
          try page.waitWithoutReload(
            "document.querySelector('[data-region=state] .badge').textContent === '\(word)'")
          try page.waitWithoutReload("document.querySelector('[data-timer]').dataset.runs === 'false'")
          try page.waitWithoutReload(
            "document.querySelector('[data-region=connection]').textContent.trim() !== ''")
          try page.waitWithoutReload("document.body.classList.contains('away')")
        }
        let stopped = "document.querySelector('[data-timer] span').textContent"
        let before = try english.text(stopped)
        try english.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        #expect(try english.text(stopped) == before)
        try site.branch.runSuccessfully("start", "--speed", "0.01")
        try site.link()
        // The page continues, or it shows how to sign in again.
        try english.wait(
          for:
            "document.querySelector('[data-region=state] .badge')?.textContent === 'open' || document.querySelector('.command')"
        )
      }
    }

    @Test("a page that is requested in a language asks and answers in it")
    func language() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page("/?lang=ko", .en)
        try page.click("[data-action=\"reset\"]")
        try page.wait(for: "document.querySelector('dialog[open]')")
        #expect(try page.text("document.querySelector('dialog[open]').innerText").contains("초기화할까요?"))
        try page.click("dialog[open] [data-answer=\"no\"]")
        try page.click("[data-action=\"add\"]")
        try page.wait(for: "document.querySelector('#toast .notice')?.textContent.includes('고객 10명')")
        try page.expectClean()
      }
    }

    @Test("a browser with a session follows a link of another site straight to the page")
    func elsewhere() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page()
        let other = try site.browser.page(of: page.context)
        try other.go(
          to: "data:text/html,<!doctype html><title>a</title><a href='\(site.origin)/tickets'>b</a>")
        try other.click("a")
        try other.wait(for: "location.pathname === '/tickets' && document.querySelector('main table')")
        let stranger = try site.browser.page()
        try stranger.go(
          to: "data:text/html,<!doctype html><title>a</title><a href='\(site.origin)/tickets'>b</a>")
        try stranger.click("a")
        try stranger.wait(for: "document.querySelector('.command')")
      }
    }
  }
}
