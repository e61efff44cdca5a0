// A disk that takes seconds for one sync, or its time for every row: whoever waits for it is not taken for stuck, and neither is
// whoever has spoken to somebody that waits for it. Customers are served meanwhile, each of them once.
import Glibc
import Testing

@Suite("A disk that takes seconds", .serialized)
struct SlowDiskTests {
  /// Processes behind the windows may be silent for this long, which is as short as it can be.
  private static let quickly = #", "watchdog_timeout": "500ms""#
  /// The same, where a worker has to say on a busy machine again and again that it lives.
  private static let soon = #", "watchdog_timeout": "1s""#

  @Test("eight tellers outlive a coordinator whose disk takes longer than a lease, again and again")
  func tellers() throws {
    try withBranch { branch in
      let disk = try SlowDisk(of: branch)
      // At the windows for deposits it is answers that wait in the sockets, at those for loans reports of progress.
      let file = try branch.configuration(
        deposit: 5, loan: 3, depositWork: "200ms", loanWork: "3s", more: #", "lease": "500ms""#)
      try disk.start(["--config", file])
      try branch.done("enqueue", "100", "--service", "deposit")
      try branch.done("enqueue", "6", "--service", "loan")
      try branch.waitUntil("every window serves") { try branch.status().queue("serving") == 8 }
      let before = try branch.status()
      for _ in 1...3 { try disk.stall("bankd", for: .milliseconds(1_500)) }
      try branch.done("wait")
      try expectEverybodySpared(branch, since: before)
      try branch.expectOneReceiptEach(106)
      #expect(try branch.receipts().allSatisfy { $0["attempts"].integer == 1 })
    }
  }

  @Test(
    "a stock whose disk takes longer than it may be silent lives on, and the juices of that time are made")
  func stock() throws {
    try withBranch { branch in
      let file = try branch.configuration(speed: "max", more: #", "lease": "1s""# + Self.soon)
      try expectPatience(
        branch, with: "bank-stockd", asked: ["juice", "order", "banana", "10"], "--config", file, "--juice",
        "4",
        before: { try branch.done("stock", "set", "banana", "100") },
        after: { () throws in #expect(try branch.stock()["banana"] == 80) })
    }
  }

  @Test("a vending machine whose disk takes longer than it may be silent lives on, and takes the money once")
  func machine() throws {
    try withBranch { branch in
      let file = try branch.configuration(speed: "max", more: Self.soon)
      try expectPatience(
        branch, with: "bank-vending", asked: ["vending", "insert", "5000"], "--config", file,
        after: { () throws in #expect(try branch.json("vending", "balance")["balance"].integer == 5_000) })
    }
  }

  @Test(
    "an audit of a service that takes long kills nobody and comes to its end",
    arguments: ["bank-stockd", "bank-vending"])
  func audit(program: String) throws {
    try withBranch { branch in
      let disk = try SlowDisk(of: branch)
      try disk.start(["--config", try branch.configuration(speed: "max", more: Self.quickly)])
      for juice in ["banana", "mango"] { #expect(try branch.order(juice).code == 0) }
      for _ in 1...10 { try branch.done("vending", "insert", "1000") }
      let before = try branch.status()
      let audit = try branch.launch(["audit", "--json"])
      let rows = try disk.readSlowly(program, every: .milliseconds(100)) { audit.isRunning }
      #expect(rows > 15, "it has read too few rows to be at it for three times as long as it may be silent")
      let outcome = try audit.finish()
      #expect(outcome.code == 0, outcome.story)
      try expectEverybodySpared(branch, since: before)
    }
  }

  /// Has a service of a bank write on a disk that takes six times as long as the service may be silent, and expects that
  /// whoever has asked for it is answered, and everybody is spared.
  private func expectPatience(
    _ branch: Branch, with program: String, asked command: [String], _ opening: String...,
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
    try expectEverybodySpared(branch, since: processes)
  }

  /// Expects that all processes are those that were there, that nobody was taken for stuck or put aside, and that the
  /// audit finds nothing.
  private func expectEverybodySpared(
    _ branch: Branch, since before: Status, at location: SourceLocation = #_sourceLocation
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
