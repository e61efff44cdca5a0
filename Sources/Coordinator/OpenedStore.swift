// Opened database of a coordinator:
// in its home, or shared with other branches.

import BankModel
import Posix
import QueueCore
import Storage
import Time

struct OpenedStore {
  let store: any QueueStore
  let reading: any QueueReader
  /// Database shared with other branches; nil if the database is in the home.
  let shared: SharedStoreSession?
  let contents: StoredQueue
  /// Number of openings, or the epoch of this branch.
  let incarnation: Int64
  let name: BankID
  let openedAt: Moment
  /// Store that also records the services' databases; nil for a shared database.
  let databaseRecords: SQLiteStore?
  let close: () -> Void

  /// Opens the database in a home.
  init(of home: BankHome, services: [ServiceName], progressed: @escaping () -> Void) throws {
    try home.examineDatabase()
    let store = try SQLiteStore(path: home.database) { progressed() }
    openedAt = SystemClock.moment()
    var contents = try store.load(now: openedAt.wall)
    store.enableReserve()
    incarnation = try store.recordStart(at: openedAt.wall)
    name = try store.bankID(new: Int64(bitPattern: RandomSeed.fromSystem() >> 1))
    try store.assignNumbers(to: services)
    contents.dayCounters.know(services: store.services.count)
    (self.store, reading, shared, self.contents, databaseRecords) = (store, store, nil, contents, store)
    // If the write-ahead log cannot be copied into the database now, nothing is lost: the next opening reads
    // the log.
    close = { try? store.close() }
  }

  /// Database of a shared bank that this branch has joined.
  init(_ joined: (store: any SharedQueueStore, opening: BranchJoinState), address: String?) {
    openedAt = SystemClock.moment()
    let bank = SharedStoreSession(joined.store, joined.opening, address: address)
    (store, reading, shared) = (joined.store, SharedStoreCache(bank), bank)
    contents = StoredQueue(dayCounters: joined.opening.dayCounters, delayed: [])
    (incarnation, name) = (joined.opening.identity.epoch, joined.opening.bankID)
    databaseRecords = nil
    close = {}
  }
}
