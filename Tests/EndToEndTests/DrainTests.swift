// Four steps of closing a bank: each is bounded, reported, and shortened by Ctrl-C, and no customer is lost.
import Glibc
import Testing

@Suite("Four steps of closing", .serialized)
struct DrainTests {
  private static let steps = ["refuse_new", "serve_waiting", "finish_serving", "kill"]

  private func killings(_ branch: ScratchBank) -> [[String: String]] {
    branch.events("killing", in: "coordinator")
  }

  /// Expects this number of tellers killed while serving, and that the report counts all tellers killed since. An idle
  /// teller may also be killed: on a busy machine a step can be too short for it to exit.
  private func expectKilled(
    atWork count: Int, _ report: JSON, _ branch: ScratchBank, before: Int = 0,
    at location: SourceLocation = #_sourceLocation
  ) {
    let killings = killings(branch)
    let atWork = killings.filter { $0["msg"]?.contains("was still serving") == true }
    #expect(atWork.count == count, "\(killings)", sourceLocation: location)
    let windows = Set(killings.dropFirst(before).compactMap { $0["window"] })
    #expect(report["killed"].integer == windows.count, "\(report) \(killings)", sourceLocation: location)
  }

  @Test("`--timeout` bounds each step: waiting customers stay, serving ones are requeued, none is lost")
  func bounded() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2, loan: 0, depositWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "5", "--service", "deposit")
      try branch.waitUntil("both windows serve") { try branch.status().queue("serving") == 2 }
      let report = try branch.json("stop", "--timeout", "300ms")
      #expect(report.differences(from: Samples.stopped) == [])
      #expect(report["served"].integer == 0 && report["finished"].integer == 0, "\(report)")
      #expect(report["waiting"].integer == 5, "\(report)")
      expectKilled(atWork: 2, report, branch)
      let steps = report["steps"].items
      #expect(steps.map { $0["step"].text } == Self.steps)
      for index in 1...2 { #expect((steps[index]["duration_ms"].integer ?? 0) >= 300, "\(report)") }
      try branch.expectNoProcessesLeft()
      #expect(branch.events("drain", in: "coordinator").map { $0["step"] } == Self.steps)
      let attempts = try branch.json("ticket", "1")["attempts"]
      #expect(attempts[0]["end"].text == "recalled", "\(attempts)")
      try branch.expectClean()
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      #expect(try branch.receipts().compactMap { $0["attempts"].integer }.sorted() == [1, 1, 1, 2, 2])
      try branch.expectOneReceiptEach(5)
      try branch.expectClean()
    }
  }

  @Test("a bank that is repeatedly closed in a hurry makes no dead letters")
  func noDeadLetters() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "60s", more: #", "max_crashes": 2"#)
      var killed = 0
      for round in 1...4 {
        try branch.start("--config", file)
        if round == 1 { try branch.runSuccessfully("enqueue", "1", "--service", "deposit") }
        try branch.waitUntilServed(by: "deposit-1", ticket: 1)
        expectKilled(atWork: round, try branch.json("stop", "--timeout", "0ms"), branch, before: killed)
        killed = killings(branch).count
      }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      #expect(try branch.receipts().map { $0["attempts"].integer } == [5])
      try branch.expectClean()
    }
  }

  @Test(
    "tellers report progress while the bank drains: a drain longer than the lease kills no working teller")
  func heartbeats() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 2, loan: 0, depositWork: "5s", more: #", "lease": "2s""#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      let report = try branch.json("stop")
      #expect(report["served"].integer == 3 && report["killed"].integer == 0, "\(report)")
      #expect(
        report["steps"].items.compactMap { $0["duration_ms"].integer }.reduce(0, +) > 4_000, "\(report)")
      #expect(try branch.receipts().map { $0["attempts"].integer } == [1, 1, 1])
      #expect(branch.events("stuck", in: "coordinator") == [])
    }
  }

  @Test(
    "a long step is reported, with the numbers of waiting and serving customers",
    arguments: OutputLanguage.allCases)
  func told(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "900ms")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "4", "--service", "deposit")
      let outcome = try branch.runSuccessfully("stop", "--timeout", "60s", language: outputLanguage)
      let serving =
        outputLanguage == .ko
        ? /기다리는 고객을 처리합니다\. 대기중 \d+명, 업무중 1명, 최대 \d+\.\d초\./
        : /Serving waiting customers: \d+ waiting, 1 at a window, for at most \d+\.\d s\./
      #expect(outcome.err.contains(serving), outcome.story)
      #expect(
        outcome.err.contains(outputLanguage == .ko ? "업무중인 고객을 마칩니다." : "Finishing active customers:"),
        outcome.story)
      #expect(
        outcome.err.contains(outputLanguage == .ko ? "창구를 닫는 중입니다." : "Stopping the workers;"), outcome.story)
    }
  }

  @Test("each Ctrl-C at a waiting stop skips to the next step", arguments: OutputLanguage.allCases)
  func interruptedStop(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2, loan: 0, depositWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "5", "--service", "deposit")
      let stop = try branch.launch(["stop"], language: outputLanguage)
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      stop.signal(SIGINT)
      try branch.waitUntil("only customers at a window are finished") {
        branch.events("drain", in: "coordinator").contains { $0["step"] == "finish_serving" }
      }
      #expect(
        stop.errors.contains(
          outputLanguage == .ko ? "한 번 더 누르면 워커를 강제 종료" : "Press again to kill the workers"))
      #expect(stop.isRunning)
      stop.signal(SIGINT)
      let outcome = try stop.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(
        outcome.err.contains(outputLanguage == .ko ? "워커를 강제 종료합니다." : "Killing the workers."), outcome.story
      )
      #expect(
        outcome.out.contains(outputLanguage == .ko ? "워커 2개를 강제 종료" : "2 workers were killed."),
        outcome.story)
      #expect(
        outcome.out.contains(outputLanguage == .ko ? "5명이 다음 개점을 기다립니다." : "Waiting for the next start: 5."),
        outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.expectClean()
    }
  }

  @Test("signals to a bank in the foreground: drain, finish, kill", arguments: [SIGINT, SIGTERM])
  func foreground(signal: Int32) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2, loan: 0, depositWork: "60s")
      let bank = try branch.launch(["start", "--foreground", "--config", file])
      try branch.waitUntil("the bank is open") { !bank.lines.isEmpty }
      try branch.runSuccessfully("enqueue", "5", "--service", "deposit")
      for step in Self.steps.dropFirst() {
        bank.signal(signal)
        try branch.waitUntil("the bank has reached step \(step)") {
          branch.events("drain", in: "coordinator").contains { $0["step"] == step }
        }
      }
      let outcome = try bank.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(outcome.err.contains("Press again to finish only active customers."), outcome.story)
      #expect(outcome.err.contains("Press again to kill the workers."), outcome.story)
      #expect(outcome.err.contains("Killing the workers."), outcome.story)
      #expect(outcome.out.contains("Waiting for the next start: 5."), outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(5)
      try branch.expectClean()
    }
  }

  @Test("a second Ctrl-C at open kills the tellers, and loses no customer")
  func open() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      let day = try branch.launch(["open", "--customers", "9", "--config", file])
      try branch.waitUntil("a customer is served") { !day.lines.isEmpty }
      for step in Self.steps.dropFirst(2) {
        day.signal(SIGINT)
        try branch.waitUntil("the bank has reached step \(step)") {
          branch.events("drain", in: "coordinator").contains { $0["step"] == step }
        }
      }
      let outcome = try day.finish()
      #expect(outcome.code == 1, outcome.story)
      #expect(outcome.err.contains("Press again to kill the workers"), outcome.story)
      #expect(outcome.out.contains("Waiting for the next start: 9."), outcome.story)
      try branch.expectNoProcessesLeft()
      try branch.expectClean()
    }
  }

  @Test("a repeated SIGTERM to the coordinator kills the tellers")
  func terminateTwice() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGTERM)
      try branch.waitUntil("the bank finishes serving") { try branch.status().state == "draining" }
      branch.processes.signal(pid, SIGTERM)
      try branch.expectNoProcessesLeft()
      #expect(try branch.lines("tickets").map { $0["state"].text } == ["waiting", "waiting"])
      try branch.expectClean()
    }
  }

  @Test("a request that is half received when the first step times out is refused, and adds no customer")
  func door() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "2")
      let crowd = try branch.launch(["enqueue", "10000000", "--json"])
      try branch.waitUntil("the customers are being added", within: .seconds(30)) {
        crowd.errors.contains("enqueueing")
      }
      let report = try branch.json("stop", "--timeout", "50ms")
      let refusal = try crowd.finish()
      #expect(refusal.code == 75, refusal.story)
      #expect(try refusal.json()["error"]["code"].text == "draining")
      #expect(report["waiting"].integer == 2, "\(report)")
      try branch.expectClean()
      let again = Status(try branch.start("--speed", "max"))
      #expect(again.queue("issued") == 2)
    }
  }
}
