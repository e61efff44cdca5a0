// The guardian: what is killed comes back with what it had, what is closed stays closed, and nobody is left over.
import Foundation
import Glibc
import Testing

@Suite("The guardian", .serialized)
struct GuardianTests {
  /// Kills the coordinator alone and returns how long it took until another one had its windows open. What waits for a
  /// lease or a pause does so each time; a machine that stands still for a moment, as a virtual one may, does not, so the
  /// shortest of three counts where the first took long.
  private func killAndAwait(_ branch: Branch, windows: Int) throws -> Duration {
    var shortest = try killOnce(branch, windows: windows)
    for _ in 1...2 where shortest >= branch.soon {
      shortest = min(shortest, try killOnce(branch, windows: windows))
    }
    return shortest
  }

  private func killOnce(_ branch: Branch, windows: Int) throws -> Duration {
    let before = try branch.status()
    try #require(branch.processes.signal(before.pid, SIGKILL))
    let start = ContinuousClock.now
    try branch.waitUntil("the bank is back") {
      // Where the guardian's socket was removed, nobody can tell this moment from a bank that is not open.
      let outcome = try branch.run("status", "--json")
      guard outcome.code == 0 else { return false }
      let status = Status(try outcome.json())
      return status.pid != before.pid && status.tellers.count == windows
        && status.workers.allSatisfy { ["idle", "serving"].contains($0.state) }
    }
    return ContinuousClock.now - start
  }

  @Test(
    "a killed coordinator is back at once, with the windows it had, also those of scale, and every ticket"
  )
  func coordinator() throws {
    try withBranch { branch in
      try branch.start("--speed", "20", "--deposit", "3")
      try branch.done("scale", "loan=2")
      try branch.done("enqueue", "60")
      let before = try branch.status()
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      let after = try branch.status()
      #expect(after.workers.map(\.name) == before.workers.map(\.name))
      #expect(after.guardianPid == before.guardianPid)
      #expect(after.queue("issued") == 60 && after.day == before.day)
      try branch.done("scale", "deposit=1")
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      try branch.done("wait")
      try branch.expectOneReceiptEach(60)
      try branch.expectClean()
      let exits = try branch.events("exit", in: "guardian", count: 2)
      #expect(exits.allSatisfy { $0["signal"] == "9" }, "\(exits)")
      #expect(exits.first?["child"] == "\(before.pid)")
      #expect(try branch.events("restarted", in: "guardian", count: exits.count).count == exits.count)
      #expect(try branch.json("stop")["served"].integer == 60)
      try branch.expectNobodyLeft()
      // The windows of scale were for that opening; a start follows the configuration again.
      #expect(
        Status(try branch.start("--speed", "max")).tellers.map(\.name) == [
          "deposit-1", "deposit-2", "loan-1",
        ])
    }
  }

  @Test("a command in the moment in which there is no coordinator waits for the next one")
  func gap() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      for round in 1...5 {
        let pid = try branch.status().pid
        branch.processes.signal(pid, SIGKILL)
        // Whatever was still alive when it asked, it is answered, or loses its conversation; never "not open".
        let outcome = try branch.run("enqueue", "2", "--key", "round-\(round)", "--json")
        #expect(outcome.code == 0, outcome.story)
        // A second bank does not squeeze in.
        let second = try branch.run("start", "--json")
        #expect(second.code == 5, second.story)
      }
      try branch.done("wait")
      try branch.expectOneReceiptEach(10)
    }
  }

  @Test("start in the gap is refused, and the bank that comes back is the old one")
  func startInTheGap() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      // A guardian that is held up does not restart yet: the gap lasts as long as the test wants.
      branch.processes.signal(guardian, SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the coordinator is gone") { !branch.processes.isAlive(before.pid) }
      let refused = try branch.run("start", "--json")
      #expect(refused.code == 5, refused.story)
      let error = try refused.json()["error"]
      #expect(error["code"].text == "already_open", refused.story)
      // Nobody is sent to a process that has ended.
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

  @Test("stop returns when the guardian is gone, too")
  func stopWaits() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      let stop = try branch.launch(["stop"])
      try branch.waitUntil("the coordinator is gone") { !branch.processes.isAlive(before.pid) }
      let begin = ContinuousClock.now
      try branch.waitUntil("stop has had two seconds") {
        !stop.isRunning || ContinuousClock.now - begin > .seconds(2)
      }
      #expect(stop.isRunning, "the guardian is there")
      branch.processes.signal(guardian, SIGCONT)
      #expect(try stop.finish().code == 0)
      #expect(!branch.processes.isAlive(guardian))
      try branch.expectNobodyLeft()
    }
  }

  @Test(
    "a guardian that never comes to itself makes a command say in time that nobody answers, and not that it is closed"
  )
  func heldUpGuardian() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      branch.processes.signal(try #require(before.guardianPid), SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      let outcome = try branch.run("status", "--json", timeout: .seconds(60))
      #expect(outcome.code == 75, outcome.story)
      #expect(try outcome.json()["error"]["code"].text == "busy", outcome.story)
    }
  }

  @Test("a killed guardian stops nothing, and another one takes over, again and again")
  func guardian() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      try branch.done("enqueue", "30")
      let before = try branch.status()
      var guardian = try #require(before.guardianPid)
      for _ in 1...3 {
        branch.processes.signal(guardian, SIGKILL)
        try branch.waitUntil("another guardian is there") {
          try branch.status().guardianPid.map { $0 != guardian && branch.processes.isAlive($0) } ?? false
        }
        guardian = try #require(try branch.status().guardianPid)
        #expect(try branch.status().pid == before.pid)
      }
      try branch.waitUntil("it has taken over") {
        branch.events("adopted", in: "guardian").last?["pid"] == "\(guardian)"
      }
      // Whoever is refused is told of the coordinator, and not of the guardian that came later.
      let second = try branch.run("start")
      #expect(second.code == 5 && second.err.contains("coordinator \(before.pid)"), second.story)
      // What was taken over is guarded as well.
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      #expect(try branch.status().guardianPid == guardian)
      try branch.done("wait")
      try branch.expectOneReceiptEach(30)
      try branch.done("stop")
      try branch.expectNobodyLeft()
    }
  }

  @Test("guardians killed as soon as they are there, a dozen in a row, leave the bank with another one")
  func killedYoung() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      try branch.done("enqueue", "30")
      let before = try branch.status()
      var killed: Set<Int> = []
      func successor() throws -> Int {
        var found: Int?
        try branch.waitUntil("another guardian is there") {
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
      // Whether it has taken over or not, the bank comes back.
      #expect(try killAndAwait(branch, windows: 3) < branch.soon)
      #expect(try branch.status().guardianPid == guardian)
      try branch.done("wait")
      try branch.expectOneReceiptEach(30)
      try branch.done("stop")
      try branch.expectNobodyLeft()
    }
  }

  @Test("a bank that was taken over and is stopped stays closed")
  func stopAfterTakeover() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      branch.processes.signal(try #require(before.guardianPid), SIGKILL)
      try branch.waitUntil("another guardian has taken over") {
        !branch.events("adopted", in: "guardian").isEmpty
      }
      try branch.done("stop")
      try branch.expectNobodyLeft()
      try branch.expectRefusal(3, "not_open", of: "status")
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      try branch.start("--speed", "max")
    }
  }

  @Test("coordinator and guardian killed at the same moment: soon nothing is left, and start works")
  func both() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      try branch.done("enqueue", "20")
      let status = try branch.status()
      let pids = [status.pid, try #require(status.guardianPid)]
      // At the same moment means that neither has time to see the other die.
      for pid in pids { branch.processes.signal(pid, SIGSTOP) }
      for pid in pids { branch.processes.signal(pid, SIGKILL) }
      let start = ContinuousClock.now
      try branch.waitUntil("nobody is left", within: .seconds(5)) { branch.processes.all().isEmpty }
      #expect(ContinuousClock.now - start < branch.soon)
      try branch.expectRefusal(3, "not_open", of: "status")
      try branch.start("--speed", "max")
      try branch.done("wait")
      try branch.expectOneReceiptEach(20)
      try branch.expectClean()
    }
  }

  @Test("SIGTERM to the guardian finishes those at a window and ends both; nobody is opened again")
  func terminated() throws {
    try withBranch { branch in
      let file = try branch.configuration(depositWork: "1s", loanWork: "1s")
      try branch.start("--config", file)
      try branch.done("enqueue", "30")
      try branch.waitUntil("somebody is served") { try branch.status().queue("serving") > 0 }
      branch.processes.signal(try #require(try branch.status().guardianPid), SIGTERM)
      try branch.waitUntil("both have ended") { branch.processes.all().isEmpty }
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      let served = try branch.receipts().count
      #expect((1..<30).contains(served), "\(served)")
      let again = Status(try branch.start("--speed", "max"))
      #expect(again.queue("issued") == 30 && again.day == 1)
      try branch.done("wait")
      try branch.expectOneReceiptEach(30)
    }
  }

  @Test("a coordinator killed while it drains opens the bank again, and stop asks the next one by itself")
  func cutOffDrain() throws {
    try withBranch { branch in
      let file = try branch.configuration(depositWork: "250ms", loanWork: "250ms")
      try branch.start("--config", file)
      try branch.done("enqueue", "40")
      let stop = try branch.launch(["stop", "--json"])
      try branch.waitUntil("the bank is closing") { try branch.status().state == "draining" }
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGKILL)
      let outcome = try stop.finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(try outcome.json()["served"].integer == 40)
      #expect(try branch.events("drain_cut_off", in: "guardian", count: 1).count == 1)
      try branch.expectNobodyLeft()
      try branch.expectOneReceiptEach(40)
    }
  }

  @Test("a bank that cannot be opened again is tried slower and slower, visibly, and SIGTERM ends the trying")
  func damagedMeanwhile() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      branch.processes.signal(before.pid, SIGKILL)
      try branch.waitUntil("the coordinator is gone") { !branch.processes.isAlive(before.pid) }
      for name in ["bank.db-wal", "bank.db-shm"] { unlink("\(branch.home)/\(name)") }
      try Data("this is no database".utf8).write(to: URL(fileURLWithPath: "\(branch.home)/bank.db"))
      branch.processes.signal(guardian, SIGCONT)
      try branch.waitUntil("it has been tried three times") {
        branch.events("backoff", in: "guardian").count >= 3
      }
      let pauses = branch.events("backoff", in: "guardian").compactMap { Int($0["pause_ms"] ?? "") }
      #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 }, "\(pauses)")
      #expect(branch.events("exit", in: "guardian").dropFirst().allSatisfy { $0["code"] == "1" })
      #expect(branch.log("guardian").contains("event=restarted"))
      // Held up, so that it does not give up while the start waits for the bank to come back or to go.
      branch.processes.signal(guardian, SIGSTOP)
      try branch.expectRefusal(5, "already_open", of: "start")
      branch.processes.signal(guardian, SIGCONT)
      branch.processes.signal(guardian, SIGTERM)
      try branch.expectNobodyLeft()
      #expect(try branch.run("start", "--json").code == 1, "the database is damaged, and start says so")
    }
  }

  @Test("whoever removes sockets, lock and notes of an open bank finds it guarded all the same")
  func removedFiles() throws {
    try withBranch { branch in
      try branch.start("--speed", "20", "--deposit", "3")
      for name in ["run/guardian.sock", "run/bank.sock", "run/windows", "bank.lock"] {
        try FileManager.default.removeItem(atPath: "\(branch.home)/\(name)")
      }
      try branch.waitUntil("the lock and the socket are there again") {
        ["run/bank.sock", "bank.lock"].allSatisfy {
          FileManager.default.fileExists(atPath: "\(branch.home)/\($0)")
        }
      }
      for _ in 1...2 { #expect(try killAndAwait(branch, windows: 4) < branch.soon) }
      // It is heard again: a death at work is followed by a restart at once.
      #expect(branch.events("backoff", in: "guardian").isEmpty)
      try branch.done("enqueue", "5", "--wait")
      try branch.done("stop")
      try branch.expectNobodyLeft()
    }
  }

  @Test("a configuration that is broken or gone when the coordinator dies is the one it had before")
  func brokenConfiguration() throws {
    try withBranch { branch in
      let file = try branch.configuration(deposit: 4, speed: "20")
      try branch.start("--config", file)
      _ = try branch.write("{\"windows\": {", to: "bank.json")
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      #expect(branch.events("former_configuration", in: "coordinator").count == 1)
      try FileManager.default.removeItem(atPath: file)
      #expect(try killAndAwait(branch, windows: 5) < branch.soon)
      try branch.done("enqueue", "5", "--wait")
      try branch.expectRefusal(2, "bad_configuration", of: "reload")
      _ = try branch.configuration(deposit: 1, speed: "20")
      try branch.done("reload")
      #expect(try killAndAwait(branch, windows: 2) < branch.soon)
      #expect(branch.events("former_configuration", in: "coordinator").count == 2)
    }
  }

  @Test("a bank whose database was removed is not opened again as an empty one")
  func removedDatabase() throws {
    try withBranch { branch in
      try branch.start("--speed", "20")
      try branch.done("enqueue", "5", "--wait")
      for name in ["bank.db", "bank.db-wal"] {
        try FileManager.default.removeItem(atPath: "\(branch.home)/\(name)")
      }
      try branch.expectNobodyLeft()
      #expect(branch.events("restarted", in: "guardian").isEmpty)
      #expect(branch.events("given_up", in: "guardian").count == 1)
      #expect(!FileManager.default.fileExists(atPath: "\(branch.home)/bank.db"))
    }
  }

  @Test("a start that fails leaves no guardian behind, and the reason is the coordinator's")
  func failedStart() throws {
    try withBranch { branch in
      let file = try branch.write("{\"windows\": 7}", to: "bad.json")
      try branch.expectRefusal(2, "bad_configuration", of: "start", "--config", file)
      try branch.expectNobodyLeft()
      let place = try branch.write("", to: "file")
      let outcome = try branch.run("--home", place, "start", "--json")
      #expect(outcome.code == 1, outcome.story)
      #expect(try outcome.json()["error"]["code"].text == "bad_home", outcome.story)
      try branch.expectNobodyLeft()
    }
  }

  @Test("a bank that two people open at once is opened by one of them")
  func race() throws {
    try withBranch { branch in
      for _ in 1...3 {
        let starts = try (1...4).map { _ in try branch.launch(["start", "--json", "--speed", "max"]) }
        let codes = try starts.map { try $0.finish().code }.sorted()
        #expect(codes == [0, 5, 5, 5])
        try branch.done("stop")
      }
    }
  }

  @Test("start right after stop is never refused")
  func startAfterStop() throws {
    try withBranch { branch in
      for _ in 1...5 {
        try branch.start("--speed", "max")
        try branch.done("stop")
      }
    }
  }
}
