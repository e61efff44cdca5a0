// Disk that takes seconds for one sync, or a while for every row: a process that waits for it is not taken for stuck,
// nor is a process that waits for such a process. Customers are served meanwhile, each of them once.
import Glibc
import Testing

@Suite("A disk that takes seconds", .serialized)
struct SlowDiskTests {
  /// Shortest possible limit for the silence of the service processes.
  private static let shortTimeoutSettings = #", "watchdog_timeout": "500ms""#
  /// Limit that a worker can meet on a busy machine, too.
  private static let soon = #", "watchdog_timeout": "1s""#

  @Test("eight tellers survive a coordinator whose disk repeatedly takes longer than a lease")
  func tellers() throws {
    try withScratchBank { branch in
      let disk = try SlowDisk(of: branch)
      // At the windows for deposits replies queue up in the sockets, at those for loans progress reports.
      let file = try branch.configuration(
        deposit: 5, loan: 3, depositWork: "200ms", loanWork: "3s", more: #", "lease": "500ms""#)
      try disk.start(["--config", file])
      try branch.runSuccessfully("enqueue", "100", "--service", "deposit")
      try branch.runSuccessfully("enqueue", "6", "--service", "loan")
      try branch.waitUntil("every window serves") { try branch.status().queue("serving") == 8 }
      let before = try branch.status()
      for _ in 1...3 { try disk.stall("bankd", for: .milliseconds(1_500)) }
      try branch.runSuccessfully("wait")
      try expectNoRestarts(branch, since: before)
      try branch.expectOneReceiptEach(106)
      #expect(try branch.receipts().allSatisfy { $0["attempts"].integer == 1 })
    }
  }

  @Test("a stock whose disk is slower than the watchdog timeout survives, and its juices are made")
  func stock() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(speed: "max", more: #", "lease": "2s""# + Self.soon)
      try expectNotKilledWhileSlow(
        branch, with: "bank-stockd", asked: ["juice", "order", "banana", "10"], "--config", file, "--juice",
        "4",
        before: { try branch.runSuccessfully("stock", "set", "banana", "100") },
        after: { () throws in #expect(try branch.stock()["banana"] == 80) })
    }
  }

  @Test("a vending machine whose disk is slower than the watchdog timeout survives, and takes the money once")
  func machine() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(speed: "max", more: Self.soon)
      try expectNotKilledWhileSlow(
        branch, with: "bank-vending", asked: ["vending", "insert", "5000"], "--config", file,
        after: { () throws in #expect(try branch.json("vending", "balance")["balance"].integer == 5_000) })
    }
  }

  @Test(
    "a slow audit of a service kills no process and finishes",
    arguments: ["bank-stockd", "bank-vending"])
  func audit(program: String) throws {
    try withScratchBank { branch in
      let disk = try SlowDisk(of: branch)
      try disk.start(["--config", try branch.configuration(speed: "max", more: Self.shortTimeoutSettings)])
      for juice in ["banana", "mango"] { #expect(try branch.order(juice).code == 0) }
      for _ in 1...10 { try branch.runSuccessfully("vending", "insert", "1000") }
      let before = try branch.status()
      let audit = try branch.launch(["audit", "--json"])
      let rows = try disk.readSlowly(program, every: .milliseconds(100)) { audit.isRunning }
      #expect(rows > 15, "the audit has read too few rows to take three times the timeout")
      let outcome = try audit.finish()
      #expect(outcome.code == 0, outcome.story)
      try expectNoRestarts(branch, since: before)
    }
  }

  /// Makes a service write to a disk that takes six times the timeout of the service, and expects that its client gets
  /// an answer and no process is restarted.
  private func expectNotKilledWhileSlow(
    _ branch: ScratchBank, with program: String, asked command: [String], _ opening: String...,
    before: () throws -> Void = {}, after: () throws -> Void
  ) throws {
    let disk = try SlowDisk(of: branch)
    try disk.start(opening)
    try before()
    let processes = try branch.status()
    var asking: RunningProgram?
    try disk.stall(program, for: .seconds(6)) { asking = try branch.launch(command) }
    let outcome = try #require(asking).finish()
    #expect(outcome.code == 0, outcome.story)
    try after()
    try expectNoRestarts(branch, since: processes)
  }

  /// Expects the same processes as before, no process taken for stuck, no dead letter, and a clean audit.
  private func expectNoRestarts(
    _ branch: ScratchBank, since before: Status, at location: SourceLocation = #_sourceLocation
  ) throws {
    let after = try branch.status(at: location)
    #expect(after.pid == before.pid && after.guardianPid == before.guardianPid, sourceLocation: location)
    #expect(after.workers.map(\.pid) == before.workers.map(\.pid), sourceLocation: location)
    let restarts = [before, after].map { $0.workers.map { $0.document["restarts"].integer } }
    #expect(restarts[0] == restarts[1], sourceLocation: location)
    for log in ["coordinator", "guardian"] {
      #expect(branch.events("stuck", in: log).isEmpty, sourceLocation: location)
    }
    #expect(after.queue("dead") == 0, sourceLocation: location)
    try branch.expectClean(at: location)
  }
}
