// Database of a closed bank, and the audit of its home. The caller holds the lock of the home, so no coordinator opens
// the bank meanwhile. The audit changes nothing.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Time
import Wire

final class ClosedBank: InspectedBooks {
  private let home: BankHome
  private let store: SQLiteStore
  private let numbers: InspectedNumbers
  /// Identity of the bank; nil if none was ever assigned.
  let name: BooksName?
  /// Business day in the database. After the end of a day this is the next day, which has not started.
  private let day: BusinessDay

  init(_ home: BankHome, now: WallTime) throws(StoreError) {
    self.home = home
    store = try SQLiteStore(inspecting: home.database)
    name = try store.knownBooksName()
    let books = try store.load(now: now).books
    day = books.day
    let isUnopened = books.issued == 0 && books.day > 1
    numbers = InspectedNumbers(
      name: name ?? .none, presentDay: isUnopened ? books.day - 1 : books.day,
      issued: isUnopened ? Limits.ticket : books.issued)
  }

  var reading: any QueueReading { store }
  /// Row-by-row export of the store, for a move.
  var export: any QueueExport { store }

  /// The numbers stay valid, because the lock of the home keeps other processes from changing the database.
  func look() -> InspectedNumbers { numbers }

  /// Audits the bank. An unknown process may be exiting, so the audit waits for it; the wait delays no other client.
  /// Returns nil if a process may be opening the bank, because that process waits for this one to exit.
  func audit() throws(StoreError) -> AuditReport? {
    let outside = HomeAudit(home: home)
    var strangers = outside.strangers(known: [CurrentProcess.pid])
    if strangers.contains(where: \.mayBeOpening) { return nil }
    var looks = 0
    while !strangers.isEmpty, !HomeAudit.areToStay(strangers, after: looks) {
      _ = poll(nil, 0, CInt(clamping: HomeAudit.nextLook.milliseconds))
      looks += 1
      let present = outside.strangers(known: [CurrentProcess.pid])
      if present.contains(where: \.mayBeOpening) { return nil }
      strangers.formIntersection(present)
    }
    var report = AuditReport(try store.audit())
    report.add(HomeAudit.remarks(on: strangers) + outside.permissions())
    let services = ServiceInspection(home: home, day: day, books: numbers.name, bank: store, reading: store)
    try services.auditStock(into: &report)
    try services.auditMachine(into: &report)
    return report
  }
}
