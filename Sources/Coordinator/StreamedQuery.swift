// Progress of one client's request to a shared database: the next part to query.
// Invariant: no more entries are sent than were requested. A customer whose state changes between two parts of a list
// can be missing or be sent twice.

import BankModel
import Time
import Wire

/// One client's request to a shared database, which is answered by one query or by several, part by part.
final class StreamedQuery {
  let requester: RequestHandle
  /// Query in flight; nil if there is none.
  var question: ReaderQuery?
  /// True while the client has to read before the next query.
  var isWaitingForReader = false
  private var remaining: Remaining

  /// Time of a follower's next query after a pause; nil without a pause.
  var dueAt: MonotonicTime?

  /// What is still to be queried.
  private enum Remaining {
    case receipts(ReceiptQuery)
    /// Receipts of all branches, including future ones.
    case following(ReceiptQuery)
    /// Customers of these states, one state after the other, after a number in the first state; at most
    /// `left` of them.
    case tickets(TicketQuery, states: [CustomerState], left: Int64)
    case other(ControlCommand)
  }

  init(_ command: ControlCommand, _ requester: RequestHandle) throws(Failure) {
    self.requester = requester
    switch command {
    case .receipts(let query):
      let limit = try ResultStreams.bound(query.limit)
      if query.follow, limit != nil { throw Failure(.badRequest, detail: "a limit conflicts with follow") }
      remaining = query.follow ? .following(query) : .receipts(query)
    case .tickets(var query):
      let left = try ResultStreams.bound(query.limit) ?? .max
      let states: [CustomerState] = query.state.map { [$0] } ?? [.waiting, .delayed, .dead]
      // A query by number without a state covers all states in one list.
      let isOneList = query.isByNumber && query.state == nil
      query.after = query.after ?? 0
      remaining = .tickets(query, states: isOneList ? [] : states, left: left)
    default:
      guard SharedStoreReader.reads(command) else { throw Failure(.badRequest) }
      remaining = .other(command)
    }
  }

  /// True if the query may read many rows.
  var readsAllRows: Bool {
    switch remaining {
    case .other(.audit), .other(.ledger), .other(.account): true
    default: false
    }
  }

  /// True if the request includes future receipts.
  var follows: Bool { if case .following = remaining { true } else { false } }

  /// True if the answer is a list, which is queried part by part.
  var isList: Bool {
    if case .other = remaining { false } else { true }
  }

  var next: ControlCommand? {
    switch remaining {
    case .receipts(let query), .following(let query): return .receipts(query)
    case .tickets(var query, let states, let left):
      query.limit = min(left, Int64(ResultStream.page))
      if let state = states.first { query.state = state }
      return .tickets(query)
    case .other(let command): return command
    }
  }

  /// Records a part of the answer. Returns true if another part is to be queried or will follow.
  func record(_ answer: ControlAnswer, more: Bool) -> Bool {
    switch (remaining, answer) {
    case (.receipts(var query), .receipts(let receipts)):
      query.limit = query.limit.map { max(0, $0 - Int64(receipts.count)) }
      guard more, query.limit != 0, let last = receipts.last else { return false }
      query.after = last.sequence
      // The day may end before the next part.
      if case .present = query.days { query.days = .day(last.day) }
      remaining = .receipts(query)
      return true
    case (.following(var query), .receipts(let receipts)):
      for receipt in receipts { query.advance(past: receipt) }
      remaining = .following(query)
      return true
    case (.tickets(var query, var states, var left), .tickets(let tickets)):
      left -= Int64(tickets.count)
      guard left > 0 else { return false }
      if tickets.count >= ResultStream.page, let last = tickets.last {
        query.after = last.ticket
      } else {
        // This was the last state, or a single list of all states.
        guard states.count > 1 else { return false }
        states.removeFirst()
        query.after = 0
      }
      remaining = .tickets(query, states: states, left: left)
      return true
    default: return more
    }
  }
}

extension ControlAnswer {
  /// True for a part of a list without entries.
  var showsNothing: Bool {
    switch self {
    case .tickets(let tickets): tickets.isEmpty
    case .receipts(let receipts): receipts.isEmpty
    default: false
    }
  }
}
