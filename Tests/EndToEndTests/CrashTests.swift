// Processes killed with SIGKILL in the middle of their work. Every customer with a ticket gets exactly one receipt.
import Glibc
import Testing

@Suite("Crashes", .serialized)
struct CrashTests {
  @Test("a teller killed while it serves is replaced at once, and its customer is served once")
  func teller() throws {
    try withScratchBank { branch in
      // Long enough that the teller is still serving on a busy machine.
      let file = try branch.configuration(deposit: 1, depositWork: "4s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "2", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      let pid = try branch.kill(worker: "deposit-1")
      // The ticket keeps its attempts: on a busy machine the customer may be served between two polls.
      try branch.waitUntil("a new teller serves the same customer") {
        try branch.json("ticket", "1")["attempts"].items.count == 2
      }
      let successor = try #require(try branch.status().worker("deposit-1"))
      #expect(successor.document["restarts"].integer == 1)
      #expect(successor.pid != pid)
      try branch.runSuccessfully("wait")
      let ticket = try branch.json("ticket", "1")
      #expect(ticket.differences(from: Samples.ticket) == [])
      let attempts = ticket["attempts"]
      #expect(attempts.items.count == 2)
      #expect(attempts[0]["end"].text == "killed" && attempts[0]["signal"].integer == 9, "\(attempts)")
      #expect(attempts[0]["pid"].integer == pid && attempts[0]["generation"].integer == 1)
      #expect(attempts[1]["end"].text == "served" && attempts[1]["signal"] == .null, "\(attempts)")
      #expect(attempts[1]["pid"].integer == successor.pid && attempts[1]["generation"].integer == 2)
      let receipts = try branch.receipts()
      #expect(
        receipts.map { $0["ticket"].integer } == [1, 2], "the customer went back to the head of the line")
      #expect(receipts.map { $0["attempts"].integer } == [2, 1])
      let exit = try branch.events("exit", in: "coordinator", count: 1).first ?? [:]
      #expect(exit["signal"] == "9" && exit["window"] == "deposit-1" && exit["child"] == "\(pid)", "\(exit)")
      #expect(
        try branch.events("restarted", in: "coordinator", count: 1).map { $0["window"] } == ["deposit-1"])
      #expect(
        try branch.runSuccessfully("ticket", "1", language: .ko).out.contains(
          "워커가 종료되어 줄의 맨 앞으로 돌아감 (SIGKILL)"))
      #expect(
        try branch.runSuccessfully("ticket", "1").out.contains(
          "the worker died; back to the head of the line (SIGKILL)")
      )
      try branch.expectClean()
    }
  }

  @Test("another teller serves a customer within milliseconds after the first was killed")
  func latency() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 2, depositWork: "60s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try branch.waitUntil("the customer is served") { try branch.status().queue("serving") == 1 }
      let name = try #require(try branch.status().workers.first { $0.ticket == 1 }?.name)
      try branch.kill(worker: name)
      try branch.waitUntil("the customer is served again") {
        try branch.json("ticket", "1")["attempts"].items.count == 2
      }
      let attempts = try branch.json("ticket", "1")["attempts"]
      let death = try #require(attempts[0]["ended_at"].text)
      let again = try #require(attempts[1]["started_at"].text)
      #expect(attempts[1]["window"].text != name, "the free window serves it, not the restarted one")
      // Times of this format compare as texts; the first twenty characters are the seconds.
      #expect(death <= again)
      #expect(milliseconds(of: again) - milliseconds(of: death) < 500, "\(attempts)")
    }
  }

  /// Milliseconds within the day of an RFC 3339 time.
  private func milliseconds(of time: String) -> Int {
    let parts = time.dropFirst(11).dropLast().split { ":.".contains($0) }.compactMap { Int($0) }
    return parts.count == 4 ? ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3] : 0
  }

  @Test("a coordinator killed right after its reply loses no ticket, and no teller outlives it by a second")
  func afterReply() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "25")
      #expect(try branch.killCoordinator() < branch.soon)
      try branch.expectRefusal(3, "not_open", of: "status")
      let again = Status(try branch.start("--speed", "20"))
      #expect(again.day == 1, "a crash closes no day")
      #expect(again.queue("issued") == 25)
      #expect(again.document["bank"]["generation"].integer == 2)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(25)
      try branch.expectClean()
    }
  }

  @Test(
    "a coordinator killed repeatedly at any moment: every ticket has exactly one receipt",
    arguments: [("40", 40), ("max", 400)])
  func atAnyMoment(speed: String, most: Int) throws {
    var chance = Chance(for: "CrashTests/atAnyMoment")
    try withScratchBank { branch in
      var issued = 0
      for _ in 1...5 {
        try branch.start("--speed", speed, "--deposit", "3", "--loan", "2")
        let count = Int.random(in: 1...most, using: &chance)
        issued +=
          try branch.json("enqueue", "\(count)", "--seed", "\(chance.next() % 1000)")["count"].integer ?? 0
        Polling.pause(milliseconds: Int32.random(in: 0...150, using: &chance))
        #expect(try branch.killCoordinator() < branch.soon)
        try branch.expectClean()
      }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      let status = try branch.status()
      #expect(status.queue("issued") == issued)
      #expect(status.queue("served") == issued)
      try branch.expectOneReceiptEach(issued)
      try branch.expectClean()
      #expect(try branch.json("stop")["served"].integer == issued)
      try branch.expectClean()
    }
  }

  @Test("a keyed enqueue that loses its coordinator continues by itself and adds no customer twice")
  func keyedOverCrash() throws {
    var chance = Chance(for: "CrashTests/keyedOverCrash")
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      for round in 1...4 {
        let enqueue = try branch.launch(["enqueue", "400", "--key", "round-\(round)", "--json"])
        Polling.pause(milliseconds: Int32.random(in: 0...30, using: &chance))
        try branch.killCoordinator()
        try branch.start("--speed", "max")
        let outcome = try enqueue.finish()
        // If the kill came before its first message, the command may have found no open bank.
        let reply =
          outcome.code == 3
          ? try branch.json("enqueue", "400", "--key", "round-\(round)") : try outcome.json()
        #expect(reply["count"].integer == 400, outcome.story)
        let again = try branch.json("enqueue", "400", "--key", "round-\(round)")
        #expect(again.tickets == reply.tickets && again.wasAlreadyIssued, "\(again)")
      }
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      try branch.expectOneReceiptEach(1600)
      try branch.expectClean()
    }
  }

  @Test("tellers killed at random under load: no customer is lost, served twice or a dead letter by accident")
  func tellersAtRandom() throws {
    var chance = Chance(for: "CrashTests/tellersAtRandom")
    try withScratchBank { branch in
      // The test kills many tellers, and one customer may be affected several times.
      let file = try branch.configuration(
        deposit: 3, loan: 2, depositWork: "20ms", loanWork: "20ms", more: #", "max_crashes": 50"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "150")
      for _ in 1...12 {
        let alive = try branch.status().workers.filter { $0.pid > 0 && $0.state != "backoff" }
        if let victim = alive.randomElement(using: &chance) { branch.processes.signal(victim.pid, SIGKILL) }
        #expect(try branch.status().isBalanced)
        Polling.pause(milliseconds: Int32.random(in: 0...40, using: &chance))
      }
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      #expect(try branch.status().queue("dead") == 0)
      try branch.expectOneReceiptEach(150)
      try branch.expectClean()
    }
  }

  @Test(
    "a teller stopped by SIGSTOP is detected by its lease and killed, and its successor serves its customer")
  func stuck() throws {
    try withScratchBank { branch in
      // Long enough that the teller is stopped in the middle of the work, and shorter than the lease: a busy machine
      // may keep its successor from reporting progress.
      let file = try branch.configuration(deposit: 1, depositWork: "3s", more: #", "lease": "4s""#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      try branch.kill(worker: "deposit-1", SIGSTOP)
      try branch.runSuccessfully("wait", "--timeout", "120s")
      let attempts = try branch.json("ticket", "1")["attempts"]
      #expect(attempts[0]["end"].text == "lease_expired", "\(attempts)")
      #expect(attempts[1]["end"].text == "served", "\(attempts)")
      try branch.expectOneReceiptEach(1)
    }
  }

  @Test("all processes of a busy home killed at once, repeatedly: in the end every customer was served once")
  func massacre() throws {
    var chance = Chance(for: "CrashTests/massacre")
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 3, loan: 2, depositWork: "15ms", loanWork: "25ms", more: #", "max_crashes": 50"#)
      var issued = 0
      for round in 1...4 {
        try branch.start("--config", file)
        issued += try branch.json("enqueue", "80", "--key", "round-\(round)")["count"].integer ?? 0
        try branch.waitUntil("a customer is served") { try branch.status().queue("serving") > 0 }
        Polling.pause(milliseconds: Int32.random(in: 0...120, using: &chance))
        let status = try branch.status()
        let pids = [status.pid, try #require(status.guardianPid)] + status.workers.map(\.pid)
        // Stopped first, so that no process can restart another one before it is killed itself.
        for pid in pids { branch.processes.signal(pid, SIGSTOP) }
        for pid in pids.shuffled(using: &chance) { branch.processes.signal(pid, SIGKILL) }
        try branch.waitUntil("all processes have exited") { branch.processes.all().isEmpty }
        let account = try branch.json("audit")
        #expect(account["ok"].flag == true && account["issued"].integer == issued, "\(account)")
      }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      let status = try branch.status()
      #expect(status.queue("served") == issued && status.queue("dead") == 0)
      try branch.expectOneReceiptEach(issued)
      try branch.expectClean()
      #expect(try branch.json("stop")["served"].integer == issued)
      try branch.expectClean()
    }
  }

  @Test("tellers and coordinator of a branch killed at once: no customer is lost")
  func everything() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "300")
      try branch.waitUntil("a customer is served") { try branch.status().queue("serving") > 0 }
      let status = try branch.status()
      let guardian = try #require(status.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      for pid in [status.pid, guardian] + status.workers.map(\.pid) { branch.processes.signal(pid, SIGKILL) }
      try branch.waitUntil("all processes have exited") { branch.processes.all().isEmpty }
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(300)
      try branch.expectClean()
    }
  }
}
