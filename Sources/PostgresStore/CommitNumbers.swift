// Owns the numbers of a branch's transactions in one epoch: which were given, which are told as committed, and which may still
// be asked for.
// Invariant: a number is given once in an epoch. What may be asked for is not folded away in the books.

struct CommitNumbers {
  /// So many of those that were told as committed stay in the books by their numbers, so that it can be told which of them a
  /// server that follows a lost one has never had.
  static let kept: Int64 = 256

  /// Transactions that are told as committed.
  private(set) var committed: Int64 = 0
  private var last: Int64 = 0
  private var open: Set<Int64> = []
  /// Those told as committed that were not folded, in the order in which they were told.
  private(set) var recent: [Int64] = []

  /// Gives the next number.
  mutating func next() -> Int64 {
    last += 1
    open.insert(last)
    return last
  }

  /// A number is in the books.
  mutating func commit(_ number: Int64) {
    guard open.remove(number) != nil else { return }
    committed += 1
    recent.append(number)
  }

  /// A number will never be in the books.
  mutating func release(_ number: Int64) { open.remove(number) }

  /// Below this number nothing is asked for any more.
  var foldable: Int64 { (open.min() ?? last + 1) - Self.kept }

  /// Whatever is below this number is folded.
  mutating func fold(below number: Int64) { recent.removeAll { $0 < number } }
  /// Of the numbers that were looked for, those that should be in the books and were not found there. What was folded while they
  /// were looked for is in the books in another way.
  func missing(of asked: [Int64], found: Set<Int64>) -> [Int64] {
    let kept = Set(recent)
    return asked.filter { kept.contains($0) && !found.contains($0) }
  }
  /// These turned out not to be in the books.
  mutating func forget(_ numbers: [Int64]) {
    let gone = Set(numbers)
    recent.removeAll { gone.contains($0) }
  }
}
