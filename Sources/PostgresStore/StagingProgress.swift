// Progress of a large request for tickets: the number of slices sent, and whether all are stored.
// Invariant: slices are sent in order, and the request is complete when all are stored. A restart is a new run, and
// answers to an earlier run are ignored.

struct StagingProgress {
  /// Number of restarts.
  private(set) var attempt = 0
  /// Number of slices sent in this run.
  private(set) var parts: Int64 = 0
  /// True if every slice is stored.
  private(set) var isComplete = false
  /// Answer for the client after all customers were moved; nil before the request has its tickets.
  var given: StoreReply?
  /// Number of customers in the slices sent in this run.
  private var sent = 0
  /// Number of slices in flight.
  private var inFlightCount = 0

  /// The next slice to send; nil if none may be sent now.
  func next(of customers: EnqueueColumns, _ bounds: EnqueueLimits) -> Range<Int>? {
    guard !isComplete, inFlightCount < bounds.maxSlicesInFlight, sent < customers.count else { return nil }
    return customers.slice(from: sent, bytes: bounds.slice, customers: bounds.customers)
  }

  /// Records that a slice was sent.
  mutating func send(_ slice: Range<Int>) {
    sent = slice.upperBound
    parts += 1
    inFlightCount += 1
  }

  /// Counts one more slice as stored. `count` is the number of customers of the whole request.
  mutating func countStored(of count: Int) {
    inFlightCount -= 1
    isComplete = inFlightCount == 0 && sent == count
  }

  /// Starts a new run, in which all slices are sent again.
  mutating func restart() { self = StagingProgress(attempt: attempt + 1) }

  init(attempt: Int = 0) { self.attempt = attempt }
}
