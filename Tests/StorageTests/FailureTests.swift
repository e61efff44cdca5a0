// A full disk, a failed fsync, failures at will: what is stored, what is refused, and what works afterwards.
// The failures are injected where SQLite calls the system, in the table of functions of its open files, so
// that all of SQLite's own error handling is part of the test.

import BankModel
import CSQLite
import Glibc
import QueueCore
import Testing
import Time

@testable import Storage

@Suite("Faults of a store")
struct FailureTests {
  @Test("a full disk refuses a change, keeps what was committed, and continues when there is room")
  func fullDisk() throws {
    let scratch = Scratch()
    let store = try SQLiteStore(path: scratch.database, schema: .bank, maximumPages: 40)
    var dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
    var error: StoreError?
    while error == nil {
      error = storeError {
        var next = dayCounters
        for _ in 0..<100 {
          next.issued += 1
          next.waiting[Line.deposit] += 1
          try store.stage(.insert(customer(next.issued)))
        }
        try store.commit(next)
        dayCounters = next
      }
    }
    #expect(error?.kind == "diskFull")
    #expect(!store.hasStagedChanges)
    #expect(dayCounters.issued > 1_000)
    #expect(try store.countUnfinished(1...Limits.ticket) == dayCounters.issued)
    #expect(try store.audit().problems == [])

    try store.database.execute("PRAGMA max_page_count = 10000", while: "making room")
    dayCounters.issued += 1
    dayCounters.waiting[Line.deposit] += 1
    try store.stage(.insert(customer(dayCounters.issued)))
    try store.commit(dayCounters)
    #expect(try store.audit().problems == [])
  }

  @Test("a disk that is full at the commit keeps nothing of the transaction")
  func fullDiskAtCommit() throws {
    let (store, dayCounters) = try oneCustomer()
    let fault = FileFault(in: store, .log)
    fault.write = SQLITE_FULL
    let error = storeError { try addOne(to: store, dayCounters) }
    #expect(error?.kind == "diskFull")
    fault.heal()
    #expect(!store.hasStagedChanges)
    // The contents of the log were copied, so that the log can restart in its present space.
    #expect(store.database.logFrames == 0)
    #expect(try store.find(2) == nil)
    try addOne(to: store, dayCounters)
    #expect(try store.find(2) != nil)
    #expect(try store.audit().problems == [])
  }

  @Test("a quota that is used up is a full disk")
  func quota() throws {
    let (store, dayCounters) = try oneCustomer()
    let fault = FileFault(in: store, .log)
    fault.useUpQuota()
    let error = storeError { try addOne(to: store, dayCounters) }
    #expect(error?.kind == "diskFull")
    fault.heal()
    try addOne(to: store, dayCounters)
    #expect(try store.audit().problems == [])
  }

  @Test("a failed fsync at a commit ends the store: it refuses everything, and copies nothing")
  func failedSync() throws {
    let scratch = Scratch()
    var bytes: [UInt8]?
    do {
      let (store, dayCounters) = try oneCustomer(in: scratch)
      FileFault(in: store, .log).sync = SQLITE_IOERR | 4 << 8
      let error = storeError { try addOne(to: store, dayCounters) }
      #expect(error?.kind == "failed")
      #expect(error?.description.contains("SQLITE_IOERR_FSYNC") == true)
      #expect(!store.hasStagedChanges)
      bytes = Scratch.bytes(of: scratch.database)
      for refused in refusals(of: store, dayCounters) { #expect(refused == error) }
    }
    let isUntouched = Scratch.bytes(of: scratch.database) == bytes
    #expect(isUntouched)
    let copy = scratch.copyAfterKill()
    let store = try SQLiteStore(path: copy.database)
    let dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
    // It is unknown whether the second customer reached the disk; the counters tell.
    #expect(try store.countUnfinished(1...9) == dayCounters.issued)
    #expect(try store.audit().problems == [])
  }

  @Test("a failed fsync while the log is copied ends the store, though the commit was durable")
  func failedCheckpoint() throws {
    let (store, dayCounters) = try oneCustomer()
    let fault = FileFault(in: store, .database)
    fault.sync = SQLITE_IOERR | 4 << 8
    let full = try fillLog(of: store, dayCounters)
    #expect(try store.countUnfinished(1...Limits.ticket) == full.issued)
    let error = storeError { try store.runDeferredWork() }
    #expect(error?.kind == "failed")
    for refused in refusals(of: store, dayCounters) { #expect(refused == error) }
  }

  @Test("a disk that is full while the log is copied is reported again later")
  func fullCheckpoint() throws {
    let (store, dayCounters) = try oneCustomer()
    let fault = FileFault(in: store, .database)
    fault.write = SQLITE_FULL
    var full = try fillLog(of: store, dayCounters)
    try store.runDeferredWork()
    #expect(store.database.logFrames >= Transactions.checkpointThreshold)
    fault.heal()
    full.businessTime = .seconds(1)
    try store.commit(full)
    try store.runDeferredWork()
    #expect(store.database.logFrames == 0)
    #expect(try store.audit().problems == [])
  }

  @Test("a store that was closed has no work left, and refuses every change")
  func closed() throws {
    let (store, dayCounters) = try oneCustomer()
    try fillLog(of: store, dayCounters)
    try store.close()
    try store.runDeferredWork()
    #expect(storeError { try store.stage(.insert(customer(9))) }?.kind == "failed")
  }

  @Test("a log that was not copied after a commit is copied before the next change")
  func forgottenCheckpoint() throws {
    let (store, dayCounters) = try oneCustomer()
    let full = try fillLog(of: store, dayCounters)
    #expect(store.database.logFrames >= Transactions.checkpointThreshold)
    try addOne(to: store, full)
    #expect((1..<10).contains(store.database.logFrames))
  }

  @Test("a write that the system refuses ends the store")
  func failedWrite() throws {
    let (store, dayCounters) = try oneCustomer()
    FileFault(in: store, .log).write = SQLITE_IOERR | 3 << 8
    let error = storeError { try addOne(to: store, dayCounters) }
    #expect(error?.kind == "failed")
    for refused in refusals(of: store, dayCounters) { #expect(refused == error) }
  }

  @Test("SQLite's codes become the matching errors")
  func codes() {
    let meanings: [(Int32, String)] = [
      (SQLITE_FULL, "diskFull"), (SQLITE_CORRUPT, "damaged"), (SQLITE_CORRUPT | 1 << 8, "damaged"),
      (SQLITE_NOTADB, "damaged"), (SQLITE_BUSY, "inUse"), (SQLITE_BUSY | 1 << 8, "inUse"),
      (SQLITE_IOERR | 4 << 8, "failed"), (SQLITE_READONLY, "failed"), (SQLITE_CANTOPEN, "failed"),
      (SQLITE_NOMEM, "failed"), (SQLITE_CONSTRAINT, "damaged"), (SQLITE_ERROR, "damaged"), (999, "failed"),
    ]
    for (code, kind) in meanings {
      #expect(StoreError(sqlite: nil, code: code, path: "p", while: "testing").kind == kind)
    }
    let error = StoreError(sqlite: nil, code: SQLITE_IOERR | 4 << 8, path: "/bank.db", while: "committing")
    #expect(error.description.contains("/bank.db could not be used: SQLITE_IOERR_FSYNC"))
    #expect(error.description.contains("while committing"))
  }

  // MARK: The store in memory

  @Test("the store in memory fails on request")
  func ordered() throws {
    let store = MemoryStore()
    var dayCounters = try store.load(now: WallTime(milliseconds: 1)).dayCounters
    store.fail(.stage, number: 2, with: .diskFull(detail: "test"))
    try store.stage(.insert(customer(1)))
    #expect(storeError { try store.stage(.insert(customer(2))) }?.kind == "diskFull")
    #expect(!store.hasStagedChanges)
    #expect(try store.find(1) == nil)

    store.fail(.read, with: .failed(path: "memory", detail: "test"))
    #expect(storeError { _ = try store.find(1) }?.kind == "failed")
    #expect(try store.find(1) == nil)

    store.fail(.commit, with: .failed(path: "memory", detail: "test"))
    try store.stage(.insert(customer(1)))
    dayCounters.issued = 1
    dayCounters.waiting[Line.deposit] = 1
    #expect(storeError { try store.commit(dayCounters) }?.kind == "failed")
    #expect(storeError { try store.stage(.insert(customer(1))) }?.kind == "failed")
    #expect(storeError { _ = try store.find(1) }?.kind == "failed")
    store.crash()
    #expect(try store.load(now: WallTime(milliseconds: 2)).dayCounters.issued == 0)

    store.fail(.commitThenFail, with: .failed(path: "memory", detail: "test"))
    try store.stage(.insert(customer(1)))
    #expect(storeError { try store.commit(dayCounters) }?.kind == "failed")
    store.crash()
    #expect(try store.load(now: WallTime(milliseconds: 2)).dayCounters == dayCounters)
    #expect(try store.audit().problems == [])
    #expect(store.commits == 1)
  }

  // MARK: Steps

  private func customer(_ ticket: TicketNumber) -> Customer {
    Customer(
      ticket: ticket, service: .deposit, priority: .regular, amount: 1, account: 1,
      issuedAt: WallTime(milliseconds: 1))
  }

  private func oneCustomer(in scratch: Scratch = Scratch()) throws -> (SQLiteStore, DayCounters) {
    let store = try SQLiteStore(path: scratch.database)
    let dayCounters = try addOne(to: store, try store.load(now: WallTime(milliseconds: 1)).dayCounters)
    return (store, dayCounters)
  }

  @discardableResult
  private func addOne(to store: SQLiteStore, _ dayCounters: DayCounters) throws -> DayCounters {
    var dayCounters = dayCounters
    dayCounters.issued += 1
    dayCounters.waiting[Line.deposit] += 1
    try store.stage(.insert(customer(dayCounters.issued)))
    try store.commit(dayCounters)
    return dayCounters
  }

  /// Commits until the log is long enough to be copied.
  @discardableResult
  private func fillLog(of store: SQLiteStore, _ dayCounters: DayCounters) throws -> DayCounters {
    var dayCounters = dayCounters
    repeat {
      for _ in 0..<20_000 {
        dayCounters.issued += 1
        try store.stage(.insert(customer(dayCounters.issued)))
      }
      dayCounters.waiting[Line.deposit] = dayCounters.issued
      try store.commit(dayCounters)
    } while store.database.logFrames > 0 && store.database.logFrames < Transactions.checkpointThreshold
    return dayCounters
  }

  private func refusals(of store: SQLiteStore, _ dayCounters: DayCounters) -> [StoreError?] {
    [
      storeError { try store.stage(.insert(customer(9))) }, storeError { try store.commit(dayCounters) },
      storeError { _ = try store.find(1) }, storeError { _ = try store.load(now: WallTime(milliseconds: 1)) },
      storeError { _ = try store.audit() },
      storeError { _ = try store.recordStart(at: WallTime(milliseconds: 1)) },
      storeError { _ = try store.page(of: .deposit, after: 0, limit: 1) },
      storeError { _ = try store.customers(in: .dead, after: nil, limit: 1) },
      storeError { _ = try store.countUnfinished(1...2) }, storeError { _ = try store.tickets(forKey: "k") },
      storeError { _ = try store.receipts(day: nil, after: 0, limit: 1) },
      storeError { _ = try store.receipt(day: 1, ticket: 1) },
      storeError { _ = try store.attempts(day: 1, ticket: 1) }, storeError { try store.close() },
    ]
  }
}
