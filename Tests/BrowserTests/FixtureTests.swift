// Browser of the tests: it shows pages, clicks, types, records events, contacts no other machine, and leaves no
// process. Its pages are data URLs; no bank is open.
import HeadlessBrowser
import Glibc
import JSON
import Posix
import PosixFixture
import Testing
import Time

extension PageTests {
  @Suite("Browser of the tests")
  struct FixtureTests {
    /// Address that contains a document.
    private func address(of document: String, scripts: String = "") -> String {
      let page =
        "<!doctype html><meta charset=utf-8><title>t</title><body>\(document)<script>\(scripts)</script>"
      return "data:text/html;charset=utf-8;base64," + Base64.encode(Array(page.utf8))
    }

    @Test("a page is shown, queried, clicked and typed into, and so is a second one at the same time")
    func pages() throws {
      try withBrowser { browser in
        #expect(try browser.version().contains("Chrome"))
        let scripts = """
          document.querySelector("button").onclick = () => {
            setTimeout(() => { document.querySelector("p").textContent = "안녕 " + document.querySelector("input").value }, 30)
          };
          addEventListener("keydown", event => { document.title += event.key });
          """
        let first = try browser.page()
        try first.go(to: address(of: "<p>-</p><input value=old><button>go</button>", scripts: scripts))
        let second = try browser.page(of: first.context)
        try second.go(to: address(of: "<p>two</p>"))
        try first.type("\"은행\" \\ 😀", into: "input")
        try first.click("button")
        try first.wait(for: "document.querySelector('p').textContent !== '-'")
        #expect(try first.text(of: "p") == "안녕 \"은행\" \\ 😀")
        #expect(try second.text(of: "p") == "two")
        #expect(try first.count("p, input, button") == 3)
        try first.press(.escape)
        #expect(try first.text("document.title") == "tEscape")
        #expect(try first.evaluate("({a: [1, -2.5, null, true]})") == ["a": [1, .number(-2.5), .null, true]])
        #expect(try first.evaluate("new Promise(done => setTimeout(() => done('later'), 5))") == "later")
        #expect(throws: BrowserError.self) { try first.evaluate("nothing.at.all") }
        #expect(first.log.errors == [])
      }
    }

    @Test("what is covered cannot be clicked, and a wait has a limit")
    func inVain() throws {
      try withBrowser { browser in
        let page = try browser.page()
        try page.go(
          to: address(of: "<button>a</button><div style='position:fixed;inset:0' id=cover></div>"))
        #expect(throws: BrowserError.self) { try page.click("button") }
        #expect(throws: BrowserError.self) { try page.click("a") }
        #expect(throws: BrowserError.self) { try page.type("a", into: "input") }
        #expect(throws: BrowserError.self) { try page.wait(for: "false", within: .milliseconds(50)) }
        #expect(throws: BrowserError.self) { try page.go(to: "http://127.0.0.1:9/") }
      }
    }

    @Test("a page records errors, alerts and requests, and reaches no other machine")
    func log() throws {
      try withBrowser { browser in
        let page = try browser.page()
        try page.go(
          to: address(
            of: "<img src='http://192.0.2.1/a.png'><img src='http://example.org/b.png'>",
            scripts: "console.error('wrong', 7); console.log('all is well'); alert('hello'); undefined.x"))
        try page.awaitPendingEvents()
        #expect(page.log.errors.contains("wrong 7"))
        #expect(page.log.errors.contains { $0.contains("TypeError") })
        #expect(!page.log.errors.contains { $0.contains("all is well") })
        #expect(page.log.alerts == ["hello"])
        #expect(Set(page.log.externalURLs) == ["http://192.0.2.1/a.png", "http://example.org/b.png"])
        for request in page.log.requests where !request.isLocal {
          #expect(request.status == nil && request.failure != nil, "\(request)")
        }
        page.forget()
        #expect(page.log.externalURLs == [])
      }
    }

    @Test("a page takes the width, theme, motion and script settings that the test sets")
    func surroundings() throws {
      try withBrowser { browser in
        let page = try browser.page()
        try page.setViewport(width: 320, height: 640)
        try page.emulateMedia(dark: true, reducedMotion: true)
        try page.allowScripts(false)
        try page.go(
          to: address(of: "<p>still</p>", scripts: "document.querySelector('p').textContent = 'moved'"))
        #expect(try page.text(of: "p") == "still")
        #expect(try page.evaluate("innerWidth") == 320)
        for question in ["prefers-color-scheme: dark", "prefers-reduced-motion: reduce"] {
          #expect(try page.evaluate("matchMedia('(\(question))').matches") == true)
        }
        try page.allowScripts(true)
        try page.reload()
        #expect(try page.text(of: "p") == "moved")
        #expect(try page.text("document.visibilityState") == "visible")
        try page.setVisible(false)
        try page.wait(for: "document.visibilityState === 'hidden'")
        try page.setVisible(true)
        try page.wait(for: "document.visibilityState === 'visible'")
        let picture = try page.screenshot()
        #expect(picture.starts(with: [0x89] + Array("PNG".utf8)))
      }
    }

    @Test(
      "content beyond the edge is found in a document that is not wider, and a scrolling strip is not reported"
    )
    func layout() throws {
      try withBrowser { browser in
        let page = try browser.page()
        try page.setViewport(width: 320, height: 640)
        try page.go(
          to: address(
            of: """
              <style>body{margin:0;overflow-x:hidden} div{height:50px}</style>
              <div id=wide style='width:400px'>a</div>
              <div id=strip style='overflow-x:auto'><div id=long style='width:900px'>b</div></div>
              <div id=fixed style='position:fixed;left:300px;width:60px'>c</div><div id=fine>d</div>
              <button style='width:30px;height:60px'>x</button><button style='width:44px;height:44px'></button>
              """))
        let found = try page.overflowingElements().map { String($0.prefix { $0 != " " }) }
        #expect(found == ["div#wide", "div#fixed", "the"], "\(found)")
        let small = try page.smallTargets()
        #expect(small.count == 1 && small[0].contains("30 × 60"), "\(small)")
        #expect(try page.unlabelledControls().count == 1)
      }
    }

    @Test("nothing of a browser is left")
    func end() throws {
      func left() -> [String] {
        let mark = "/tmp/branch-\(getpid())-browser-"
        let processes = ProcessTable.all().filter { pid in
          ProcessTable.arguments(of: pid).contains { $0.hasPrefix("--user-data-dir=\(mark)") }
        }
        let names = ((try? Directory.entries(of: "/tmp")) ?? []).filter { "/tmp/\($0)".hasPrefix(mark) }
        return processes.map { "\($0)" } + names
      }
      try withBrowser { browser in
        let page = try browser.page()
        try page.go(to: "about:blank")
        #expect(left().count > 1)
      }
      #expect(left() == [])
    }
  }
}
