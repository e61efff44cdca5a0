// Guardian: a killed process is restarted with its state, a closed bank stays closed, and no process is left over.
import Foundation
import Glibc
import Testing

@Suite("Guardian", .serialized)
struct GuardianTests {
  /// Kills the coordinator alone and returns the time until the next one has its windows open. A lease or a pause
  /// delays every restart, a stall of a virtual machine only some: after a slow one the shortest of three counts.
  private func killAndAwait(_ branch: ScratchBank, windows: Int) throws -> Duration {
    var shortest = try killOnce(branch, windows: windows)
    for _ in 1...2 where shortest >= branch.soon {
      shortest = min(shortest, try killOnce(branch, windows: windows))
    }
    return shortest
  }

  private func killOnce(_ branch: ScratchBank, windows: Int) throws -> Duration {
    let before = try branch.status()
    try #require(branch.processes.signal(before.pid, SIGKILL))
    let start = ContinuousClock.now
    try branch.waitUntil("the bank is back") {
      // Without the guardian's socket a client cannot distinguish this moment from a bank that is not open.
      let outcome = try branch.run("status", "--json")
      guard outcome.code == 0 else { return false }
      let status = Status(try outcome.json())
      return status.pid != before.pid && status.tellers.count == windows
        && status.workers.allSatisfy { ["idle", "serving"].contains($0.state) }
    }
    return ContinuousClock.now - start
  }

  @Test("a killed coordinator is back at once, with its windows, those of scale included, and every ticket")
  func coordinator() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", "--deposit", "3")
      try branch.runSuccessfully("scale", "loan=2")
      try branch.runSuccessfully("enqueue", "60")
      let before = try branch.status()
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      let after = try branch.status()
      #expect(after.workers.map(\.name) == before.workers.map(\.name))
      #expect(after.guardianPid == before.guardianPid)
      #expect(after.queue("issued") == 60 && after.day == before.day)
      try branch.runSuccessfully("scale", "deposit=1")
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(60)
      try branch.expectClean()
      let exits = try branch.events("exit", in: "guardian", count: 2)
      #expect(exits.allSatisfy { $0["signal"] == "9" }, "\(exits)")
      #expect(exits.first?["child"] == "\(before.pid)")
      #expect(try branch.events("restarted", in: "guardian", count: exits.count).count == exits.count)
      #expect(try branch.json("stop")["served"].integer == 60)
      try branch.expectNoProcessesLeft()
      // The windows of scale were for that opening only; a start follows the configuration again.
      #expect(
        Status(try branch.start("--speed", "max")).tellers.map(\.name) == [
          "deposit-1", "deposit-2", "loan-1",
        ])
    }
  }

  @Test("a command sent while there is no coordinator waits for the next one")
  func gap() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      for round in 1...5 {
        let pid = try branch.status().pid
        branch.processes.signal(pid, SIGKILL)
        // Whichever process was running, the command succeeds after a retry; it never reports "not open".
        let outcome = try branch.run("enqueue", "2", "--key", "round-\(round)", "--json")
        #expect(outcome.code == 0, outcome.story)
        // A second bank cannot open meanwhile.
        let second = try branch.run("start", "--json")
        #expect(second.code == 5, second.story)
      }
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(10)
    }
  }

  @Test("start in the gap is refused, and the bank that comes back is the old one")
  func startInTheGap() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      // A stopped guardian does not restart the coordinator: the test decides how long the gap lasts.
      branch.processes.signal(guardian, SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the coordinator has exited") { !branch.processes.isAlive(before.pid) }
      let refused = try branch.run("start", "--json")
      #expect(refused.code == 5, refused.story)
      let error = try refused.json()["error"]
      #expect(error["code"].text == "already_open", refused.story)
      // The message names no process that has exited as one to contact.
      let words = try #require(error["message"].text)
      #expect(
        words.contains("\(before.pid)) has exited") && words.contains("kill -CONT \(guardian)"),
        refused.story)
      branch.processes.signal(guardian, SIGCONT)
      let after = try branch.status()
      #expect(after.guardianPid == guardian)
      #expect(after.document["bank"]["generation"].integer == 2)
    }
  }

  @Test("stop returns after the guardian has exited, too")
  func stopWaits() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      let stop = try branch.launch(["stop"])
      try branch.waitUntil("the coordinator has exited") { !branch.processes.isAlive(before.pid) }
      let begin = ContinuousClock.now
      try branch.waitUntil("stop has run for two seconds") {
        !stop.isRunning || ContinuousClock.now - begin > .seconds(2)
      }
      #expect(stop.isRunning, "the guardian still runs")
      branch.processes.signal(guardian, SIGCONT)
      #expect(try stop.finish().code == 0)
      #expect(!branch.processes.isAlive(guardian))
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "if the guardian never continues, a command reports in time that no process answers, and not `not_open`"
  )
  func heldUpGuardian() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      branch.processes.signal(try #require(before.guardianPid), SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      let outcome = try branch.run("status", "--json", timeout: .seconds(60))
      #expect(outcome.code == 75, outcome.story)
      #expect(try outcome.json()["error"]["code"].text == "server_busy", outcome.story)
    }
  }

  @Test("a killed guardian stops nothing, and another one takes over, repeatedly")
  func guardian() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "30")
      let before = try branch.status()
      var guardian = try #require(before.guardianPid)
      for _ in 1...3 {
        branch.processes.signal(guardian, SIGKILL)
        try branch.waitUntil("another guardian is running") {
          try branch.status().guardianPid.map { $0 != guardian && branch.processes.isAlive($0) } ?? false
        }
        guardian = try #require(try branch.status().guardianPid)
        #expect(try branch.status().pid == before.pid)
      }
      try branch.waitUntil("the guardian has taken over") {
        branch.events("adopted", in: "guardian").last?["pid"] == "\(guardian)"
      }
      // A refused start is given the pid of the coordinator, and not that of the later guardian.
      let second = try branch.run("start")
      #expect(second.code == 5 && second.err.contains("coordinator \(before.pid)"), second.story)
      // The new guardian restarts the coordinator as well.
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      #expect(try branch.status().guardianPid == guardian)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(30)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a dozen guardians killed as soon as they start leave the bank with another one")
  func killedYoung() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "30")
      let before = try branch.status()
      var killed: Set<Int> = []
      func successor() throws -> Int {
        var found: Int?
        try branch.waitUntil("another guardian is running") {
          found = try branch.status().guardianPid
          return found.map { !killed.contains($0) && branch.processes.isAlive($0) } ?? false
        }
        return try #require(found)
      }
      for _ in 1...12 {
        let guardian = try successor()
        branch.processes.signal(guardian, SIGKILL)
        killed.insert(guardian)
      }
      let guardian = try successor()
      #expect(try branch.status().pid == before.pid)
      // The bank comes back whether this guardian has taken over or not.
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      #expect(try branch.status().guardianPid == guardian)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(30)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a bank that was taken over and is stopped stays closed")
  func stopAfterTakeover() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      branch.processes.signal(try #require(before.guardianPid), SIGKILL)
      try branch.waitUntil("another guardian has taken over") {
        !branch.events("adopted", in: "guardian").isEmpty
      }
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
      try branch.expectRefusal(3, "not_open", of: "status")
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      try branch.start("--speed", "max")
    }
  }

  @Test("coordinator and guardian killed at the same moment: soon no process is left, and start works")
  func both() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "20")
      let status = try branch.status()
      let pids = [status.pid, try #require(status.guardianPid)]
      // Stopped first, so that neither can notice the exit of the other.
      for pid in pids { branch.processes.signal(pid, SIGSTOP) }
      for pid in pids { branch.processes.signal(pid, SIGKILL) }
      let start = ContinuousClock.now
      try branch.waitUntil("no process is left", within: .seconds(5)) { branch.processes.all().isEmpty }
      #expect(ContinuousClock.now - start < branch.soon)
      try branch.expectRefusal(3, "not_open", of: "status")
      try branch.start("--speed", "max")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(20)
      try branch.expectClean()
    }
  }

  @Test("SIGTERM to the guardian finishes customers at a window and ends both processes, without a restart")
  func terminated() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "30")
      try branch.waitUntil("a customer is served") { try branch.status().queue("serving") > 0 }
      branch.processes.signal(try #require(try branch.status().guardianPid), SIGTERM)
      try branch.waitUntil("both have exited") { branch.processes.all().isEmpty }
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      let served = try branch.receipts().count
      #expect((1..<30).contains(served), "\(served)")
      let again = Status(try branch.start("--speed", "max"))
      #expect(again.queue("issued") == 30 && again.day == 1)
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(30)
    }
  }

  @Test("a coordinator killed while it drains restarts, and stop repeats its request by itself")
  func cutOffDrain() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "250ms", loanWork: "250ms")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "40")
      let stop = try branch.launch(["stop", "--json"])
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGKILL)
      let outcome = try stop.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(try outcome.json()["served"].integer == 40)
      #expect(try branch.events("drain_interrupted", in: "guardian", count: 1).count == 1)
      try branch.expectNoProcessesLeft()
      try branch.expectOneReceiptEach(40)
    }
  }

  @Test("restarts of a bank that cannot open slow down visibly, and SIGTERM ends them")
  func damagedMeanwhile() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the coordinator has exited") { !branch.processes.isAlive(before.pid) }
      for name in ["bank.db-wal", "bank.db-shm"] { unlink("\(branch.home)/\(name)") }
      try Data("this is not a database".utf8).write(to: URL(fileURLWithPath: "\(branch.home)/bank.db"))
      branch.processes.signal(guardian, SIGCONT)
      try branch.waitUntil("three restarts were tried") {
        branch.events("backoff", in: "guardian").count >= 3
      }
      let pauses = branch.events("backoff", in: "guardian").compactMap { Int($0["pause_ms"] ?? "") }
      #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 }, "\(pauses)")
      #expect(branch.events("exit", in: "guardian").dropFirst().allSatisfy { $0["code"] == "1" })
      #expect(branch.log("guardian").contains("event=restarted"))
      // Stopped, so that it does not give up while the start waits for the bank to come back or to close.
      branch.processes.signal(guardian, SIGSTOP)
      try branch.expectRefusal(5, "already_open", of: "start")
      branch.processes.signal(guardian, SIGCONT)
      branch.processes.signal(guardian, SIGTERM)
      try branch.expectNoProcessesLeft()
      #expect(try branch.run("start", "--json").code == 1, "the database is damaged, and start reports it")
    }
  }

  @Test("removing sockets, lock and marker files of an open bank does not disable its guardian")
  func removedFiles() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20", "--deposit", "3")
      for name in ["run/guardian.sock", "run/bank.sock", "run/windows", "bank.lock"] {
        try FileManager.default.removeItem(atPath: "\(branch.home)/\(name)")
      }
      try branch.waitUntil("the lock and the socket exist again") {
        ["run/bank.sock", "bank.lock"].allSatisfy {
          FileManager.default.fileExists(atPath: "\(branch.home)/\($0)")
        }
      }
      for _ in 1...2 { #expect(try killAndAwait(branch, windows: 4) < branch.soon) }
      // The guardian is in contact again: it restarts a working coordinator without a pause.
      #expect(branch.events("backoff", in: "guardian").isEmpty)
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("if the configuration is broken or missing at a restart, the coordinator uses the former one")
  func brokenConfiguration() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 4, speed: "20")
      try branch.start("--config", file)
      _ = try branch.write("{\"windows\": {", to: "bank.json")
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      #expect(branch.events("configuration_copy_unusable", in: "coordinator").count == 1)
      try FileManager.default.removeItem(atPath: file)
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.expectRefusal(2, "bad_configuration", of: "reload")
      _ = try branch.configuration(deposit: 1, speed: "20")
      try branch.runSuccessfully("reload")
      #expect(try killAndAwait(branch, windows: 2) < branch.soon)
      #expect(branch.events("configuration_copy_unusable", in: "coordinator").count == 2)
    }
  }

  @Test("a bank whose database was removed is not opened again with an empty one")
  func removedDatabase() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      for name in ["bank.db", "bank.db-wal"] {
        try FileManager.default.removeItem(atPath: "\(branch.home)/\(name)")
      }
      try branch.expectNoProcessesLeft()
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      #expect(branch.events("restarts_stopped", in: "guardian").count == 1)
      #expect(!FileManager.default.fileExists(atPath: "\(branch.home)/bank.db"))
    }
  }

  @Test("a start that fails leaves no guardian, and reports the reason of the coordinator")
  func failedStart() throws {
    try withScratchBank { branch in
      let file = try branch.write("{\"windows\": 7}", to: "bad.json")
      try branch.expectRefusal(2, "bad_configuration", of: "start", "--config", file)
      try branch.expectNoProcessesLeft()
      let place = try branch.write("", to: "file")
      let outcome = try branch.run("--home", place, "start", "--json")
      #expect(outcome.code == 1, outcome.story)
      #expect(try outcome.json()["error"]["code"].text == "bad_home", outcome.story)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("of two concurrent starts exactly one opens the bank")
  func race() throws {
    try withScratchBank { branch in
      for _ in 1...3 {
        let starts = try (1...4).map { _ in try branch.launch(["start", "--json", "--speed", "max"]) }
        let codes = try starts.map { try $0.finish().code }.sorted()
        #expect(codes == [0, 5, 5, 5])
        try branch.runSuccessfully("stop")
      }
    }
  }

  @Test("start right after stop is never refused")
  func startAfterStop() throws {
    try withScratchBank { branch in
      for _ in 1...5 {
        try branch.start("--speed", "max")
        try branch.runSuccessfully("stop")
      }
    }
  }
}
