// Files of a database that are removed: a commit is found by the next process although the log was removed
// meanwhile, and a database whose name is gone is not written any more.

import BankModel
import Glibc
import QueueCore
import StockCore
import Testing

@testable import Storage

@Suite("Files of a store that are removed")
struct DatabaseFilesTests {
  /// What the next process would find if this one were killed now.
  private func kiwis(_ scratch: Scratch) throws -> Quantity? {
    let copy = scratch.copyAfterKill()
    return try SQLiteStockStore(path: copy.stock).load(newLedger: 9).items.first {
      $0.item == ItemID("kiwi")
    }?.quantity
  }

  /// Removes the log of a stock of ten kiwis, of which one was taken.
  private func stockWithoutLog() throws -> (StockFixture, DatabaseFiles) {
    let room = try StockFixture(.sqlite)
    let files = try #require(room.sqlite).files
    _ = try room.take([("kiwi", 1)], as: "a")
    #expect(files.log == room.scratch.stock + "-wal" && unlink(files.log) == 0)
    return (room, files)
  }

  @Test("the contents of an unlinked log are copied at once, and with every commit")
  func lost() throws {
    let (room, files) = try stockWithoutLog()
    #expect(
      (try? kiwis(room.scratch)) != 9, "without its log the next process finds less than was guaranteed")
    try files.handleLogLoss()
    #expect(try kiwis(room.scratch) == 9)
    _ = try room.take([("kiwi", 2)], as: "b")
    #expect(try kiwis(room.scratch) == 7)
  }

  @Test("a log that was lost in the middle of a transaction is copied with its commit")
  func lostMeanwhile() throws {
    let (room, files) = try stockWithoutLog()
    try room.ask(.take([ItemAmount(ItemID("kiwi"), 2)], today: 100), as: "b")
    #expect(room.store.hasStagedChanges)
    try files.handleLogLoss()
    #expect(try !files.renewLog(), "not while a transaction is open")
    try room.commit()
    #expect(try kiwis(room.scratch) == 7)
  }

  @Test("a new log has a name, and later commits are found in it")
  func renewed() throws {
    let (room, files) = try stockWithoutLog()
    try files.handleLogLoss()
    #expect(try files.renewLog())
    let before = try #require(Scratch.bytes(of: room.scratch.stock))
    _ = try room.take([("kiwi", 2)], as: "b")
    #expect(access(files.log, F_OK) == 0)
    #expect(try kiwis(room.scratch) == 7)
    #expect(Scratch.bytes(of: room.scratch.stock) == before, "the log is copied no more with every commit")
    #expect(try room.store.audit().problems == [])
  }

  @Test("a store of the bank, too, keeps what was committed before and after the loss")
  func bank() throws {
    let branch = try StoreFixture(.sqlite)
    let store = try #require(branch.store as? SQLiteStore)
    func waiting() throws -> Int64 {
      let copy = branch.scratch.copyAfterKill()
      return try SQLiteStore(path: copy.database).load(now: branch.now).dayCounters.waitingInAll
    }
    try branch.arrive(.deposit)
    try branch.commit()
    unlink(store.files.log)
    try store.files.handleLogLoss()
    try branch.arrive(.loan)
    try branch.commit()
    #expect(try waiting() == 2)
    #expect(try store.files.renewLog())
    try branch.arrive(.deposit)
    try branch.commit()
    #expect(try waiting() == 3)
    #expect(try store.audit().problems == [])
  }

  @Test("a database that is given up is not written any more, nor another one with its name")
  func abandoned() throws {
    let other = Scratch()
    do {
      let room = try StockFixture(.sqlite)
      let store = try #require(room.sqlite)
      let path = room.scratch.stock
      for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
      store.files.abandon()
      let error = storeError { _ = try room.take([("kiwi", 1)], as: "a") }
      #expect(error == .failed(path: path, detail: MessageDetail(.fileRemoved)))
      #expect(storeError { try store.close() } == error)
      // Another program's, of the same names.
      for suffix in ["", "-wal"] { Scratch.write([1, 2, 3], to: path + suffix) }
      for name in room.scratch.names {
        link("\(room.scratch.path)/\(name)", "\(other.path)/\(name)")
      }
    }
    #expect(other.names == ["stock.db", "stock.db-wal"])
    for name in other.names { #expect(Scratch.bytes(of: "\(other.path)/\(name)") == [1, 2, 3]) }
  }
}
