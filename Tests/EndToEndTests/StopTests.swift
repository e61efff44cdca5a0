// Closing of a bank: all customers served, the rest kept for the next start, or at once.
import Glibc
import Testing

@Suite("Closing", .serialized)
struct StopTests {
  @Test("stop serves all waiting customers, accepts no new ones, and reports it")
  func drain() throws {
    try withScratchBank { branch in
      // The last customer's command ends after the test has checked the closing bank, however long that takes.
      let go = branch.path("go")
      let held =
        #", "services": {"held": {"run": ["sh", "-c", "while ! [ -e \#(go) ]; do sleep 0.01; done"]}}"#
      let file = try branch.configuration(depositWork: "150ms", loanWork: "150ms", more: held)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "12")
      try branch.runSuccessfully("enqueue", "1", "--service", "held")
      let stop = try branch.launch(["stop", "--json"])
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      try branch.expectRefusal(75, "draining", of: "enqueue", "1")
      #expect(try branch.runSuccessfully("status", language: .ko).out.hasPrefix("마감 중 · 영업 1일차"))
      _ = try branch.write("", to: "go")
      let report = try stop.finish().json()
      #expect(report.differences(from: Samples.stopped) == [])
      #expect(report["served"].integer == 13 && report["waiting"].integer == 0 && report["day"].integer == 1)
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(13)
      try branch.expectClean()
    }
  }

  @Test(
    "customers left when the time is up wait for the next start, with the same day and numbers",
    arguments: ["0ms", "50ms"])
  func timeout(limit: String) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "20")
      try branch.waitUntil("all windows are busy or waiting alone") {
        try branch.status().queue("serving") >= 1
      }
      let report = try branch.json("stop", "--timeout", limit)
      let left = try #require(report["waiting"].integer)
      let served = try #require(report["served"].integer)
      #expect(left > 0 && left + served == 20, "\(report)")
      #expect(try branch.receipts().count == served)
      let again = Status(try branch.start("--speed", "max"))
      #expect(again.day == 1)
      #expect(again.queue("issued") == 20)
      #expect(try branch.json("enqueue", "1")["first"].integer == 21)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(21)
      try branch.expectClean()
    }
  }

  @Test("stop --now finishes only the customers at a window", arguments: OutputLanguage.allCases)
  func now(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      // Long enough that the command arrives in time, even if a program takes a second to start.
      let file = try branch.configuration(deposit: 2, depositWork: "2s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "9", "--service", "deposit")
      try branch.waitUntil("both windows serve") { try branch.status().queue("serving") == 2 }
      let outcome = try branch.runSuccessfully("stop", "--now", language: outputLanguage)
      let receipts = try branch.receipts()
      // One may have finished just before the command arrived, and another have started.
      #expect((2...4).contains(receipts.count), "\(receipts)")
      #expect(receipts.allSatisfy { $0["attempts"].integer == 1 }, "no customer at a window is interrupted")
      let left = 9 - receipts.count
      #expect(
        outcome.out.contains(
          outputLanguage == .ko ? "\(left)명이 다음 개점을 기다립니다." : "Waiting for the next start: \(left)."),
        outcome.story)
      #expect(
        outcome.out.contains(
          outputLanguage == .ko ? "영업 1일차는 다음 개점에 이어집니다." : "Day 1 continues at the next start"),
        outcome.story)
      #expect(
        try branch.lines("tickets", "--state", "waiting").count == left, "a stopped home can be read")
    }
  }

  @Test("a second stop --now shortens a first stop, and both get an answer")
  func hurry() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "60")
      let patient = try branch.launch(["stop", "--json"])
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      let hurried = try branch.json("stop", "--now")
      #expect(try patient.finish().json() == hurried)
      #expect((hurried["waiting"].integer ?? 0) > 0)
    }
  }

  @Test("stop finishes a bank whose teller is killed while it closes")
  func dyingTeller() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "2s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      let stop = try branch.launch(["stop", "--json"])
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      try branch.kill(worker: "deposit-1")
      #expect(try stop.finish().json()["served"].integer == 3)
      try branch.expectOneReceiptEach(3)
    }
  }

  @Test("SIGTERM to the coordinator finishes the customers at a window and exits cleanly")
  func terminate() throws {
    try withScratchBank { branch in
      // So long that a busy machine finds the first customer at the window.
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "3s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      branch.processes.signal(try branch.status().pid, SIGTERM)
      try branch.waitUntil("all processes have exited") { branch.processes.all().isEmpty }
      #expect(
        try branch.receipts().allSatisfy { $0["outcome"].text == "served" && $0["attempts"].integer == 1 })
      try branch.expectClean()
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(3)
    }
  }

  @Test("stop closes an empty day, and the next start opens the next day")
  func emptyDay() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      #expect(
        try branch.runSuccessfully("stop", language: .ko).out
          == "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 0명이며, 총 업무시간은 0.00초입니다.\n")
      #expect(Status(try branch.start("--speed", "20")).day == 2)
      #expect(try branch.json("stop")["day"].integer == 2)
    }
  }
}
