// Queries of unfinished customers. They are in one table, whose key consists of state, lane and ticket.
// Invariant: the queries use keys, so that their cost does not depend on the number of all customers. Nothing is
// changed.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Time

extension PostgresReader {
  /// The next waiting customers of a line. See `QueueReader`.
  public func page(of line: Line, after: TicketNumber, limit: Int) throws(StoreError) -> [Customer] {
    var found: [Customer] = []
    for lane in lanes(of: line) {
      found += try customers(
        CustomerRowKey.of(.waiting, lane, after) + 1...CustomerRowKey.last(.waiting, lane), limit: limit
      ).map(\.customer)
    }
    return Array(found.sorted { $0.ticket < $1.ticket }.prefix(max(0, limit)))
  }

  /// Customers of one state, line after line. See `QueueReader`.
  public func customers(
    in state: CustomerState, after cursor: TicketCursor?, limit: Int
  ) throws(StoreError) -> [StoredCustomer] {
    guard CustomerRowKey.states.contains(state) else { return [] }
    let all = CustomerRowKey.all(of: state)
    var first = all.lowerBound
    if let cursor {
      guard let lane = try lane(of: cursor) else { return [] }
      first = CustomerRowKey.of(cursor.state, lane, cursor.after) + 1
    }
    return first <= all.upperBound ? try customers(first...all.upperBound, limit: limit) : []
  }

  /// Lane at which a list continues. A line has several lanes if each is served by one branch only. In this case
  /// the branch that issued the ticket determines the lane.
  private func lane(of cursor: TicketCursor) throws(StoreError) -> Int64? {
    let lanes = lanes(of: cursor.line)
    guard lanes.count > 1 else { return lanes.first }
    let branch = try connection.ask(Self.branch(.integer(cursor.after)))[0].integer(0, 0)
    return lanes.first { owners[$0] == branch } ?? lanes.first
  }

  /// At most `limit` customers whose row keys (state, lane and ticket) are in a range, in the order of the keys.
  private func customers(_ positions: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [StoredCustomer] {
    try all(
      Self.inOrder(
        .integer(positions.lowerBound), .integer(positions.upperBound), .integer(Int64(max(0, limit)))))
  }

  /// The next delayed customers, by due time. See `QueueReader`.
  public func delayed(after place: DuePosition, limit: Int) throws(StoreError) -> [DelayedCustomer] {
    var found: [DelayedCustomer] = []
    for stored in try all(
      Self.due(.integer(place.dueAt.milliseconds), .integer(place.ticket), .integer(Int64(max(0, limit)))))
    {
      guard let due = stored.dueAt else {
        throw .damaged(path: name, detail: MessageDetail(.delayedWithoutDueTime, stored.customer.ticket))
      }
      found.append(DelayedCustomer(customer: stored.customer, dueAt: due))
    }
    return found
  }

  /// The customer with this number. See `QueueReader`.
  public func find(_ ticket: TicketNumber) throws(StoreError) -> StoredCustomer? {
    guard let positions = positions(of: ticket) else { return nil }
    return try all(Self.anyOf(.integers(positions))).first
  }

  /// Payload of a customer. See `QueueReader`.
  public func payload(of ticket: TicketNumber) throws(StoreError) -> [UInt8]? {
    guard let positions = positions(of: ticket) else { return nil }
    return try connection.ask(Self.payload(.integers(positions)))[0].bytes(0, 0)
  }

  /// The row keys that a ticket can have, one for each state and lane; nil for an impossible number.
  private func positions(of ticket: TicketNumber) -> [Int64]? {
    guard 1...Limits.ticket ~= ticket else { return nil }
    return CustomerRowKey.states.flatMap { state in lines.keys.map { CustomerRowKey.of(state, $0, ticket) } }
  }

  // MARK: - Counts

  /// Number of waiting or delayed customers in a range of tickets. See `QueueReader`.
  public func countUnfinished(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try count(tickets, in: [.waiting, .delayed], of: Array(lines.keys))
  }

  /// Number of dead letters in a range of tickets. See `QueueReader`.
  public func countDead(_ tickets: ClosedRange<TicketNumber>) throws(StoreError) -> Int64 {
    try count(tickets, in: [.dead], of: Array(lines.keys))
  }

  /// Number of dead letters of one service. See `QueueReader`.
  public func countDead(of service: Service) throws(StoreError) -> Int64 {
    try count(
      1...Limits.ticket, in: [.dead], of: lines.filter { $0.value.service == service }.map(\.key))
  }

  /// Number of waiting customers of a line between two tickets. See `QueueReader`.
  public func countWaiting(
    in line: Line, after first: TicketNumber, below last: TicketNumber
  ) throws(StoreError) -> Int64 {
    guard first < last, last - 1 > first else { return 0 }
    return try count(first + 1...last - 1, in: [.waiting], of: lanes(of: line))
  }

  /// Number of customers with these tickets, states and lanes.
  private func count(
    _ tickets: ClosedRange<TicketNumber>, in states: [CustomerState], of lanes: [Int64]
  ) throws(StoreError) -> Int64 {
    var (firsts, lasts): ([Int64], [Int64]) = ([], [])
    for state in states {
      for lane in lanes {
        firsts.append(CustomerRowKey.of(state, lane, tickets.lowerBound))
        lasts.append(CustomerRowKey.of(state, lane, tickets.upperBound))
      }
    }
    let rows = try connection.ask(Self.count(.integers(firsts), .integers(lasts)))[0]
    guard let count = rows.integer(0, 0) else { throw damage(of: "customer", "count") }
    return count
  }

  /// The request that used an idempotency key. See `QueueReader`.
  public func request(forKey key: String) throws(StoreError) -> KeyedRequest? {
    // PostgreSQL text has no zero bytes.
    guard !key.utf8.contains(0) else { return nil }
    let rows = try connection.ask(Self.key(.text(key)))[0]
    guard rows.count > 0 else { return nil }
    guard let day = rows.integer(0, 0), let first = rows.integer(0, 1), let last = rows.integer(0, 2) else {
      throw damage(of: "ticket_batch", "key")
    }
    return KeyedRequest(
      tickets: IssuedTickets(day: day, first: first, last: last), request: rows.integer(0, 3))
  }

  // MARK: - Rows

  private func all(_ call: PostgresCall) throws(StoreError) -> [StoredCustomer] {
    let rows = try connection.ask(call)[0]
    var found: [StoredCustomer] = []
    found.reserveCapacity(rows.count)
    for row in 0..<rows.count { found.append(try customer(rows, row)) }
    return found
  }

  /// One customer from a row; throws if the row is invalid.
  private func customer(_ rows: PostgresRows, _ row: Int) throws(StoreError) -> StoredCustomer {
    guard let place = rows.integer(row, 0), let state = CustomerRowKey.state(place),
      let amount = rows.integer(row, 1), let account = rows.integer(row, 2),
      let issued = rows.integer(row, 3),
      let startedAttempts = rows.integer(row, 7).flatMap({ Int16(exactly: $0) }),
      let isAttemptRunning = rows.boolean(row, 8)
    else { throw damage(of: "customer", rows.integer(row, 0) ?? 0) }
    let line = try line(of: PostgresPosition.lane(place))
    let customer = Customer(
      ticket: PostgresPosition.ticket(place), service: line.service, priority: line.priority,
      amount: amount, account: account, issuedAt: WallTime(milliseconds: issued),
      attempts: try int32(rows.integer(row, 4)), crashes: try int32(rows.integer(row, 5)),
      failures: try int32(rows.integer(row, 6)), startedAttempts: startedAttempts,
      isAttemptRunning: isAttemptRunning,
      itemName: rows.text(row, 10) ?? "")
    return StoredCustomer(
      customer: customer, state: state, dueAt: rows.integer(row, 9).map(WallTime.init(milliseconds:)))
  }

  // MARK: - Statements

  private static let customerColumns =
    "position, amount, account, issued_ms, attempts, crashes, failures, started_attempts, is_running, due_ms, item_name"

  /// Customers in a range of positions.
  private static let inOrder = PostgresStatement(
    "read-customers", [.integer, .integer, .integer],
    "SELECT \(customerColumns) FROM bank.customer WHERE position BETWEEN $1 AND $2 ORDER BY position LIMIT $3"
  )
  /// The customer at one of several positions.
  private static let anyOf = PostgresStatement(
    "read-customer", [.integers],
    "SELECT \(customerColumns) FROM bank.customer WHERE position = ANY ($1) ORDER BY position LIMIT 1")
  /// Delayed customers after a due time and a ticket.
  private static let due = PostgresStatement(
    "read-delayed", [.integer, .integer, .integer],
    """
    SELECT \(customerColumns) FROM bank.customer
    WHERE due_ms >= $1 AND (due_ms > $1 OR position & \(PostgresPosition.highestTicket) > $2)
    ORDER BY due_ms, position & \(PostgresPosition.highestTicket) LIMIT $3
    """)
  /// Payload of the customer at one of several positions.
  private static let payload = PostgresStatement(
    "read-payload", [.integers], "SELECT payload FROM bank.customer WHERE position = ANY ($1) LIMIT 1")
  /// Number of customers in ranges of positions.
  private static let count = PostgresStatement(
    "count-customers", [.integers, .integers],
    """
    SELECT coalesce(sum(n), 0)::bigint FROM unnest($1, $2) AS place (first, last) CROSS JOIN LATERAL (
      SELECT count(*) AS n FROM bank.customer WHERE position BETWEEN place.first AND place.last) AS c
    """)
  /// Branch that issued a ticket of the present day.
  private static let branch = PostgresStatement(
    "read-branch", [.integer],
    """
    SELECT branch FROM bank.ticket_batch WHERE day = (SELECT max(day) FROM bank.day) AND last >= $1
    ORDER BY last LIMIT 1
    """)
  /// Tickets of the request that used a key, and its digest.
  private static let key = PostgresStatement(
    "read-key", [.text], "SELECT day, first, last, request_digest FROM bank.ticket_batch WHERE key = $1")
}

/// Computes the key of a customer's row, which contains state, lane and ticket.
enum CustomerRowKey {
  /// States of unfinished customers in the database.
  static let states: [CustomerState] = [.waiting, .delayed, .dead]

  /// Key of a customer. The ticket is clamped, so that no number can reach into another lane.
  static func of(_ state: CustomerState, _ lane: Int64, _ ticket: TicketNumber) -> Int64 {
    PostgresPosition.of(
      state: Int64(state.rawValue), lane: lane,
      ticket: min(max(0, ticket), PostgresPosition.highestTicket - 1))
  }

  /// The highest possible key of a state and a lane.
  static func last(_ state: CustomerState, _ lane: Int64) -> Int64 {
    PostgresPosition.of(
      state: Int64(state.rawValue), lane: lane, ticket: PostgresPosition.highestTicket)
  }

  /// The keys of all customers of a state.
  static func all(of state: CustomerState) -> ClosedRange<Int64> {
    let first = Int64(state.rawValue) << 60
    return first...(first | (1 << 60 - 1))
  }

  /// State in a key; nil if it is invalid.
  static func state(_ place: Int64) -> CustomerState? {
    UInt8(exactly: place >> 60).flatMap(CustomerState.init(rawValue:)).flatMap {
      states.contains($0) ? $0 : nil
    }
  }
}
