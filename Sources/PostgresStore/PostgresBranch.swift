// A branch in the shared database, identified by its number and epoch, and its requests about leases, claims, tickets
// and receipts.
// Invariant: a request of an ended epoch changes nothing. If it would change something, its result is nil, false, 0 or
// empty. Leases use the clock of the database server.
import BankModel
import Postgres
import QueueCore
import Time

/// A branch in one of its epochs. Its methods make requests, which the caller sends.
public struct PostgresBranch: Sendable, Hashable {
  /// Number in the database.
  public let id: Int64
  /// Number of the epoch. It rises when the branch joins, leaves or is fenced.
  public let epoch: Int64

  /// Consecutive tickets of a lane.
  public struct TicketRange: Sendable, Hashable {
    /// Number of the lane.
    public var lane: Int64
    /// First ticket.
    public var first: Int64
    /// Last ticket.
    public var last: Int64

    public init(lane: Int64, first: Int64, last: Int64) {
      (self.lane, self.first, self.last) = (lane, first, last)
    }
  }

  public init(id: Int64, epoch: Int64) {
    self.id = id
    self.epoch = epoch
  }

  /// Number and epoch as parameters of a statement.
  var fence: [PostgresValue] { [.integer(id), .integer(epoch)] }

  // MARK: - The lease

  /// Joins the bank. Fences an earlier epoch of the same name and returns its claims.
  ///
  /// - Parameters:
  ///   - epoch: the last epoch that this home has stored.
  ///   - homeIdentity: identity of the home and of the running machine. A branch of this name with a valid lease and
  ///     another identity is not fenced.
  public static func join(
    _ name: String, lease: TimeSpan, host: String = "", after epoch: Int64 = 0, homeIdentity: String = ""
  ) -> PostgresRequest<(branch: PostgresBranch, returned: [TicketRange])> {
    PostgresRequest(
      segment: joining(name, lease: lease, host: host, after: epoch, homeIdentity: homeIdentity), read: joined
    )
  }

  /// Statements of ``join(_:lease:host:after:homeIdentity:)``.
  static func joining(
    _ name: String, lease: TimeSpan, host: String, after epoch: Int64, homeIdentity: String
  ) -> [PostgresCall] {
    [
      PostgresStatements.join(
        .text(name), .integer(lease.milliseconds), .text(host), .integer(epoch), .text(homeIdentity)),
      PostgresStatements.returnClaimed(), PostgresStatements.tellReturned(),
    ]
  }

  /// The branch in its new epoch, and the returned claims; nil if the name belongs to another home and is in use.
  static func joined(_ results: [PostgresRows]) -> (branch: PostgresBranch, returned: [TicketRange])? {
    guard let id = results.first?.integer(0, 0), let epoch = results.first?.integer(0, 1),
      results.count >= 3, let returned = ranges(results[1])
    else { return nil }
    return (PostgresBranch(id: id, epoch: epoch), returned)
  }

  /// Renews the lease; false if the branch was fenced. Also stores the number of open windows, and the number of
  /// transactions of this epoch that were reported as committed.
  public func renew(lease: TimeSpan, windows: Int64 = 0, commits: Int64 = 0) -> PostgresRequest<Bool> {
    let request = renewal(lease: lease, windows: windows, commits: commits, oldest: nil)
    return PostgresRequest(segment: request.segment) { request.read($0).map { $0 != nil } }
  }

  /// Renews the lease. Returns the number of transactions that the previous renewal has stored, or nil if the branch
  /// was fenced.
  ///
  /// - Parameter oldest: issue time of the longest-waiting customer of the branch, in milliseconds since 1970 by the
  ///   server's clock; nil for none.
  func renewal(
    lease: TimeSpan, windows: Int64, commits: Int64, oldest: Int64?
  ) -> PostgresRequest<Int64?> {
    let values: [PostgresValue] = [
      .integer(lease.milliseconds), .integer(windows), .integer(commits),
      oldest.map { .integer($0) } ?? .null,
    ]
    return PostgresRequest(segment: [PostgresStatements.renew.with(fence + values)]) {
      $0.first.map { $0.count == 1 ? $0.integer(0, 0) : nil }
    }
  }

  /// Branches with an expired lease that have claims, or slices of a request without tickets.
  public static var expired: PostgresRequest<[PostgresBranch]> {
    PostgresRequest(segment: [PostgresStatements.expired()]) { $0.first.flatMap(branches) }
  }

  /// Fences a branch with an expired lease and returns its claims. Returns nil if its lease was renewed or if its epoch
  /// has already ended.
  ///
  /// - Parameter unchangedEnd: end of its lease, in microseconds since 1970, that did not change for the length of the
  ///   lease by the caller's monotonic clock; 0 to let the server's clock decide.
  public static func rescue(_ expired: PostgresBranch, unchangedEnd: Int64 = 0) -> PostgresRequest<
    [TicketRange]?
  > {
    ending(
      PostgresStatements.fenceExpired.with(expired.fence + [.integer(unchangedEnd)]),
      PostgresStatements.forgetArrivingOfEnded())
  }

  /// Leaves the bank: ends the epoch and returns its claims. The result is nil if the branch was already fenced.
  ///
  /// - Parameter endsDrain: true if the bank drains. If this is the last branch, and customers are left that no
  ///   branch could serve, the day continues, and the next branch that joins accepts customers again. The intake lock
  ///   orders concurrent transactions of this kind, so that the later one sees the effect of the earlier one.
  public func leave(endsDrain: Bool = false) -> PostgresRequest<[TicketRange]?> {
    let end = PostgresStatements.leave.with(fence)
    return endsDrain
      ? Self.ending(end, after: [PostgresStatements.lockIntake()], PostgresStatements.endDrain(.integer(1)))
      : Self.ending(end)
  }

  /// Request that ends an epoch and returns its claims; nil if the epoch had already ended.
  private static func ending(
    _ end: PostgresCall, after locks: [PostgresCall] = [], _ more: PostgresCall...
  ) -> PostgresRequest<[TicketRange]?> {
    let segment = locks + [end, PostgresStatements.returnClaimed(), PostgresStatements.tellReturned()] + more
    return PostgresRequest(segment: segment) { results in
      guard results.count == segment.count, let returned = ranges(results[locks.count + 1]) else {
        return nil
      }
      return .some(results[locks.count].count == 1 ? returned : nil)
    }
  }

  // MARK: - Claiming

  /// Claims the next page of a lane: first returned customers, then new ones, each in ticket order. Use it for pages
  /// of a few hundred customers without long payloads.
  ///
  /// - Parameter number: name of the page, by which the branch can query it if the answer was lost; see
  ///   ``claimed(_:)``.
  public func claim(lane: Int64, atMost count: Int, number: Int64 = 0) -> PostgresRequest<[ClaimedCustomer]> {
    let request = claimPage(lane: lane, atMost: count, number: number)
    return PostgresRequest(segment: request.segment) { request.read($0).flatMap(\.self) }
  }

  /// Claims the next page of a lane, of any size. Returns nil if the page was claimed but is too large to be sent
  /// under the lane's lock; ``claimed(_:)`` then returns it.
  public func claimPage(
    lane: Int64, atMost count: Int, number: Int64
  ) -> PostgresRequest<[ClaimedCustomer]?> {
    let values = fence + [.integer(lane), .integer(Int64(count)), .integer(number)]
    return PostgresRequest(segment: [
      PostgresStatements.lockLane(.integer(lane)), PostgresStatements.claimReturned.with(values),
      PostgresStatements.claimNext.with(values),
    ]) { results in
      guard results.count == 3, let returned = Self.customers(results[1]),
        let next = Self.customers(results[2])
      else { return nil }
      let page = returned + next
      return .some(page.contains { $0.position == PostgresStatements.oversizedPage } ? nil : page)
    }
  }

  /// Customers of the page that was claimed under a number; nil if there is no such page.
  public func claimed(_ number: Int64) -> PostgresRequest<[ClaimedCustomer]?> {
    let values = fence + [.integer(number)]
    return PostgresRequest(segment: [
      PostgresStatements.hasClaimed.with(values), PostgresStatements.claimed.with(values),
    ]) { results in
      guard results.count == 2, let has = results[0].boolean(0, 0), let page = Self.customers(results[1])
      else { return nil }
      return .some(has ? page : nil)
    }
  }

  /// True if a page was claimed under a number.
  func hasClaimed(_ number: Int64) -> PostgresRequest<Bool> {
    PostgresRequest(segment: [PostgresStatements.hasClaimed.with(fence + [.integer(number)])]) {
      $0.first?.boolean(0, 0)
    }
  }

  /// Returns customers of the branch's own pages to their lines. Customers that the branch does not own are unchanged.
  /// The result is the number of the given customers that are still waiting, owned or not.
  public func returnClaimed(lane: Int64, _ tickets: [Int64]) -> PostgresRequest<Int64> {
    let positions = tickets.map { PostgresPosition.of(lane: lane, ticket: $0) }
    return PostgresRequest(segment: [
      PostgresStatements.lockLane(.integer(lane)), PostgresStatements.lockBranchRows(),
      PostgresStatements.returnUnserved.with(fence + [.integer(0), .integers(positions)]),
    ]) { $0.last?.integer(0, 0) }
  }

  // MARK: - Intake and completion

  /// Issues tickets to several requests in one transaction; nil for each if the branch was fenced.
  func issueTickets(_ intakes: [PostgresEnqueue]) -> PostgresRequest<[PostgresEnqueue.Answer?]> {
    PostgresRequest(segment: [PostgresStatements.lockIntake()] + intakes.map { $0.call(self) }) { results in
      guard results.count == intakes.count + 1 else { return nil }
      return zip(intakes, results.dropFirst()).map { $0.read($1) }
    }
  }

  /// Issues tickets to customers. `number` is the number of the commit that counts the tickets, and also names the
  /// request in this epoch. Returns nil if the branch was fenced, the bank drains, the key of the request was used
  /// before, or the key of a customer was used by a different request.
  public func issueTickets(
    _ customers: EnqueueRequest, lanes: [Line: Int64], number: Int64
  ) -> PostgresRequest<RequestTickets?> {
    let intake = PostgresEnqueue(
      customers: EnqueueColumns(customers), lanes: lanes, commit: number, name: (epoch, number))
    let request = issueTickets([intake])
    return PostgresRequest(segment: request.segment) { results in
      request.read(results).map { answers in
        if case .given(let tickets, _) = answers[0] { tickets } else { nil }
      }
    }
  }

  /// Finishes customers. Returns the tickets that got their receipt by this commit. If the branch was fenced, no
  /// customer is changed.
  ///
  /// - Parameters:
  ///   - number: number of this commit, unique in the epoch. After a lost connection the branch queries it with
  ///     ``stored(_:)``.
  ///   - former: number of the commit on which this one depends; 0 for none. If that commit is missing, this one has
  ///     no effect.
  public func complete(
    _ completion: PostgresCompletion, number: Int64, after former: Int64 = 0
  ) -> PostgresRequest<[Int64]> {
    let values = fence + [.integer(number), .integer(former)] + completion.values
    return PostgresRequest(segment: [completion.statement.with(values)]) { results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return rows.has(0, 2) ? rows.integers(0, 2) : []
    }
  }

  /// Returns those of the given commits of this epoch that are in the database.
  ///
  /// The answer is final only if no statement of the epoch can still be running in the server: after
  /// ``join(_:lease:host:after:homeIdentity:)`` with the same name, which waits for running statements, or after the
  /// server process of the lost connection has exited.
  public func stored(_ numbers: [Int64]) -> PostgresRequest<Set<Int64>> {
    PostgresRequest(segment: [PostgresStatements.storedCommits.with(fence + [.integers(numbers)])]) {
      results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return Set(rows.integers(0, 0) ?? [])
    }
  }

  /// Tickets that got their receipts by these commits of this epoch, in ascending order for each commit.
  public func receipts(of numbers: [Int64]) -> PostgresRequest<[Int64: [Int64]]> {
    PostgresRequest(segment: [PostgresStatements.receiptsOfCommits.with(fence + [.integers(numbers)])]) {
      results in
      guard let rows = results.first else { return nil }
      var tickets: [Int64: [Int64]] = [:]
      for row in 0..<rows.count {
        guard let number = rows.integer(row, 0), let some = rows.integers(row, 1) else { return nil }
        tickets[number] = some
      }
      return tickets
    }
  }

  /// Receipts of these tickets of a day, each with the branch and the commit that wrote it.
  public static func receipts(
    of tickets: [Int64], day: Int64
  ) -> PostgresRequest<[(ticket: Int64, branch: PostgresBranch, commit: Int64)]> {
    PostgresRequest(segment: [PostgresStatements.receipts(.integer(day), .integers(tickets))]) { results in
      results.first.flatMap { rows in
        all(rows) { row in
          let numbers = (0..<4).compactMap { rows.integer(row, $0) }
          guard numbers.count == 4 else { return nil }
          return (numbers[0], PostgresBranch(id: numbers[1], epoch: numbers[2]), numbers[3])
        }
      }
    }
  }

  /// Payload of the customer at this position (state, lane and ticket); nil if it has none, or does not exist any more.
  public static func payload(of position: Int64) -> PostgresRequest<[UInt8]?> {
    PostgresRequest(segment: [PostgresStatements.payload(.integer(position))]) { results in
      results.first.map { $0.bytes(0, 0) }
    }
  }

  // MARK: - Reading

  /// Reads every row; nil if any row has an unexpected shape.
  private static func all<Element>(_ rows: PostgresRows, _ read: (Int) -> Element?) -> [Element]? {
    let elements = (0..<rows.count).compactMap(read)
    return elements.count == rows.count ? elements : nil
  }

  /// Branches from rows of number and epoch; nil if a row has an unexpected shape.
  static func branches(_ rows: PostgresRows) -> [PostgresBranch]? {
    all(rows) { row in
      guard let id = rows.integer(row, 0), let epoch = rows.integer(row, 1) else { return nil }
      return PostgresBranch(id: id, epoch: epoch)
    }
  }

  /// Ranges from rows of lane, first and last ticket; nil if a row has an unexpected shape.
  private static func ranges(_ rows: PostgresRows) -> [TicketRange]? {
    all(rows) { row in
      guard let lane = rows.integer(row, 0), let first = rows.integer(row, 1), let last = rows.integer(row, 2)
      else { return nil }
      return TicketRange(lane: lane, first: first, last: last)
    }
  }

  /// Customers of a page; nil if a row has an unexpected shape.
  private static func customers(_ rows: PostgresRows) -> [ClaimedCustomer]? {
    all(rows) { ClaimedCustomer(rows, $0) }
  }
}
