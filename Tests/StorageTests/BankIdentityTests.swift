// The marks by which the databases of a home recognise each other, and the names of a machine's purchases.
import BankModel
import Glibc
import QueueCore
import Testing
import Time
import VendingCore

@testable import Storage

@Suite("Marks in databases")
struct BankIdentityTests {
  private let mark = BankIdentity(
    bankID: 1 << 60, opening: 3, openedAt: WallTime(milliseconds: 1_770_000_000_000))

  @Test("a stock and a machine store the last opening of the bank that was sent to them")
  func services() throws {
    let scratch = Scratch()
    for opening in 3...4 as ClosedRange<Int64> {
      let (stock, machine) = (
        try SQLiteStockStore(path: scratch.stock), try SQLiteVendingStore(path: scratch.vending)
      )
      var told = mark
      told.opening = opening - 1
      let expected = opening == 3 ? nil : told
      #expect(try stock.lastBank() == expected && machine.lastBank() == expected)
      told.opening = opening
      try stock.remember(told)
      try machine.remember(told)
      #expect(try stock.lastBank() == told && machine.lastBank() == told)
      try stock.close()
      try machine.close()
    }
  }

  @Test("a stored mark is found by the next process, also if the log was unlinked by then")
  func afterTheLossOfALog() throws {
    let scratch = Scratch()
    let bank = try SQLiteStore(path: scratch.database)
    _ = try bank.load(now: mark.openedAt)
    let stock = try SQLiteStockStore(path: scratch.stock)
    _ = try stock.load(newLedger: 7)
    for (path, files) in [(scratch.database, bank.files), (scratch.stock, stock.files)] {
      unlink(path + "-wal")
      try files.handleLogLoss()
    }
    let known = RecordedDatabase(identity: 7, opening: 3)
    try bank.remember(known, of: "stock")
    try stock.remember(mark)
    let killed = scratch.copyAfterKill()
    #expect(try SQLiteStore(path: killed.database).knownDatabase(of: "stock") == known)
    #expect(try SQLiteStockStore(path: killed.stock).lastBank() == mark)
  }

  @Test("the bank stores the databases beside it, and the moment of each opening")
  func bank() throws {
    let scratch = Scratch()
    for identity in 7...8 as ClosedRange<Int64> {
      let store = try SQLiteStore(path: scratch.path + "/bank.db")
      _ = try store.load(now: mark.openedAt)
      let opening = try store.recordStart(at: mark.openedAt)
      #expect(try store.moment(ofOpening: opening) == mark.openedAt)
      #expect(try store.moment(ofOpening: opening + 1) == nil)
      let known = RecordedDatabase(identity: identity, opening: opening)
      #expect(try store.knownDatabase(of: "stock")?.identity == (identity == 7 ? nil : 7))
      try store.remember(known, of: "stock")
      #expect(try store.knownDatabase(of: "stock") == known)
      #expect(try store.knownDatabase(of: "vending") == nil)
      #expect(try store.audit().problems == [])
      try store.close()
    }
  }

  @Test("purchases from before their time was part of the name keep their names")
  func plainPurchases() throws {
    let room = try VendingFixture(.sqlite)
    try room.insert(9_000, as: "a")
    try room.buy("top", as: "b")
    try room.ask(.buy(ItemID("top")), as: "c")
    try room.commit()
    try #require(room.sqlite).database.execute(
      "DELETE FROM meta WHERE name = 'plain purchases'", while: "making an older database")
    for _ in 0..<2 {
      try room.crash()
      let stored = try room.store.load(newMachine: 9)
      #expect(stored.lastPurchase == 2 && stored.lastPlainPurchase == 2)
    }
  }
}
