// Opening of the database: new files, foreign files, damage, versions, locks. A refused file keeps every one
// of its bytes. Other processes are real ones here: they hold the lock, and they are killed.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Opening of the database")
struct OpeningTests {
  private let now = WallTime(milliseconds: 1)

  /// A database with customers and receipts, closed.
  private func filled() throws -> Scratch {
    let branch = try StoreFixture(.sqlite)
    for _ in 0..<2_000 { try branch.arrive(.deposit) }
    let first = try #require(try branch.store.find(1)).customer
    try branch.finish(first)
    try branch.commit()
    try (branch.store as? SQLiteStore)?.close()
    return branch.scratch
  }

  /// Opens a file that must be refused, and checks that nothing was written.
  private func refusal(of scratch: Scratch) -> StoreError? {
    let (names, before) = (scratch.names, scratch.names.map { Scratch.bytes(of: "\(scratch.path)/\($0)") })
    let error = storeError { _ = try SQLiteStore(path: scratch.database).load(now: now) }
    #expect(scratch.names == names)
    let isUntouched = scratch.names.map { Scratch.bytes(of: "\(scratch.path)/\($0)") } == before
    #expect(isUntouched)
    return error
  }

  @Test("a new database and its log can be read by their owner only")
  func permissions() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    #expect(branch.scratch.names == ["bank.db", "bank.db-wal"])
    for name in branch.scratch.names {
      var status = stat()
      #expect(stat("\(branch.scratch.path)/\(name)", &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600, "\(name)")
    }
  }

  @Test("a clean stop leaves one file, and the next start finds everything in it")
  func cleanStop() throws {
    let scratch = try filled()
    #expect(scratch.names == ["bank.db"])
    let store = try SQLiteStore(path: scratch.database)
    let dayCounters = try store.load(now: now).dayCounters
    #expect((dayCounters.issued, dayCounters.served) == (2_000, 1))
    try store.close()
    #expect(storeError { _ = try store.find(1) }?.kind == "failed")
    #expect(storeError { try store.close() }?.kind == "failed")
    #expect(scratch.names == ["bank.db"])
  }

  @Test("an empty file that a crash left becomes a database")
  func emptyFile() throws {
    let scratch = Scratch()
    Scratch.write([], to: scratch.database)
    #expect(try SQLiteStore(path: scratch.database).load(now: now).dayCounters.day == 1)
  }

  @Test("a file that was being created when its process was killed becomes a database")
  func halfMade() throws {
    let scratch = Scratch()
    try Database.createFile(scratch.database)
    let database = try Database(path: scratch.database)
    // A cache of a few pages makes SQLite write the file before the end of the transaction.
    try database.execute(
      "PRAGMA cache_size = 5; BEGIN EXCLUSIVE; CREATE TABLE half (a TEXT)", while: "beginning to make a file")
    for _ in 0..<200 {
      try database.execute("INSERT INTO half VALUES (hex(zeroblob(2000)))", while: "filling a file")
    }
    let copy = scratch.copyAfterKill()
    #expect(copy.names == ["bank.db", "bank.db-journal"])
    #expect(Scratch.bytes(of: copy.database)?.isEmpty == false)
    let store = try SQLiteStore(path: copy.database)
    #expect(try store.load(now: now).dayCounters.day == 1)
    #expect(try store.audit() == StoreAudit())
  }

  @Test("an empty file beside a log is damage, because SQLite would discard the log")
  func emptyFileWithLog() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    let scratch = branch.scratch.copyAfterKill()
    Scratch.write([], to: scratch.database)
    #expect(refusal(of: scratch)?.kind == "damaged")
  }

  @Test("a file that is not a database is refused")
  func garbage() throws {
    for bytes in [[0x20], Array(repeating: 0, count: 8_192), Array("a letter to my grandmother".utf8)]
      as [[UInt8]]
    {
      let scratch = Scratch()
      Scratch.write(bytes, to: scratch.database)
      #expect(refusal(of: scratch)?.kind == "damaged")
    }
  }

  @Test("a damaged header is refused")
  func damagedHeader() throws {
    for offset in [0, 15, 16, 68, 71] {
      let scratch = try filled()
      var bytes = try #require(Scratch.bytes(of: scratch.database))
      bytes[offset] ^= 0x55
      Scratch.write(bytes, to: scratch.database)
      #expect(refusal(of: scratch)?.kind == "damaged", "byte \(offset)")
    }
  }

  @Test("a truncated database is refused")
  func truncated() throws {
    for pages in [1, 2, 5] {
      let scratch = try filled()
      let bytes = try #require(Scratch.bytes(of: scratch.database))
      #expect(bytes.count > 20 * 4_096)
      Scratch.write(Array(bytes[..<(pages * 4_096)]), to: scratch.database)
      #expect(refusal(of: scratch)?.kind == "damaged")
      Scratch.write(Array(bytes[..<(pages * 4_096 - 1_000)]), to: scratch.database)
      #expect(refusal(of: scratch)?.kind == "damaged")
    }
  }

  @Test("flipped bytes anywhere are never a trap, and the audit finds what reading does not")
  func flippedBytes() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("flipped bytes: seed \(seed) (to repeat, put it in place of the random one in flippedBytes)")
    var chance = SeededGenerator(seed: seed)
    let whole = try filled()
    let bytes = try #require(Scratch.bytes(of: whole.database))
    for _ in 0..<60 {
      let scratch = Scratch()
      var damaged = bytes
      for _ in 0..<8 { damaged[Int(chance.draw(0...Int64(bytes.count - 1)))] ^= UInt8(chance.draw(1...255)) }
      Scratch.write(damaged, to: scratch.database)
      let error = storeError {
        let store = try SQLiteStore(path: scratch.database)
        _ = try store.load(now: now)
        for line in Line.graded { _ = try store.page(of: line, after: 0, limit: 10_000) }
        for state in CustomerPosition.storedStates {
          _ = try store.customers(in: state, after: nil, limit: 10_000)
        }
        _ = try store.receipts(day: nil, after: 0, limit: 100)
        _ = try store.audit()
      }
      #expect(error == nil || ["damaged", "newerSchema", "failed", "diskFull"].contains(error?.kind))
    }
  }

  @Test("another application's database is refused")
  func foreign() throws {
    for script in [
      "CREATE TABLE recipes (name TEXT)", "PRAGMA journal_mode = WAL; CREATE TABLE recipes (name TEXT)",
      "PRAGMA application_id = 7; CREATE TABLE customer (position INTEGER PRIMARY KEY)",
    ] {
      let scratch = Scratch()
      try Database.createFile(scratch.database)
      do {
        let database = try Database(path: scratch.database)
        try database.execute(script, while: "making a foreign database")
      }
      let error = refusal(of: scratch)
      #expect(error?.kind == "damaged")
      #expect(error?.description.contains("another application") == true)
    }
  }

  @Test("a database of a newer program is refused")
  func newer() throws {
    let scratch = try filled()
    do {
      let database = try Database(path: scratch.database)
      try database.execute("PRAGMA user_version = 9", while: "growing newer")
    }
    #expect(
      refusal(of: scratch)
        == .newerSchema(path: scratch.database, found: 9, known: Schema.bank.version))
  }

  @Test("a database without its tables is refused")
  func withoutTables() throws {
    let scratch = try filled()
    do {
      let database = try Database(path: scratch.database)
      try database.execute("DROP TABLE receipt_page", while: "losing a table")
    }
    #expect(storeError { _ = try SQLiteStore(path: scratch.database) }?.kind == "damaged")
  }

  @Test("rows without meaning are damage when they are read")
  func unknownValues() throws {
    for (script, reads) in [
      ("UPDATE customer SET position = position | 5 << 60 WHERE ticket = 7", "page"),
      ("UPDATE receipt SET outcome = 77", "receipts"), ("UPDATE receipt SET grade = -1", "receipts"),
      ("UPDATE receipt SET pid = 1 << 40", "receipts"), ("UPDATE day SET waiting = '{\"8704\":-1}'", "load"),
      ("UPDATE day SET waiting = '{\"8704\":99999999999999999999}'", "load"),
      ("UPDATE day SET waiting = '{\"8704\"}'", "load"), ("UPDATE day SET waiting = '{\"5\":1}'", "load"),
      ("UPDATE day SET waiting = 'x'", "load"), ("UPDATE day SET served_by_service = '[1,2,3,4]'", "load"),
      ("UPDATE day SET paused = '[0,0,0,0]'", "load"),
      ("UPDATE day SET issued = 7", "load"), ("UPDATE day SET closed_ms = 7", "load"),
      ("UPDATE day SET served = -1", "load"), ("UPDATE day SET served = 9223372036854775807", "load"),
      ("DELETE FROM day", "load"), ("DELETE FROM meta", "incarnation"),
    ] {
      let scratch = try filled()
      do {
        let database = try Database(path: scratch.database)
        try database.damage(script)
      }
      let store = try SQLiteStore(path: scratch.database)
      let error = storeError {
        if reads == "incarnation" { _ = try store.recordStart(at: WallTime(milliseconds: 1)) }
        _ = try store.load(now: now)
        if reads == "page" { _ = try store.customers(in: .dead, after: nil, limit: 9_000) }
        if reads == "page" { _ = try store.audit() }
        if reads == "receipts" { _ = try store.receipts(day: nil, after: 0, limit: 9) }
      }
      if reads == "page" {
        // The row is in no list any more; the audit misses it.
        #expect(try !store.audit().problems.isEmpty, "\(script)")
      } else {
        #expect(error?.kind == "damaged", "\(script)")
      }
    }
  }

  @Test("a directory, and a path through a file, are refused with the system's reason")
  func impossiblePaths() throws {
    let scratch = Scratch()
    #expect(storeError { _ = try SQLiteStore(path: scratch.path) }?.kind == "failed")
    Scratch.write([1], to: "\(scratch.path)/file")
    let through = storeError { _ = try SQLiteStore(path: "\(scratch.path)/file/bank.db") }
    #expect(through?.kind == "failed")
    #expect(through?.description.contains("Not a directory") == true)
    #expect(storeError { _ = try SQLiteStore(path: "\(scratch.path)/no/bank.db") }?.kind == "failed")
    #expect(storeError { _ = try SQLiteStore(path: "\(scratch.path)/a\0b") }?.kind == "failed")
    #expect(scratch.names == ["file"])
  }

  @Test("a path with the marks of a URI is a plain path")
  func markedPath() throws {
    let scratch = Scratch()
    let path = "\(scratch.path)/a?mode=memory#b%20c.db"
    _ = try SQLiteStore(path: path).load(now: now)
    #expect(scratch.names == ["a?mode=memory#b%20c.db"])
  }

  @Test("a second user of the database is refused as it is in use")
  func inUse() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    #expect(
      storeError { _ = try SQLiteStore(path: branch.scratch.database) }
        == .inUse(path: branch.scratch.database))
    try branch.arrive(.deposit)
    try branch.commit()
    #expect(try branch.store.audit().problems == [])
  }

  @Test("another process is refused as the database is in use")
  func inUseElsewhere() async throws {
    let branch = try StoreFixture(.sqlite)
    let path = branch.scratch.database
    await #expect(processExitsWith: .exitCode(75)) { [path = path as String] in
      exit(storeError { _ = try SQLiteStore(path: path) } == .inUse(path: path) ? 75 : 1)
    }
    withExtendedLifetime(branch) {}
  }

  @Test("a commit survives a process that is killed in the middle of the next transaction")
  func killed() async throws {
    let scratch = Scratch()
    let path = scratch.database
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteStore(path: path)
      var dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
      // Enough for several checkpoints, and a last transaction that has spilled into the log.
      for round in 0..<300 as Range<Int64> {
        let count: Int64 = round == 299 ? 200_000 : 100
        for index in 1...count {
          try store.stage(
            .insert(
              Customer(
                ticket: round * 100 + index, service: .loan, priority: .regular, amount: 1, account: 1,
                issuedAt: WallTime(milliseconds: 1))))
        }
        if round == 299 { kill(getpid(), SIGKILL) }
        dayCounters.issued += count
        dayCounters.waiting[Line.loan] += count
        try store.commit(dayCounters)
      }
    }
    #expect(scratch.names == ["bank.db", "bank.db-wal"])
    let store = try SQLiteStore(path: path)
    #expect(try store.load(now: now).dayCounters.issued == 29_900)
    #expect(try store.countUnfinished(1...1_000_000) == 29_900)
    #expect(try store.audit().problems == [])
  }

  // MARK: Migrations

  @Test("an older database is migrated to the present version, step by step")
  func migration() throws {
    let scratch = try filled()
    var schema = Schema.bank
    schema.migrations += ["ALTER TABLE meta ADD COLUMN note TEXT", "UPDATE meta SET note = 'third'"]
    do {
      let store = try SQLiteStore(path: scratch.database, schema: schema)
      #expect(try store.database.number("PRAGMA user_version", while: "testing") == Schema.bank.version + 2)
      #expect(
        try store.database.number("SELECT count(*) FROM meta WHERE note = 'third'", while: "testing") == 1)
      #expect(try store.load(now: now).dayCounters.issued == 2_000)
    }
    #expect(storeError { _ = try SQLiteStore(path: scratch.database) }?.kind == "newerSchema")
  }

  @Test("a migration that fails leaves the version before it")
  func failedMigration() throws {
    let scratch = try filled()
    var schema = Schema.bank
    schema.migrations += [
      "CREATE TABLE extra (a INTEGER)", "CREATE TABLE other (a INTEGER); DROP TABLE no_such",
    ]
    #expect(storeError { _ = try SQLiteStore(path: scratch.database, schema: schema) } != nil)
    schema.migrations[Int(Schema.bank.version) + 1] =
      "SELECT count(*) FROM extra; CREATE TABLE other (a INTEGER)"
    let store = try SQLiteStore(path: scratch.database, schema: schema)
    #expect(try store.database.number("PRAGMA user_version", while: "testing") == Schema.bank.version + 2)
  }

  @Test("a store from before juice has room for it afterwards, and loses nothing")
  func beforeJuice() throws {
    let scratch = Scratch()
    try scratch.firstVersion().close()
    let store = try SQLiteStore(path: scratch.database)
    let dayCounters = try store.load(now: now).dayCounters
    #expect(dayCounters.waitingInAll == 1)
    #expect(dayCounters.paused == [false, true, false])
    #expect(try store.find(1)?.customer.itemName == "")
    #expect(try store.audit().problems == [])
  }

  @Test("the keys of a store of version 3 name their tickets afterwards, for any request")
  func beforeRequestsOfKeys() throws {
    let scratch = Scratch()
    let old = try Database.open(path: scratch.database, schema: Schema.bank.ofVersion(3))
    try old.execute(
      """
      INSERT INTO day (day, opened_ms, first_sequence, issued, served, cancelled, delayed, dead, business_ns,
        loan_regular) VALUES (1, 5, 1, 1, 0, 0, 0, 0, 0, 1);
      INSERT INTO customer (position, amount, account, issued_ms, attempts, crashes, failures)
        VALUES (\(Scratch.formerKey(service: 2, grade: 3, ticket: 1)), 7, 8, 9, 0, 0, 0);
      INSERT INTO request_key (key, day, first, last) VALUES ('월요일', 1, 1, 1);
      """, while: "testing")
    old.close()
    let store = try SQLiteStore(path: scratch.database)
    #expect(try store.database.number("PRAGMA user_version", while: "testing") == Schema.bank.version)
    let dayCounters = try store.load(now: now).dayCounters
    let known = try #require(try store.request(forKey: "월요일"))
    #expect(known == KeyedRequest(tickets: IssuedTickets(day: 1, first: 1, last: 1), request: nil))
    #expect(known.isRepeated(by: 42))
    try store.stage(.remember(key: "new", day: 1, first: 1, last: 1, request: 42))
    try store.commit(dayCounters)
    #expect(try store.request(forKey: "new")?.request == 42)
    #expect(try store.audit().problems == [])
  }

  @Test(
    "customers of version 4 are in the lines of their grades, and the counts of lines stay"
  )
  func beforePriorities() throws {
    let scratch = Scratch()
    let old = try Database.open(path: scratch.database, schema: Schema.bank.ofVersion(4))
    var rows: [String] = []
    for (place, line) in Line.graded.enumerated() {
      for offset in 0...place {
        let key = Scratch.formerKey(
          service: Int64(line.service.number), grade: line.priority.code, ticket: Int64(rows.count + 1))
        rows.append("(\(key), \(line.service == .juice ? 0 : 7), 8, \(offset), 0, 0, 0)")
      }
    }
    let names = ["deposit", "loan", "juice"].flatMap { name in
      Priority.gradeNames.map { "\(name)_\($0)" }
    }
    try old.execute(
      """
      INSERT INTO customer (position, amount, account, issued_ms, attempts, crashes, failures)
        VALUES \(rows.joined(separator: ", "));
      INSERT INTO day (day, opened_ms, closed_ms, first_sequence, issued, served, cancelled, delayed, dead, business_ns)
        VALUES (1, 5, 6, 1, 0, 0, 0, 0, 0, 0);
      INSERT INTO day (day, opened_ms, first_sequence, issued, served, cancelled, delayed, dead, business_ns,
        juice_paused, \(names.joined(separator: ", ")))
        VALUES (2, 7, 1, \(rows.count), 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9);
      """, while: "testing")
    old.close()
    let store = try SQLiteStore(path: scratch.database)
    let dayCounters = try store.load(now: now).dayCounters
    #expect(dayCounters.paused == [false, false, true])
    for (place, line) in Line.graded.enumerated() {
      #expect(dayCounters.waiting[line] == Int64(place + 1))
      #expect(try store.page(of: line, after: 0, limit: 99).count == place + 1)
    }
    #expect(try store.find(Int64(rows.count))?.customer.line == Line(service: .juice, priority: .regular))
    #expect(try store.audit().problems == [])
  }

  @Test("a line whose number, service or priority has no meaning is damage")
  func meaninglessLines() throws {
    for script in [
      "UPDATE line SET service = 9 WHERE number = 8704", "INSERT INTO line VALUES (1048576, 1, 5)",
      "UPDATE line SET priority = -1 WHERE number = 8704",
      "UPDATE line SET priority = 1 << 32 WHERE number = 8704",
    ] {
      let scratch = try filled()
      do {
        let database = try Database(path: scratch.database)
        try database.damage(script)
      }
      #expect(storeError { _ = try SQLiteStore(path: scratch.database) }?.kind == "damaged", "\(script)")
    }
  }

  @Test("the tables are readable with SQL tools: the parts of a key are columns")
  func readableKey() throws {
    let branch = try StoreFixture(.sqlite)
    try branch.arrive(Line(service: .loan, priority: .vip))
    try branch.commit()
    let store = try #require(branch.store as? SQLiteStore)
    let found = try store.database.number(
      "SELECT state * 1000 + service * 100 + code * 10 + ticket FROM customer JOIN line ON number = line",
      while: "testing")
    #expect(found == 1_221)
  }

  @Test("a database that is missing beside its log is not created again, nor is that of the stock")
  func missingBesideLog() throws {
    let scratch = Scratch()
    for path in [scratch.database, scratch.stock] {
      Scratch.write([1, 2, 3], to: path + "-wal")
      let refusal = StoreError.damaged(
        path: path, detail: MessageDetail(.missingBesideLog, path + "-wal"))
      #expect(throws: refusal) {
        if path == scratch.stock {
          _ = try SQLiteStockStore(path: path)
        } else {
          _ = try SQLiteStore(path: path)
        }
      }
      #expect(access(path, F_OK) != 0)
      #expect(Scratch.bytes(of: path + "-wal") == [1, 2, 3])
    }
  }
}
