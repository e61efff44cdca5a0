// Owns how far the answer to one request of a client has come that is read from shared books: which part is to be asked for next.
// It knows no process. Invariant: each receipt and each customer is shown once, and no more of them than were asked for.

import BankModel
import Time
import Wire

final class ReaderPassage {
  let seat: Seat
  /// What is being asked for it now.
  var question: ReaderQuestion?
  /// Whether its client has to read first.
  var isParked = false
  private var rest: Rest

  /// When a follower to whom everything was shown is to be looked after again; nil while it is being asked for it.
  var dueAt: MonotonicTime?

  private enum Rest {
    case receipts(ReceiptQuery)
    /// Receipts of all branches, and those still to come.
    case following(ReceiptQuery)
    /// Customers of these states, one state after the other; of the first of them behind a number. `left` are wanted at most.
    case tickets(TicketQuery, states: [CustomerState], left: Int64)
    case other(ControlCommand)
  }

  init(_ command: ControlCommand, _ seat: Seat) throws(Failure) {
    self.seat = seat
    switch command {
    case .receipts(let query):
      let limit = try AnswerStreams.bound(query.limit)
      if query.follow, limit != nil { throw Failure(.badRequest, detail: "a limit, and no end") }
      rest = query.follow ? .following(query) : .receipts(query)
    case .tickets(var query):
      let left = try AnswerStreams.bound(query.limit) ?? .max
      let states: [CustomerState] = query.state.map { [$0] } ?? [.waiting, .delayed, .dead]
      // By number a client wants all states as one list.
      let isOneList = query.isByNumber && query.state == nil
      query.after = query.after ?? 0
      rest = .tickets(query, states: isOneList ? [] : states, left: left)
    default:
      guard BooksReader.reads(command) else { throw Failure(.badRequest) }
      rest = .other(command)
    }
  }

  /// Whether it goes over all books.
  var isThorough: Bool {
    switch rest {
    case .other(.audit), .other(.ledger), .other(.account): true
    default: false
    }
  }

  /// Whether it goes on with what is still to come.
  var follows: Bool { if case .following = rest { true } else { false } }

  /// Whether its answer is a list, which is asked for part by part.
  var isList: Bool {
    if case .other = rest { false } else { true }
  }

  /// What to ask for next; nil at the end of a list.
  var next: ControlCommand? {
    switch rest {
    case .receipts(let query), .following(let query): return .receipts(query)
    case .tickets(var query, let states, let left):
      query.limit = min(left, Int64(AnswerStream.page))
      if let state = states.first { query.state = state }
      return .tickets(query)
    case .other(let command): return command
    }
  }

  /// A part has come; whether there is another one to be asked for, or to come by itself.
  func take(_ answer: ControlAnswer, more: Bool) -> Bool {
    switch (rest, answer) {
    case (.receipts(var query), .receipts(let receipts)):
      query.limit = query.limit.map { max(0, $0 - Int64(receipts.count)) }
      guard more, query.limit != 0, let last = receipts.last else { return false }
      query.after = last.sequence
      // The present day may be another by the next part.
      if case .present = query.days { query.days = .day(last.day) }
      rest = .receipts(query)
      return true
    case (.following(var query), .receipts(let receipts)):
      for receipt in receipts { query.goOn(behind: receipt) }
      rest = .following(query)
      return true
    case (.tickets(var query, var states, var left), .tickets(let tickets)):
      left -= Int64(tickets.count)
      guard left > 0 else { return false }
      if tickets.count >= AnswerStream.page, let last = tickets.last {
        query.after = last.ticket
      } else {
        // Of a list without states this was the end.
        guard states.count > 1 else { return false }
        states.removeFirst()
        query.after = 0
      }
      rest = .tickets(query, states: states, left: left)
      return true
    default: return more
    }
  }
}

extension ControlAnswer {
  /// Whether it is a part of a list without an entry.
  var showsNothing: Bool {
    switch self {
    case .tickets(let tickets): tickets.isEmpty
    case .receipts(let receipts): receipts.isEmpty
    default: false
    }
  }
}
