// Checks of the audit outside of the database: permissions of the home, and processes that use its name. Each fault is
// planted, found with exit code 1 and its name, and gone after the repair.
import Glibc
import Testing

@Suite("Audit of permissions and processes", .serialized)
struct OutsideAuditTests {
  private func problems(_ branch: ScratchBank, at location: SourceLocation = #_sourceLocation) throws
    -> [String]
  {
    let outcome = try branch.run("audit", "--json", at: location)
    #expect(outcome.code == 1, outcome.story, sourceLocation: location)
    #expect(try outcome.json()["ok"].flag == false, outcome.story, sourceLocation: location)
    return try outcome.json()["problems"].items.compactMap(\.text)
  }

  @Test("files accessible to other users are named, on an open bank and on a stopped home")
  func permissions() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      var faults: [(path: String, mode: mode_t, proper: mode_t)] = [
        ("", 0o755, 0o700), ("/run", 0o711, 0o700), ("/logs", 0o750, 0o700), ("/run/bank.sock", 0o666, 0o600),
        ("/bank.db", 0o640, 0o600), ("/bank.lock", 0o604, 0o600), ("/logs/deposit-1.log", 0o644, 0o600),
      ]
      for isOpen in [true, false] {
        if !isOpen {
          try branch.runSuccessfully("stop")
          faults.removeAll { $0.path == "/run/bank.sock" }
        }
        try branch.expectClean()
        for fault in faults {
          let path = branch.home + fault.path
          #expect(chmod(path, fault.mode) == 0)
          let found = try problems(branch)
          let mode = "\(String(fault.mode, radix: 8)), not \(String(fault.proper, radix: 8))"
          #expect(found.first == "\(path) is accessible to other users: its mode is \(mode)", "\(found)")
          // SQLite creates the log beside the database with the mode of the database.
          #expect(found.dropFirst().allSatisfy { $0.hasPrefix("\(path)-wal ") }, "\(found)")
          #expect(chmod(path, fault.proper) == 0)
        }
        try branch.expectClean()
      }
      #expect(chmod(branch.home, 0o755) == 0)
      #expect(try branch.run("audit", language: .ko).code == 1)
    }
  }

  /// Shell under the name of one of the bank's programs, with these arguments on its command line.
  private func stranger(_ branch: ScratchBank, _ name: String, _ arguments: [String]) throws -> RunningProgram
  {
    let program = branch.path(name)
    // A running program cannot be overwritten.
    if access(program, X_OK) != 0 {
      #expect(try branch.launch(["/bin/sh", program], program: "/bin/cp").finish().code == 0)
    }
    return try branch.launch(["-c", "sleep 60; :", name] + arguments, program: program)
  }

  @Test("bank processes unknown to the coordinator are named, by whatever path they name the home")
  func strangers() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("enqueue", "5", "--wait")
      let elsewhere = try stranger(branch, "bankd", ["--home=" + branch.path("another")])
      try branch.expectClean()
      elsewhere.end()
      let alias = branch.path("alias")
      #expect(symlink(branch.home, alias) == 0)
      let strangers = [
        ("bank-teller", try stranger(branch, "bank-teller", [branch.home])),
        ("bankd", try stranger(branch, "bankd", ["--home=" + branch.home])),
        ("bankd", try stranger(branch, "bankd", ["--home", alias])),
        ("bank-guardian", try stranger(branch, "bank-guardian", [branch.home])),
      ]
      let found = strangers.sorted { $0.1.pid < $1.1.pid }.map { name, program in
        "process \(program.pid) (\(name)) runs in this home but is not managed by the bank"
      }
      #expect(try problems(branch) == found)
      try branch.runSuccessfully("stop")
      #expect(try problems(branch) == found)
      for (_, stranger) in strangers { stranger.end() }
      #expect(try branch.launch(["audit", "--home", alias]).finish().code == 0)
    }
  }
}
