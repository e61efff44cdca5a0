// Files with other content than was written: flipped bytes, a torn log. They are reported and never overwritten.
import Foundation
import Glibc
import Testing

@Suite("Damaged databases", .serialized)
struct DamagedDatabaseTests {
  private static let page = 4096

  @Test("torn or flipped pages are reported by the audit; neither it nor a refused start changes a byte")
  func pages() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "400", "--wait")
      try branch.runSuccessfully("stop")
      let path = "\(branch.home)/bank.db"
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      let pages = whole.count / Self.page
      let middle = pages / 2 * Self.page
      try #require(pages > 4)
      let faults: [(String, Range<Int>)] = [
        ("the magic", 0..<16), ("the application", 68..<72), ("the schema's page", 100..<108),
        ("headers of all pages", 0..<0), ("the second half", middle..<whole.count),
      ]
      for (name, range) in faults {
        var torn = whole
        if range.isEmpty {
          for start in stride(from: Self.page, to: whole.count, by: Self.page) {
            for offset in start..<start + 8 { torn[offset] ^= 0xFF }
          }
        } else {
          for offset in range { torn[offset] ^= 0xFF }
        }
        try torn.write(to: URL(fileURLWithPath: path))
        try expectReported(name, branch, path, torn)
      }
      // A file that was truncated, in the middle of a page and between two.
      for length in [50, Self.page - 1, middle, middle + 100] {
        let torn = whole.prefix(length)
        try torn.write(to: URL(fileURLWithPath: path))
        try expectReported("truncated after \(length) bytes", branch, path, torn)
      }
      try whole.write(to: URL(fileURLWithPath: path))
      try branch.expectClean()
    }
  }

  /// Expects that the audit reports the damage, and that a start refuses it or leaves it for the audit to find.
  private func expectReported(_ name: String, _ branch: ScratchBank, _ path: String, _ torn: Data) throws {
    let audit = try branch.run("audit", "--json")
    #expect(audit.code == 1, "\(name): \(audit.description)")
    let report = try audit.json()
    #expect(
      report["error"]["code"].text == "database_damaged" || !report["problems"].items.isEmpty,
      "\(name): \(audit.description)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == torn, "\(name): the audit has written")
    let start = try branch.run("start", "--speed", "max", "--json")
    guard start.code != 0 else {
      // The damage is in a part that a start does not read.
      branch.processes.all().forEach { branch.processes.signal($0, SIGKILL) }
      try branch.expectNoProcessesLeft()
      #expect(try branch.run("audit").code == 1, "\(name): the damage was covered up")
      // The log must not be applied to the next file.
      unlink(path + "-wal")
      return
    }
    #expect(start.code == 1, "\(name): \(start.description)")
    #expect(try start.json()["error"]["code"].text == "database_damaged", "\(name): \(start.description)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == torn, "\(name): the start has written")
    try branch.expectNoProcessesLeft()
  }

  @Test("a missing database beside its log is named with a remedy, and no empty one replaces it")
  func missing() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      try branch.killCoordinator()
      let path = "\(branch.home)/bank.db"
      let copy = branch.path("bank.db")
      try FileManager.default.moveItem(atPath: path, toPath: copy)
      for command in ["start", "audit"] {
        try branch.expectRefusal(1, "file_removed", of: command)
        let outcome = try branch.run(command)
        #expect(outcome.err.contains("\(path) is missing"), outcome.story)
        #expect(outcome.err.contains("mv '\(path)-wal' '\(path)-wal.old'"), outcome.story)
        #expect(!FileManager.default.fileExists(atPath: path))
      }
      try branch.expectNoProcessesLeft()
      try FileManager.default.moveItem(atPath: copy, toPath: path)
      try branch.start("--speed", "max")
      try branch.expectOneReceiptEach(5)
      try branch.runSuccessfully("stop")
    }
  }

  @Test("torn log: everything synced before the tear is restored, and nothing is half restored")
  func log() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      for _ in 1...4 { try branch.runSuccessfully("enqueue", "5") }
      try branch.killCoordinator()
      let paths = ["\(branch.home)/bank.db", "\(branch.home)/bank.db-wal"]
      let whole = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
      let length = whole[1].count
      try #require(length > 8 * 1024)
      let faults: [(String, all: Bool, (inout Data) -> Void)] = [
        ("garbage after the end", true, { $0.append(Data(repeating: 0xA5, count: 2000)) }),
        ("half a frame missing", false, { $0.removeLast(2000) }),
        ("cut in the middle", false, { $0.removeLast(length / 2) }),
        ("flipped in the last frame", false, { $0[length - 100] ^= 0xFF }),
        ("flipped in the middle", false, { $0[length / 2] ^= 0xFF }),
        ("an invalid header", false, { $0[0] ^= 0xFF }),
        ("no byte left", false, { $0.removeAll() }),
      ]
      for (name, isAllThere, tear) in faults {
        var torn = whole
        tear(&torn[1])
        for (path, content) in zip(paths, torn) { try content.write(to: URL(fileURLWithPath: path)) }
        let start = try branch.run("start", "--speed", "max", "--json")
        guard start.code == 0 else {
          #expect(start.code == 1, "\(name): \(start.description)")
          #expect(
            try start.json()["error"]["code"].text == "database_damaged", "\(name): \(start.description)")
          let left = try paths.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
          #expect(left == torn, "\(name): damaged files were written to")
          continue
        }
        let issued = try branch.status().queue("issued")
        #expect(isAllThere ? issued == 20 : issued % 5 == 0 && issued < 20, "\(name): \(issued)")
        // The database is older than what the service processes have seen, which the operator has to accept.
        try branch.runSuccessfully("reload")
        try branch.expectClean()
        try branch.runSuccessfully("resume")
        try branch.runSuccessfully("wait")
        if issued > 0 { try branch.expectOneReceiptEach(issued) }
        try branch.killCoordinator()
      }
    }
  }
}
