// Web server with a real bank: access, answers to scripts, forms without scripts, and a kill of all processes.
import Foundation
import Glibc
import Testing

@Suite("The page of a bank", .serialized)
struct WebTests {
  @Test("a link works once; a foreign host, a foreign origin and a client without a session are refused")
  func admission() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let stranger = try web.remote("/api/v1/status")
      #expect(stranger.status == 401 && stranger.json["error"]["code"].text == "unauthenticated")
      #expect(try web.remote("/").status == 401)
      let cookie = try web.logIn()
      #expect(try web.curl([web.link]).status == 401)
      let mine = "Cookie: \(cookie)"
      let status = try web.remote("/api/v1/status", "-H", mine)
      #expect(status.status == 200 && status.json["bank"]["state"].text == "open")
      let elsewhere = try web.remote("/api/v1/status", "-H", mine, "-H", "Host: evil.example.org")
      #expect(elsewhere.status == 421 && elsewhere.json["error"]["code"].text == "wrong_host")
      let order = ["-H", "Content-Type: application/json", "-d", #"{"count":1}"#]
      let path = web.url + "/api/v1/customers"
      #expect(try web.curl(["-H", mine] + order + [path]).status == 403)
      #expect(try web.curl(["-H", mine, "-H", "Origin: http://evil"] + order + [path]).status == 403)
      let added = try web.curl(["-H", mine, "-H", "Origin: \(web.url)"] + order + [path])
      #expect(added.status == 200 && added.json["first"].integer == 1)
      for (name, value) in [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
      ] { #expect(status.header(name) == value) }
      #expect(status.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
      #expect(try web.remote("/api/v1/status", "-X", "DELETE", "-H", mine).status == 405)
    }
  }

  @Test("scripts get the documents of --json, and a key makes a request take effect once")
  func api() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      let web = try branch.web()
      let order = ["-H", "Idempotency-Key: monday", "-d", #"{"count":3,"service":"loan"}"#]
      func add() throws -> JSON {
        try web.curl(["--unix-socket", web.socket] + order + ["http://localhost/api/v1/customers"]).json
      }
      let (first, again) = (try add(), try add())
      #expect(first["first"].integer == 1 && first["last"].integer == 3 && first["known"].flag == false)
      #expect(again["known"].flag == true && again["first"].integer == 1)
      let other = try web.local(
        "/api/v1/customers", "-H", "Idempotency-Key: monday", "-d", #"{"count":4}"#)
      #expect(other.status == 409 && other.json["error"]["code"].text == "key_conflict")
      let listed = try web.local("/api/v1/tickets?state=waiting&after=1&limit=1")
      #expect(try JSON.lines(listed.body).map { $0["ticket"].integer } == [2])
      #expect(try web.local("/api/v1/tickets/2").json["state"].text == "waiting")
      #expect(try web.local("/api/v1/tickets/99").status == 404)
      #expect(try web.local("/api/v1/tickets?limit=x").status == 400)
      let chosen = try web.local("/api/v1/cancel", "-d", #"{"tickets":[2,3,99]}"#).json
      #expect(chosen["done"].integer == 2 && chosen["refused"].items.first?["ticket"].integer == 99)
      let set = try web.local("/api/v1/stock", "-d", #"{"item":"kiwi","quantity":12}"#).json
      #expect(set["items"].item(where: "item", is: "kiwi")["quantity"].integer == 12)
      #expect(try branch.stock()["kiwi"] == 12)
      #expect(
        try web.local("/api/v1/vending/insert", "-d", #"{"amount":1000}"#).json["balance"].integer == 1_000)
      #expect(try web.local("/api/v1/vending/buy", "-d", #"{"product":"top"}"#).status == 409)
      let juice = try web.local("/api/v1/juice", "-d", #"{"juice":"durian"}"#)
      #expect(juice.status == 404 && juice.json["error"]["code"].text == "no_such_juice")
      #expect(try branch.status().queue("issued") == 3, "a juice that cannot be made issues no ticket")
      #expect(try web.local("/api/v1/nothing").status == 404)
      #expect(try web.local("/ledger?account=-1").status == 404)
      #expect(try web.local("/api/v1/accounts/-1").status == 400)
      #expect(try web.local("/api/v1/customers", "-d", "count=1").status == 400)
    }
  }

  @Test("the examples of the documentation page work as printed")
  func documentation() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let examples = try DocumentedWorkers.program("sh", of: "bank-web/bank-web.docc/Web.md")
      let lines = examples.split(separator: "\n").map { String($0) }
      try #require(lines.first?.hasPrefix("web=") == true && lines.count > 10)
      // With `-f` a status of failure is an exit code of curl, and the socket is that of the branch.
      let program = (["set -e", "web='curl -sS -f --unix-socket \(web.socket)'"] + lines.dropFirst())
        .joined(separator: "\n")
      let outcome = try branch.launch(["-c", program], program: "/bin/sh").finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(try branch.stock()["kiwi"] == 7, "ten were set, and a juice took three")
    }
  }

  @Test("a form without scripts adds customers once per key, and leads back")
  func forms() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      let web = try branch.web()
      let page = try web.local("/", "-H", "Accept-Language: ko")
      #expect(page.status == 200 && page.body.contains("고객 10명 추가") && page.body.contains("초기화"))
      #expect(page.body.contains(#"data-list="waiting""#) && page.body.contains(#"data-list="serving""#))
      for _ in 1...2 {
        let sent = try web.local("/customers", "-d", "count=10&from=bank&key=one")
        #expect(sent.status == 303 && sent.header("Location")?.hasPrefix("/?notice=") == true)
      }
      #expect(try branch.status().queue("issued") == 10)
      _ = try web.local("/customers", "-d", "count=10&from=bank&key=two")
      _ = try web.local("/juice", "-d", "juice=durian&key=four")
      #expect(try branch.status().queue("issued") == 20, "a juice that cannot be made issues no ticket")
      let shown = try web.local("/?notice=added~10~1").body
      #expect(shown.contains(#"data-ticket="20""#))
      let question = try web.local("/reset")
      #expect(question.status == 200 && question.body.contains("confirmed"))
      #expect(try web.local("/reset", "-d", "day=1&confirmed=1&key=r").status == 303)
      #expect(try web.local("/reset", "-d", "day=1&confirmed=1&key=r").status == 303)
      let status = try branch.status()
      #expect(status.queue("issued") == 0 && status.document["bank"]["day"].integer == 2)
    }
  }

  @Test("a read-only page changes nothing; it can be stopped, and opened again")
  func readOnly() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web("--read-only")
      #expect(try web.local("/customers", "-d", "count=1&key=a").status == 403)
      #expect(try web.local("/api/v1/customers", "-d", "{}").status == 403)
      #expect(try web.local("/api/v1/status").status == 200)
      #expect(try branch.status().worker("web")?.pid ?? 0 > 0)
      try branch.runSuccessfully("web", "stop")
      try branch.waitUntil("the web server has exited") { try branch.status().worker("web") == nil }
      #expect(try branch.web().local("/api/v1/customers", "-d", "{}").status == 200)
    }
  }

  @Test("a plot shows what was served before the first visit, also after a kill of the web server")
  func plots() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "100")
      try branch.runSuccessfully("enqueue", "30", "--service", "deposit")
      try branch.runSuccessfully("wait")
      let web = try branch.web()
      let mine = "Cookie: \(try web.logIn())"
      /// Highest point of a service's plot, in parts of 60; nil if there is no page.
      func height(_ service: String) throws -> Int? {
        let page = try branch.launch(["-s", "-H", mine, web.url + "/services"], program: "/usr/bin/curl")
          .finish()
        guard let card = page.out.components(separatedBy: #"data-key="\#(service)""#).dropFirst().first,
          let points = card.components(separatedBy: #"<polyline points=""#).dropFirst().first?.prefix(while: {
            $0 != "\""
          })
        else { return nil }
        return points.split(separator: " ").compactMap { $0.split(separator: ",").last.flatMap { Int($0) } }
          .map { 60 - $0 }.max()
      }
      #expect(try height("deposit") == 56 && height("loan") == 0)
      // The web server stores no history: its successor receives the same.
      let pid = try branch.status().worker("web")?.pid
      #expect(branch.processes.signal(try #require(pid), SIGKILL))
      try branch.waitUntil("the page is back") { try height("deposit") == 56 && height("loan") == 0 }
      #expect(try branch.status().worker("web")?.pid != pid)
    }
  }

  @Test("the page is back at the same port with the same cookies, whichever process was killed")
  func kills() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let mine = "Cookie: \(try web.logIn())"
      func isBack() throws -> Bool {
        let outcome = try branch.launch(
          ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", mine, web.url + "/api/v1/status"],
          program: "/usr/bin/curl"
        ).finish()
        return outcome.out == "200"
      }
      for victim in ["web", "bankd"] {
        let status = try branch.status()
        let pid = victim == "web" ? status.worker("web")?.pid : status.document["bank"]["pid"].integer
        #expect(branch.processes.signal(try #require(pid), SIGKILL))
        try branch.waitUntil("the page is back after \(victim) was killed") {
          try isBack() && (try branch.statusIfAnswered()?.worker("web")?.pid ?? 0) != pid
        }
      }
      try branch.runSuccessfully("stop")
      #expect(try !isBack())
    }
  }

  @Test("events start with a snapshot, continue with changes, and resume from the last event of a client")
  func events() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      let web = try branch.web()
      func listen(_ arguments: [String]) throws -> RunningProgram {
        try branch.launch(
          ["-s", "-N", "--unix-socket", web.socket] + arguments + ["http://localhost/events?page=/&lang=ko"],
          program: "/usr/bin/curl")
      }
      let first = try listen([])
      try branch.waitUntil("the first event has come") { first.text.contains("event: snapshot") }
      #expect(first.text.contains("retry: 300"))
      _ = try web.local("/customers", "-d", "count=2&from=bank&key=k")
      try branch.waitUntil("a change has come") {
        // The key of a row precedes the row, or the number of its template.
        first.text.contains("event: change") && first.text.contains(#"["2","#)
      }
      let seen = first.text.components(separatedBy: "\n").last { $0.hasPrefix("id: ") }
      let id = try #require(seen).dropFirst(4)
      let second = try listen(["-H", "Last-Event-ID: \(id)"])
      _ = try web.local("/customers", "-d", "count=1&from=bank&key=l")
      try branch.waitUntil("a client that resumes receives only the change") {
        second.text.contains("event: change")
      }
      #expect(!second.text.contains("event: snapshot"))
      let stranger = try listen(["-H", "Last-Event-ID: zz-1"])
      try branch.waitUntil("a client with an unknown event id receives a snapshot") {
        stranger.text.contains("event: snapshot")
      }
      for program in [first, second, stranger] { program.end() }
    }
  }
}

extension RunningProgram {
  /// Output so far.
  fileprivate var text: String { lines.joined(separator: "\n") }
}
