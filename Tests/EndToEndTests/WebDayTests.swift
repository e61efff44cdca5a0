// Day of a ticket: links, streams and confirmations apply to the day in which they were made.
import Foundation
import Testing

@Suite("Days on a page", .serialized)
struct WebDayTests {
  /// Hidden fields of a page's form, as a browser sends them.
  private func fields(of body: String, form action: String) throws -> [String] {
    let form = try #require(
      body.components(separatedBy: "<form ").first { $0.contains(#"action="\#(action)""#) }, "\(body)")
    let inside = form.components(separatedBy: "</form>")[0]
    return inside.matches(of: /name="(\w+)" value="([^"]*)"/).map { "\($0.1)=\($0.2)" }
  }

  private func notice(_ answer: WebClient.Answer) -> String { answer.json["notice"].text ?? answer.body }

  @Test("a confirmation applies to the day in which it was asked, not to later customers of equal numbers")
  func confirmations() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "8", "--service", "deposit")
      let web = try branch.web()
      let list = try fields(of: try web.local("/tickets?state=waiting").body, form: "/tickets/cancel")
      let ticked = list.filter { !$0.hasPrefix("ticket=") } + ["ticket=5", "ticket=6"]
      #expect(ticked.contains("day=1"))
      let question = try web.local("/tickets/cancel", "-d", ticked.joined(separator: "&"))
      #expect(question.status == 200 && question.body.contains("day 1, tickets 5, 6"), "\(question.body)")
      let sure = try fields(of: question.body, form: "/tickets/cancel").joined(separator: "&")
      let all = try web.local("/tickets/cancel", "-d", "state=waiting&all=1&day=1&key=b").body
      let allSure = try fields(of: all, form: "/tickets/cancel").joined(separator: "&")
      // A script that omits the day is still bound by the confirmed number.
      let digits = try #require(allSure.components(separatedBy: "confirmed=").last?.prefix { $0 != "&" })
      try branch.runSuccessfully("reset", "--yes")
      try branch.runSuccessfully("enqueue", "8", "--service", "loan")
      for body in [sure, allSure, "state=waiting&all=1&confirmed=\(digits)", "ticket=5&ticket=6&day=1"] {
        let answer = try web.local("/tickets/cancel", "-d", body, "-H", "Accept: application/json")
        #expect(answer.status == 409 && notice(answer) == "refused~wrong_day", "\(body): \(answer.body)")
      }
      #expect(try web.local("/tickets/cancel", "-d", "ticket=5&confirmed=1").status == 400)
      #expect(try branch.status().queue("waiting") == 8, "no customer of the second day was cancelled")
      #expect(
        try web.local("/tickets/cancel", "-d", sure, "-H", "Accept-Language: ko").header("Location")?
          .contains("wrong_day") == true)
    }
  }

  @Test("page and stream of a ticket stay with its day; receipts and ledger link to the day of each ticket")
  func streams() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.001")
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit", "--amount", "111", "--account", "1")
      let web = try branch.web()
      let page = try web.local("/ticket/2").body
      #expect(page.contains(#"data-live="/ticket/2?day=1""#) && page.contains(#"name="day" value="1""#))
      let listener = try branch.launch(
        ["-s", "-N", "--unix-socket", web.socket, "http://localhost/events?page=/ticket/2&lang=en"],
        program: "/usr/bin/curl")
      try branch.waitUntil("the first event has come") {
        listener.lines.joined(separator: "\n").contains("event: snapshot")
      }
      try branch.runSuccessfully("reset", "--yes")
      try branch.runSuccessfully("enqueue", "3", "--service", "loan", "--amount", "999", "--account", "77")
      try branch.waitUntil("the stream without a day reports that the ticket of day 1 was cancelled") {
        listener.lines.joined(separator: "\n").contains("event: change")
      }
      let changes = listener.lines.joined(separator: "\n").components(separatedBy: "event: change")
        .dropFirst().joined()
      #expect(changes.contains("cancelled") && !changes.contains(#""spoken":"Waiting""#), "\(changes)")
      listener.end()
      #expect(try web.local("/ticket/2?day=1").body.contains("111"))
      #expect(try web.local("/ticket/2").body.contains("999"))
      let receipts = try web.local("/receipts?day=1").body
      #expect(receipts.contains("/ticket/2?day=1") && !receipts.contains(#"/ticket/2""#), "\(receipts)")
      #expect(try web.local("/").body.contains("/ticket/2?day=2"))
      let kiosk = try web.local("/customers", "-d", "count=1&from=kiosk&service=loan&key=k")
      #expect(kiosk.header("Location")?.hasPrefix("/ticket/4?day=2&notice=") == true, "\(kiosk)")
    }
  }

  @Test(
    "\"all\" of a filter means those it shows: after a number, up to the last ticket then, and under load"
  )
  func wholeFilter() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", "--deposit", "4")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "2000", "--service", "deposit")
      let web = try branch.web()
      let page = try web.local("/tickets?state=waiting&after=1995").body
      let forms = page.components(separatedBy: "<form ").filter { $0.contains(#"name="all""#) }
      let form = try #require(forms.first)
      let sent = form.matches(of: /name="(\w+)" value="([^"]*)"/).map { "\($0.1)=\($0.2)" }
      let question = try web.local("/tickets/cancel", "-d", sent.joined(separator: "&")).body
      #expect(question.contains("Cancel 5 customers?"), "\(question)")
      let sure = try fields(of: question, form: "/tickets/cancel").joined(separator: "&")
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      let answer = try web.local("/tickets/cancel", "-d", sure, "-H", "Accept: application/json")
      #expect(notice(answer) == "cancelled~5", "\(answer.body)")
      #expect(
        try branch.status().queue("waiting") == 1_998,
        "customers that came after the question are not included")
      let all = try web.local("/tickets/cancel", "-d", "state=waiting&all=1&key=q").body
      let confirmed = try #require(all.firstMatch(of: /name="confirmed" value="(\d+)"/)?.1)
      try branch.runSuccessfully("resume")
      try branch.waitUntil("customers are served") { try branch.status().queue("served") >= 20 }
      let end = try web.local(
        "/tickets/cancel", "-d", "state=waiting&all=1&key=r&confirmed=\(confirmed)", "-H",
        "Accept: application/json")
      #expect(end.status == 200 && notice(end).hasPrefix("cancelled~"), "\(end.body)")
      try branch.waitUntil("no customer waits") { try branch.status().queue("waiting") == 0 }
    }
  }
}
