// Database of a closed bank, and the audit of its home.
// The caller holds the lock of the home, so no coordinator opens the bank meanwhile.

import BankModel
import Glibc
import Posix
import QueueCore
import Storage
import Time
import Wire

final class ClosedBank: InspectedStore {
  private let home: BankHome
  private let store: SQLiteStore
  private let numbers: InspectedState
  /// Identity of the bank; nil if none was assigned.
  let name: BankID?
  /// Business day in the database. After the end of a day this is the next day, which has not started.
  private let day: BusinessDay

  init(_ home: BankHome, now: WallTime) throws(StoreError) {
    self.home = home
    store = try SQLiteStore(inspecting: home.database)
    name = try store.storedBankID()
    let dayCounters = try store.load(now: now).dayCounters
    day = dayCounters.day
    let isUnopened = dayCounters.issued == 0 && dayCounters.day > 1
    numbers = InspectedState(
      name: name ?? .none, presentDay: isUnopened ? dayCounters.day - 1 : dayCounters.day,
      issued: isUnopened ? Limits.ticket : dayCounters.issued)
  }

  var reading: any QueueReader { store }
  /// Row-by-row export of the store.
  var export: any QueueExport { store }

  /// Returns the identity and the day of the bank. They stay valid, because the lock of the home keeps other processes
  /// from changing the database.
  func refresh() -> InspectedState { numbers }

  /// Audits the bank. An unknown process may be exiting, so the audit waits for its exit. Returns nil if a process may
  /// be opening the bank, because that process waits for this one to exit.
  func audit() throws(StoreError) -> AuditReport? {
    let outside = HomeAudit(home: home)
    var unknownProcesses = outside.unknownProcesses(known: [CurrentProcess.pid])
    if unknownProcesses.contains(where: \.mayBeOpening) { return nil }
    var checks = 0
    while !unknownProcesses.isEmpty, !HomeAudit.arePersistent(unknownProcesses, after: checks) {
      _ = poll(nil, 0, CInt(clamping: HomeAudit.nextCheck.milliseconds))
      checks += 1
      let present = outside.unknownProcesses(known: [CurrentProcess.pid])
      if present.contains(where: \.mayBeOpening) { return nil }
      unknownProcesses.formIntersection(present)
    }
    var report = AuditReport(try store.audit())
    report.add(HomeAudit.messageDetails(on: unknownProcesses) + outside.permissions())
    let services = ClosedServiceAudit(home: home, day: day, bankID: numbers.name, bank: store, reading: store)
    try services.auditStock(into: &report)
    try services.auditVending(into: &report)
    return report
  }
}
