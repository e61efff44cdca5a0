// Owns how far a large request for tickets has come: which of its slices were sent, and which have arrived.
// Invariant: slices are sent in order, and all of them have arrived before the request is whole. What is begun again is of
// another run, in which answers to the former one count for nothing.

struct SharedStaging {
  /// How often it was begun.
  private(set) var run = 0
  /// Slices that were sent in this run.
  private(set) var parts: Int64 = 0
  /// Whether every slice has arrived.
  private(set) var isWhole = false
  /// What the client is told when all of its customers have come in; nil before the request has its tickets.
  var given: SharedAnswer?
  private var sent = 0
  private var underWay = 0

  /// The slice that goes next; nil if nothing goes now.
  func next(of customers: IntakeColumns, _ bounds: IntakeBounds) -> Range<Int>? {
    guard !isWhole, underWay < bounds.slicesUnderWay, sent < customers.count else { return nil }
    return customers.slice(from: sent, bytes: bounds.slice, customers: bounds.customers)
  }

  mutating func send(_ slice: Range<Int>) {
    sent = slice.upperBound
    parts += 1
    underWay += 1
  }

  /// A slice has arrived, of a request of so many customers.
  mutating func land(of count: Int) {
    underWay -= 1
    isWhole = underWay == 0 && sent == count
  }

  mutating func beginAgain() { self = SharedStaging(run: run + 1) }

  init(run: Int = 0) { self.run = run }
}
