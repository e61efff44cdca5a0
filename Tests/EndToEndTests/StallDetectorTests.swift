// Coordinator and guardian monitor each other: a stopped one is killed and replaced, and a working one is left alone.
import Glibc
import Testing

@Suite("Stopped processes", .serialized)
struct StallDetectorTests {
  private static let shortTimeoutSettings = #", "watchdog_timeout": "500ms""#

  @Test("a stopped coordinator is killed and replaced, and the bank continues; its guardian stays")
  func coordinator() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        depositWork: "20ms", loanWork: "20ms", more: Self.shortTimeoutSettings)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "40")
      let before = try branch.status()
      for round in 1...2 {
        let pid = try branch.status().pid
        branch.processes.signal(pid, SIGSTOP)
        try branch.waitUntil("the bank is back", within: .seconds(10)) {
          try !branch.processes.isAlive(pid) && branch.statusIfAnswered()?.state == "open"
        }
        #expect(try branch.events("stuck", in: "guardian", count: round).last?["child"] == "\(pid)")
      }
      #expect(try branch.status().guardianPid == before.guardianPid)
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(45)
      try branch.expectClean()
      #expect(try branch.json("stop")["waiting"].integer == 0)
      try branch.expectNoProcessesLeft()
    }
  }

  @Test(
    "a stopped guardian is killed before another one replaces it, and the new one restarts the coordinator")
  func guardian() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        depositWork: "20ms", loanWork: "20ms", more: Self.shortTimeoutSettings)
      try branch.start("--config", file)
      let before = try branch.status()
      let guardian = try #require(before.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      try branch.waitUntil("another guardian is running", within: .seconds(10)) {
        try branch.status().guardianPid.map { $0 != guardian } ?? false
      }
      #expect(!branch.processes.isAlive(guardian), "there are never two guardians")
      #expect(try branch.status().pid == before.pid)
      #expect(
        try branch.events("guardian_stuck", in: "coordinator", count: 1).first?["child"] == "\(guardian)")
      try branch.waitUntil("the guardian has taken over") {
        !branch.events("adopted", in: "guardian").isEmpty
      }
      branch.processes.signal(before.pid, SIGSTOP)
      try branch.waitUntil("the bank is back", within: .seconds(10)) {
        try !branch.processes.isAlive(before.pid) && branch.statusIfAnswered()?.state == "open"
      }
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("coordinator and guardian both stopped beyond their timeouts: neither kills the other afterwards")
  func both() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        depositWork: "20ms", loanWork: "20ms", more: Self.shortTimeoutSettings)
      try branch.start("--config", file)
      let before = try branch.status()
      let pids = [before.pid, try #require(before.guardianPid)]
      for _ in 1...2 {
        for pid in pids { branch.processes.signal(pid, SIGSTOP) }
        // Longer than their timeouts, which this test requires.
        Polling.pause(milliseconds: 1_000)
        for pid in pids.reversed() { branch.processes.signal(pid, SIGCONT) }
        try branch.runSuccessfully("enqueue", "3", "--wait")
      }
      let after = try branch.status()
      #expect(after.pid == before.pid && after.guardianPid == before.guardianPid)
      #expect(branch.events("stuck", in: "guardian").isEmpty)
      #expect(branch.events("guardian_stuck", in: "coordinator").isEmpty)
    }
  }
}
