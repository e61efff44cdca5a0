// Looking into a database: nothing of it changes, whatever version it has and whether it was closed or killed.
import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing

@testable import Storage

@Suite("Looking into a database")
struct InspectingTests {
  private let now = WallTime(milliseconds: 5)

  private func contents(_ scratch: Scratch) -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in scratch.names { found[name] = Scratch.bytes(of: "\(scratch.path)/\(name)") }
    return found
  }

  /// A database of the first version with one customer.
  private func old() throws -> (Scratch, Database) {
    let scratch = Scratch()
    var schema = Schema.bank
    schema.migrations = Array(schema.migrations.prefix(1))
    let database = try Database.open(path: scratch.database, schema: schema)
    try database.execute(
      """
      INSERT INTO day VALUES (1, 5, NULL, 1, 1, 0, 0, 0, 0, 0);
      INSERT INTO line VALUES (1, 1, 0), (1, 2, 0), (1, 3, 0), (2, 1, 0), (2, 2, 0), (2, 3, 1);
      INSERT INTO service_state VALUES (1, 0, 0), (2, 0, 1);
      INSERT INTO customer (position, amount, account, issued_ms, attempts, crashes, failures)
        VALUES (\(CustomerPosition(.waiting, Line(service: .loan, grade: .regular), 1).key), 7, 8, 9, 0, 0, 0);
      """, while: "testing")
    return (scratch, database)
  }

  @Test("one of an older version is read, and stays of that version byte for byte", arguments: [true, false])
  func older(isKilled: Bool) throws {
    let (scratch, database) = try old()
    let place = isKilled ? scratch.copyAfterKill() : scratch
    if isKilled { database.abandon() } else { database.close() }
    let before = contents(place)
    #expect((before["bank.db-wal"] != nil) == isKilled)
    do {
      let store = try SQLiteStore(inspecting: place.database)
      #expect(try store.load(now: now).books.waitingInAll == 1)
      #expect(try store.audit().problems == [])
      #expect(contents(place) == before)
    }
    #expect(contents(place) == before)
  }

  @Test("one of the present version is read in its place, and a log beside it without being copied into it")
  func present() throws {
    let branch = try Branch(.sqlite)
    try branch.arrive(.deposit)
    try branch.commit()
    let place = branch.scratch.copyAfterKill()
    let before = contents(place)
    #expect(before["bank.db-wal"] != nil)
    do {
      let store = try SQLiteStore(inspecting: place.database)
      #expect(try store.load(now: now).books.waitingInAll == 1)
      #expect(contents(place) == before)
    }
    #expect(contents(place) == before)
    let whole = try SQLiteStore(path: place.database)
    try whole.close()
    let closed = contents(place)
    #expect(closed["bank.db-wal"] == nil)
    let store = try SQLiteStore(inspecting: place.database)
    #expect(store.database.isReadOnly)
    #expect(try store.load(now: now).books.waitingInAll == 1)
    #expect(try store.audit().problems == [])
    #expect(contents(place) == closed)
  }

  @Test("damage is named by the file that is looked at, and a newer one is refused")
  func refused() throws {
    let scratch = Scratch()
    Scratch.write(Array(repeating: 0x5A, count: 8_192), to: scratch.database)
    #expect(throws: StoreError.damaged(path: scratch.database, detail: "it is not an SQLite database")) {
      _ = try SQLiteStore(inspecting: scratch.database)
    }
  }
}
