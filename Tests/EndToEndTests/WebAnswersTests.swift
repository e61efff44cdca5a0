// Answers of the page that must be right while an operation is slow, busy, or requested from another site.
import Foundation
import Testing

@Suite("Answers of a page", .serialized)
struct WebAnswersTests {
  @Test("a window with a slow customer is reported as closing, and not as an error")
  func closingWindow() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.005", "--loan", "2")
      try branch.runSuccessfully("enqueue", "2", "--service", "loan")
      try branch.waitUntil("both customers are being served") { try branch.status().queue("serving") == 2 }
      let web = try branch.web()
      func scale() throws -> WebClient.Answer {
        try web.local(
          "/windows/scale", "-d", "service=loan&windows=1&key=s", "-H", "Accept: application/json", "-H",
          "Accept-Language: ko")
      }
      // Where a busy machine keeps the coordinator from answering in time, the page says that the outcome is in doubt.
      // The same request is then sent again, as the page advises.
      var form = try scale()
      try branch.waitUntil("the outcome is known", within: .seconds(60)) {
        guard form.json["notice"].text == "refused~in_doubt" else { return true }
        form = try scale()
        return false
      }
      #expect(form.status == 200 && form.json["notice"].text == "scaling~loan~1", "\(form.body)")
      #expect(form.json["text"].text?.contains("1개로 바꾸는 중") == true, "\(form.body)")
      let script = try web.local("/api/v1/scale", "-d", #"{"service":"loan","windows":1}"#)
      #expect(
        script.status == 200
          && script.json["services"].item(where: "name", is: "loan")["windows"].integer == 1,
        "\(script.body)")
    }
  }

  @Test("an order at a busy station stays in line and leads to its ticket; without a station it is withdrawn")
  func busyStation() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.005")
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      let web = try branch.web()
      func order(_ key: String) throws -> WebClient.Answer {
        try web.local("/juice", "-d", "juice=kiwi&key=\(key)", "-H", "Accept: application/json")
      }
      let busy = try order("one")
      #expect(busy.status == 202 && busy.json["notice"].text == "refused~order_pending", "\(busy.body)")
      #expect(busy.json["to"].text?.hasPrefix("/ticket/2?day=1&notice=") == true, "\(busy.body)")
      #expect(try branch.status().queue("cancelled") == 0)
      try branch.runSuccessfully("pause", "juice")
      let away = try order("two")
      #expect(away.status == 409 && away.json["notice"].text == "refused~no_juice_station", "\(away.body)")
      #expect(try branch.status().queue("cancelled") == 1)
    }
  }

  @Test("after wrong attempts the manager's code is not reported as wrong: the answer asks to wait")
  func managersCode() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      func type(_ code: String, _ arguments: String...) throws -> WebClient.Answer {
        try web.curl(
          ["--unix-socket", web.socket, "-d", "code=\(code)"] + arguments
            + ["http://localhost/vending/admin/login"])
      }
      #expect(try type(web.managerCode).status == 303)
      for _ in 1...5 { #expect(try type("0").status == 403) }
      let paused = try type(web.managerCode, "-H", "Accept: application/json")
      #expect(
        paused.status == 429 && paused.json["notice"].text == "refused~too_many_wrong_codes", "\(paused.body)"
      )
      let page = try type(web.managerCode, "-H", "Accept-Language: ko")
      #expect(page.status == 429 && page.body.contains("30초 뒤에"), "\(page.body)")
      // Another visitor is not affected.
      let cookie = try web.logIn()
      let other = try web.remote(
        "/vending/admin/login", "-d", "code=\(web.managerCode)", "-H", "Cookie: \(cookie)", "-H",
        "Origin: \(web.url)")
      #expect(other.status == 303, "\(other)")
    }
  }

  @Test(
    "a service with the longest name has log pages, and its result and standard error are shown completely")
  func longNames() throws {
    let name = String(repeating: "n", count: 64)
    try withScratchBank { branch in
      let settings = try branch.write(
        #"{"services": {"\#(name)": {"run": ["sh", "-c", "cat; echo to-stderr >&2"]}}}"#, to: "long.json")
      try branch.start("--config", settings)
      let web = try branch.web()
      let payload = String(repeating: "0123456\n", count: 6_000)
      let file = try branch.write(payload, to: "payload")
      try branch.runSuccessfully("enqueue", "--service", name, "--payload-file", file, "--wait")
      #expect(try web.local("/windows/\(name)-1/log").status == 200)
      let page = try web.local("/ticket/1").body
      #expect(page.contains(payload) && page.contains("to-stderr"))
      #expect(!page.contains("No output yet."))
    }
  }

  @Test("a link of another site is requested again from the page itself, and shows nothing before")
  func fromElsewhere() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let navigating = ["-H", "Sec-Fetch-Mode: navigate"]
      let foreign = navigating + ["-H", "Sec-Fetch-Site: cross-site"]
      let address = web.url + "/tickets?state=waiting"
      // A browser is redirected to the bank's own host name first.
      let own = try #require(try web.curl(foreign + [address]).header("Location"))
      #expect(own.hasSuffix("/tickets?state=waiting"), "\(own)")
      let host = ["-H", "Host: \(own.split(separator: "/")[1])"]
      let answer = try web.curl(foreign + host + [address])
      #expect(
        answer.status == 200 && answer.body.contains(#"content="0; url=/tickets?state=waiting""#),
        "\(answer.body)")
      #expect(!answer.body.contains("data-live"))
      // From the same site, and for scripts, the answer is the ordinary refusal.
      let here = navigating + host + ["-H", "Sec-Fetch-Site: same-origin"]
      #expect(try web.curl(here + [address]).status == 401)
      #expect(try web.curl(foreign + host + [web.url + "/api/v1/status"]).status == 401)
      #expect(try web.curl(foreign + ["-d", "x=1", address]).status == 403)
    }
  }

  @Test("a page in one language asks and answers in it, whatever the browser prefers")
  func languages() throws {
    try withScratchBank { branch in
      try branch.start()
      let web = try branch.web()
      let english = ["-H", "Accept-Language: en"]
      let question = try web.curl(
        ["--unix-socket", web.socket] + english + ["http://localhost/reset?lang=ko"])
      #expect(question.body.contains("초기화할까요?"))
      let answer = try web.curl(
        ["--unix-socket", web.socket, "-H", "Accept: application/json", "-d", "count=1&key=a"] + english
          + ["http://localhost/customers?lang=ko"])
      #expect(answer.json["text"].text?.contains("번호표가 나왔습니다") == true, "\(answer.body)")
      #expect(try web.local("/customers?x=1", "-d", "count=1&key=b").status == 400)
    }
  }
}
