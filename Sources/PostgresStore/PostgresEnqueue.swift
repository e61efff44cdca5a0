// One request for tickets as sent to the server, and the interpretation of its result.
// Invariant: the name of a request is the epoch in which it was first sent, and a number. Under this name it takes
// effect at most once, also if it is repeated in a later epoch.
import BankModel
import Postgres
import QueueCore

struct PostgresEnqueue {
  /// Result of a request for tickets.
  enum Answer: Equatable {
    /// Tickets, issued now or when the same request was sent earlier; and the tickets of known keys of its customers.
    case given(RequestTickets, isNow: Bool)
    /// An earlier request with the same key has these tickets. `request` is the digest of that request.
    case known(IssuedTickets, request: Int64?)
    /// The key was used by a different request.
    case conflict(String)
    /// The bank accepts no new customers.
    case draining
    /// Slices of the request are missing at the server; nothing was changed.
    case unstaged

    /// Reads the result; nil if there are no rows, because the branch was fenced, or if a row has an unexpected shape.
    init?(_ rows: PostgresRows, isList: Bool) {
      var tickets = RequestTickets()
      var isNow = false
      for row in 0..<rows.count {
        guard let kind = rows.integer(row, 0), let day = rows.integer(row, 1),
          let first = rows.integer(row, 2),
          let last = rows.integer(row, 3)
        else { return nil }
        let issued = IssuedTickets(day: day, first: first, last: last)
        switch PostgresStatements.EnqueueOutcome(rawValue: kind) {
        case .new:
          isNow = true
          tickets.new.append(issued)
        case .repeated: tickets.new.append(issued)
        case .known where isList: tickets.known.append(issued)
        case .known:
          self = .known(issued, request: rows.integer(row, 4))
          return
        case .draining:
          self = .draining
          return
        case .unstaged:
          self = .unstaged
          return
        case .conflict, nil:
          self = .conflict(rows.text(row, 4) ?? "")
          return
        }
      }
      guard rows.count > 0 else { return nil }
      tickets.new = Self.joined(tickets.new)
      tickets.known = Self.joined(tickets.known)
      self = .given(tickets, isNow: isNow)
    }

    /// The ranges in ascending order, with adjacent ones merged, and without duplicates.
    private static func joined(_ tickets: [IssuedTickets]) -> [IssuedTickets] {
      tickets.sorted { ($0.day, $0.first) < ($1.day, $1.first) }.reduce(into: []) { joined, next in
        if let last = joined.last, last.day == next.day, last.last + 1 == next.first {
          joined[joined.count - 1].last = next.last
        } else if joined.last != next {
          joined.append(next)
        }
      }
    }
  }

  var customers: EnqueueColumns
  /// Numbers of the customers' lanes.
  var lanes: [Line: Int64]
  /// Number of the commit that counts the tickets.
  var commit: Int64
  /// Epoch in which the request was first sent, and its number in this epoch.
  var name: (epoch: Int64, number: Int64)
  /// True if the customers were sent in slices before.
  var isStaged = false

  /// SQL statement that issues the tickets of this request, for the branch in its present epoch.
  func call(_ branch: PostgresBranch) -> PostgresCall {
    precondition(customers.count > 0, "a request has a customer")
    let fence: [PostgresValue] = [.integer(branch.id), .integer(branch.epoch), .integer(commit)]
    let columns = customers.columns(lanes: lanes)
    let issued = PostgresValue.integer(customers.issuedAt.milliseconds)
    let own: [PostgresValue] = [.integer(name.epoch), .integer(name.number)]
    if isStaged { return issue(fence, issued, own) }
    if customers.hasOwnKeys {
      var values = fence
      values.append(issued)
      values += own
      values += columns
      values += customers.ownKeys
      values.append(.texts(customers.allKeys))
      return PostgresStatements.intakeList.with(values)
    }
    let key: [PostgresValue] = [
      customers.key.map { .text($0) } ?? .null, customers.digest.map { .integer($0) } ?? .null,
      .integer(Int64(customers.count)),
    ]
    var values = fence
    values += key
    values.append(issued)
    values += own
    values += columns
    return PostgresStatements.intake.with(values)
  }

  /// SQL statement that issues tickets to customers sent in slices before.
  private func issue(
    _ fence: [PostgresValue], _ issued: PostgresValue, _ own: [PostgresValue]
  ) -> PostgresCall {
    let count = PostgresValue.integer(Int64(customers.count))
    guard !customers.hasOwnKeys else {
      return PostgresStatements.issueList.with(fence + [issued] + own + [count])
    }
    let key: [PostgresValue] = [
      customers.key.map { .text($0) } ?? .null, customers.digest.map { .integer($0) } ?? .null, count,
    ]
    let numbers = Set(customers.lines.compactMap { lanes[$0] }).sorted()
    return PostgresStatements.issue.with(fence + key + [issued] + own + [.integers(numbers)])
  }

  /// Interprets the rows of the statement; nil if the branch was fenced or a row has an unexpected shape.
  func read(_ rows: PostgresRows) -> Answer? { Answer(rows, isList: customers.hasOwnKeys) }
}
