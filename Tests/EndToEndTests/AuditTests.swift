// Audit: the bank itself detects a broken guarantee.
import Foundation
import Testing

@Suite("Audit", .serialized)
struct AuditTests {
  @Test("an open bank and a stopped home are audited, in both languages and as JSON")
  func clean() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "20")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "9")
      try branch.expectClean()
      try branch.runSuccessfully("cancel", "9")
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      for isOpen in [true, false] {
        if !isOpen { try branch.runSuccessfully("stop") }
        let report = try branch.json("audit")
        #expect(report.differences(from: Samples.audit) == [])
        #expect(report["issued"].integer == 9 && report["served"].integer == 8, "\(report)")
        #expect(report["problems"].items.isEmpty)
        #expect(
          try branch.runSuccessfully("audit").out.hasPrefix("Every guarantee that can be checked holds.\n"))
        #expect(try branch.runSuccessfully("audit", language: .ko).out.hasPrefix("확인할 수 있는 모든 보장이 지켜졌습니다.\n"))
      }
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a database with flipped bytes is reported with exit code 1 and not changed")
  func damaged() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "300", "--wait")
      try branch.runSuccessfully("stop")
      let path = "\(branch.home)/bank.db"
      var content = try Data(contentsOf: URL(fileURLWithPath: path))
      // Page headers from the second page on: the file still opens, but its content cannot be trusted.
      for page in stride(from: 8192, to: content.count, by: 4096) {
        for offset in 0..<64 where page + offset < content.count { content[page + offset] ^= 0x5A }
      }
      try content.write(to: URL(fileURLWithPath: path))
      for outputLanguage in OutputLanguage.allCases {
        let outcome = try branch.run("audit", language: outputLanguage)
        #expect(outcome.code == 1, outcome.story)
      }
      let outcome = try branch.run("audit", "--json")
      #expect(outcome.code == 1, outcome.story)
      let report = try outcome.json()
      #expect(report["ok"].flag == false || report["error"]["code"].text == "database_damaged", outcome.story)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content, "a damaged file is never changed")
    }
  }

  @Test("a file that is not a database is refused by start and audit, and not changed")
  func noDatabase() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("stop")
      let path = "\(branch.home)/bank.db"
      let content = Data(String(repeating: "this is not the database of a bank\n", count: 400).utf8)
      try content.write(to: URL(fileURLWithPath: path))
      for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
      try branch.expectRefusal(1, "database_damaged", of: "start")
      #expect(try branch.run("audit", "--json").code == 1)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
      try branch.expectNoProcessesLeft()
    }
  }
}
