// Audit of an open bank with many receipts: another process reads the rows, and customers are served meanwhile. The
// test stops that process in the middle of its work.
import CSQLite
import Foundation
import Glibc
import Testing

@Suite("Audit of a large open bank", .serialized)
struct LargeAuditTests {
  private static let customers = 30_000

  private func withLargeBank(_ test: (ScratchBank) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully(
        "enqueue", "\(Self.customers)", "--wait", timeout: TimeLimits.scaled(.seconds(60)))
      try test(branch)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  private func readers(_ branch: ScratchBank) -> [Int] {
    branch.processes.all().filter { branch.processes.name($0).contains("bankd --count ") }
  }

  /// True if a process is stopped, `T`, or has exited; see proc(5).
  private static func stands(_ pid: Int) -> Bool {
    let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    let state = stat.lastIndex(of: ")").flatMap { stat[$0...].dropFirst(2).first }
    return state.map { "TZX".contains($0) } ?? true
  }

  /// True if a process has the database open, so that it has not reported its result yet.
  private static func hasDatabase(_ pid: Int, _ branch: ScratchBank) -> Bool {
    let place = "/proc/\(pid)/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).contains {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(place)/\($0)"))?.hasSuffix("/bank.db")
        == true
    }
  }

  /// Starts an audit and stops the process that reads its rows. If the reader finishes before it is stopped, another
  /// audit starts; if that happens several times, the test adds rows.
  private func heldAudit(_ branch: ScratchBank, code: Int32 = 0) throws -> (
    audit: RunningProgram, reader: Int
  ) {
    var held: (RunningProgram, Int)?
    var missed = 0
    try branch.waitUntil("a process that reads the rows of an audit is stopped") {
      if missed == 5 {
        missed = 0
        try branch.runSuccessfully(
          "enqueue", "\(Self.customers)", "--wait", timeout: TimeLimits.scaled(.seconds(60)))
      }
      let audit = try branch.launch(["audit", "--json"])
      while audit.isRunning {
        guard let reader = readers(branch).first else { continue }
        guard branch.processes.signal(reader, SIGSTOP) else { break }
        try branch.waitUntil("the reader is stopped") { Self.stands(reader) }
        guard Self.hasDatabase(reader, branch) else {
          branch.processes.signal(reader, SIGCONT)
          break
        }
        held = (audit, reader)
        return true
      }
      #expect(try audit.finish().code == code)
      missed += 1
      return false
    }
    return try #require(held)
  }

  @Test("customers are served during an audit without findings, and concurrent audits share the next run")
  func served() throws {
    try withLargeBank { branch in
      let (audit, reader) = try heldAudit(branch)
      let customers = try branch.status().queue("served")
      let second = try branch.launch(["audit", "--json"])
      try branch.runSuccessfully("enqueue", "500", "--wait")
      #expect(try branch.status().queue("served") == customers + 500)
      #expect(audit.isRunning && second.isRunning)
      branch.processes.signal(reader, SIGCONT)
      for (program, issued) in [(audit, customers), (second, customers + 500)] {
        let outcome = try program.finish()
        #expect(outcome.code == 0, outcome.story)
        let report = try outcome.json()
        #expect(report["issued"].integer == issued && report["served"].integer == issued, outcome.story)
        #expect(report["problems"].items.isEmpty, outcome.story)
      }
    }
  }

  @Test("a killed reader is replaced, and a reader without a waiting audit is ended")
  func readerEnds() throws {
    try withLargeBank { branch in
      let (audit, reader) = try heldAudit(branch)
      let customers = try branch.status().queue("served")
      branch.processes.signal(reader, SIGKILL)
      let outcome = try audit.finish()
      #expect(try outcome.code == 0 && outcome.json()["issued"].integer == customers, outcome.story)
      let (left, abandoned) = try heldAudit(branch)
      left.signal(SIGKILL)
      try branch.waitUntil("the reader has exited") { !branch.processes.isAlive(abandoned) }
      try branch.expectClean()
    }
  }

  @Test("real problems are found while the bank is open")
  func problems() throws {
    try withLargeBank { branch in
      #expect(chmod("\(branch.home)/stock.db", 0o644) == 0)
      let outcome = try branch.run("audit", "--json")
      #expect(outcome.code == 1, outcome.story)
      #expect(try outcome.json()["problems"].items.count == 1, outcome.story)
      #expect(chmod("\(branch.home)/stock.db", 0o600) == 0)
    }
  }

  /// Changes the database of a closed bank, as a foreign program may.
  private func change(_ branch: ScratchBank, _ statement: String) throws {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    #expect(sqlite3_open_v2("\(branch.home)/bank.db", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    try #require(sqlite3_exec(database, statement, nil, nil, nil) == SQLITE_OK, "\(statement)")
    #expect(sqlite3_changes(database) == 1)
  }

  @Test("a wrong receipt is found by the process that reads the rows, and reported by the bank")
  func brokenRow() throws {
    try withLargeBank { branch in
      try branch.runSuccessfully("stop")
      try change(
        branch,
        """
        UPDATE receipt_page SET entries = json_set(entries, '$[' || (17 - first) || '][8]', -1)
        WHERE first = (SELECT max(first) FROM receipt_page WHERE first <= 17)
        """)
      try branch.start("--speed", "max")
      let (audit, reader) = try heldAudit(branch, code: 1)
      branch.processes.signal(reader, SIGCONT)
      let outcome = try audit.finish()
      #expect(outcome.code == 1, outcome.story)
      let problems = try outcome.json()["problems"].items.compactMap(\.text)
      #expect(problems.count == 1 && problems.first?.contains("receipt 17") == true, outcome.story)
    }
  }

  @Test("a killed coordinator takes its reader along, and no later audit reports a foreign process")
  func killed() throws {
    try withLargeBank { branch in
      let (audit, reader) = try heldAudit(branch)
      let open = try branch.status()
      branch.processes.signal(open.pid, SIGKILL)
      try branch.waitUntil("the reader has exited") { !branch.processes.isAlive(reader) }
      let outcome = try audit.finish()
      #expect(
        try outcome.code == 0 && outcome.json()["issued"].integer == open.queue("served"), outcome.story)
      let (_, last) = try heldAudit(branch)
      try branch.killCoordinator()
      try branch.waitUntil("the reader has exited") { !branch.processes.isAlive(last) }
      try branch.expectNoProcessesLeft()
      try branch.expectClean()
      try branch.start("--speed", "max")
    }
  }

  @Test("the bank closes while rows are read: the reader exits, and the audit gets an answer")
  func end() throws {
    try withLargeBank { branch in
      let (audit, reader) = try heldAudit(branch)
      try branch.runSuccessfully("stop")
      #expect(try audit.finish().code == 0)
      try branch.waitUntil("the reader has exited") { !branch.processes.isAlive(reader) }
      try branch.expectClean()
      try branch.start("--speed", "max")
    }
  }
}
