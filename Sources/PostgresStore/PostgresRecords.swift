// Owns the rows that go into the books and come out of them: who asks for tickets, who was claimed, who is done.
// Invariant: columns side by side, one entry for each customer in all of them, as the statements take them.
import Postgres

/// The key of a customer's row, as in SQLite's books: `state << 60 | lane << 40 | ticket`.
public enum PostgresPosition {
  /// The highest lane.
  public static let highestLane: Int64 = 1 << 20 - 1
  /// The highest ticket.
  public static let highestTicket: Int64 = 1 << 40 - 1

  /// The position of a ticket, each part cut to what fits.
  public static func of(state: Int64 = 1, lane: Int64, ticket: Int64) -> Int64 {
    (state & 7) << 60 | (lane & highestLane) << 40 | ticket & highestTicket
  }

  /// The ticket in a position.
  public static func ticket(_ position: Int64) -> Int64 { position & highestTicket }
  /// The lane in a position.
  public static func lane(_ position: Int64) -> Int64 { position >> 40 & highestLane }
}

/// A customer in a claimed page.
public struct ClaimedCustomer: Sendable, Hashable {
  /// See ``PostgresPosition``.
  public let position: Int64
  /// In won.
  public let amount: Int64
  /// The customer's account.
  public let account: Int64
  /// When the ticket was issued, in milliseconds since 1970.
  public let issuedMilliseconds: Int64
  /// Attempts that have ended without a receipt.
  public let attempts: Int64
  /// Of those since the last requeue: in which the teller died.
  public let crashes: Int64
  /// And which the teller reported.
  public let failures: Int64
  /// What was ordered; empty for nothing.
  public let article: String
  /// The length of the payload in bytes; nil where there is none.
  public let payloadLength: Int64?

  /// The number on the ticket.
  public var ticket: Int64 { PostgresPosition.ticket(position) }

  init?(_ rows: PostgresRows, _ row: Int) {
    let numbers = (0..<7).compactMap { rows.integer(row, $0) }
    guard numbers.count == 7, rows.columns == PostgresStatements.pageColumns else { return nil }
    (position, amount, account, issuedMilliseconds) = (numbers[0], numbers[1], numbers[2], numbers[3])
    (attempts, crashes, failures) = (numbers[4], numbers[5], numbers[6])
    article = rows.text(row, 7) ?? ""
    payloadLength = rows.integer(row, 8)
  }
}

/// One request for tickets: of one customer, or of a million.
public struct PostgresIntake: Sendable, Hashable {
  /// What came of it.
  public enum Answer: Sendable, Hashable {
    /// New tickets, one behind the other.
    case issued(day: Int64, first: Int64, last: Int64)
    /// The key has had these tickets before, and this was asked for then.
    case known(day: Int64, first: Int64, last: Int64, request: Int64?)

    /// nil where the branch was fenced.
    init?(_ rows: PostgresRows) {
      guard let isNew = rows.boolean(0, 0), let day = rows.integer(0, 1), let first = rows.integer(0, 2),
        let last = rows.integer(0, 3)
      else { return nil }
      self =
        isNew
        ? .issued(day: day, first: first, last: last)
        : .known(day: day, first: first, last: last, request: rows.integer(0, 4))
    }
  }

  /// The business day.
  public var day: Int64
  /// The request's idempotency key; nil for none.
  public var key: String?
  /// What is asked for under the key, as a number.
  public var request: Int64?
  /// The moment of issue, in milliseconds since 1970.
  public var issuedMilliseconds: Int64
  /// Positions without the tickets.
  public private(set) var bases: [Int64] = []
  private var amounts: [Int64] = []
  private var accounts: [Int64] = []
  private var dues: [Int64] = []
  private var articles: [String?] = []
  private var payloads: [[UInt8]?] = []

  public init(day: Int64, issuedMilliseconds: Int64, key: String? = nil, request: Int64? = nil) {
    (self.day, self.issuedMilliseconds) = (day, issuedMilliseconds)
    (self.key, self.request) = (key, request)
  }

  /// Adds a customer.
  ///
  /// - Parameter due: the moment before which it is not to be served, in milliseconds since 1970; nil for at once.
  public mutating func add(
    lane: Int64, amount: Int64, account: Int64, due: Int64? = nil, article: String = "",
    payload: [UInt8]? = nil
  ) {
    bases.append(PostgresPosition.of(state: due == nil ? 1 : 2, lane: lane, ticket: 0))
    amounts.append(amount)
    accounts.append(account)
    dues.append(due ?? 0)
    articles.append(article.isEmpty ? nil : article)
    payloads.append(payload)
  }

  var values: [PostgresValue] {
    precondition(!bases.isEmpty, "a request has a customer")
    return [
      .integer(day), key.map { .text($0) } ?? .null, request.map { .integer($0) } ?? .null,
      .integer(Int64(bases.count)), .integers(bases), .integers(amounts), .integers(accounts),
      .integer(issuedMilliseconds), .integers(dues), .texts(articles), .manyBytes(payloads),
    ]
  }
}

/// Customers who are done, and their receipts.
public struct PostgresCompletion: Sendable, Hashable {
  /// How many there are.
  public var count: Int { positions.count }
  private var positions: [Int64] = []
  private var columns = [[Int64]](repeating: [], count: 9)

  public init() {}

  /// Adds a customer.
  ///
  /// - Parameters:
  ///   - outcome: as the domain numbers it.
  ///   - place: the window's; nil for none.
  ///   - transfer: the codes of the accounts; nil where nothing was moved.
  ///   - started: in milliseconds since 1970; nil where no attempt was begun. The same for `finished`.
  public mutating func add(
    position: Int64, outcome: Int64, place: Int64?, generation: Int64, pid: Int64, attempts: Int64,
    transfer: (debit: Int64, credit: Int64)?, started: Int64?, finished: Int64
  ) {
    positions.append(position)
    let values = [
      outcome, place ?? -1, generation, pid, attempts, transfer?.debit ?? .min, transfer?.credit ?? .min,
      started ?? -1, finished,
    ]
    for (index, value) in values.enumerated() { columns[index].append(value) }
  }

  var values: [PostgresValue] { [.integers(positions)] + columns.map { .integers($0) } }
}
