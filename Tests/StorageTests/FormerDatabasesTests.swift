// Databases created by former programs, one of each former version of the schema, stored as the SQL that
// creates them again (`FormerDatabases`). Each is opened by the present program and then contains what the
// present program would have stored for the same events, as far as that version could store it. The last
// program of each version has created it: commits fe1fe09 (1), a6e5a0d (2), 094ba12 (3), 80e4821 (4), f81fb01
// (5), 57180e3 (6). That of version 7 is the one of version 6 after its migration, with an identity.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Databases of former versions")
struct FormerDatabasesTests {
  static let versions = 1...7
  private static let first: [UInt8] = [0, 255, 10]
  private static let thumbs = ServiceName("thumbs")!

  /// The database that a program of this version has left.
  private func database(_ version: Int) throws -> Scratch {
    let here = #filePath
    let directory = here[..<(here.lastIndex(of: "/") ?? here.startIndex)]
    let bytes = try #require(Scratch.bytes(of: "\(directory)/FormerDatabases/version-\(version).sql"))
    let scratch = Scratch()
    try Database.createFile(scratch.database)
    let database = try Database(path: scratch.database)
    try database.execute(String(decoding: bytes, as: UTF8.self), while: "making a former database again")
    #expect(try database.number("PRAGMA user_version", while: "testing") == Int64(version))
    database.close()
    return scratch
  }

  /// The events at the branch, as far as a program of this version knew them.
  private func play(_ branch: StoreFixture, _ version: Int) throws {
    let store = branch.store
    func line(_ service: Service, _ priority: Priority) -> Line { Line(service: service, priority: priority) }
    func come(_ line: Line, itemName: String = "") throws -> Customer {
      let ticket = branch.dayCounters.issued + 1
      return try branch.arrive(
        line, amount: line.service.movesMoney ? ticket * 1_000 : 0, account: ticket % 3, itemName: itemName)
    }
    func remember(_ key: String, through last: TicketNumber, _ request: Int64) throws {
      try store.stage(
        .remember(
          key: key, day: branch.dayCounters.day, first: 1, last: last, request: version >= 4 ? request : nil))
    }
    func startNextDay() throws {
      branch.startNextDay()
      // Steps of the clock are counted since version 3.
      if version < 3 { branch.dayCounters.clockSteps = branch.dayCounters.day }
      try branch.commit()
    }

    if version < 3 { branch.dayCounters.clockSteps = 1 }
    _ = try store.recordStart(at: branch.now)
    var some = try (0..<6).map {
      try come(line($0 % 2 == 0 ? .deposit : .loan, Priority.grades[$0 % 3]))
    }
    try remember("월요일", through: 3, 42)
    try branch.commit()
    try branch.finish(try branch.fail(some[0]))
    try branch.finish(some[1])
    try branch.finish(some[2], .cancelled)
    try branch.commit()
    _ = try store.recordStart(at: branch.now)
    some[3] = try branch.fail(some[3], .failed)
    try branch.postpone(some[3], until: branch.clock + 5_000)
    try branch.commit()
    try branch.makeWaiting(some[3], from: .delayed)
    try branch.finish(some[3])
    try branch.commit()
    try branch.cancelEveryone()
    try startNextDay()
    try startNextDay()

    if version >= 6 {
      try store.assignNumbers(to: [Self.thumbs])
      branch.dayCounters.know(services: 4)
    }
    some = try Priority.grades.flatMap { grade in
      try [Service.deposit, .deposit, .loan, .loan].map { try come(line($0, grade)) }
    }
    if version >= 2 {
      for grade in Priority.grades {
        for _ in 0..<2 { some.append(try come(line(.juice, grade), itemName: "strawberry-banana")) }
      }
    }
    if version >= 5 {
      some.append(try come(line(.deposit, Priority(7))))
      some.append(try come(line(.loan, Priority(5_000))))
      try store.stage(.attach(payload: Self.first, to: 1...2))
      try store.stage(.attach(payload: [], to: 20...20))
    }
    if version >= 6 {
      for number in 1...2 { some.append(try come(line(Service(number: 4), Priority(UInt32(number))))) }
      let late = Customer(
        ticket: branch.dayCounters.issued + 1, service: .loan, priority: .regular, amount: 5, account: 6,
        issuedAt: branch.now)
      try store.stage(.insertDelayed(late, dueAt: WallTime(milliseconds: branch.clock + 60_000)))
      branch.dayCounters.issued += 1
      branch.dayCounters.delay(of: .loan)
    }
    try remember("kim's", through: 12, -7)
    try branch.commit()
    try branch.finish(some[0])
    try branch.postpone(try branch.fail(some[1], .failed), until: branch.clock + 9_000)
    try branch.deadLetter(try branch.fail(try branch.fail(some[2], .leaseExpired)))
    try branch.finish(some[3], .cancelled)
    try branch.finish(some[4])
    if version >= 2 {
      try branch.finish(some[12])
      let missing = [
        Shortage(item: ItemID("banana"), needed: 2, available: 1),
        Shortage(item: ItemID("딸기"), needed: 10, available: 0),
      ]
      try branch.finish(some[13], .outOfStock, missing: missing)
      try branch.finish(some[14], .cancelled)
      try branch.finish(some[15], .cancelled)
    }
    if version >= 6 {
      let output = try #require(TruncatedOutput(first: [1, 2], last: [3], length: 70_000, filed: 70_000))
      let result = WorkResult(ending: .code(0), duration: .milliseconds(7), output: output)
      try branch.finish(try branch.fail(some[20], .failed, words: "no such file"), leaving: result)
    }
    try branch.commit()
    if version >= 2 { try store.stage(.released(TicketOfDay(day: branch.dayCounters.day, ticket: 15))) }
    branch.dayCounters.paused[Service.loan.index] = true
    branch.dayCounters.businessTime = TimeSpan(nanoseconds: 1_234_567)
    if version >= 3 { branch.dayCounters.clockSteps = 2 }
    try branch.commit()
  }

  private struct Contents: Equatable {
    var stored: StoredQueue
    var pages: [[Customer]]
    var customers: [[StoredCustomer]]
    var payloads: [[UInt8]?]
    var receipts: [Receipt]
    var attempts: [[Attempt]]
    var keys: [KeyedRequest?]
    var unreleased: [TicketOfDay]
    var balance: TrialBalance
    var services: [ServiceName]
    var audit: StoreAudit
  }

  private func contents(of store: any LocalQueueStore) throws -> Contents {
    let lines =
      Line.graded + [7, 5_000].map { Line(service: $0 == 7 ? .deposit : .loan, priority: Priority($0)) }
    return Contents(
      stored: try store.load(now: WallTime(milliseconds: 1)),
      pages: try lines.map { try store.page(of: $0, after: 0, limit: 99) },
      customers: try CustomerPosition.storedStates.map { try store.customers(in: $0, after: nil, limit: 99) },
      payloads: try (1...21).map { try store.payload(of: $0) },
      receipts: try store.receipts(day: nil, after: 0, limit: 99),
      attempts: try [(1, 1), (1, 4), (3, 1), (3, 2), (3, 3), (3, 21)].map {
        try store.attempts(day: $0, ticket: $1)
      },
      keys: try ["월요일", "kim's", "unused"].map { try store.request(forKey: $0) },
      unreleased: try store.unreleased(after: nil, limit: 9), balance: try store.trialBalance(),
      services: store.services.names, audit: try store.audit())
  }

  private func expected(_ version: Int) throws -> Contents {
    let branch = try StoreFixture(.sqlite)
    try play(branch, version)
    var contents = try contents(of: branch.store)
    // The last attempt before a dead letter is known since version 4.
    if version < 4 {
      for ticket in contents.attempts.indices {
        for place in contents.attempts[ticket].indices { contents.attempts[ticket][place].isFatal = false }
      }
    }
    return contents
  }

  @Test("keep their contents, without any problem in them", arguments: versions)
  func opened(_ version: Int) throws {
    let expected = try expected(version)
    #expect(expected.audit.problems == [])
    let scratch = try database(version)
    for _ in 1...2 {
      let store = try SQLiteStore(path: scratch.database)
      let found = try contents(of: store)
      #expect(found.stored == expected.stored)
      #expect(found.customers == expected.customers)
      #expect(found.receipts == expected.receipts)
      #expect(found.attempts == expected.attempts)
      #expect(found.keys == expected.keys)
      #expect(found.audit == expected.audit, "\(found.audit.problems)")
      #expect(found == expected)
      #expect(try store.database.number("PRAGMA user_version", while: "testing") == Schema.bank.version)
      try store.close()
    }
  }

  @Test("are inspected without a byte of them changing", arguments: versions)
  func inspected(_ version: Int) throws {
    let scratch = try database(version)
    let before = Scratch.bytes(of: scratch.database)
    #expect(try contents(of: SQLiteStore(inspecting: scratch.database)) == expected(version))
    #expect(scratch.names == ["bank.db"] && Scratch.bytes(of: scratch.database) == before)
  }

  @Test("have the tables of a new one afterwards, column by column", arguments: versions)
  func tables(_ version: Int) throws {
    let columns = """
      SELECT group_concat(item, char(10)) FROM (
        SELECT t.name || '.' || c.name || ' ' || c.type || c."notnull" || c.pk || c.hidden AS item
        FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' ORDER BY 1)
      """
    let (before, beside) = (try database(version), Scratch())
    let (former, new) = (try SQLiteStore(path: before.database), try SQLiteStore(path: beside.database))
    let (found, expected) = (
      try former.database.text(columns, while: "testing"), try new.database.text(columns, while: "testing")
    )
    #expect(found == expected && expected?.contains("result.output_head BLOB") == true)
  }

  @Test("keep their identity, under its new names")
  func identity() throws {
    let scratch = try database(7)
    let store = try SQLiteStore(path: scratch.database)
    #expect(try store.storedBankID() == BankID(number: 4_711, day: 2, ticket: 5))
    #expect(
      try store.database.number("SELECT count(*) FROM meta WHERE name LIKE 'books%'", while: "testing") == 0)
  }

  @Test("can be used: the next customer comes, is served, and leaves a result", arguments: versions)
  func staysUsable(_ version: Int) throws {
    let scratch = try database(version)
    let branch = try StoreFixture(.sqlite, opening: scratch)
    let result = WorkResult(ending: .code(0), duration: .milliseconds(1))
    try branch.finish(try branch.fail(try branch.arrive(.deposit), words: "once"), leaving: result)
    try branch.commit()
    let receipt = try #require(
      try branch.store.receipt(day: branch.dayCounters.day, ticket: branch.dayCounters.issued))
    #expect(receipt.result == result)
    #expect(
      try branch.store.attempts(day: branch.dayCounters.day, ticket: receipt.ticket).map(\.words) == ["once"])
    try branch.cancelEveryone()
    branch.startNextDay()
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }
}
