// Database of a shared bank, as an inspector reads it.
// Errors: StoreError.
import BankModel
import Coordinator
import PostgresQueries
import QueueCore
import Wire

/// Read access to a shared database for an inspector.
final class PostgresInspection: InspectedStore {
  private let reader: PostgresReader

  init(
    _ address: String, in language: Language, knowing known: @escaping () -> SharedStoreProgress?
  ) throws(StoreError) {
    reader = try PostgresReader(address, in: language, knowing: known)
  }

  var reading: any QueueReader { reader }

  /// Reads the day, the services and the lanes again.
  func refresh() throws(StoreError) -> InspectedState {
    let numbers = try reader.refresh()
    return InspectedState(name: numbers.name, presentDay: numbers.day, issued: numbers.issued)
  }

  /// The next receipts of all branches, from a day on. `marks` are the positions of the receipts that the client has
  /// read.
  func receipts(
    from day: BusinessDay, behind marks: [ReceiptPosition], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts? {
    try reader.receipts(from: day, behind: marks, of: service, limit: limit)
  }

  /// Reader whose receipts of juice and unreleased tickets are limited to one branch; nil if there is no such branch.
  func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReader)? {
    try reader.reading(ofStockOf: name)
  }

  /// Audits the database only. Remarks about the durability of commits and about clock steps are added for
  /// information and are not findings.
  func audit() throws(StoreError) -> AuditReport? {
    var report = AuditReport(try reader.audit())
    report.note(try reader.replicationNote())
    if let note = try reader.clockNote() { report.note(note) }
    return report
  }
}
