// Checksum of the state of a home, by which a repeated move detects that the home has changed after the first move.
// The checksum is stored in the database.
import QueueCore

/// Checksum of a closed bank (64-bit FNV-1a).
struct BankChecksum {
  private var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The checksum as it is stored in the database.
  var mark: Int64 { Int64(bitPattern: state) }

  /// Reads the days, the sums and the last receipt of a closed bank; `rows` are its numbers of rows.
  init(_ source: any QueueExport, _ rows: ExportedRows) throws(StoreError) {
    for kind in ExportedRows.Kind.allCases { add(rows[kind]) }
    var days: [ExportedDay] = []
    try source.eachDay { days.append($0) }
    for day in days {
      add(day.day)
      add(day.openedAt.milliseconds)
      add(day.issued)
    }
    let balance = try source.trialBalance()
    for sums in [balance.cash, balance.loans, balance.customers] { add("\(sums)") }
    if let last = try source.receipts(day: nil, after: max(0, rows[.receipts] - 1), limit: 1).last {
      add(last.finishedAt.milliseconds)
      add(last.ticket)
    }
  }

  /// Adds a number and a separator.
  private mutating func add(_ number: Int64) { add("\(number);") }
  private mutating func add(_ text: String) {
    for byte in text.utf8 { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
  }
}
