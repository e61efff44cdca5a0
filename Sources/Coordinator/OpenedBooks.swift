// Opened database of a coordinator, in its home or shared with other branches.
// Invariant: the schema of a database in the home is checked before anything is written to it, so a foreign or
// incomplete database is left unchanged.

import BankModel
import Posix
import QueueCore
import Storage
import Time

struct OpenedBooks {
  let store: any QueueStore
  let reading: any QueueReading
  /// Database shared with other branches; nil if the database is in the home.
  let shared: SharedBank?
  let contents: StoredQueue
  /// Number of openings, or the epoch of this branch.
  let incarnation: Int64
  let name: BooksName
  let openedAt: Moment
  /// Store that also records the services' databases; nil for a shared database.
  let memory: SQLiteStore?
  let close: () -> Void

  /// Opens the database in a home.
  init(of home: BankHome, services: [ServiceName], progressed: @escaping () -> Void) throws {
    try home.examineDatabase()
    let store = try SQLiteStore(path: home.database) { progressed() }
    openedAt = SystemClock.moment()
    var contents = try store.load(now: openedAt.wall)
    store.keepReserve()
    incarnation = try store.beginIncarnation(at: openedAt.wall)
    name = try store.booksName(new: Int64(bitPattern: RandomSeed.fromSystem() >> 1))
    try store.giveNumbers(to: services)
    contents.books.know(services: store.services.count)
    (self.store, reading, shared, self.contents, memory) = (store, store, nil, contents, store)
    // If the write-ahead log cannot be copied into the database now, nothing is lost: the next opening reads
    // the log.
    close = { try? store.close() }
  }

  /// Database of a shared bank that this branch has joined.
  init(_ joined: (books: any BranchStore, opening: BranchOpening), address: String?) {
    openedAt = SystemClock.moment()
    let bank = SharedBank(joined.books, joined.opening, address: address)
    (store, reading, shared) = (joined.books, BranchView(bank), bank)
    contents = StoredQueue(books: joined.opening.books, delayed: [])
    (incarnation, name) = (joined.opening.identity.epoch, joined.opening.booksName)
    memory = nil
    close = {}
  }
}
