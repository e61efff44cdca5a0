// The stock's database as a file: what is refused and never overwritten, the effects of a full disk and a
// failed fsync, and the audit's findings if rows were changed with SQL.

import BankModel
import CSQLite
import Glibc
import QueueCore
import StockCore
import Testing
import Time

@testable import Storage

@Suite("The database of the stock")
struct StockFileTests {
  private func filled() throws -> Scratch {
    let room = try StockFixture(.sqlite)
    for number in 0..<20 { _ = try room.take([("kiwi", 1)], as: "o\(number)") }
    try room.sqlite?.close()
    return room.scratch
  }

  @Test("is private, and is not opened twice")
  func privacy() throws {
    let room = try StockFixture(.sqlite)
    var facts = stat()
    #expect(stat(room.scratch.stock, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
  }

  @Test("reports progress while every row is counted, and none while nothing is done")
  func progress() throws {
    let room = try StockFixture(.sqlite)
    for number in 0..<4_000 { _ = try room.take([("kiwi", 1)], as: "o\(number)") }
    try room.sqlite?.close()
    var calls = 0
    let store = try SQLiteStockStore(path: room.scratch.stock) { calls += 1 }
    _ = try store.load(newLedger: 1)
    let before = calls
    _ = try store.audit()
    #expect(calls > before, "work of some hundred thousand steps")
    let after = calls
    _ = try store.order(OrderID("o1"))
    #expect(calls == after)
    try store.close()
  }

  @Test("that is damaged, cut, foreign or a bank's is reported, and not a byte of it is changed")
  func damaged() throws {
    let scratch = try filled()
    let whole = try #require(Scratch.bytes(of: scratch.stock))
    let bank = Scratch()
    try SQLiteStore(path: bank.database).close()
    var broken = whole
    for place in 5_000..<min(whole.count, 30_000) { broken[place] ^= 0x5A }
    let wrecks = [
      Array(
        "this is not a database, but it is long enough to be a header of one, or so it seems to me. ".utf8)
        + [UInt8](repeating: 7, count: 100),
      Array(whole.prefix(whole.count / 2)), Array(whole.prefix(50)), broken,
      try #require(Scratch.bytes(of: bank.database)),
    ]
    for wreck in wrecks {
      Scratch.write(wreck, to: scratch.stock)
      let error = storeError { _ = try SQLiteStockStore(path: scratch.stock).load(newLedger: 1) }
      #expect(error?.kind == "damaged", "\(String(describing: error))")
      let isUntouched = Scratch.bytes(of: scratch.stock) == wreck
      #expect(isUntouched)
    }
  }

  @Test("of a newer program is refused, and a stock is not a bank")
  func newer() throws {
    let scratch = try filled()
    do {
      var schema = Schema.stock
      schema.migrations.append("ALTER TABLE item ADD COLUMN note TEXT")
      _ = try SQLiteStockStore(path: scratch.stock, schema: schema)
    }
    #expect(storeError { _ = try SQLiteStockStore(path: scratch.stock) }?.kind == "newerSchema")
    #expect(storeError { _ = try SQLiteStore(path: scratch.stock) }?.kind == "damaged")
  }

  @Test("a full disk refuses an order, keeps what was committed, and continues when there is room")
  func fullDisk() throws {
    let scratch = Scratch()
    let store = try SQLiteStockStore(path: scratch.stock, schema: .stock, maximumPages: 40)
    _ = try store.load(newLedger: 1)
    var number: Int64 = 0
    var error: StoreError?
    try store.stage(StockEntry(items: [ItemID("kiwi")], at: WallTime(milliseconds: 1)))
    try store.commit()
    while error == nil {
      error = storeError {
        for _ in 0..<20 {
          number += 1
          try store.stage(entry(number))
        }
        try store.commit()
      }
    }
    #expect(error?.kind == "diskFull")
    #expect(!store.hasStagedChanges)
    let kept = try #require(try store.changes(after: 0, limit: 100_000).last?.sequence)
    #expect(kept > 100 && kept < number)
    try store.database.execute("PRAGMA max_page_count = 10000", while: "making room")
    try store.stage(entry(kept + 1))
    try store.commit()
    #expect(try store.audit().problems == [])
  }

  private func entry(_ number: Int64) -> StockEntry {
    let (id, at) = (OrderID("order-\(number)"), WallTime(milliseconds: number))
    let change = StockChange(
      sequence: number, item: ItemID("kiwi"), kind: .added, dates: nil, difference: 1, lot: number,
      present: number, order: id, at: at)
    return StockEntry(changes: [change], name: .ordered(id, content: "change kiwi*1", .done), at: at)
  }

  @Test("a failed fsync ends the store, and nothing is reported as done")
  func failedSync() throws {
    let room = try StockFixture(.sqlite)
    let store = try #require(room.sqlite)
    FileFault(in: store.database, .log).sync = SQLITE_IOERR | 4 << 8
    let request = try room.ask(.take([ItemAmount(ItemID("kiwi"), 1)], today: 1), as: "a")
    let error = storeError { try store.commit() }
    #expect(error?.kind == "failed")
    #expect(room.answers[request] == nil)
    for refused in [
      storeError { try store.commit() }, storeError { _ = try store.order(OrderID("a")) },
      storeError { _ = try store.changes(after: 0, limit: 1) }, storeError { _ = try store.audit() },
      storeError { _ = try store.load(newLedger: 1) }, storeError { try store.close() },
      storeError { try store.stage(entry(99)) },
    ] {
      #expect(refused == error)
    }
  }

  @Test("a commit survives a process that is killed in the middle of the next transaction")
  func killed() async throws {
    let scratch = Scratch()
    let path = scratch.stock
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteStockStore(path: path)
      _ = try store.load(newLedger: 1)
      try store.stage(StockEntry(items: [ItemID("kiwi")], at: WallTime(milliseconds: 1)))
      for number in 1...3_000 as ClosedRange<Int64> {
        let id = OrderID("order-\(number)")
        let change = StockChange(
          sequence: number, item: ItemID("kiwi"), kind: .added, dates: nil, difference: 1, lot: number,
          present: number, order: id, at: WallTime(milliseconds: number))
        try store.stage(
          StockEntry(
            changes: [change], name: .ordered(id, content: "change kiwi*1", .done), at: change.at))
        if number == 2_950 { kill(getpid(), SIGKILL) }
        if number % 100 == 0 { try store.commit() }
      }
    }
    let store = try SQLiteStockStore(path: path)
    #expect(
      try store.load(newLedger: 2)
        == StoredStock(
          items: [ItemStock(item: ItemID("kiwi"), lots: [Lot(dates: nil, quantity: 2_900)])], sequence: 2_900,
          ledger: 1))
    #expect(try store.audit().problems == [])
  }

  // MARK: - Findings of an audit

  private static let tampering: [(String, String)] = [
    ("UPDATE lot SET quantity = 11 WHERE item = 1", "strawberry: ledger 10, actual 11"),
    ("DELETE FROM lot WHERE item = 2", "banana: ledger 10, actual 0"),
    ("DELETE FROM ledger WHERE sequence = 7", "change 7 is missing before change 8"),
    ("UPDATE ledger SET difference = -2 WHERE sequence = 6", "the ledger 8 (8)"),
    ("UPDATE ledger SET present = 3 WHERE sequence = 6", "change 6 records 9 (total 3) kiwi"),
    ("DELETE FROM stock_order WHERE id = 'a'", "is of order a, which does not exist"),
    ("UPDATE stock_order SET first = NULL WHERE id = 'a'", "order a has no record of change"),
    ("UPDATE stock_order SET content = 'take kiwi*2' WHERE id = 'a'", "requested 2 kiwi but moved 1"),
    ("UPDATE stock_order SET content = 'take mango*1' WHERE id = 'a'", "moved items it did not request"),
    ("UPDATE stock_order SET returned_first = NULL WHERE id = 'b'", "order b has no record of change"),
    ("DELETE FROM shortage", "orders have rows that do not match their outcome"),
    (
      "UPDATE stock_order SET outcome = 3 WHERE id = 'a'", "orders have rows that do not match their outcome"
    ),
    ("UPDATE stock_order SET outcome = 9 WHERE id = 'a'", "order a has the outcome 9"),
    ("UPDATE ledger SET kind = 77 WHERE sequence = 6", "change 6 is invalid"),
  ]

  @Test("an audit names what was changed with SQL", arguments: tampering)
  func tampered(_ sql: String, _ finding: String) throws {
    let room = try StockFixture(.sqlite)
    _ = try room.take([("kiwi", 1)], as: "a")
    _ = try room.take([("kiwi", 2), ("banana", 1)], as: "b")
    _ = try room.order(.returnItems, as: "b")
    _ = try room.take([("strawberry", 16)], as: "c")
    let store = try #require(room.sqlite)
    #expect(try store.audit().problems == [])
    try store.database.execute(sql, while: "tampering")
    let audit = try store.audit()
    let problems = audit.problems
    #expect(problems.contains { $0.contains(finding) }, "\(problems)")
    // They can be worded in any language.
    #expect(audit.messageDetails.allSatisfy { $0.kind != .literal }, "\(problems)")
  }
}
