// Progress of a large request for tickets: the number of slices sent, and whether all are stored.
// Invariant: slices are sent in order, and the request is complete when all are stored. A restart is a new run, and
// answers to an earlier run are ignored.

struct SharedStaging {
  /// Number of restarts.
  private(set) var run = 0
  /// Number of slices sent in this run.
  private(set) var parts: Int64 = 0
  /// True if every slice is stored.
  private(set) var isWhole = false
  /// Answer for the client after all customers were moved; nil before the request has its tickets.
  var given: SharedAnswer?
  private var sent = 0
  private var underWay = 0

  /// The next slice to send; nil if none may be sent now.
  func next(of customers: IntakeColumns, _ bounds: IntakeBounds) -> Range<Int>? {
    guard !isWhole, underWay < bounds.slicesUnderWay, sent < customers.count else { return nil }
    return customers.slice(from: sent, bytes: bounds.slice, customers: bounds.customers)
  }

  mutating func send(_ slice: Range<Int>) {
    sent = slice.upperBound
    parts += 1
    underWay += 1
  }

  /// Counts a stored slice of a request with `count` customers.
  mutating func land(of count: Int) {
    underWay -= 1
    isWhole = underWay == 0 && sent == count
  }

  mutating func beginAgain() { self = SharedStaging(run: run + 1) }

  init(run: Int = 0) { self.run = run }
}
