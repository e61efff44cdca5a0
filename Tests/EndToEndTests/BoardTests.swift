// Board on the command line, killing of workers, and several tickets at once, with a real bank and real processes.
import Testing

@Suite("Board, and its commands", .serialized)
struct BoardTests {
  private func start(_ branch: ScratchBank) throws {
    let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "60s")
    try branch.start("--config", file)
  }

  @Test("killing a teller reports how soon its customer was served again, and the board shows the exit")
  func kill() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      let before = try branch.json("snapshot")
      let window = try #require(before["windows"].items.first { $0["window"].text == "deposit-1" })
      #expect(window["tickets"].items.compactMap(\.integer) == [1])
      #expect(before["waiting"].items.compactMap { $0["ticket"].integer } == [2, 3])
      let killed = try branch.json("kill", "deposit-1", "--yes")
      #expect(killed["pid"] == window["pid"] && killed["ticket"].integer == 1)
      let milliseconds = try #require(killed["recovery_ms"].integer)
      #expect((0..<5_000).contains(milliseconds))
      let after = try branch.json("snapshot")
      let death = try #require(after["events"].items.last { $0["kind"].text == "exited" })
      #expect(
        death["signal"].integer == 9 && death["window"].text == "deposit-1" && death["ticket"].integer == 1)
      #expect(after["serving"].items.first?["attempt"].integer == 2)
      #expect(
        try branch.runSuccessfully("kill", "deposit-1", "--yes").out.contains(
          "customer 1 was served again after"))
      try branch.expectRefusal(4, "no_such_window", of: "kill", "deposit-9", "--yes")
      #expect(try branch.runSuccessfully("snapshot").out.contains("deposit-1"))
      #expect(try branch.runSuccessfully("snapshot", language: .ko).out.contains("프로세스 종료"))
    }
  }

  @Test("every process that has a log is killed by the same name, and the bank replaces it")
  func processes() throws {
    try withScratchBank { branch in
      try start(branch)
      for name in ["stock", "vending", "coordinator", "guardian"] {
        try branch.waitUntil("the bank has a guardian") { try branch.status().guardianPid != nil }
        try branch.runSuccessfully("logs", name)
        let killed = try branch.json("kill", name, "--yes")
        let pid = try #require(killed["pid"].integer)
        let successor = try #require(killed["successor_pid"].integer, "\(killed)")
        #expect(killed["process"].text == name && successor != pid)
        #expect(!branch.processes.isAlive(Int(pid)))
      }
      try branch.expectClean()
    }
  }

  @Test("several customers are cancelled at once, and lists start at a given number")
  func several() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "12", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      #expect(
        try branch.runSuccessfully("cancel", "3", "5", "7-9").out
          == "5 customers cancelled.\n")
      try branch.expectRefusal(4, "no_such_ticket", of: "cancel", "77")
      let listed = try branch.lines("tickets", "--state", "waiting", "--after", "4", "--limit", "3")
      #expect(listed.compactMap { $0["ticket"].integer } == [6, 10, 11])
      let receipts = try branch.lines("receipts", "--service", "deposit", "--limit", "2")
      #expect(receipts.compactMap { $0["ticket"].integer } == [3, 5])
      try branch.expectClean()
    }
  }
}
