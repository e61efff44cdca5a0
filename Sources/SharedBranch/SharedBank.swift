// Database of a shared bank, as an inspector reads it. A shared bank has no home of its own, because every file
// belongs to the home of a branch.
// Errors: StoreError, which the inspector sends to its client.
import BankModel
import Coordinator
import PostgresReading
import QueueCore
import Wire

final class SharedBank: InspectedBooks {
  private let books: PostgresReading

  init(
    _ address: String, in language: Language, knowing known: @escaping () -> BooksMark?
  ) throws(StoreError) {
    books = try PostgresReading(address, in: language, knowing: known)
  }

  var reading: any QueueReading { books }

  func look() throws(StoreError) -> InspectedNumbers {
    let numbers = try books.look()
    return InspectedNumbers(name: numbers.name, presentDay: numbers.day, issued: numbers.issued)
  }

  func receipts(
    from day: BusinessDay, behind marks: [ReceiptMark], of service: Service?, limit: Int
  ) throws(StoreError) -> MergedReceipts? {
    try books.receipts(from: day, behind: marks, of: service, limit: limit)
  }

  func stockReading(ofBranch name: String) throws(StoreError) -> (any QueueReading)? {
    try books.reading(ofStockOf: name)
  }

  /// Audits the database only. Remarks about the durability of commits and about clock steps are added for
  /// information and are not findings.
  func audit() throws(StoreError) -> AuditReport? {
    var report = AuditReport(try books.audit())
    report.note(try books.replicationNote())
    if let note = try books.clockNote() { report.note(note) }
    return report
  }
}
