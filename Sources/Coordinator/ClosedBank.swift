// Owns the books of a bank in a home that is not open: its database, and what an audit sees around it. Whoever has one holds
// the lock of the home, so that no coordinator opens the bank meanwhile. It changes nothing.

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
  /// What the books are called; nil where they were never given a name.
  let name: BooksName?
  /// The day that comes next, or has begun.
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
  /// The same, to be carried to another place.
  var export: any QueueExport { store }

  /// Nobody can change them meanwhile.
  func look() -> InspectedNumbers { numbers }

  /// Nobody else is waiting, so a stranger who may just be ending is waited for. One who may just be opening the bank
  /// waits for this process to leave, so it leaves at once: nil.
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
