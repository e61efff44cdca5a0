// Acknowledged data survives SIGKILL, and an incomplete request leaves nothing.
import Foundation
import Glibc
import Testing

@Suite("Acknowledged data", .serialized)
struct LastSentTests {
  @Test("a receipt that was returned stays the same after the coordinator is killed at that moment")
  func receipts() throws {
    try withScratchBank { branch in
      // Commits are far apart, so that staged data stays off the disk for long.
      let file = try branch.configuration(
        deposit: 3, loan: 0, speed: "max", more: #", "commit_delay": "100ms""#)
      try branch.start("--config", file)
      for _ in 1...4 {
        let first = try branch.json("enqueue", "30000", "--service", "deposit")["first"].integer ?? 0
        var told: JSON?
        var ticket = 0
        try branch.waitUntil("a receipt is returned") {
          // A customer that was served a moment ago.
          ticket = max(first, try branch.status().queue("served") - 1)
          let story = try branch.json("ticket", "\(ticket)")
          guard story["state"].text == "done" else { return false }
          told = story
          return true
        }
        let before = try #require(try branch.statusIfAnswered()?.pid)
        branch.processes.signal(before, SIGKILL)
        try branch.waitUntil("another coordinator answers") {
          try branch.statusIfAnswered().map { $0.pid != before } ?? false
        }
        try branch.runSuccessfully("wait")
        #expect(try branch.json("ticket", "\(ticket)") == told)
      }
      try branch.expectClean()
    }
  }

  @Test("a request that is being added when the opener of the bank is killed leaves nothing")
  func halfARequest() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      let day = try branch.launch(["open", "--customers", "2000000", "--config", file])
      try branch.waitUntil("the customers are being added") {
        let log = try? FileManager.default.attributesOfItem(atPath: branch.home + "/bank.db-wal")
        return (log?[.size] as? Int ?? 0) > 4 << 20
      }
      let before = try branch.status()
      #expect(before.queue("issued") == 0)
      day.signal(SIGKILL)
      try branch.waitUntil("all processes have exited") {
        ([before.pid] + before.workers.map(\.pid)).allSatisfy { !branch.processes.isAlive($0) }
      }
      let words = (try? String(contentsOfFile: branch.home + "/logs/bankd.stderr", encoding: .utf8)) ?? ""
      #expect(words == "", "the coordinator has exited, and not crashed")
      let log = branch.log("coordinator")
      #expect(
        log.contains("event=foreground_client_exited") && log.contains("event=request_withdrawn")
          && !log.contains("level=error"))
      try branch.start("--speed", "max", "--deposit", "0", "--loan", "0")
      #expect(try branch.status().queue("issued") == 0)
      #expect(try branch.json("enqueue", "3")["first"].integer == 1)
      try branch.expectClean()
    }
  }
}
