// Customers whose tellers are killed repeatedly become dead letters; the operator decides what happens to them.
import Testing

@Suite("Dead letters", .serialized)
struct DeadLetterTests {
  /// Kills the teller of a customer until it is a dead letter. Its window has only this customer.
  private func makeDeadLetter(_ ticket: Int, of branch: ScratchBank) throws {
    for attempt in 1...3 {
      try branch.waitUntil("attempt \(attempt) of \(ticket) has started") {
        try branch.json("ticket", "\(ticket)")["attempts"].items.count { $0["end"] == .null } == 1
      }
      try branch.waitUntilServed(by: "deposit-1", ticket: ticket)
      try branch.kill(worker: "deposit-1")
      try branch.waitUntil("attempt \(attempt) of \(ticket) has ended") {
        try branch.json("ticket", "\(ticket)")["attempts"].items.count { $0["end"] != .null } % 3 == attempt
          % 3
      }
    }
    try branch.waitUntil("\(ticket) is a dead letter") {
      try branch.json("ticket", "\(ticket)")["state"].text == "dead"
    }
  }

  private func start(_ branch: ScratchBank) throws {
    let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "60s")
    try branch.start("--config", file)
  }

  @Test("a customer whose teller is killed three times becomes a dead letter, with the reason and no receipt")
  func putAside() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try makeDeadLetter(1, of: branch)
      let dead = try branch.lines("tickets", "--state", "dead")
      #expect(dead.map { $0["ticket"].integer } == [1])
      #expect(dead.first?["last_attempt"]["signal"].integer == 9)
      #expect(try branch.status().queue("dead") == 1)
      #expect(try branch.status().isBalanced)
      #expect(try branch.receipts().isEmpty)
      let told = try branch.events("dead", in: "coordinator", count: 1)
      #expect(told.map { $0["ticket"] } == ["1"])
      #expect(told.first?["signal"] == "9" && told.first?["attempts"] == "3", "\(told)")
      let attempts = try branch.json("ticket", "1")["attempts"].items
      #expect(attempts.map { $0["signal"].integer } == [9, 9, 9])
      #expect(try branch.runSuccessfully("tickets", language: .ko).out.contains("보류\n  1 - 예금"))
      #expect(
        try branch.runSuccessfully("tickets", "--state", "dead").out
          == "Dead letters\n  1 - deposit SIGKILL\n")
      #expect(
        try branch.runSuccessfully("ticket", "1", language: .ko).out.contains(
          "보류: 'bankctl requeue 1'이나 'bankctl cancel 1'을 실행하세요"))
      let story = try branch.runSuccessfully("ticket", "1")
      #expect(
        story.outLines.last?.hasSuffix(
          "became a dead letter after 3 attempts (last: the worker died (SIGKILL))") == true,
        story.story)
      #expect(story.outLines.count { $0.contains("back to the head of the line") } == 2, story.story)
      try branch.expectClean()
    }
  }

  @Test("a requeued dead letter is served, and its receipt counts all attempts")
  func requeue() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try makeDeadLetter(1, of: branch)
      _ = try branch.configuration(deposit: 1, loan: 0, depositWork: "1ms")
      try branch.runSuccessfully("reload")
      #expect(try branch.runSuccessfully("requeue", "1", language: .ko).out == "1번 고객을 다시 줄 세웠습니다.\n")
      try branch.runSuccessfully("wait")
      let receipts = try branch.receipts()
      #expect(receipts.map { $0["outcome"].text } == ["served"])
      #expect(receipts.first?["attempts"].integer == 4)
      try branch.expectRefusal(5, "wrong_state", of: "requeue", "1")
      try branch.expectRefusal(4, "no_such_ticket", of: "requeue", "2")
      try branch.expectClean()
    }
  }

  @Test("a wait for tickets that are already dead letters reports every one of them")
  func waitForTheDead() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit", "--key", "k")
      try makeDeadLetter(1, of: branch)
      try makeDeadLetter(2, of: branch)
      let wait = try branch.run("enqueue", "2", "--service", "deposit", "--key", "k", "--wait", "--json")
      #expect(wait.code == 1, wait.story)
      #expect(try wait.json()["dead"].integer == 2 && wait.json()["known"].flag == true, wait.story)
      try branch.expectClean()
    }
  }

  @Test("all dead letters are requeued at once; they survive a restart")
  func requeueAll() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try makeDeadLetter(1, of: branch)
      try makeDeadLetter(2, of: branch)
      let stopped = try branch.json("stop")
      #expect(stopped["waiting"].integer == 0)
      #expect(stopped["served"].integer == 0)
      let again = Status(try branch.start("--speed", "max", "--deposit", "1"))
      #expect(again.day == 1, "a dead letter keeps the day open")
      #expect(again.queue("dead") == 2)
      #expect(try branch.json("requeue", "--dead")["requeued"].integer == 2)
      #expect(try branch.runSuccessfully("requeue", "--dead").out == "There were no dead letters.\n")
      #expect(try branch.runSuccessfully("requeue", "--dead", language: .ko).out == "보류된 고객이 없었습니다.\n")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(2)
      try branch.expectClean()
    }
  }

  @Test("a dead letter, a waiting and a serving customer can be cancelled; a served one cannot")
  func cancel() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try makeDeadLetter(1, of: branch)
      try branch.waitUntilServed(by: "deposit-1", ticket: 2)
      #expect(try branch.runSuccessfully("cancel", "1").out == "Customer 1 cancelled.\n")
      #expect(try branch.runSuccessfully("cancel", "3", language: .ko).out == "3번 고객을 취소했습니다.\n")
      try branch.expectRefusal(5, "wrong_state", of: "cancel", "1")
      try branch.expectRefusal(4, "no_such_ticket", of: "cancel", "9")
      let receipts = try branch.receipts()
      #expect(receipts.map { $0["ticket"].integer } == [1, 3])
      for receipt in receipts {
        #expect(receipt.differences(from: Samples.cancelledReceipt) == [])
        #expect(receipt["outcome"].text == "cancelled")
      }
      let taken = try branch.json("cancel", "2")
      #expect(taken["outcome"].text == "cancelled" && taken["window"].text == "deposit-1")
      #expect(taken["attempts"].items.last?["end"].text == "recalled")
      try branch.expectRefusal(5, "wrong_state", of: "cancel", "2")
      try branch.waitUntil("the window is idle") { try branch.status().worker("deposit-1")?.state == "idle" }
      let status = try branch.status()
      #expect(status.queue("cancelled") == 3 && status.queue("dead") == 0 && status.isBalanced)
      #expect(try branch.json("ticket", "3")["outcome"].text == "cancelled")
      try branch.expectClean()
    }
  }
}
