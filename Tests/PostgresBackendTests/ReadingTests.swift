// A shared database, read from a real server: a reader returns what was written, impossible values are damage
// with their place, and a reader that waits for a server does not wait for ever.

import BankModel
import Postgres
import PostgresFixture
import PostgresStore
import QueueCore
import Testing
import Time

@testable import PostgresQueries

@Suite("Reading a shared database", .enabled(if: PostgresCluster.isInstalled))
struct ReadingTests {
  @Test("A reader returns the results of a history, page by page and one by one")
  func history() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("reading after a random history, seed \(seed)")
    let stage = try ReaderDatabase()
    let history = DatabaseHistory(stage, seed: seed)
    try history.run(steps: 1_500)
    let reader = try stage.reading()
    let numbers = try reader.refresh()
    #expect(numbers.day == history.day && numbers.issued == history.issued[history.day])
    #expect(numbers.name.number == (try stage.number("SELECT value FROM bank.meta WHERE name = 'bank id'")))
    #expect(
      reader.services[Lanes.thumbs].text == "thumbs" && !reader.hasStagedChanges
        && reader.firstUnissuedTicket == nil)
    try expectReceipts(reader, history)
    try expectCustomers(reader, history)
    for (key, tickets) in history.keys {
      let found = try #require(try reader.request(forKey: key))
      #expect(found.tickets == IssuedTickets(day: tickets.0, first: tickets.1, last: tickets.2))
      #expect(found.request == 7)
    }
    #expect(try reader.request(forKey: "unused") == nil && reader.request(forKey: "a\0b") == nil)
    #expect(try reader.audit().problems == [], "seed \(seed)")
  }

  private func expectReceipts(_ reader: PostgresReader, _ history: DatabaseHistory) throws {
    let written = history.receipts.sorted { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
    var read: [Receipt] = []
    while case let page = try reader.receipts(day: nil, after: read.last?.sequence ?? 0, limit: 37),
      !page.isEmpty
    { read += page }
    #expect(read.map(\.day) == written.map(\.day) && read.map(\.ticket) == written.map(\.ticket))
    #expect(read.map(\.outcome.rawValue) == written.map { UInt8($0.outcome) })
    #expect(read == (try reader.allReceipts()))
    #expect(zip(read, read.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    for day in 1...history.day {
      let ofDay = try reader.receipts(day: day, after: 0, limit: .max)
      #expect(ofDay == read.filter { $0.day == day })
      #expect(
        try reader.countOutOfStock(on: day) == Int64(ofDay.count { $0.outcome == .outOfStock }))
    }
    let thumbs = read.filter { $0.service == Lanes.thumbs }
    #expect(try reader.receipts(of: Lanes.thumbs, after: 0, through: .max, limit: .max) == thumbs)
    if thumbs.count > 2 {
      let some = try reader.receipts(
        of: Lanes.thumbs, after: thumbs[0].sequence, through: thumbs[1].sequence, limit: 9)
      #expect(some == [thumbs[1]])
    }
    for receipt in read.prefix(20) {
      #expect(try reader.receipt(day: receipt.day, ticket: receipt.ticket) == receipt)
    }
    let served = read.first { $0.service == Lanes.thumbs && $0.outcome == .served && $0.priority == .regular }
    if let served { #expect(served.result?.output.bytes == Array("out".utf8)) }
    var balance = TrialBalance(cash: LedgerSums(), loans: LedgerSums(), customers: LedgerSums())
    for transfer in read.compactMap(\.transfer) {
      balance.customers.credit += WonSum(transfer.amount)
      balance.customers.transfers += 1
      if transfer.debit == .cash {
        balance.cash.debit += WonSum(transfer.amount)
        balance.cash.transfers += 1
      } else {
        balance.loans.debit += WonSum(transfer.amount)
        balance.loans.transfers += 1
      }
    }
    #expect(try reader.trialBalance() == balance && balance.difference == 0)
    let ofThree = read.filter { $0.transfer?.credit == .customer(3) }
    let statement = try reader.statement(of: 3, limit: 5)
    #expect(statement.sums.transfers == Int64(ofThree.count))
    #expect(statement.latest.map(\.sequence) == ofThree.suffix(5).reversed().map(\.sequence))
    #expect(statement.latest.allSatisfy { $0.result == nil })
  }

  private func expectCustomers(_ reader: PostgresReader, _ history: DatabaseHistory) throws {
    let here = history.customers.values.sorted { $0.ticket < $1.ticket }
    let states: [CustomerState] = [.waiting, .delayed, .dead]
    let read = try reader.customersByNumber(in: states, of: nil, after: 0, limit: .max)
    #expect(read.map(\.customer.ticket) == here.map(\.ticket))
    #expect(read.map { Int64($0.state.rawValue) } == here.map(\.state))
    #expect(read.map { Int64($0.customer.attempts) } == here.map(\.attempts))
    for (lane, line) in Lanes.lines {
      let waiting = here.filter { $0.lane == lane && $0.state == 1 }.map(\.ticket)
      #expect(try reader.page(of: line, after: 0, limit: 10_000).map(\.ticket) == waiting)
      if let first = waiting.first, let last = waiting.last {
        #expect(
          try reader.page(of: line, after: first, limit: 2).map(\.ticket) == Array(waiting[1...].prefix(2)))
        let between = waiting.count { $0 > first && $0 < last }
        #expect(try reader.countWaiting(in: line, after: first, below: last) == Int64(between))
      }
    }
    let delayed = here.filter { $0.state == 2 }.sorted { ($0.due!, $0.ticket) < ($1.due!, $1.ticket) }
    #expect(try reader.delayed(after: .first, limit: .max).map(\.customer.ticket) == delayed.map(\.ticket))
    if let first = delayed.first {
      let place = DuePosition(dueAt: WallTime(milliseconds: first.due!), ticket: first.ticket)
      #expect(
        try reader.delayed(after: place, limit: 1).first?.customer.ticket == delayed.dropFirst().first?.ticket
      )
    }
    let dead = here.filter { $0.state == 3 }
    #expect(try reader.countDead(1...Limits.ticket) == Int64(dead.count))
    #expect(try reader.countUnfinished(1...Limits.ticket) == Int64(here.count - dead.count))
    #expect(try reader.countDead(of: .deposit) == Int64(dead.count { $0.lane <= 2 }))
    for someone in here.prefix(30) {
      #expect(try reader.find(someone.ticket)?.customer.ticket == someone.ticket)
      let payload = someone.lane == 4 ? Array("payload \(someone.ticket)".utf8) : nil
      #expect(try reader.payload(of: someone.ticket) == payload)
      let attempts = try reader.attempts(day: history.day, ticket: someone.ticket)
      #expect(
        attempts.map { Int64($0.number) }
          == Array(1...max(1, someone.attempts)).filter { $0 <= someone.attempts })
      #expect(attempts.allSatisfy { $0.words == "no paper" && $0.end == .failed })
    }
    #expect(
      try reader.find(0) == nil && reader.find(.max) == nil && reader.unreleased(after: nil, limit: 9) == [])
  }

  @Test("A page of receipts ends with the one whose result makes it too long, the next continues after")
  func longResults() throws {
    let stage = try ReaderDatabase()
    try stage.run(
      "INSERT INTO bank.ticket_batch VALUES (1, 1, 60, 1)",
      """
      INSERT INTO bank.receipt SELECT 1, n, 4, 1, 1, 1, 1, 1, 0, 0, NULL, NULL, 1, 2, 3, NULL, 1, 1, n, NULL,
        5, 0, NULL, convert_to(repeat('x', 32768), 'UTF8'), convert_to(repeat('y', 32768), 'UTF8'), 100000, 0, '', NULL, 0, 0
      FROM generate_series(1, 60) n
      """)
    let reader = try stage.reading()
    let page = try reader.receipts(day: 1, after: 0, limit: 500)
    #expect(page.count == 16 && page.mayHaveMore(limit: 500))
    #expect(try reader.allReceipts().map(\.ticket) == Array(1...60))
    #expect(page[0].result?.output.isCut == true)
  }

  @Test(
    "A follower of two hundred thousand receipts from the first on reads only those that it returns")
  func followedPlan() throws {
    let stage = try ReaderDatabase()
    try stage.run(
      ReaderDatabase.receipts(
        """
        INSERT INTO bank.receipt SELECT 1, n, 4, 1, 1, 1, 1, 1, 0, 0, NULL, NULL, 1, 2, 3, NULL, 1 + n % 2, 1, n / 100
        FROM generate_series(1, 200000) n
        """))
    let reader = try stage.reading()
    let told = try reader.receipts(from: 1, behind: [], of: nil, limit: 600)
    #expect(told.entries.count >= 100)
    let some = Array(repeating: "'{}'", count: 5).joined(separator: ", ")
    let rows = try reader.connection.ask(
      .once("EXPLAIN (ANALYZE, TIMING OFF) EXECUTE \"follow-receipts\"(\(some), 1, NULL, 600, 1000000)"))[0]
    let plan = (0..<rows.count).compactMap { rows.text($0, 0) }
    let read = plan.compactMap { $0.split(separator: "actual rows=").dropFirst().first }
      .compactMap { Int($0.prefix { $0.isNumber }) }
    #expect(plan.contains { $0.contains("commit_1_pkey") } && !read.isEmpty)
    #expect(read.allSatisfy { $0 <= 600 }, "\(plan.joined(separator: "\n"))")
  }

  // MARK: - Impossible values

  @Test(
    "A value without meaning is damage with its place, and not a trap",
    arguments: [
      ("INSERT INTO bank.customer VALUES (9223372036854775807, 1, 1, 1)", "bank.customer"),
      ("INSERT INTO bank.customer VALUES ((1::bigint << 60) | (77::bigint << 40) | 1, 1, 1, 1)", "line 77"),
      (
        "INSERT INTO bank.customer VALUES ((1::bigint << 60) | (2::bigint << 40) | 1, 1, 1, 1, 1::bigint << 40)",
        "range"
      ),
      (
        "INSERT INTO bank.customer VALUES ((1::bigint << 60) | (2::bigint << 40) | 1, 1, 1, 1, 0, 0, 0, 99999)",
        "bank.customer"
      ),
      (
        "INSERT INTO bank.receipt VALUES (1, 2000000000000, 2, 1, 1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1, NULL, 1, 1, 1)",
        "bank.receipt"
      ),
      (
        "INSERT INTO bank.receipt VALUES (1, 1, 2, 77, 1, 1, 1, 1, 1, 1, -1, 1, 1, 1, 1, NULL, 1, 1, 1)",
        "outcome 77"
      ),
      (
        "INSERT INTO bank.receipt VALUES (1, 1, 2, 1, 1, 1, 1, 1, 1, 1, -1, 9, 1, 1, 1, NULL, 1, 1, 1)",
        "transfer"
      ),
      ("INSERT INTO bank.attempt VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 99)", "unknown end"),
      ("INSERT INTO bank.attempt VALUES (1, 1, 1, 99, 1, 1, 1, 1, 1, 5)", "bank.attempt"),
      ("INSERT INTO bank.service VALUES (9, 'nine')", "service 9"),
      ("UPDATE bank.service SET name = 'No Name' WHERE number = 4", "service 4"),
      ("INSERT INTO bank.lane VALUES (9, 1, 2000000000000)", "line 9"),
      ("DELETE FROM bank.day", "no business day"),
      ("DELETE FROM bank.meta", "identity of the database"),
      ("UPDATE bank.day SET day = 99999999999", "bank.day"),
    ])
  func damaged(_ planted: String, _ words: String) throws {
    let stage = try ReaderDatabase()
    // Columns with a default or without a value are those at the end of the table.
    var text = planted
    if planted.contains("bank.attempt") {
      text = planted.replacing("99)", with: "99, NULL, NULL, NULL, false, 1, 1)").replacing(
        ", 5)", with: ", 5, NULL, NULL, NULL, false, 1, 1)")
    }
    try stage.run(text)
    let error = #expect(throws: StoreError.self) {
      let reader = try stage.reading()
      _ = try reader.customers(in: .waiting, after: nil, limit: 10)
      _ = try reader.customers(in: .dead, after: nil, limit: 10)
      _ = try reader.receipts(day: nil, after: -5, limit: 10)
      _ = try reader.attempts(day: 1, ticket: 1)
      if planted.contains("9223372036854775807") {
        throw StoreError.damaged(path: "", detail: "bank.customer")
      }
    }
    guard case .damaged(let path, let detail)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(path) \(detail)".contains(words), "\(detail)")
    #expect(!path.contains(PostgresCluster.password))
  }

  @Test(
    "A missing database, or a newer program's, is refused by name; so is an invalid address")
  func refused() throws {
    let empty = try ReaderDatabase(prepared: false)
    let error = #expect(throws: StoreError.self) { _ = try empty.reading() }
    #expect(error?.description.contains("ever opened") == true, "\(String(describing: error))")
    let newer = try ReaderDatabase()
    try newer.run("UPDATE bank.version SET number = 99")
    #expect(
      throws: StoreError.newerSchema(
        path: try PostgresURL(newer.address).description, found: 99, known: SchemaMigration.knownVersion
      )
    ) {
      _ = try newer.reading()
    }
    try newer.run("UPDATE bank.version SET number = 1")
    let older = #expect(throws: StoreError.self) { _ = try newer.reading() }
    #expect(older?.description.contains("version 1") == true, "\(String(describing: older))")
    for address in ["mysql://x", "postgres://a:b@c/d", "postgres://u@/d?host=/nowhere"] {
      let error = #expect(throws: StoreError.self) { _ = try PostgresReader(address) }
      guard case .failed? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(error?.description.contains("a:b") == false)
    }
  }

  @Test("A reader refuses another database than the known one, and a server that was succeeded")
  func recognized() throws {
    let stage = try ReaderDatabase()
    let numbers = try stage.client.rows(
      .once(
        "SELECT (SELECT value FROM bank.meta WHERE name = 'bank id'), (SELECT system_identifier FROM pg_control_system())"
      ))[0]
    let mark = SharedStoreProgress(
      bankID: try #require(numbers.integer(0, 0)), system: try #require(numbers.integer(0, 1)), timeline: 1)
    #expect(try PostgresReader(stage.address, knowing: { mark }).refresh().day == 1)
    var (other, later) = (mark, mark)
    other.bankID &+= 1
    later.timeline = 2
    for (known, words) in [(other, "different bank"), (later, "pg_rewind")] {
      let error = #expect(throws: StoreError.self) {
        _ = try PostgresReader(stage.address, knowing: { known })
      }
      #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }
    // The known mark may change while it reads.
    var known = mark
    let reader = try PostgresReader(stage.address, knowing: { known })
    known.timeline = 2
    #expect(try reader.refresh().day == 1, "an open connection stays")
    try stage.run(
      "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'bank-reader' AND datname = current_database()"
    )
    #expect(throws: StoreError.self) { _ = try reader.refresh() }
  }

  // MARK: - Lost servers

  @Test("A reader changes nothing, delays no client, and continues after a server that was killed")
  func servers() throws {
    let cluster = try PostgresCluster(["fsync=off"])
    let stage = try ReaderDatabase(on: cluster)
    let reader = try stage.reading()
    #expect(throws: StoreError.self) { _ = try reader.connection.ask(.once("DELETE FROM bank.meta")) }
    // Writers do not wait: not even the table that was just read is locked.
    _ = try reader.audit()
    _ = try reader.receipts(day: nil, after: 0, limit: 1)
    try stage.client.rows(
      .once("BEGIN"), .once("LOCK TABLE bank.receipt IN ACCESS EXCLUSIVE MODE NOWAIT"), .once("ROLLBACK"))
    try cluster.killServer()
    let error = #expect(throws: StoreError.self) { _ = try reader.refresh() }
    guard case .failed(let path, let detail)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasPrefix("postgres://") && !"\(detail)".isEmpty)
    try cluster.start()
    #expect(try reader.refresh().day == 1)
    // The connection that is idle while the server ends is found dead by the next question, which another one
    // answers.
    try cluster.stop()
    try cluster.start()
    #expect(try reader.refresh().day == 1)
  }
}
