// Access to the pages: a link that works once, no other host name, no form of another site, no foreign script.
import BranchFixture
import HeadlessBrowser
import Testing

extension PageTests {
  @Suite("Access to the pages")
  struct AccessTests {
    @Test("a link admits one browser, with a cookie that no script and no other site can use")
    func link() throws {
      try withSite { site in
        let link = try site.link()
        let first = try site.browser.page()
        let answer = try #require(try first.go(to: link))
        #expect(answer.status == 200)
        #expect(
          try first.text("location.href") == site.origin + "/", "the address does not contain the token")
        let cookie = try #require(try first.cookies().first)
        #expect(cookie["httpOnly"] == true && cookie["sameSite"] == "Strict", "\(cookie)")
        #expect(try first.text("document.cookie") == "")
        let host = try first.text("location.hostname")
        #expect(
          host.hasPrefix("bank-") && host.hasSuffix(".localhost") && cookie["domain"].text == host,
          "\(cookie)")
        // Another program at 127.0.0.1 receives nothing, and a request by address is redirected to the host name.
        let port = try first.text("location.port")
        #expect(try first.go(to: "http://127.0.0.1:\(port)/windows")?.status == 200)
        #expect(try first.text("location.href") == site.origin + "/windows")
        try first.go(to: site.origin + "/")
        let second = try site.browser.page()
        #expect(try second.go(to: link)?.status == 401)
        #expect(try second.go(to: site.origin + "/")?.status == 401)
        #expect(try second.count("[data-action]") == 0)
        #expect(try first.reload()?.status == 200)
        #expect(
          try site.browser.page().go(to: try site.link())?.status == 200,
          "another link admits another browser")
      }
    }

    @Test("a request with another host name is misdirected, and a form of another site adds no customer")
    func strangers() throws {
      try withSite { site in
        let page = try site.page()
        let port = try #require(site.origin.split(separator: ":").last)
        let foreign = try site.page("/", beside: page)
        #expect(try foreign.go(to: "http://\(Browser.otherOriginHost):\(port)/")?.status == 421)
        let stranger = try site.browser.page(of: page.context)
        let form = """
          <form method=post action='\(site.origin)/customers'><input name=count value=10>\
          <input name=key value=a><button>a</button></form>
          """
        try stranger.go(to: try document(form))
        try stranger.click("button")
        try stranger.wait(
          for: "document.readyState === 'complete' && !document.querySelector('input[name=count]')")
        let sent = try #require(stranger.log.requests.last { $0.method == "POST" })
        #expect(sent.status == 403)
        // Request of a script that needs no preflight.
        try stranger.go(to: try document("<p>b</p>"))
        try stranger.evaluate(
          """
          fetch('\(site.origin)/customers', {method: 'POST', mode: 'no-cors', credentials: 'include',
            body: new URLSearchParams({count: 10, key: 'b'})}).catch(() => null)
          """)
        try stranger.awaitPendingEvents()
        let refused = try #require(stranger.log.requests.last { $0.method == "POST" })
        // The server refuses it, or the browser does before sending.
        #expect(refused.status.map { $0 == 403 } ?? (refused.failure != nil), "\(refused)")
        #expect(try site.branch.status().queue("issued") == 0)
      }
    }

    /// Address of a document that does not come from the bank.
    private func document(_ body: String) throws -> String {
      "data:text/html,<!doctype html><title>a</title>" + body.replacing("#", with: "%23")
    }

    @Test("only the bank's own scripts run, and customer data is shown as text")
    func inline() throws {
      try withSite("--speed", "0.01") { site in
        let bait = "<script>window.caught = 1</script><img src=x onerror='window.caught = 2'>"
        try site.branch.runSuccessfully("enqueue", "--service", "run", "--payload", bait)
        let page = try site.page("/ticket/1")
        #expect(try page.text("document.body.textContent").contains(bait))
        try page.expectClean()
        // Even a script that gets into a document does not run.
        try page.evaluate(
          """
          const script = document.createElement("script");
          script.textContent = "window.caught = 3";
          document.body.append(script);
          const button = document.createElement("button");
          button.setAttribute("onclick", "window.caught = 4");
          document.body.append(button);
          button.click();
          const strange = document.createElement("script");
          strange.src = "http://192.0.2.1/a.js";
          document.body.append(strange);
          """)
        try page.awaitPendingEvents()
        #expect(try page.evaluate("window.caught ?? null").isNull)
        let refused = page.log.errors.filter { $0.contains("Content Security Policy") }
        #expect(refused.count >= 3, "\(page.log.errors)")
        let answer = try #require(try page.reload())
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(
          policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "\(policy)")
        #expect(!policy.contains("unsafe"), "\(policy)")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["referrer-policy"] == "same-origin")
        #expect(answer.headers["cache-control"]?.contains("no-store") == true)
      }
    }

    @Test("the logout button ends a session in every window of the browser")
    func logout() throws {
      try withSite { site in
        let first = try site.page()
        let second = try site.page("/windows", beside: first)
        let stranger = try site.page()
        try first.setViewport(width: 1280, height: 1_100)
        try first.click("[data-action=\"logout\"]")
        try first.wait(for: "document.readyState === 'complete' && location.pathname === '/login'")
        #expect(try first.cookies().isEmpty)
        try second.wait(for: "document.querySelector('.command')?.textContent.includes('bankctl web')")
        #expect(try stranger.reload()?.status == 200, "another session stays valid")
        #expect(try first.go(to: site.origin + "/")?.status == 401)
      }
    }

    @Test("a public screen shows what customers may see, and links to nothing else")
    func kiosk() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.browser.page()
        try page.go(to: try site.link(["--role", "kiosk"]))
        #expect(try page.text("location.pathname") == "/kiosk")
        let links = try page.evaluate(
          "[...document.querySelectorAll('.menu a')].map(a => a.getAttribute('href'))")
        #expect(links.items.compactMap(\.text) == ["/kiosk", "/lobby", "/juice", "/vending"])
        try page.click(try page.button(of: "/customers"))
        try page.wait(for: "location.pathname === '/ticket/1' && document.readyState === 'complete'")
        #expect(
          try page.count("main form button:not([disabled])") == 0,
          "a customer cannot cancel the tickets of others")
        for path in ["/windows", "/tickets", "/reset"] {
          #expect(try page.go(to: site.origin + path)?.status == 403, "\(path)")
        }
        let viewer = try site.browser.page()
        try viewer.go(to: try site.link(["--role", "viewer"]))
        #expect(try viewer.count("[data-action=\"add\"]:not([disabled])") == 0)
      }
    }

    @Test("in read-only mode everything is shown and nothing can be changed")
    func readOnly() throws {
      try withSite("--speed", "0.01", web: ["--read-only"]) { site in
        let page = try site.page()
        try page.markDocument()
        #expect(try page.count("[data-action=\"add\"]:not([disabled])") == 0)
        try page.evaluate(
          "fetch('/customers', {method: 'POST', body: new URLSearchParams({count: 10, key: 'a'})})")
        #expect(page.log.requests.last { $0.method == "POST" }?.status == 403)
        try site.branch.runSuccessfully("enqueue", "3")
        try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 3")
      }
    }

    @Test("the first page with all its files weighs at most 60 kB")
    func weight() throws {
      try withSite("--speed", "0.01") { site in
        try site.branch.runSuccessfully("enqueue", "10")
        let page = try site.page()
        page.forget()
        try page.ignoreCache(true)
        try page.go(to: site.origin + "/")
        try page.awaitPendingEvents()
        #expect(page.log.bytes <= 60_000 && page.log.bytes > 1_000, "\(page.log.requests)")
        // The shared worker of all windows receives the answer to its request; the page does not.
        let answered = page.log.requests.filter {
          $0.kind != "EventSource" && !$0.url.hasSuffix("/shared.js")
        }
        #expect(answered.count > 3 && answered.allSatisfy { $0.status == 200 }, "\(answered)")
        // Unchanged files are not sent again.
        try page.ignoreCache(false)
        try page.go(to: site.origin + "/")
        page.forget()
        try page.go(to: site.origin + "/")
        try page.awaitPendingEvents()
        let heavy = page.log.requests.filter { $0.url.contains("/assets/") && $0.bytes > 1_000 }
        #expect(heavy.isEmpty, "\(heavy)")
      }
    }

    @Test("seven pages are open: hidden ones delay no other page, and are up to date when shown again")
    func seven() throws {
      try withSite("--speed", "0.01") { site in
        let first = try site.page()
        var pages = [first]
        for _ in 2...7 {
          // A hidden page closes its stream.
          try pages.last?.setVisible(false)
          try pages.last?.wait(for: "document.visibilityState === 'hidden'")
          pages.append(try site.page("/", beside: first))
        }
        for page in pages { try page.markDocument() }
        try pages[6].click("[data-action=\"add\"]")
        try pages[6].waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 10")
        for page in pages {
          try page.setVisible(true)
          try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 10")
          try page.expectClean()
          try page.setVisible(false)
        }
      }
    }

    @Test("seven visible windows share one stream, and a button in each is answered at once")
    func together() throws {
      try withSite("--speed", "0.01") { site in
        let first = try site.page()
        let paths = ["/windows", "/lobby", "/services", "/tickets", "/", "/kiosk"]
        let pages = try [first] + paths.map { try site.page($0, beside: first) }
        for page in pages {
          try page.markDocument()
          #expect(try page.text("document.visibilityState") == "visible")
        }
        for (count, page) in [first, pages[5]].enumerated() {
          try page.click("[data-action=\"add\"]")
          for list in [first, pages[5]] {
            try list.waitWithoutReload(
              "document.querySelectorAll('[data-list] [data-ticket]').length === \(10 * (count + 1))")
          }
        }
        try pages[4].waitWithoutReload("document.querySelectorAll('[data-ticket]').length === 20")
        try pages[1].waitWithoutReload("document.querySelector('.steering').textContent.includes('waiting')")
        // A page that is hidden takes nothing from the others.
        try pages[5].setVisible(false)
        try first.click("[data-action=\"add\"]")
        try first.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 30")
        try pages[5].setVisible(true)
        try pages[5].waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 30")
        for page in pages { try page.expectClean() }
      }
    }

    @Test("a page whose shared stream could not be loaded checks the server, and is live again")
    func unloadedStream() throws {
      try withSite("--speed", "0.01") { site in
        let page = try site.page()
        try page.addInitialScript(
          """
          const Real = SharedWorker;
          window.begun = 0;
          window.SharedWorker = function (path, options) {
            window.begun += 1;
            return window.begun > 1 ? new Real(path, options) : new Real('/assets/nothing.js', { ...options, name: 'none' });
          };
          """)
        try page.reload()
        try page.markDocument()
        try page.waitWithoutReload("window.begun === 2")
        try page.click("[data-action=\"add\"]")
        try page.waitWithoutReload("document.querySelectorAll('[data-list] [data-ticket]').length === 10")
      }
    }

    @Test("a program that takes the port of a closed bank receives no cookie of an open page")
    func impostor() throws {
      try withSite { site in
        let page = try site.page()
        try page.markDocument()
        let port = try #require(UInt16(try page.text("location.port")))
        try site.branch.runSuccessfully("web", "stop")
        try site.branch.waitUntil("the web server has exited") {
          try site.branch.status().worker("web") == nil
        }
        let program = """
          import http.server, socketserver
          class Server(http.server.ThreadingHTTPServer):
              allow_reuse_address = True
              def server_bind(self):
                  # Not HTTPServer's: it looks for a name of the address, and waits where no resolver answers.
                  socketserver.TCPServer.server_bind(self)
          class Impostor(http.server.BaseHTTPRequestHandler):
              def answer(self):
                  print("cookie" if self.headers["Cookie"] else "none", self.path.split("?")[0], flush=True)
                  body = b"x" * 64
                  self.send_response(200)
                  self.send_header("Content-Length", "64")
                  self.end_headers()
                  self.wfile.write(body)
              do_GET = do_POST = answer
              def log_message(self, *words): pass
          Server(("127.0.0.1", \(port)), Impostor).serve_forever()
          """
        let impostor = try site.branch.launch(["-c", program], program: "/usr/bin/python3")
        defer { impostor.end() }
        try site.branch.waitUntil("the page has requested the identity of the server") {
          try #require(impostor.isRunning, "\(impostor.errors)")
          return impostor.lines.contains { $0.hasSuffix("/identity") }
        }
        try page.waitWithoutReload("document.querySelector('#lost').textContent.includes('Another program')")
        try page.click("[data-action=\"add\"]")
        try page.waitWithoutReload("document.querySelector('#toast').textContent.trim() !== ''")
        try page.setViewport(width: 1280, height: 900)
        try page.click(".menu a[href=\"/windows\"]")
        let asked = impostor.lines.count
        try site.branch.waitUntil("the page has requested it again") { impostor.lines.count > asked + 1 }
        #expect(impostor.lines.allSatisfy { $0 == "none /identity" }, "\(impostor.lines)")
        #expect(try page.shows("window.isTheSame === true"))
        // The bank is back at its port: the page recognises it and reports that its session has ended.
        impostor.end()
        try site.branch.waitUntil("the port is free") {
          try site.branch.run("web", "--no-open", "--json", "--port", "\(port)").out.contains(":\(port)/")
        }
        try page.wait(for: "document.querySelector('.command')?.textContent.includes('bankctl web')")
      }
    }
  }
}
