// Numbers of a branch's transactions in one epoch: issued, reported as committed, and still queryable.
// Invariant: a number is issued once per epoch. Rows of numbers that may still be queried are not folded in the
// database.

struct CommitNumbers {
  /// The rows of this many latest numbers are not folded. After a failover these rows show which commits the new server
  /// lacks.
  static let unfoldedCount: Int64 = 256

  /// Number of transactions reported as committed.
  private(set) var committed: Int64 = 0
  /// The last issued number.
  private var last: Int64 = 0
  /// Issued numbers that may still be queried, because their outcome is not known.
  private var open: Set<Int64> = []
  /// Committed numbers that are not folded, in the order of the reports.
  private(set) var recent: [Int64] = []

  /// Issues the next number.
  mutating func next() -> Int64 {
    last += 1
    open.insert(last)
    return last
  }

  /// Records that a transaction is committed.
  mutating func commit(_ number: Int64) {
    guard open.remove(number) != nil else { return }
    committed += 1
    recent.append(number)
  }

  /// Notes that no query will ask for the commit with this number, so it does not delay the folding of counts.
  mutating func release(_ number: Int64) { open.remove(number) }

  /// Numbers below this one may be folded.
  var foldable: Int64 { (open.min() ?? last + 1) - Self.unfoldedCount }

  /// Forgets the lower numbers, whose counts are being folded into sums.
  mutating func fold(below number: Int64) { recent.removeAll { $0 < number } }
  /// The queried numbers that should be in the database and were not found. Excludes numbers that were folded during
  /// the query, because their rows are merged.
  func missing(of asked: [Int64], found: Set<Int64>) -> [Int64] {
    let unfoldedCount = Set(recent)
    return asked.filter { unfoldedCount.contains($0) && !found.contains($0) }
  }
  /// Removes the numbers of transactions that are lost.
  mutating func removeLost(_ numbers: [Int64]) {
    let gone = Set(numbers)
    recent.removeAll { gone.contains($0) }
  }
}
