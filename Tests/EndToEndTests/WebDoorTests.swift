// Access to the page of a real bank: proxies, roles, ends of sessions, and the right to run commands.
import Foundation
import Glibc
import Testing

@Suite("Access to a page", .serialized)
struct WebDoorTests {
  private static let command = #"{"service":"run","payload":"{\"command\":[\"true\"]}"}"#

  @Test("the host name of a proxy needs a cookie and an origin on the socket in the home, too")
  func proxies() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web("--host", "bank.example.org")
      let named = ["--unix-socket", web.socket, "-H", "X-Forwarded-For: 203.0.113.9"]
      func ask(_ path: String, _ arguments: [String]) throws -> Int {
        try web.curl(named + arguments + ["http://bank.example.org" + path]).status
      }
      #expect(try ask("/api/v1/status", []) == 401 && ask("/", []) == 401)
      #expect(try ask("/api/v1/customers", ["-d", Self.command]) == 403)
      #expect(try ask("/links", ["-X", "POST"]) == 403 && ask("/sessions", []) == 401)
      let origin = ["-H", "Origin: https://bank.example.org"]
      #expect(try ask("/links", origin + ["-X", "POST"]) == 401)
      // A proxy that sends another host name than its own has no access either.
      #expect(try web.local("/api/v1/status", "-H", "X-Forwarded-For: 203.0.113.9").status == 421)
      #expect(try web.local("/api/v1/status", "-0").status == 421)
      #expect(try branch.status().queue("issued") == 0)
      // With a session the usual rules apply.
      let token = try #require(web.link.components(separatedBy: "/login").last)
      let login = try web.curl(named + ["http://bank.example.org/login" + token])
      let cookie = try #require(login.header("set-cookie"))
      #expect(login.status == 303 && cookie.hasSuffix("; Secure"))
      let mine = ["-H", "Cookie: \(cookie.prefix { $0 != ";" })"]
      #expect(try ask("/api/v1/status", mine) == 200)
      #expect(try ask("/api/v1/customers", mine + ["-d", #"{"count":1}"#]) == 403)
      #expect(try ask("/api/v1/customers", mine + origin + ["-d", #"{"count":1}"#]) == 200)
      #expect(try web.local("/api/v1/status").status == 200, "the owner's own scripts need no cookie")
    }
  }

  @Test("sessions are listed and ended: one by one, by a logout, with the page and with the bank")
  func sessions() throws {
    try withScratchBank { branch in
      try branch.start()
      var web = try branch.web()
      func status(_ cookie: String) throws -> Int {
        try web.remote("/api/v1/status", "-H", "Cookie: \(cookie)").status
      }
      func logIn(_ arguments: String...) throws -> String {
        let outcome = try branch.launch(["web", "--json", "--no-open"] + arguments).finish()
        let url = try #require(try outcome.json()["url"].text, outcome.story)
        let cookie = try #require(try web.curl([url]).header("set-cookie"))
        return String(cookie.prefix { $0 != ";" })
      }
      let cookies = [try web.logIn(), try logIn("--role", "viewer"), try logIn("--role", "kiosk")]
      #expect(Set(cookies).count == 3)
      #expect(try cookies.map(status) == [200, 200, 403])
      let told = try branch.json("web", "sessions")["sessions"].items
      #expect(told.compactMap { $0["role"].text } == ["operator", "viewer", "kiosk"])
      let first = try #require(told.first?["id"].text)
      // A stream of the session ends with it.
      let stream = try branch.launch(
        ["-s", "-N", "-H", "Cookie: \(cookies[0])", web.url + "/events?page=/&lang=ko"],
        program: "/usr/bin/curl")
      try branch.waitUntil("the stream has started") { stream.lines.contains { $0.contains("snapshot") } }
      #expect(try branch.json("web", "sessions", "--end", first)["ended"].items.count == 1)
      #expect(try stream.finish().code == 0)
      #expect(try status(cookies[0]) == 401 && status(cookies[1]) == 200)
      #expect(try branch.run("web", "sessions", "--end", first).code == 4)
      #expect(try branch.run("web", "sessions", "--end", "../links").code == 4)
      let out = try web.curl([
        "-X", "POST", "-H", "Cookie: \(cookies[1])", "-H", "Origin: \(web.url)", web.url + "/logout",
      ])
      #expect(out.status == 303 && out.header("set-cookie")?.contains("Max-Age=0") == true)
      #expect(try status(cookies[1]) == 401)
      // A kill of the web server ends no session; closing it ends all.
      let pid = try #require(try branch.status().worker("web")?.pid)
      #expect(branch.processes.signal(pid, SIGKILL))
      try branch.waitUntil("the page is back") {
        try branch.statusIfAnswered()?.worker("web").map { $0.pid != pid } == true
          && web.isAnswering()
      }
      #expect(try status(cookies[2]) == 403)
      let file = branch.home + "/run/web.sessions"
      let kept = try String(contentsOfFile: file, encoding: .utf8)
      #expect(!kept.contains(cookies[2].split(separator: "=")[1]), "a secret is not stored")
      for isStop in [false, true] {
        let cookie = try logIn()
        #expect(try status(cookie) == 200)
        if isStop {
          try branch.runSuccessfully("stop")
          try branch.start()
        } else {
          try branch.runSuccessfully("web", "stop")
          try branch.waitUntil("the web server has exited") { try branch.status().worker("web") == nil }
          #expect(try branch.run("web", "sessions").code == 5)
        }
        web = try branch.web()
        let secret = cookie.split(separator: "=")[1]
        let name = try web.logIn().split(separator: "=")[0]
        #expect(try status("\(name)=\(secret)") == 401, "stop: \(isStop)")
      }
      #expect(try branch.json("web", "sessions", "--end", "all")["sessions"].items.isEmpty)
    }
  }

  @Test("only a link that allows it can run a command; a public screen and a viewer cannot steer")
  func roles() throws {
    try withScratchBank { branch in
      let services = #"{"services": {"batch": {"run": [], "windows": 1}}}"#
      try branch.start("--config", try branch.write(services, to: "bank.json"))
      let web = try branch.web("--chaos")
      func post(_ arguments: [String], _ path: String, _ body: String) throws -> Int {
        let outcome = try branch.launch(["web", "--json", "--no-open", "--chaos"] + arguments).finish()
        let url = try #require(try outcome.json()["url"].text, outcome.story)
        let cookie = try #require(try web.curl([url]).header("set-cookie")).prefix { $0 != ";" }
        let answer = try web.curl([
          "-H", "Cookie: \(cookie)", "-H", "Origin: \(web.url)", "-H", "Accept: application/json", "-d", body,
          web.url + path,
        ])
        return answer.status
      }
      let form = "count=1&from=kiosk&key=k&service=run&payload=" + #"{"command":["true"]}"#
      for role in ["viewer", "kiosk", "operator", "manager"] {
        #expect(try post(["--role", role], "/api/v1/customers", Self.command) == 403, "\(role)")
        #expect(try post(["--role", role], "/customers", form) == 403, "\(role)")
      }
      // A service of the configuration that runs command lines.
      let command = Self.command.replacing("\"run\"", with: "\"batch\"")
      let batchForm = form.replacing("service=run", with: "service=batch")
      for role in ["kiosk", "operator", "manager"] {
        #expect(try post(["--role", role], "/api/v1/customers", command) == 400, "\(role)")
        #expect(try post(["--role", role], "/customers", batchForm) == 400, "\(role)")
      }
      #expect(try post(["--role", "kiosk", "--allow-run"], "/api/v1/customers", Self.command) == 403)
      #expect(try branch.status().queue("issued") == 0)
      #expect(try post(["--allow-run"], "/api/v1/customers", Self.command) == 200)
      #expect(try post(["--allow-run"], "/api/v1/customers", command) == 200)
      #expect(
        try web.local("/api/v1/customers", "-d", Self.command).status == 200, "the owner has a shell anyway")
      for role in ["viewer", "kiosk"] {
        #expect(try post(["--role", role], "/reset", "day=1&confirmed=1&key=r") == 403)
        #expect(try post(["--role", role], "/windows/end", "window=loan-1&generation=1&pid=2&key=e") == 403)
        #expect(try post(["--role", role], "/api/v1/reset", "{}") == 403)
        #expect(try post(["--role", role], "/vending/admin/add", "product=top&count=1&key=v") == 403)
      }
      #expect(try post(["--role", "viewer"], "/customers", "count=1&from=bank&key=a") == 403)
      #expect(try post(["--role", "kiosk"], "/customers", "count=1&from=kiosk&key=b") == 200)
      #expect(try post(["--role", "manager"], "/vending/admin/add", "product=top&count=1&key=w") == 200)
      #expect(
        try post([], "/vending/admin/add", "product=top&count=1&key=x") == 403, "an operator needs the code")
      #expect(try post([], "/reset", "day=1&confirmed=1&key=r") == 200)
      #expect(try branch.run("web", "--role", "king").code == 2)
    }
  }

  @Test("a server proves its identity without a cookie, for the requested address")
  func identity() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let mine = "Cookie: \(try web.logIn())"
      let page = try web.remote("/", "-H", mine).body
      let mark = try #require(page.components(separatedBy: #"data-server=""#).dropFirst().first)
      let session = String(mark.prefix(8))
      let path = "/identity?session=\(session)&question=0123456789abcdef"
      let proof = try web.remote(path)
      #expect(proof.status == 200 && proof.body.utf8.count == 65)
      let localhost = web.url.replacingOccurrences(of: "127.0.0.1", with: "localhost")
      #expect(try web.curl([localhost + path]).body != proof.body, "the proof holds for one address")
      #expect(try web.remote("/identity?session=\(session)&question=1").status == 400)
      // It is the same bank after a stop, although its sessions have ended.
      let port = try #require(web.url.split(separator: ":").last)
      try branch.runSuccessfully("stop")
      try branch.start()
      try branch.runSuccessfully("web", "--no-open", "--port", String(port))
      #expect(try web.remote(path).body == proof.body && web.remote("/", "-H", mine).status == 401)
    }
  }

  @Test("cookies of other programs at 127.0.0.1 break no page")
  func crowd() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let mine = "Cookie: \(try web.logIn()); other=" + String(repeating: "x", count: 9_000)
      for path in ["/", "/windows", "/api/v1/status"] {
        #expect(try web.remote(path, "-H", mine).status == 200)
      }
      let large = "Cookie: a=" + String(repeating: "x", count: 60_000)
      let refused = try web.remote("/", "-H", "Accept-Language: ko", "-H", large)
      #expect(refused.status == 431 && refused.body.contains("쿠키"), "\(refused)")
      #expect(try web.remote("/api/v1/status", "-H", large).json["error"]["message"].text?.isEmpty == false)
    }
  }
}
