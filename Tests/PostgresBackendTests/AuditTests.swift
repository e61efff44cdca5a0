// The audit of a shared database: clean after any history, and each kind of damage is found by its name.

import BankModel
import Posix
import Postgres
import PostgresFixture
import PosixFixture
import QueueCore
import Testing
import Time

@testable import PostgresQueries

@Suite("The audit of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct AuditTests {
  @Test("A bank is clean after a random history of three branches", arguments: 0..<4)
  func clean(_ run: Int) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("audit after a random history, seed \(seed)")
    let stage = try ReaderDatabase()
    let history = DatabaseHistory(stage, seed: seed)
    try history.run(steps: 1_200)
    let audit = try stage.reading().audit()
    #expect(audit.problems == [], "seed \(seed)")
    #expect(audit.issued == history.issued.values.reduce(0, +))
    #expect(audit.served + audit.cancelled == Int64(history.receipts.count))
    #expect(audit.waiting + audit.delayed + audit.dead == Int64(history.customers.count))
    #expect(audit.lost == 0 && audit.duplicated == 0 && audit.ledgerDifference == 0)
  }

  /// A day of 40 tickets: 1 to 20 are served in two pages, 21 to 25 wait in a page of branch 2, 26 to 30 were
  /// returned by branch 3, 31 to 35 are not claimed yet, 36 is delayed, 37 is dead after two attempts, 38 to
  /// 40 are loans.
  private func stage() throws -> ReaderDatabase {
    let stage = try ReaderDatabase()
    try stage.run(
      "INSERT INTO bank.ticket_batch VALUES (1, 1, 20, 1, 'monday', 1), (1, 21, 40, 2, NULL, NULL)",
      ReaderDatabase.receipts(
        """
        INSERT INTO bank.receipt SELECT 1, n, 2, 1, 1, 1, 1, 1, 100, n, -1, n, 1, 1000 + n, 2000, NULL, 1, 1, n
        FROM generate_series(1, 20) n
        """),
      "INSERT INTO bank.customer SELECT \(Self.place(1, 2)) | n, 100, n, 1 FROM generate_series(21, 35) n",
      "INSERT INTO bank.customer VALUES (\(Self.place(2, 2)) | 36, 100, 1, 1, 0, 0, 0, 0, false, 5000)",
      "INSERT INTO bank.customer VALUES (\(Self.place(3, 2)) | 37, 100, 1, 1, 2)",
      "INSERT INTO bank.customer SELECT \(Self.place(1, 3)) | n, 100, n, 1 FROM generate_series(38, 40) n",
      "INSERT INTO bank.attempt SELECT 1, 37, n, 1, 1, 1, 1, 1, 2, 5, NULL, NULL, 'x', n = 2, 1, 1 FROM generate_series(1, 2) n",
      "UPDATE bank.branch SET epoch = 2 WHERE id = 3",
      """
      INSERT INTO bank.claim VALUES (2, 1, 10, 1, 1, '2026-01-01 10:00', 0), (2, 11, 20, 1, 1, '2026-01-01 10:01', 0),
        (2, 21, 25, 2, 1, '2026-01-01 10:02', 0)
      """,
      "INSERT INTO bank.released_claim VALUES (2, 26, 30, 3, 1, '2026-01-01 10:03')",
      "INSERT INTO bank.returned_range VALUES (2, 26, 30)",
      """
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, issued, waiting, delayed, dead, served)
      VALUES (1, 1, 1, 1, 2, 20, 20, 0, 0, 0), (1, 1, 2, 1, 2, 0, -20, 0, 0, 20), (2, 1, 1, 1, 2, 17, 15, 1, 1, 0),
        (2, 1, 1, 1, 3, 3, 3, 0, 0, 0), (2, 1, 2, 1, 0, 0, 0, 0, 0, 0)
      """)
    return stage
  }

  private static func place(_ state: Int64, _ lane: Int64) -> String {
    "((\(state)::bigint << 60) | (\(lane)::bigint << 40))"
  }

  @Test("The state into which damage is planted is clean")
  func picture() throws {
    let audit = try stage().reading().audit()
    #expect(audit.problems == [])
    #expect(
      audit.issued == 40 && audit.served == 20 && audit.waiting == 18 && audit.delayed == 1 && audit.dead == 1
    )
  }

  private static let planted: [(String, [MessageDetail.Kind])] = [
    (
      "DELETE FROM bank.receipt WHERE ticket = 7",
      [.ticketLost, .servedCountDiffers, .serviceServedCountDiffers]
    ),
    (
      "DELETE FROM bank.customer WHERE position & 255 BETWEEN 31 AND 33",
      [.ticketsLost, .waitingCountDiffers]
    ),
    (
      "INSERT INTO bank.customer VALUES (\(place(1, 2)) | 7, 100, 1, 1)",
      [.ticketDuplicated, .waitingCountDiffers]
    ),
    (
      "INSERT INTO bank.customer VALUES (\(place(3, 3)) | 38, 100, 1, 1)",
      [.ticketDuplicated, .deadCountDiffers]
    ),
    (
      "INSERT INTO bank.customer VALUES (\(place(1, 2)) | 77, 100, 1, 1)",
      [.neverIssued, .waitingCountDiffers]
    ),
    (
      "INSERT INTO bank.customer VALUES (\(place(1, 77)) | 40, 100, 1, 1)",
      [.ticketDuplicated, .customerKeyInvalid]
    ),
    (
      "INSERT INTO bank.customer VALUES ((7::bigint << 60) | 40, 100, 1, 1)",
      [.ticketDuplicated, .customerKeyInvalid]
    ),
    ("UPDATE bank.customer SET amount = 0 WHERE position = \(place(1, 2)) | 31", [.moneyInvalid]),
    ("UPDATE bank.customer SET due_ms = 5 WHERE position = \(place(1, 2)) | 31", [.dueTimeWithoutDelay]),
    ("UPDATE bank.customer SET due_ms = NULL WHERE due_ms IS NOT NULL", [.dueTimeWithoutDelay]),
    ("UPDATE bank.ticket_batch SET last = 19 WHERE last = 20", [.ticketGap]),
    ("UPDATE bank.ticket_batch SET first = 20 WHERE last = 40", [.ticketsIssuedTwice]),
    ("INSERT INTO bank.ticket_batch VALUES (2, 1, 2, 1)", [.keyOfUnissuedRange]),
    ("INSERT INTO bank.ticket_batch VALUES (1, 41, 42, 1)", [.issuedCountDiffers, .ticketsLost]),
    ("UPDATE bank.receipt SET branch = 2 WHERE ticket = 7", [.receiptOutsideClaim]),
    ("UPDATE bank.receipt SET epoch = 2 WHERE ticket = 7", [.receiptOutsideClaim]),
    ("UPDATE bank.receipt SET lane = 7, debit = NULL, credit = NULL WHERE ticket = 7", [.juiceAtWrongBranch]),
    ("INSERT INTO bank.stock_release VALUES (1, 1, 7, 1)", [.releaseNotFound]),
    ("DELETE FROM bank.commit WHERE commit_no = 7", [.receiptWithoutCommit]),
    ("INSERT INTO bank.commit VALUES (2, 1, 9, 1, '{7}')", [.commitWithoutReceipt]),
    (
      "UPDATE bank.commit SET tickets = '{8}' WHERE commit_no = 7",
      [.receiptWithoutCommit, .commitWithoutReceipt]
    ),
    (
      "UPDATE bank.receipt SET lane = 77 WHERE ticket = 7",
      [.receiptInvalid, .servedCountDiffers, .serviceServedCountDiffers]
    ),
    (
      "UPDATE bank.receipt SET outcome = 9 WHERE ticket = 7",
      [.receiptInvalid, .servedCountDiffers, .serviceServedCountDiffers]
    ),
    ("UPDATE bank.receipt SET debit = NULL WHERE ticket = 7", [.transferInvalid]),
    ("UPDATE bank.receipt SET credit = 8 WHERE ticket = 7", [.transferInvalid]),
    ("UPDATE bank.receipt SET amount = 0 WHERE ticket = 7", [.transferInvalid]),
    ("UPDATE bank.receipt SET started_ms = 1500 WHERE ticket = 7", [.servedOutOfOrder]),
    ("UPDATE bank.receipt SET attempts = 3 WHERE ticket = 7", [.attemptsDiffer]),
    ("UPDATE bank.customer SET attempts = 1 WHERE position >> 60 = 3", [.attemptsDiffer]),
    ("DELETE FROM bank.attempt WHERE number = 1", [.attemptsNotNumbered, .attemptsDiffer]),
    ("UPDATE bank.attempt SET number = 5 WHERE number = 2", [.attemptsNotNumbered]),
    ("UPDATE bank.attempt SET ending = 99 WHERE number = 2", [.attemptEndUnknown]),
    ("UPDATE bank.attempt SET ticket = 99 WHERE ticket = 37", [.attemptsWithoutTicket, .attemptsDiffer]),
    (
      "UPDATE bank.receipt SET duration_ns = 5, output_length = 0, output_file_length = 0, stderr_length = 0, stderr_file_length = 0, outcome = 3, debit = NULL, credit = NULL WHERE ticket = 7",
      [.resultWithoutReceipt]
    ),
    (
      "UPDATE bank.receipt SET duration_ns = 5, output_length = 0, output_file_length = 1, stderr_length = 0, stderr_file_length = 0 WHERE ticket = 7",
      [.resultInvalid]
    ),
    ("UPDATE bank.receipt SET duration_ns = 5 WHERE ticket = 7", [.resultInvalid]),
    ("UPDATE bank.counter_delta SET issued = 19 WHERE issued = 20", [.issuedCountDiffers]),
    ("UPDATE bank.counter_delta SET waiting = 14 WHERE waiting = 15", [.waitingCountDiffers]),
    (
      "UPDATE bank.counter_delta SET delayed = 2 WHERE delayed = 1",
      [.delayedCountDiffers, .serviceDelayedCountDiffers]
    ),
    ("UPDATE bank.counter_delta SET dead = 2 WHERE dead = 1", [.deadCountDiffers]),
    (
      "UPDATE bank.counter_delta SET served = 9 WHERE served = 20",
      [.servedCountDiffers, .serviceServedCountDiffers]
    ),
    ("UPDATE bank.counter_delta SET cancelled = 9 WHERE served = 20", [.cancelledCountDiffers]),
    (
      "UPDATE bank.counter_delta SET waiting = 9223372036854775807 WHERE waiting = 15", [.waitingCountDiffers]
    ),
    (
      "UPDATE bank.counter_delta SET day = 9 WHERE waiting = -20",
      [.rowInvalid, .waitingCountDiffers, .servedCountDiffers, .serviceServedCountDiffers]
    ),
    ("INSERT INTO bank.returned_range VALUES (2, 24, 25)", [.claimsOverlap]),
    ("UPDATE bank.claim SET first = 10 WHERE first = 11", [.claimsOverlap]),
    ("DELETE FROM bank.returned_range", []),
    ("DELETE FROM bank.claim WHERE first = 21", [.claimMissing]),
    ("UPDATE bank.returned_range SET first = 28", [.claimMissing]),
    ("UPDATE bank.branch SET epoch = 2 WHERE id = 2", [.claimOfEndedEpoch]),
    ("UPDATE bank.claim SET branch = 99 WHERE first = 21", [.claimOfEndedEpoch]),
    ("UPDATE bank.claim SET claimed_at = '2026-01-01 10:30' WHERE first = 1", [.claimedOutOfOrder]),
    ("INSERT INTO bank.day VALUES (3, 1)", [.dayOutOfOrder, .dayNotClosed]),
    ("UPDATE bank.day SET day = 2; ", []),
    ("INSERT INTO bank.service VALUES (9, 'nine')", [.serviceInvalid]),
  ]

  @Test("Each kind of damage is found by its name", arguments: 0..<planted.count)
  func damage(_ number: Int) throws {
    let (planted, kinds) = Self.planted[number]
    let stage = try stage()
    let reader = try stage.reading()
    try stage.run(planted)
    let found = try reader.audit().messageDetails
    for kind in kinds {
      #expect(found.contains { $0.kind == kind }, "\(kind) in \(found)")
    }
    // Tickets beyond the last page may be claimed by any branch, so they are not damage.
    if kinds.isEmpty { #expect(planted.contains("bank.day") ? !found.isEmpty : found.isEmpty, "\(found)") }
  }

  @Test("A day whose receipts were pruned is not judged, nor are its tickets")
  func pruned() throws {
    let stage = try stage()
    try stage.run(
      "DELETE FROM bank.customer", "DELETE FROM bank.claim", "DELETE FROM bank.returned_range",
      "UPDATE bank.day SET closed_ms = 9", "INSERT INTO bank.day VALUES (2, 9)",
      "DROP TABLE bank.receipt_1, bank.attempt_1, bank.commit_1", "DELETE FROM bank.ticket_batch")
    #expect(try stage.reading().audit().problems == [])
  }

  @Test("A branch whose clock went back is not reported as out of order; another one is")
  func clock() throws {
    let stage = try stage()
    try stage.run(
      "UPDATE bank.receipt SET started_ms = started_ms - 900, finished_ms = 1100 WHERE ticket > 7")
    #expect(try stage.reading().audit().problems == [])
    try stage.run("UPDATE bank.receipt SET finished_ms = 2000")
    #expect(try stage.reading().audit().messageDetails.map(\.kind) == [.servedOutOfOrder])
    #expect(try stage.reading().clockNote() == nil)
  }

  @Test("On a day on which a clock was set back the order of service is a note, and not a problem")
  func clockSetBack() throws {
    let stage = try stage()
    try stage.run(
      "UPDATE bank.receipt SET started_ms = started_ms - 900 WHERE ticket > 7",
      "INSERT INTO bank.meta VALUES ('clock set back', 1)")
    #expect(try stage.reading().audit().problems == [])
    #expect(try stage.reading().clockNote() == MessageDetail(.clockSetBack, 1))
    try stage.run("UPDATE bank.meta SET value = 0 WHERE name = 'clock set back'")
    #expect(try stage.reading().audit().messageDetails.map(\.kind) == [.servedOutOfOrder])
  }

  @Test("A property that the server does not guarantee is a problem, and one that it does a note")
  func server() throws {
    // Each session waits for the disk in any case, and for a standby unless the operator has chosen
    // otherwise.
    let cluster = try PostgresCluster(["fsync=off", "synchronous_commit=off"])
    let reader = try ReaderDatabase(on: cluster).reading()
    #expect(try reader.audit().messageDetails.map(\.kind) == [.fsyncOff])
    let local = try PostgresCluster(["synchronous_standby_names=nowhere", "synchronous_commit=local"])
    #expect(
      try ReaderDatabase(on: local).reading().audit().messageDetails.map(\.kind) == [.synchronousCommitOff])
    #expect(try reader.replicationNote().kind == .standbyAsynchronous)
    let good = try ReaderDatabase()
    #expect(try good.reading().replicationNote().kind == .standbyAsynchronous)
    #expect(try good.reading().audit().problems == [])
  }

  @Test("A hundred thousand receipts are audited in bounded memory")
  func large() async throws {
    let stage = try ReaderDatabase()
    let count = 100_000
    try stage.run(
      "INSERT INTO bank.ticket_batch VALUES (1, 1, \(count), 1)",
      ReaderDatabase.receipts(
        """
        INSERT INTO bank.receipt
        SELECT 1, n, 2, 1, 1, 1, 1, 1, 100, n % 1000, -1, n % 1000, 1, 1000 + n, 2000 + n, NULL, 1, 1, n / 100
        FROM generate_series(1, \(count)) n
        """),
      """
      INSERT INTO bank.claim SELECT 2, n * 100 + 1, n * 100 + 100, 1, 1, '2026-01-01'::timestamptz + n * interval '1 s', n
      FROM generate_series(0, \(count / 100 - 1)) n
      """,
      "INSERT INTO bank.counter_delta VALUES (1, 0, 0, 1, 2, \(count), 0, 0, 0, \(count))")
    // The audit runs in a process of its own, because the tests that run beside this one need memory, too.
    await #expect(processExitsWith: .success) { [address = stage.address as String, count = count as Int] in
      let reader = try PostgresReader(address)
      _ = try reader.audit()
      let before = try Self.proportionalKilobytes
      let began = SystemClock.monotonic()
      let audit = try reader.audit()
      let took = SystemClock.monotonic().since(began)
      let grown = try Self.proportionalKilobytes - before
      print("an audit of \(count) receipts: \(took.milliseconds) ms, \(grown) kB more")
      #expect(audit.problems == [] && audit.served == Int64(count))
      #expect(grown < 8_192)
    }
  }

  /// Memory that this process holds, with its share of what other processes hold as well. proc(5)
  private static var proportionalKilobytes: Int64 {
    get throws {
      let line = try contents(of: "/proc/self/smaps_rollup").split(separator: "\n")
        .first { $0.hasPrefix("Pss:") }
      return try #require(line?.split(separator: " ").compactMap { Int64($0) }.first)
    }
  }
}
