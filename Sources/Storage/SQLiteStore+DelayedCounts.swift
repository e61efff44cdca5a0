// Owns how many of the delayed came for which service, as numbers in `meta`: ten million of them are not read to count them at a
// start. Only what differs from the last commit is written, in the same transaction as the customers.
// Invariant: the numbers are of the rows as long as every start since they were first written was one of a program that keeps them.
// The start that did last stands beside them. A program from before them counts its starts and not the delayed: after it, and in a
// database that never had them, the rows are counted once.
// Failure: numbers that do not add up to the books are not believed, and the rows are counted.

import BankModel
import QueueCore

extension SQLiteStore {
  /// The last start whose program has kept these numbers.
  private static let keeper = "delayed kept by"
  /// With this and the number of a service begins the name under which the count is kept; none is kept of 0.
  private static let prefix = "delayed "

  /// Reads the counts, or counts the rows. Of a database that is only looked into nobody wants to know them.
  func readDelayedByService(into books: inout Books) throws(StoreError) {
    guard books.delayed > 0, !database.isReadOnly else { return }
    if let kept = try keptDelayedByService(), kept.reduce(0, +) == books.delayed {
      books.delayedByService = kept
      return
    }
    books.delayedByService = Array(repeating: 0, count: services.count)
    let keys = CustomerPosition.keys(of: .delayed)
    try database.withStatement(
      """
      SELECT position >> 40, count(*) FROM customer
      WHERE position BETWEEN \(keys.lowerBound) AND \(keys.upperBound)
        AND position & \(CustomerPosition.highestTicket) < \(arrivals.bound)
      GROUP BY 1
      """, while: "counting the delayed by service"
    ) { row throws(StoreError) in
      while try row.step() {
        guard let line = lines[row.integer(0) & LineNumbers.highest] else { continue }
        books.delayedByService[line.service.index] += row.integer(1)
      }
    }
  }

  /// The counts by the index of the service; nil where nobody has kept them since the last start.
  func keptDelayedByService() throws(StoreError) -> [Int64]? {
    let purpose: StaticString = "reading the counts of the delayed"
    guard let keeper = try database.note(Self.keeper, while: purpose),
      keeper == (try database.note("incarnation", while: purpose))
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

  /// From this start on the counts are kept: whatever stood there before is written anew.
  func keepDelayedByService(from start: Int64) throws(StoreError) {
    guard let saved else { return }
    try database.execute(
      """
      DELETE FROM meta WHERE name > '\(Self.prefix)' AND name < '\(Self.prefix):';
      INSERT OR REPLACE INTO meta VALUES ('\(Self.keeper)', \(start))
      """, while: "keeping the counts of the delayed")
    let none = Array(repeating: Int64(0), count: saved.delayedByService.count)
    try write(saved.delayedByService, over: none)
  }

  /// Writes what has changed into the open transaction.
  func saveDelayedByService(_ books: Books, over saved: Books) throws(StoreError) {
    try write(books.delayedByService, over: saved.delayedByService)
  }

  private func write(_ counts: [Int64], over saved: [Int64]) throws(StoreError) {
    for (index, count) in counts.enumerated() where count != (index < saved.count ? saved[index] : 0) {
      let statement = count == 0 ? statements.forgetNumber : statements.keepNumber
      try statement.bind(1, utf8: Array("\(Self.prefix)\(index + 1)".utf8))
      if count != 0 { statement.bind(2, count) }
      try statement.run()
    }
  }
}
