// Owns the list of customers in the order of their numbers, over all lines and states: the lines are read a piece at a time and
// merged, so that a page of two hundred costs the same beside a million. It changes nothing.
// Invariant: whoever is listed is kept in one of the states that were asked for, and comes once.

import BankModel

extension QueueReading {
  /// Customers of some states in the order of their numbers, behind one.
  ///
  /// - Parameters:
  ///   - states: of those that are kept: waiting, delayed, dead.
  ///   - service: what they came for; nil for everybody.
  ///   - limit: how many at most.
  ///   - isListed: whether somebody is listed; the others count for nothing.
  public func customersByNumber(
    in states: [CustomerState], of service: Service?, after ticket: TicketNumber, limit: Int,
    where isListed: (Customer) -> Bool = { _ in true }
  ) throws(StoreError) -> [StoredCustomer] {
    var walks: [LineWalk] = []
    for state in states where state != .serving && state != .done {
      for line in try lines(in: state) where service == nil || line.service == service {
        walks.append(LineWalk(self, state, line, after: ticket))
      }
    }
    let found = withoutActuallyEscaping(isListed) { isListed in
      firstNumbers(of: walks.map { walk in { walk.next(isListed) } }, limit: limit)
    }
    for walk in walks { if let failure = walk.failure { throw failure } }
    return found.compactMap { walks[$0.line].seen[$0.ticket] }
  }

  /// The lines in which somebody of this state stands.
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

/// The customers of a line, one after the other.
private final class LineWalk {
  /// So many are read at once.
  private static let piece = 64

  private let store: any QueueReading
  private let state: CustomerState
  private let line: Line
  private var last: TicketNumber
  private var piece: ArraySlice<StoredCustomer> = []
  private var isOver = false
  /// Who was given out.
  private(set) var seen: [TicketNumber: StoredCustomer] = [:]
  private(set) var failure: StoreError?

  init(_ store: any QueueReading, _ state: CustomerState, _ line: Line, after ticket: TicketNumber) {
    (self.store, self.state, self.line, last) = (store, state, line, ticket)
  }

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
      // Behind its last customer the next line begins.
      isOver = piece.count < Self.piece
    } catch {
      (failure, isOver) = (error, true)
    }
  }
}
