// The vending machine's database as a file: what is refused and never overwritten, the effects of a full
// disk, a failed fsync and a kill at any of its syncs, and the audit's findings if rows were changed with
// SQL.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time
import VendingCore

@testable import Storage

@Suite("The database of the vending machine")
struct VendingFileTests {
  private static func coin(_ number: Int64) -> VendingEntry {
    VendingEntry(
      change: MoneyChange(
        sequence: number, kind: .inserted, amount: 1, balance: number, request: OrderID("r\(number)"),
        at: WallTime(milliseconds: number)))
  }

  private func filled() throws -> Scratch {
    let room = try VendingFixture(.sqlite)
    for number in 0..<200 { try room.ask(.insert(1_000), as: "i\(number)") }
    try room.commit()
    for number in 0..<20 { try room.buy("top", as: "b\(number)") }
    try room.sqlite?.close()
    return room.scratch
  }

  @Test("that is damaged, cut, foreign or the stock's is reported, and not a byte of it is changed")
  func damaged() throws {
    let scratch = try filled()
    let whole = try #require(Scratch.bytes(of: scratch.vending))
    let stock = Scratch()
    try SQLiteStockStore(path: stock.stock).close()
    var broken = whole
    for place in 5_000..<min(whole.count, 30_000) { broken[place] ^= 0x5A }
    let wrecks = [
      [UInt8](repeating: 0x61, count: 9_000), Array(whole.prefix(whole.count / 2)), Array(whole.prefix(50)),
      broken,
      try #require(Scratch.bytes(of: stock.stock)),
    ]
    for wreck in wrecks {
      Scratch.write(wreck, to: scratch.vending)
      let error = storeError { _ = try SQLiteVendingStore(path: scratch.vending).load(newMachine: 1) }
      #expect(error?.kind == "damaged", "\(String(describing: error))")
      let isUntouched = Scratch.bytes(of: scratch.vending) == wreck
      #expect(isUntouched)
    }
  }

  @Test("a purchase with an impossible number is damage, and does not end the process")
  func impossibleNumber() throws {
    let scratch = try filled()
    let store = try SQLiteVendingStore(path: scratch.vending)
    try store.database.execute(
      "INSERT INTO purchase VALUES (-1, 'x', 'top', 1, 1, 0)", while: "damaging it")
    try store.close()
    let error = storeError { _ = try SQLiteVendingStore(path: scratch.vending).load(newMachine: 1) }
    #expect(error?.kind == "damaged", "\(String(describing: error))")
  }

  @Test("of a newer program is refused")
  func newer() throws {
    let scratch = try filled()
    let store = try SQLiteVendingStore(path: scratch.vending)
    try store.database.execute("PRAGMA user_version = 2", while: "ageing")
    try store.close()
    #expect(storeError { _ = try SQLiteVendingStore(path: scratch.vending) }?.kind == "newerSchema")
  }

  @Test("a full disk refuses a change, keeps what was committed, and continues when there is room")
  func fullDisk() throws {
    let scratch = Scratch()
    let store = try SQLiteVendingStore(path: scratch.vending, schema: .vending, maximumPages: 40)
    _ = try store.load(newMachine: 1)
    var number: Int64 = 0
    var error: StoreError?
    while error == nil {
      error = storeError {
        for _ in 0..<20 {
          number += 1
          try store.stage(Self.coin(number))
        }
        try store.commit()
      }
    }
    #expect(error?.kind == "diskFull" && !store.hasStagedChanges)
    let kept = try store.audit().changes
    #expect(kept > 100 && kept < number)
    try store.database.execute("PRAGMA max_page_count = 10000", while: "making room")
    try store.stage(Self.coin(kept + 1))
    try store.commit()
    #expect(try store.audit().problems == [])
  }

  @Test("a failed fsync ends the store, and nothing is reported as done")
  func failedSync() throws {
    let room = try VendingFixture(.sqlite)
    let store = try #require(room.sqlite)
    FileFault(in: store.database, .log).sync = SQLITE_IOERR | 4 << 8
    let request = try room.ask(.insert(1_000), as: "a")
    let error = storeError { try store.commit() }
    #expect(error?.kind == "failed" && room.answers[request] == nil)
    for refused in [
      storeError { try store.commit() }, storeError { _ = try store.request(OrderID("a")) },
      storeError { _ = try store.purchases(after: 0, limit: 1) }, storeError { _ = try store.audit() },
      storeError { _ = try store.load(newMachine: 1) }, storeError { try store.close() },
      storeError { _ = try store.sales() }, storeError { try store.stage(Self.coin(99)) },
    ] {
      #expect(refused == error)
    }
  }

  @Test("a commit survives a process that is killed in the middle of the next transaction")
  func killed() async throws {
    let scratch = Scratch()
    let path = scratch.vending
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteVendingStore(path: path)
      _ = try store.load(newMachine: 1)
      for number in 1...3_000 as ClosedRange<Int64> {
        let change = MoneyChange(
          sequence: number, kind: .inserted, amount: 1, balance: number, request: OrderID("r\(number)"),
          at: WallTime(milliseconds: number))
        try store.stage(VendingEntry(change: change))
        if number == 2_950 { kill(getpid(), SIGKILL) }
        if number % 100 == 0 { try store.commit() }
      }
    }
    let store = try SQLiteVendingStore(path: path)
    #expect(
      try store.load(newMachine: 2)
        == StoredVending(machine: 1, account: MoneyAccount(balance: 2_900, inserted: 2_900), sequence: 2_900))
    #expect(try store.audit().problems == [])
  }

  // MARK: - Findings of an audit

  private static let tampering: [(String, String)] = [
    ("UPDATE ledger SET amount = 900 WHERE sequence = 1", "records 5000 won, the ledger 900"),
    ("UPDATE ledger SET balance = 9 WHERE sequence = 2", "records 9 won, the ledger 3300"),
    ("DELETE FROM ledger WHERE sequence = 1", "money change 1 is missing before change 2"),
    ("DELETE FROM purchase WHERE number = 1", "records a purchase that did not take place"),
    ("UPDATE purchase SET state = 6 WHERE number = 1", "records a purchase that did not take place"),
    (
      "UPDATE purchase SET state = 3 WHERE number = 2",
      "2 purchases completed, 1 recorded"
    ),
    ("UPDATE purchase SET price = 1 WHERE number = 1", "purchase 1 is recorded as a different one"),
    ("UPDATE ledger SET product = 'coke' WHERE sequence = 2", "purchase 1 is recorded as a different one"),
    ("UPDATE purchase SET request = 'a' WHERE number = 2", "request a is both a purchase and another change"),
    ("UPDATE purchase SET state = 1, price = 99999 WHERE number = 2", "purchases in progress cost 99999 won"),
    ("UPDATE purchase SET state = 9 WHERE number = 2", "purchase 2 has the unknown state 9"),
    ("UPDATE ledger SET amount = 1000001, balance = 1000001 WHERE sequence = 1", "inserted 1000001 won"),
  ]

  @Test("an audit names what was changed with SQL", arguments: tampering)
  func tampered(_ sql: String, _ finding: String) throws {
    let room = try VendingFixture(.sqlite)
    try room.insert(5_000, as: "a")
    try room.buy("top", as: "b")
    try room.buy("hot6", as: "c", .none(onlyExpired: false))
    let store = try #require(room.sqlite)
    #expect(try store.audit().problems == [])
    try store.database.execute(sql, while: "tampering")
    let audit = try store.audit()
    let problems = audit.problems
    #expect(problems.contains { $0.contains(finding) }, "\(problems)")
    // They can be worded in any language.
    #expect(audit.messageDetails.allSatisfy { $0.kind != .literal }, "\(problems)")
  }

  @Test("an amount of money that contradicts the rows is damage, and is not used")
  func strayBalance() throws {
    let room = try VendingFixture(.sqlite)
    try room.insert(5_000, as: "a")
    try room.sqlite?.database.execute("UPDATE ledger SET balance = 6000", while: "tampering")
    #expect(storeError { _ = try room.store.load(newMachine: 1) }?.kind == "damaged")
  }
}
