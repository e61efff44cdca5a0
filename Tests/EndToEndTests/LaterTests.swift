// Customers ordered for later: none is served early, even after a kill of the coordinator, and all when due.
import Glibc
import Testing

@Suite("Delayed customers", .serialized)
struct LaterTests {
  @Test("--in delays a customer, which is shown as delayed and served when due")
  func inAWhile() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--in", "2s")
      let ticket = try branch.json("ticket", "1")
      if ticket["state"].text == "delayed" {
        let due = try #require(ticket["due_at"].text)
        #expect(due > ticket["issued_at"].text ?? "")
        try branch.expectListed(as: due)
      }
      // A customer that comes later without a delay is served first.
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--wait")
      try branch.runSuccessfully("wait")
      let receipts = try branch.receipts()
      #expect(Set(receipts.map { $0["ticket"].integer }) == [1, 2])
      try branch.expectNotEarly(1, than: ticket["due_at"].text)
      try branch.expectClean()
    }
  }

  @Test("a kill of the coordinator makes no customer early, and loses none")
  func killed() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "3", "--service", "loan", "--in", "3s")
      try branch.runSuccessfully("enqueue", "1", "--service", "loan", "--in", "1h")
      let due = try branch.json("ticket", "3")["due_at"].text
      let far = try branch.json("ticket", "4")["due_at"].text
      try branch.killCoordinator()
      try branch.start("--speed", "max")
      #expect(try branch.json("ticket", "4")["due_at"].text == far)
      try branch.waitUntil("the due customers are served") { try branch.receipts().count == 3 }
      for ticket in 1...3 { try branch.expectNotEarly(ticket, than: due) }
      #expect(try branch.status().queue("delayed") == 1)
      #expect(try branch.runSuccessfully("ticket", "4").out.contains("delayed, until \(far ?? "?")"))
      #expect(
        try branch.runSuccessfully("ticket", "4", language: .ko).out.contains("예약·재시도, \(far ?? "?")까지"))
      #expect(try branch.runSuccessfully("tickets", "--state", "delayed").out.contains("until \(far ?? "?")"))
      try branch.runSuccessfully("cancel", "4")
      try branch.expectClean()
    }
  }

  @Test("stop reports delayed customers, their due time, and how to close without them, in both languages")
  func stopWithDelayed() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit", "--in", "1d")
      let due = try #require(try branch.json("ticket", "1")["due_at"].text)
      #expect(try branch.json("status")["queue"]["delayed_until"].text == due)
      let stops = try [OutputLanguage.en, .ko].map { try branch.launch(["stop"], language: $0) }
      for (stop, arguments) in zip(
        stops, ["2 of them are delayed, the first until \(due)", "2명은 예약·재시도 고객입니다"])
      {
        try branch.waitUntil("stop reports the delayed customers") { stop.errors.contains(arguments) }
        #expect(stop.errors.contains("--leave-delayed") && stop.isRunning)
      }
      // Another stop closes without them, and every waiting stop returns.
      let report = try branch.json("stop", "--leave-delayed")
      #expect(report["waiting"].integer == 2 && report["day_closed"].flag == false)
      for stop in stops { #expect(try stop.finish().code == 0) }
      try branch.start("--speed", "max")
      #expect(try branch.status().queue("delayed") == 2)
      #expect(try branch.json("ticket", "1")["due_at"].text == due)
      try branch.runSuccessfully("cancel", "1")
      try branch.runSuccessfully("cancel", "2")
      try branch.expectClean()
    }
  }

  @Test("stop --leave-delayed serves waiting customers, and wait --leave-delayed waits only for them")
  func leaveDelayed() throws {
    try withScratchBank { branch in
      try branch.start("--config", branch.configuration(deposit: 1, loan: 0, depositWork: "300ms"))
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit", "--in", "1d")
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.runSuccessfully("wait", "--leave-delayed", "--timeout", "20s")
      #expect(try branch.receipts().count == 3)
      let wait = try branch.launch(["wait", "--timeout", "20s"])
      try branch.waitUntil("wait prints which customers it waits for") {
        wait.errors.contains("Only delayed customers, for later or for a retry, remain: 1")
      }
      wait.signal(SIGINT)
      _ = try wait.finish()
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      let report = try branch.json("stop", "--leave-delayed")
      #expect(report["served"].integer == 5 && report["waiting"].integer == 1)
    }
  }

  @Test("a wait for a paused service prints the reason, and exits with code 5 with --unless-paused")
  func paused() throws {
    try withScratchBank { branch in
      let file = try branch.write(
        #"{"services": {"gone": {"run": ["/no/such/program"], "windows": 1}}, "windows": {"deposit": 1, "loan": 0, "juice": 0}}"#,
        to: "bank.json")
      try branch.start("--config", file, "--speed", "max")
      let enqueue = try branch.run("enqueue", "2", "--service", "gone", "--wait", "--unless-paused")
      #expect(enqueue.code == 5 && enqueue.err.contains("/no/such/program"), enqueue.story)
      try branch.expectRefusal(5, "paused", of: "wait", "--unless-paused")
      let wait = try branch.launch(["wait", "--timeout", "20s"])
      try branch.waitUntil("the command prints the reason") {
        wait.errors.contains("/no/such/program") && wait.errors.contains("bankctl resume gone")
      }
      wait.signal(SIGINT)
      _ = try wait.finish()
      // The reason survives a kill of the coordinator and a restart of the bank.
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGKILL)
      try branch.waitUntil("the next coordinator answers", within: .seconds(30)) {
        guard let status = try branch.statusIfAnswered() else { return false }
        return status.pid != pid
      }
      #expect(
        try branch.json("status")["services"].items.contains {
          $0["pause_reason"].text?.contains("/no/such/program") == true
        })
      try branch.runSuccessfully("stop", "--now")
      try branch.start("--config", file, "--speed", "max")
      let again = try branch.run("wait", "--unless-paused")
      #expect(again.code == 5 && again.err.contains("/no/such/program"), again.story)
      // Other customers are served meanwhile and can be waited for.
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit", "--wait", "--unless-paused")
      try branch.runSuccessfully("stop", "--now")
    }
  }

  @Test("a past time means at once, and a future one is kept to the millisecond")
  func atAMoment() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "1", "--at", "2001-02-03T04:05:06Z", "--wait")
      let far = try branch.runSuccessfully("enqueue", "1", "--at", "2031-02-03T04:05:06.789+09:00").out
      #expect(far == "1 customer: ticket 2, day 1, not before 2031-02-02T19:05:06.789Z\n", "\(far)")
      #expect(try branch.json("ticket", "2")["due_at"].text == "2031-02-02T19:05:06.789Z")
      try branch.runSuccessfully("cancel", "2")
      let list = """
        {"service":"loan","at":"2031-02-03T00:00:00Z","key":"a"}
        {"service":"loan","in":"1h","key":"b"}
        {"service":"loan","key":"c"}
        """
      try branch.runSuccessfully("enqueue", "--from", "-", input: list)
      #expect(try branch.json("ticket", "3")["due_at"].text == "2031-02-03T00:00:00.000Z")
      #expect(try branch.json("ticket", "4")["state"].text == "delayed")
      try branch.waitUntil("the third customer is served") {
        try branch.json("ticket", "5")["state"].text == "done"
      }
      // The same relative delay is the same request later; another delay is a key conflict.
      #expect(try branch.json("enqueue", "--from", "-", input: list)["already_issued_count"].integer == 3)
      let first = try branch.json("enqueue", "1", "--in", "90m", "--key", "k")
      #expect(try branch.json("enqueue", "1", "--in", "90m", "--key", "k")["first"] == first["first"])
      try branch.expectRefusal(5, "key_conflict", of: "enqueue", "1", "--in", "91m", "--key", "k")
      for ticket in [3, 4, first["first"].integer ?? 0] { try branch.runSuccessfully("cancel", "\(ticket)") }
      try branch.expectClean()
    }
  }

  @Test("an invalid time is refused with a message, and no customer is added")
  func wrongInput() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let wrong: [([String], String, String)] = [
        (["--at", "tomorrow"], "is not a date and time", "올바른 시각이 아닙니다"),
        (["--at", "25:00"], "is not a date and time", "올바른 시각이 아닙니다"),
        (["--at", "2031-02-30T00:00:00Z"], "is not a date and time", "올바른 시각이 아닙니다"),
        (["--at", "00:00"], "that time of today has passed; for tomorrow write --at 20", "시각은 지났습니다"),
        (["--at", "9999-01-01T00:00:00Z"], "at most 3,653 days ahead", "3,653일 뒤까지"),
        (["--in", "3654d"], "at most 3,653 days ahead", "3,653일 뒤까지"),
        (["--in", "5"], "unit", "단위"),
        (["--in", "5m", "--at", "2031-02-03T04:05:06Z"], "--at", "--at"),
      ]
      for (arguments, english, korean) in wrong {
        for (outputLanguage, expected) in [(OutputLanguage.en, english), (.ko, korean)] {
          let outcome = try branch.launch(["enqueue", "1"] + arguments, language: outputLanguage).finish()
          #expect(outcome.code == 2, "\(arguments): \(outcome.story)")
          #expect(outcome.err.contains(expected), "\(arguments): \(outcome.story)")
        }
      }
      for line in [
        #"{"at":"09:00"}"#, #"{"in":"5"}"#, #"{"in":"5m","at":"2031-02-03T04:05:06Z"}"#, #"{"in":5}"#,
      ] {
        let outcome = try branch.run("enqueue", "--from", "-", input: line)
        #expect(outcome.code == 2, "\(line): \(outcome.story)")
      }
      #expect(try branch.status().queue("issued") == 0)
    }
  }
}

extension ScratchBank {
  /// Expects that lists and the ticket show the due time, in both languages.
  fileprivate func expectListed(as due: String) throws {
    let row = try lines("tickets", "--state", "delayed")
    // The customer may be back in line already.
    guard let first = row.first else { return }
    #expect(first["due_at"].text == due)
  }

  /// Expects a start after the due time; times of this format compare as texts.
  fileprivate func expectNotEarly(_ ticket: Int, than due: String?) throws {
    let receipt = try #require(try receipts().first { $0["ticket"].integer == ticket })
    let started = try #require(receipt["started_at"].text)
    #expect(started >= due ?? "9", "ticket \(ticket)")
  }
}
