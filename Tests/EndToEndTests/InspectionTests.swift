// Reading a closed bank changes nothing, and works on a read-only file system.
import Foundation
import Glibc
import Testing

@Suite("Reading a closed bank", .serialized)
struct InspectionTests {
  private static let questions = [
    ["audit"], ["receipts", "--day", "all"], ["ticket", "1", "--day", "1"], ["ledger"], ["tickets"],
  ]

  private func expectAnswers(_ branch: ScratchBank, at location: SourceLocation = #_sourceLocation) throws
    -> [String]
  {
    try Self.questions.map { arguments in
      let outcome = try branch.launch(arguments + ["--json"]).finish(at: location)
      #expect(outcome.code == 0, outcome.story, sourceLocation: location)
      return outcome.out
    }
  }

  /// Content of every file of the home except logs and locks, by name.
  private func contents(of home: String) throws -> [String: Data] {
    var found: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: home) where name.contains(".db") {
      found[name] = try Data(contentsOf: URL(fileURLWithPath: "\(home)/\(name)"))
    }
    return found
  }

  private func shop(_ branch: ScratchBank) throws {
    try branch.start("--speed", "max")
    try branch.runSuccessfully("enqueue", "5", "--service", "deposit", "--wait")
    try branch.runSuccessfully("juice", "order", "banana")
    try branch.runSuccessfully("vending", "insert", "5000")
  }

  @Test(
    "a closed bank on a read-only file system can be audited and read, whether it was stopped or killed",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement), arguments: [true, false])
  func readOnly(isKilled: Bool) throws {
    try withScratchBank { branch in
      let disk = try SmallDisk(kibibytes: 65_536, under: branch)
      try shop(branch)
      if isKilled { try branch.killCoordinator() } else { try branch.runSuccessfully("stop") }
      try branch.expectNoProcessesLeft()
      let before = try contents(of: branch.home)
      #expect((before["bank.db-wal"]?.count ?? 0 > 0) == isKilled)
      try disk.setReadOnly(true)
      let answers = try expectAnswers(branch)
      #expect(try contents(of: branch.home) == before)
      // Without a lock file there is nothing to lock, and on a read-only file system no process can open the bank.
      try disk.setReadOnly(false)
      for name in ["bank", "stock", "vending"] { unlink("\(branch.home)/\(name).lock") }
      try disk.setReadOnly(true)
      #expect(try expectAnswers(branch) == answers)
      try disk.setReadOnly(false)
      #expect(try expectAnswers(branch) == answers)
      try branch.start("--speed", "max")
      #expect(try branch.status().queue("issued") == 6 || branch.status().day == 2)
      try branch.expectClean()
    }
  }

  @Test(
    "a long list of a closed bank is read to its end by a slow reader",
    arguments: ["receipts --day all", "tickets"])
  func slowReader(list: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max", "--deposit", "0", "--loan", "0")
      try branch.runSuccessfully("enqueue", "20000")
      if list != "tickets" { try branch.runSuccessfully("reset", "--yes") }
      try branch.runSuccessfully("stop", "--now")
      // A shell reads one byte at a time, and the output exceeds every buffer on the way.
      let script = """
        { '\(Binaries.bankctl)' \(list) --json; echo "code $?"; } |
        { count=0; while read -r line; do last=$line; count=$((count + 1)); done; echo "$count $last"; }
        """
      let outcome = try branch.launch(["-c", script], program: "/bin/sh").finish()
      #expect(outcome.out == "20001 code 0\n", outcome.story)
    }
  }

  @Test(
    "a killed bank is read even if the first place for a temporary copy has no space",
    .enabled(if: SmallDisk.isPossible, SmallDisk.requirement))
  func noRoomForTheCopy() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "20000")
      try branch.killCoordinator()
      let place = branch.path("small")
      _ = try SmallDisk(kibibytes: 256, under: branch, at: place)
      let outcome = try branch.launch(["audit", "--json"], environment: ["TMPDIR": place]).finish()
      #expect(outcome.code == 0, outcome.story)
      #expect(try outcome.json()["issued"].integer == 20_000)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [], "no temporary file is left")
    }
  }
}
