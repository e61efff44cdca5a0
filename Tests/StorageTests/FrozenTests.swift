// A frozen file: while the bank continues, a reader of it sees what was committed when the freeze started,
// and is notified before the file is written again.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing

@testable import Storage

@Suite("A frozen database")
struct FrozenTests {
  private func branch() throws -> (StoreFixture, SQLiteStore) {
    let branch = try StoreFixture(.sqlite)
    let customers = try (0..<40).map { _ in try branch.arrive(.deposit) }
    try branch.commit()
    for customer in customers[..<10] { try branch.finish(customer) }
    try branch.commit()
    return (branch, try #require(branch.store as? SQLiteStore))
  }

  /// Customers who come and go until the log has this number of frames, of which each needs one at least.
  private func work(_ branch: StoreFixture, _ store: SQLiteStore, until frames: Int32) throws {
    for _ in 0..<frames where store.database.logFrames < frames {
      let customer = try branch.arrive(.loan)
      try branch.commit()
      try branch.finish(customer)
      try branch.commit()
      try store.runDeferredWork()
      guard store.database.isFrozen else { return }
    }
  }

  @Test("its rows are those of that moment, however much is committed meanwhile; then the log is copied")
  func snapshot() throws {
    let (branch, store) = try branch()
    var thaws = 0
    #expect(try store.freeze { thaws += 1 })
    let before = Scratch.bytes(of: branch.scratch.database)
    let found = try store.audit()
    #expect(found.problems == [] && found.served == 10 && found.waiting == 30)
    try work(branch, store, until: Transactions.checkpointThreshold + 100)
    #expect(store.database.isFrozen && thaws == 0)
    #expect(Scratch.bytes(of: branch.scratch.database) == before)
    do {
      let frozen = try SQLiteStore(frozen: branch.scratch.database)
      #expect(try frozen.audit() == found)
    }
    #expect(try store.audit().served > 10)
    store.thaw()
    #expect(thaws == 1)
    try store.runDeferredWork()
    #expect(store.database.logFrames == 0)
    #expect(Scratch.bytes(of: branch.scratch.database) != before)
    #expect(try store.audit().problems == [])
  }

  enum Thaw: CaseIterable { case limit, fullDisk, lostLog, close }

  @Test("its reader is notified before anything is written to the file", arguments: Thaw.allCases)
  func thaw(_ thaw: Thaw) throws {
    let (branch, store) = try branch()
    let before = Scratch.bytes(of: branch.scratch.database)
    var seen: [UInt8]?
    // The log of two commits was copied into the file before.
    #expect(
      try store.transactions.freeze(atLeast: Int64(Transactions.checkpointThreshold) + 1) {
        seen = Scratch.bytes(of: branch.scratch.database)
      })
    let frozen = Scratch.bytes(of: branch.scratch.database)
    #expect(frozen != before)
    try branch.arrive(.loan)
    try branch.commit()
    #expect(seen == nil)
    switch thaw {
    case .limit: try work(branch, store, until: 2 * Transactions.checkpointThreshold)
    case .fullDisk:
      store.enableReserve()
      let fault = FileFault(in: store, .log)
      fault.write = SQLITE_FULL
      try branch.arrive(.loan)
      #expect(storeError { try branch.commit() }?.kind == "diskFull")
      fault.heal()
    case .lostLog:
      #expect(unlink(store.files.log) == 0)
      try store.files.handleLogLoss()
    case .close: try store.close()
    }
    #expect(seen == frozen)
    #expect(Scratch.bytes(of: branch.scratch.database) != frozen)
    if thaw != .close { #expect(!store.database.isFrozen) }
  }

  enum End: CaseIterable { case close, abandon, newLog }

  @Test(
    "the connection ends it, too, before it is closed, given up, or leaves its log",
    arguments: End.allCases)
  func connection(_ end: End) throws {
    let (branch, store) = try branch()
    var thaws = 0
    #expect(try store.freeze { thaws += 1 })
    switch end {
    case .close: store.database.close()
    case .abandon: store.database.abandon()
    case .newLog: try store.database.renewLog()
    }
    #expect(thaws == 1 && !store.database.isFrozen)
    withExtendedLifetime(branch) {}
  }

  @Test("a database is not frozen while the reserve is in use, nor if its log was unlinked")
  func refused() throws {
    let (branch, store) = try branch()
    store.enableReserve()
    let fault = FileFault(in: store, .log)
    fault.write = SQLITE_FULL
    let dayCounters = branch.dayCounters
    try branch.arrive(.loan)
    #expect(storeError { try branch.commit() }?.kind == "diskFull")
    fault.heal()
    branch.rollBack(to: dayCounters)
    #expect(try store.isLowOnSpace && !store.freeze {})
    store.refreshDiskSpace()
    #expect(try !store.isLowOnSpace && store.freeze {})
    #expect(unlink(store.files.log) == 0)
    try store.files.handleLogLoss()
    #expect(try !store.freeze {})
  }
}
