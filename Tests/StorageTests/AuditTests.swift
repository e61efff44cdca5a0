// The audit of the database against damage that is planted with SQL: each kind is found, and counted where it
// counts. The sound database below it has closed days, every state of a customer and every kind of row. The
// conformance suite covers what any store's audit finds.

import BankModel
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("The audit of the database")
struct AuditTests {
  /// Two closed days and a present one with customers of every kind, and no damage.
  private func branch() throws -> StoreFixture {
    let branch = try StoreFixture(.sqlite)
    for _ in 0..<2 {
      for index in 0..<10 {
        var customer = try branch.arrive(Line.graded[index % 6])
        if index == 4 { customer = try branch.fail(customer) }
        try branch.finish(customer, index == 7 ? .cancelled : .served)
      }
      try branch.commit()
      branch.startNextDay()
      try branch.commit()
    }
    for _ in 0..<10 { try branch.arrive(.deposit) }
    let first = try #require(try branch.store.find(1)).customer
    let second = try #require(try branch.store.find(2)).customer
    let third = try #require(try branch.store.find(3)).customer
    let result = WorkResult(
      ending: .code(0), duration: .milliseconds(7),
      output: try #require(TruncatedOutput(first: [1, 2], last: [3])))
    try branch.finish(try branch.fail(first), leaving: result)
    try branch.postpone(try branch.fail(second, .failed), until: 5)
    try branch.deadLetter(try branch.fail(third))
    try branch.store.stage(.remember(key: "k", day: 3, first: 1, last: 10))
    try branch.commit()
    return branch
  }

  private func audit(after script: String) throws -> StoreAudit {
    let branch = try branch()
    let store = try #require(branch.store as? SQLiteStore)
    try store.database.damage(script)
    return try store.audit()
  }

  @Test("finds nothing if nothing is wrong")
  func sound() throws {
    let audit = try branch().store.audit()
    var expected = StoreAudit()
    expected.issued = 30
    expected.served = 19
    expected.cancelled = 2
    expected.waiting = 7
    expected.delayed = 1
    expected.dead = 1
    #expect(audit == expected)
  }

  @Test(
    "finds tickets that are lost",
    arguments: [
      ("DELETE FROM receipt WHERE day = 1 AND ticket = 3", 1), ("DELETE FROM receipt WHERE day = 2", 10),
      ("DELETE FROM receipt WHERE day = 3", 1), ("DELETE FROM customer WHERE ticket = 9", 1),
      ("DELETE FROM customer", 9), ("UPDATE day SET issued = 12 WHERE day = 2", 2),
    ])
  func lost(_ script: String, _ count: Int64) throws {
    let audit = try audit(after: script)
    #expect(audit.lost == count)
    #expect(audit.duplicated == 0)
    #expect(!audit.problems.isEmpty)
  }

  @Test(
    "finds tickets that are there twice or were never issued",
    arguments: [
      ("UPDATE receipt SET ticket = 99 WHERE day = 1 AND ticket = 3", 1, 1),
      ("UPDATE receipt SET day = 9 WHERE day = 3", 1, 1),
      ("UPDATE receipt SET ticket = -4 WHERE day = 3", 1, 1),
      ("UPDATE receipt SET ticket = 5 WHERE day = 3", 1, 1),
      (
        "INSERT INTO customer VALUES ((3 << 60) | (2 << 52) | (1 << 48) | 5, 1, 1, 1, 0, 0, 0, NULL, NULL)",
        0, 1
      ),
      (
        "INSERT INTO customer VALUES ((1 << 60) | (2 << 52) | (1 << 48) | 11, 1, 1, 1, 0, 0, 0, NULL, NULL)",
        0, 1
      ),
      ("DELETE FROM day WHERE day = 3", 0, 1),
    ])
  func duplicated(_ script: String, _ lost: Int64, _ duplicated: Int64) throws {
    let audit = try audit(after: script)
    #expect(audit.lost == lost)
    #expect(audit.duplicated == duplicated, "\(audit.problems)")
    #expect(!audit.problems.isEmpty)
  }

  @Test(
    "finds money in a wrong account",
    arguments: [
      ("UPDATE receipt SET debit = NULL WHERE day = 1 AND ticket = 1", -50_000 + 1),
      ("UPDATE receipt SET credit = NULL WHERE day = 1 AND ticket = 1", 50_000 + 1),
      ("UPDATE receipt SET credit = 13 WHERE day = 1 AND ticket = 1", 1),
      ("UPDATE receipt SET debit = -2 WHERE day = 1 AND ticket = 1", 1),
      ("UPDATE receipt SET debit = -1, credit = 12 WHERE day = 1 AND outcome = 2", 1),
      ("UPDATE receipt SET amount = 0 WHERE day = 3", 1),
      ("UPDATE receipt SET service = 3 WHERE day = 1 AND ticket = 1", 1),
    ])
  func money(_ script: String, _ difference: Int64) throws {
    let audit = try audit(after: script)
    #expect(audit.ledgerDifference == difference)
    #expect(audit.problems.count == 1)
  }

  @Test(
    "finds every other broken invariant",
    arguments: [
      "UPDATE day SET served = served + 1 WHERE day = 1", "UPDATE day SET cancelled = 9 WHERE day = 2",
      "UPDATE day SET delayed = 0 WHERE day = 3", "UPDATE day SET dead = 3 WHERE day = 3",
      "UPDATE day SET dead = 3 WHERE day = 1", "UPDATE day SET closed_ms = NULL WHERE day = 1",
      "UPDATE day SET closed_ms = 1 WHERE day = 3", "UPDATE day SET first_sequence = 2 WHERE day = 2",
      "UPDATE day SET waiting = json_set(waiting, '$.8704', 77) WHERE day = 3",
      "UPDATE day SET waiting = '{\"13056\":1}' WHERE day = 1", "UPDATE day SET waiting = '{}' WHERE day = 3",
      "UPDATE day SET waiting = '{\"5\":1}' WHERE day = 3", "UPDATE day SET waiting = 'x' WHERE day = 3",
      "UPDATE day SET served_by_service = '[7]' WHERE day = 3",
      "UPDATE receipt SET sequence = 99 WHERE sequence = 21", "UPDATE receipt SET outcome = 7 WHERE day = 3",
      "UPDATE receipt SET service = 7 WHERE day = 3", "UPDATE receipt SET attempts = 9 WHERE day = 3",
      "UPDATE receipt SET attempts = 2 WHERE day = 1 AND ticket = 1",
      "UPDATE attempt SET number = 2 WHERE day = 3 AND ticket = 1",
      "DELETE FROM attempt WHERE day = 3 AND ticket = 2",
      "UPDATE attempt SET ending = 9 WHERE day = 3 AND ticket = 1",
      "UPDATE attempt SET ticket = 44 WHERE day = 1",
      "UPDATE customer SET attempts = 7 WHERE ticket = 2", "UPDATE customer SET amount = 0 WHERE ticket = 9",
      "UPDATE customer SET account = -1 WHERE ticket = 9",
      "UPDATE customer SET due_ms = NULL WHERE ticket = 2",
      "UPDATE customer SET due_ms = 4 WHERE ticket = 9",
      "UPDATE customer SET position = position | 6 << 60 WHERE ticket = 9",
      "UPDATE request_key SET last = 11", "UPDATE request_key SET day = 4",
      "UPDATE request_key SET first = 0",
      "DELETE FROM day WHERE day = 1",
      "UPDATE result SET duration_ns = -1", "UPDATE result SET exit_signal = 9",
      "UPDATE result SET output_length = 2", "UPDATE result SET stderr_file_length = 1",
    ])
  func everythingElse(_ script: String) throws {
    let audit = try audit(after: script)
    #expect(!audit.problems.isEmpty)
    #expect(audit.problems.count < 20)
    #expect(audit.messageDetails.allSatisfy { $0.kind != .literal }, "\(audit.problems)")
  }

  @Test(
    "finds results without receipt, of a receipt that is not served, and of another ticket",
    arguments: [
      ("INSERT INTO result SELECT 99, 3, 9, 0, NULL, 1, 0, 0, 0, 0, NULL, NULL, NULL, NULL", 9, 3),
      (
        "DELETE FROM result; INSERT INTO result SELECT 8, 1, 8, 0, NULL, 1, 0, 0, 0, 0, NULL, NULL, NULL, NULL",
        8, 1
      ),
      ("UPDATE receipt SET outcome = 3 WHERE day = 3", 1, 3), ("UPDATE result SET ticket = 4", 4, 3),
      ("UPDATE result SET day = 2", 1, 2), ("UPDATE result SET sequence = 3", 1, 3),
    ])
  func resultWithoutReceipt(_ script: String, _ ticket: Int64, _ day: Int64) throws {
    #expect(
      try audit(after: script).messageDetails.contains(MessageDetail(.resultWithoutReceipt, ticket, day)))
  }

  @Test("reports contradicting counters by name, so that they can be worded in any language")
  func contradiction() {
    var dayCounters = DayCounters(day: 2, openedAt: WallTime(milliseconds: 1))
    #expect(dayCounters.contradiction == nil)
    dayCounters.issued = 3
    #expect(dayCounters.contradiction == MessageDetail(.dayCountersInconsistent, 2, 3, 0))
    dayCounters.served = -1
    #expect(dayCounters.contradiction == MessageDetail(.dayCountersInvalid, 2))
  }

  @Test("finds an index that does not agree with its table")
  func brokenIndex() throws {
    let branch = try branch()
    let store = try #require(branch.store as? SQLiteStore)
    try store.close()
    let scratch = branch.scratch
    var bytes = try #require(Scratch.bytes(of: scratch.database))
    // The index of lines contains service and priority; its page is found by its kind and the number of
    // lines.
    let page = try #require(
      (1..<bytes.count / 4_096).first { bytes[$0 * 4_096] == 0x0A && bytes[$0 * 4_096 + 4] == 9 })
    bytes[page * 4_096 + 4_095] ^= 0x01
    Scratch.write(bytes, to: scratch.database)
    let audit = try SQLiteStore(path: scratch.database).audit()
    #expect(audit.problems.contains { $0.hasPrefix("integrity check: ") })
  }
}
