// Numbers of delayed customers by service. They are stored in `meta`, so that a start need not count the rows. A
// commit writes only changed numbers, in the transaction of the customers. A start writes all of them.
//
// Invariant: the numbers match the rows if the program of every start since they were first written maintains
// them. The last start of a program that does so is stored with them. An older program counts its starts but not
// the delayed customers. After a start of an older program, and in an older database, the rows are counted.
//
// Errors: numbers whose sum differs from the day counter are ignored, and the rows are counted.

import BankModel
import QueueCore

extension SQLiteStore {
  /// Name in `meta` of the number of the last start whose program maintained these numbers.
  private static let maintainerName = "delayed kept by"
  /// Prefix of the names in `meta`. The number of the service follows it. A count of 0 is not stored.
  private static let prefix = "delayed "

  /// Reads the stored numbers of delayed customers by service, or counts the rows. Does nothing for an inspected
  /// database, which does not need them.
  func readDelayedByService(into dayCounters: inout DayCounters) throws(StoreError) {
    guard dayCounters.delayed > 0, !database.isReadOnly else { return }
    if let kept = try storedDelayedByService(), kept.reduce(0, +) == dayCounters.delayed {
      dayCounters.delayedByService = kept
      return
    }
    dayCounters.delayedByService = Array(repeating: 0, count: services.count)
    let keys = CustomerPosition.keys(of: .delayed)
    try database.withStatement(
      """
      SELECT position >> 40, count(*) FROM customer
      WHERE position BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
        AND position & \(CustomerPosition.highestTicket) < \(unissued.bound)
      GROUP BY 1
      """, while: "counting delayed customers by service"
    ) { row throws(StoreError) in
      while try row.step() {
        guard let line = lines[row.integer(0) & LineNumbers.highest] else { continue }
        dayCounters.delayedByService[line.service.index] += row.integer(1)
      }
    }
  }

  /// Stored numbers of delayed customers, by the index of the service. Nil if the program of the last start did not
  /// maintain them, or if one of them is invalid.
  func storedDelayedByService() throws(StoreError) -> [Int64]? {
    let purpose: StaticString = "reading the counts of delayed customers"
    guard let maintainerName = try database.note(Self.maintainerName, while: purpose),
      maintainerName == (try database.note("incarnation", while: purpose))
    else { return nil }
    var counts = Array(repeating: Int64(0), count: services.count)
    var areMeant = true
    try database.withStatement(
      "SELECT name, value FROM meta WHERE name > '\(Self.prefix)' AND name < '\(Self.prefix):'",
      while: purpose
    ) { row throws(StoreError) in
      while try row.step() {
        guard
          let service = Int64(row.text(0).dropFirst(Self.prefix.count)).flatMap({
            services.service(numbered: $0)
          }),
          row.integer(1) > 0
        else {
          areMeant = false
          continue
        }
        counts[service.index] = row.integer(1)
      }
    }
    return areMeant ? counts : nil
  }

  /// Replaces all stored numbers of delayed customers by the current ones, and records that they are maintained from
  /// this start on.
  func startStoringDelayedByService(from start: Int64) throws(StoreError) {
    guard let saved else { return }
    try database.execute(
      """
      DELETE FROM meta WHERE name > '\(Self.prefix)' AND name < '\(Self.prefix):';
      INSERT OR REPLACE INTO meta VALUES ('\(Self.maintainerName)', \(start))
      """, while: "storing the counts of delayed customers")
    let none = Array(repeating: Int64(0), count: saved.delayedByService.count)
    try write(saved.delayedByService, over: none)
  }

  /// Writes the changed numbers of delayed customers by service in the open transaction.
  func saveDelayedByService(_ dayCounters: DayCounters, over saved: DayCounters) throws(StoreError) {
    try write(dayCounters.delayedByService, over: saved.delayedByService)
  }

  /// Writes the numbers of delayed customers that differ from `saved`, and deletes those that became 0.
  private func write(_ counts: [Int64], over saved: [Int64]) throws(StoreError) {
    for (index, count) in counts.enumerated() where count != (index < saved.count ? saved[index] : 0) {
      let statement = count == 0 ? statements.forgetNumber : statements.keepNumber
      try statement.bind(1, utf8: Array("\(Self.prefix)\(index + 1)".utf8))
      if count != 0 { statement.bind(2, count) }
      try statement.run()
    }
  }
}
