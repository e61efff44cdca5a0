// List of customers by number, over all lines and states. The lines are read in pieces and merged, so that a short list
// usually does not read the whole queue.

import BankModel

extension QueueReader {
  /// Returns customers in the given states with tickets above `ticket`, in the order of their tickets over all lines.
  ///
  /// - Parameters:
  ///   - states: stored states: waiting, delayed, dead. Other states are ignored.
  ///   - service: service of the customers; nil for all.
  ///   - limit: maximum number of customers.
  ///   - isListed: filter. Customers that it rejects do not count towards `limit`.
  public func customersByNumber(
    in states: [CustomerState], of service: Service?, after ticket: TicketNumber, limit: Int,
    where isListed: (Customer) -> Bool = { _ in true }
  ) throws(StoreError) -> [StoredCustomer] {
    var walks: [LineIterator] = []
    for state in states where state != .serving && state != .done {
      for line in try lines(in: state) where service == nil || line.service == service {
        walks.append(LineIterator(self, state, line, after: ticket))
      }
    }
    let found = withoutActuallyEscaping(isListed) { isListed in
      firstNumbers(of: walks.map { walk in { walk.next(isListed) } }, limit: limit)
    }
    for walk in walks { if let failure = walk.failure { throw failure } }
    return found.compactMap { walks[$0.line].seen[$0.ticket] }
  }

  private func lines(in state: CustomerState) throws(StoreError) -> [Line] {
    var lines: [Line] = []
    var cursor: TicketCursor?
    while let next = try customers(in: state, after: cursor, limit: 1).first?.customer.line {
      lines.append(next)
      cursor = TicketCursor(state: state, line: next, after: Limits.ticket)
    }
    return lines
  }
}

private final class LineIterator {
  /// Number of customers per read.
  private static let piece = 64

  private let store: any QueueReader
  private let state: CustomerState
  private let line: Line
  /// Number of the last customer that was returned or rejected.
  private var last: TicketNumber
  /// Customers that were read, and neither returned nor rejected yet.
  private var piece: ArraySlice<StoredCustomer> = []
  /// True if the line has no more customers in the store, or a read has failed.
  private var isOver = false
  /// Customers whose numbers were returned.
  private(set) var seen: [TicketNumber: StoredCustomer] = [:]
  /// Error that has ended the iteration; nil for none.
  private(set) var failure: StoreError?

  init(_ store: any QueueReader, _ state: CustomerState, _ line: Line, after ticket: TicketNumber) {
    (self.store, self.state, self.line, last) = (store, state, line, ticket)
  }

  /// Returns the next ticket whose customer the filter accepts; nil at the end of the line or after an error.
  func next(_ isListed: (Customer) -> Bool) -> TicketNumber? {
    while true {
      while let customer = piece.popFirst() {
        last = customer.customer.ticket
        guard isListed(customer.customer) else { continue }
        seen[last] = customer
        return last
      }
      guard !isOver else { return nil }
      read()
    }
  }

  private func read() {
    do throws(StoreError) {
      let cursor = TicketCursor(state: state, line: line, after: last)
      let found = try store.customers(in: state, after: cursor, limit: Self.piece)
      piece = found.prefix { $0.customer.line == line }
      // Fewer customers of this line than requested: the line has no more.
      isOver = piece.count < Self.piece
    } catch {
      (failure, isOver) = (error, true)
    }
  }
}
