// Damaged database: it is reported with exit code 1 before any write, its bytes stay unchanged, and no process is left.
import Foundation
import Testing

@Suite("Damage", .serialized)
struct DamageTests {
  /// Changes to the bytes of the database.
  enum Damage: String, CaseIterable {
    case secondPage, lastPage, cutInHalf, cutShort, zeros, empty, text, oneByte

    func apply(to bytes: inout Data) {
      let page = 4096
      switch self {
      case .secondPage: bytes.replaceSubrange(page..<(page + 200), with: Data(count: 200))
      case .lastPage: bytes.replaceSubrange((bytes.count - page)..., with: Data(repeating: 0xAA, count: page))
      case .cutInHalf: bytes.removeLast(bytes.count / 2)
      case .cutShort: bytes.removeLast(bytes.count - 5000)
      case .zeros: bytes = Data(count: bytes.count)
      case .empty: bytes = Data()
      case .text: bytes = Data(String(repeating: "this is not a database\n", count: 500).utf8)
      case .oneByte: bytes = Data([0x53])
      }
    }
  }

  @Test(
    "a damaged database is reported by start and by every command that reads it, and not changed",
    arguments: Damage.allCases)
  func damaged(damage: Damage) throws {
    try withClosedBank { branch, database in
      var bytes = try Data(contentsOf: database)
      damage.apply(to: &bytes)
      try bytes.write(to: database)
      for command in [["start"], ["open", "--customers", "1"], ["audit"], ["receipts"], ["tickets"]] {
        let outcome = try branch.launch(command + ["--json"]).finish()
        #expect(outcome.code == 1, outcome.story)
        #expect(try outcome.json()["error"]["code"].text == "database_damaged", outcome.story)
      }
      try branch.expectRefusal(1, "database_damaged", of: "start")
      #expect(try Data(contentsOf: database) == bytes, "nothing was written")
      try branch.expectNoProcessesLeft()
      // The advice of the message works.
      try FileManager.default.moveItem(atPath: database.path, toPath: database.path + ".aside")
      try branch.start("--speed", "max")
    }
  }

  @Test("a database of a newer program is refused by name and not changed")
  func newer() throws {
    try withClosedBank { branch, database in
      var bytes = try Data(contentsOf: database)
      bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
      try bytes.write(to: database)
      try branch.expectRefusal(1, "newer_schema", of: "start")
      try branch.expectRefusal(1, "newer_schema", of: "audit")
      #expect(try branch.run("start").err.contains("99"))
      #expect(try Data(contentsOf: database) == bytes)
      try branch.expectNoProcessesLeft()
    }
  }

  private func withClosedBank(_ test: (ScratchBank, URL) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "200", "--wait")
      try branch.runSuccessfully("stop")
      try test(branch, URL(fileURLWithPath: branch.home + "/bank.db"))
    }
  }
}
