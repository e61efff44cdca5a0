// Owns a branch as the shared books know it, its number and its epoch, and every request that it makes in their name.
// Invariant: a branch of an epoch that has ended changes nothing: its requests are answered with nothing, by which it finds
// out that it was fenced. It knows no clock: leases are by the clock of the database.
import BankModel
import Postgres
import QueueCore
import Time

/// A branch in one of its epochs.
public struct PostgresBranch: Sendable, Hashable {
  /// Its number in the books.
  public let id: Int64
  /// How often it has begun or was fenced.
  public let epoch: Int64

  /// Tickets that are one behind the other in a lane.
  public struct Range: Sendable, Hashable {
    /// The lane's number.
    public var lane: Int64
    /// The first ticket.
    public var first: Int64
    /// The last ticket.
    public var last: Int64

    public init(lane: Int64, first: Int64, last: Int64) {
      (self.lane, self.first, self.last) = (lane, first, last)
    }
  }

  public init(id: Int64, epoch: Int64) {
    self.id = id
    self.epoch = epoch
  }

  var fence: [PostgresValue] { [.integer(id), .integer(epoch)] }

  // MARK: - The lease

  /// A branch begins. One of the same name that was before has ended by this, and what it had is given back.
  ///
  /// - Parameters:
  ///   - epoch: the last one of which it knows that it had it.
  ///   - proof: which home on which running machine it is. Of another home whose lease runs it takes nothing over.
  public static func join(
    _ name: String, lease: TimeSpan, host: String = "", after epoch: Int64 = 0, proof: String = ""
  ) -> PostgresRequest<(branch: PostgresBranch, returned: [Range])> {
    PostgresRequest(
      segment: joining(name, lease: lease, host: host, after: epoch, proof: proof), read: joined)
  }

  static func joining(
    _ name: String, lease: TimeSpan, host: String, after epoch: Int64, proof: String
  ) -> [PostgresCall] {
    [
      PostgresStatements.join(
        .text(name), .integer(lease.milliseconds), .text(host), .integer(epoch), .text(proof)),
      PostgresStatements.giveBack(), PostgresStatements.tellReturned(),
    ]
  }

  static func joined(_ results: [PostgresRows]) -> (branch: PostgresBranch, returned: [Range])? {
    guard let id = results.first?.integer(0, 0), let epoch = results.first?.integer(0, 1),
      results.count >= 3, let returned = ranges(results[1])
    else { return nil }
    return (PostgresBranch(id: id, epoch: epoch), returned)
  }

  /// Goes on for another lease; false where the branch was fenced. Says how many windows it has, and of how many of its
  /// transactions it knows.
  public func renew(lease: TimeSpan, windows: Int64 = 0, commits: Int64 = 0) -> PostgresRequest<Bool> {
    let request = renewal(lease: lease, windows: windows, commits: commits, oldest: nil)
    return PostgresRequest(segment: request.segment) { request.read($0).map { $0 != nil } }
  }

  /// The same, with how many of its transactions the books had counted at the renewal before; nil where the branch was fenced.
  ///
  /// - Parameter oldest: when the customer was issued who has waited longest in its hands, in milliseconds since 1970 by the
  ///   database's clock; nil for none.
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

  /// Other branches whose lease has run out and who have claims.
  public static var expired: PostgresRequest<[PostgresBranch]> {
    PostgresRequest(segment: [PostgresStatements.expired()]) { $0.first.flatMap(branches) }
  }

  /// Ends the epoch of a branch whose lease has run out and gives back what it had. nil where it is alive, or another branch
  /// was sooner.
  ///
  /// - Parameter unmoved: the end of its lease, in microseconds since 1970, which was not moved for the length of the lease by
  ///   the steady clock of the caller; 0 where the database's clock decides.
  public static func rescue(_ expired: PostgresBranch, unmoved: Int64 = 0) -> PostgresRequest<[Range]?> {
    ending(
      PostgresStatements.fenceExpired.with(expired.fence + [.integer(unmoved)]),
      PostgresStatements.forgetArrivingOfEnded())
  }

  /// Ends its own epoch and gives back what it has. nil where it was fenced before.
  ///
  /// - Parameter endsDrain: whether the bank drains. Where this is the last branch of it, and somebody is left whom none could
  ///   serve, the day goes on: whoever opens a branch next takes customers again. Of two who leave at once the later sees that
  ///   the other has, by the lock.
  public func leave(endsDrain: Bool = false) -> PostgresRequest<[Range]?> {
    let end = PostgresStatements.leave.with(fence)
    return endsDrain
      ? Self.ending(end, behind: [PostgresStatements.lockIntake()], PostgresStatements.endDrain(.integer(1)))
      : Self.ending(end)
  }

  private static func ending(
    _ end: PostgresCall, behind locks: [PostgresCall] = [], _ more: PostgresCall...
  ) -> PostgresRequest<[Range]?> {
    let segment = locks + [end, PostgresStatements.giveBack(), PostgresStatements.tellReturned()] + more
    return PostgresRequest(segment: segment) { results in
      guard results.count == segment.count, let returned = ranges(results[locks.count + 1]) else {
        return nil
      }
      return .some(results[locks.count].count == 1 ? returned : nil)
    }
  }

  // MARK: - Claiming

  /// Claims of a lane, in pages of some hundred customers without long payloads, what was given back, and else the next page. Where there is both, both come: customers in the order of
  /// their tickets, those that were given back first.
  ///
  /// - Parameter number: by which the branch asks for the page again where it was not told; see ``claimed(_:)``.
  public func claim(lane: Int64, atMost count: Int, number: Int64 = 0) -> PostgresRequest<[ClaimedCustomer]> {
    let request = claimPage(lane: lane, atMost: count, number: number)
    return PostgresRequest(segment: request.segment) { request.read($0).flatMap(\.self) }
  }

  /// The same for pages of any length: nil if the page was claimed and is too long to be sent under the lane's lock. Then
  /// ``claimed(_:)`` has it.
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
      return .some(page.contains { $0.position == PostgresStatements.elsewhere } ? nil : page)
    }
  }

  /// Who is in the page that was claimed under a number; nil where there is none.
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

  /// Whether there is a page that was claimed under a number.
  func hasClaimed(_ number: Int64) -> PostgresRequest<Bool> {
    PostgresRequest(segment: [PostgresStatements.hasClaimed.with(fence + [.integer(number)])]) {
      $0.first?.boolean(0, 0)
    }
  }

  /// Gives back customers of its own pages; how many of them it had.
  public func giveBack(lane: Int64, _ tickets: [Int64]) -> PostgresRequest<Int64> {
    let positions = tickets.map { PostgresPosition.of(lane: lane, ticket: $0) }
    return PostgresRequest(segment: [
      PostgresStatements.lockLane(.integer(lane)), PostgresStatements.holdBranches(),
      PostgresStatements.giveBackUnserved.with(fence + [.integer(0), .integers(positions)]),
    ]) { $0.last?.integer(0, 0) }
  }

  // MARK: - Intake and completion

  /// Gives tickets to one request; nil where the branch was fenced. Several requests may go in one transaction.
  func take(_ intakes: [PostgresIntake]) -> PostgresRequest<[PostgresIntake.Answer?]> {
    PostgresRequest(segment: [PostgresStatements.lockIntake()] + intakes.map { $0.call(self) }) { results in
      guard results.count == intakes.count + 1 else { return nil }
      return zip(intakes, results.dropFirst()).map { $0.read($1) }
    }
  }

  /// Gives tickets to customers, counted by a commit of this number and named by the same in this epoch; nil where the branch
  /// was fenced, or the bank drains, or a key is known.
  public func take(
    _ customers: IntakeRequest, lanes: [Line: Int64], number: Int64
  ) -> PostgresRequest<SharedTickets?> {
    let intake = PostgresIntake(
      customers: IntakeColumns(customers), lanes: lanes, commit: number, name: (epoch, number))
    let request = take([intake])
    return PostgresRequest(segment: request.segment) { results in
      request.read(results).map { answers in
        if case .given(let tickets, _) = answers[0] { tickets } else { nil }
      }
    }
  }

  /// Ends customers. The tickets that come back have their receipt by this commit; nothing has become of the others, nor of
  /// anybody where the branch was fenced.
  ///
  /// - Parameters:
  ///   - number: of this commit in this epoch, never the same again; by it a branch learns after a lost connection what is in
  ///     the books, see ``kept(_:)``.
  ///   - former: the commit without which this one is nothing; 0 for none.
  public func complete(
    _ completion: PostgresCompletion, number: Int64, after former: Int64 = 0
  ) -> PostgresRequest<[Int64]> {
    let values = fence + [.integer(number), .integer(former)] + completion.values
    return PostgresRequest(segment: [completion.statement.with(values)]) { results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return rows.has(0, 2) ? rows.integers(0, 2) : []
    }
  }

  /// Which of these commits of this epoch are in the books.
  ///
  /// It is the last word only when nothing of the epoch can still be under way in the server, which may go on with what it was
  /// sent for a while after a connection was lost: behind ``join(_:lease:host:after:)`` of the same name, which waits for it,
  /// or when the server's process for that connection is gone.
  public func kept(_ numbers: [Int64]) -> PostgresRequest<Set<Int64>> {
    PostgresRequest(segment: [PostgresStatements.commitsKept.with(fence + [.integers(numbers)])]) { results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return Set(rows.integers(0, 0) ?? [])
    }
  }

  /// The tickets that have their receipts by these commits of this epoch.
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

  /// Which of these tickets of a day have a receipt, by which branch, and by which of its commits.
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

  /// What a customer carries; nil for nothing, and where there is no such customer any more.
  public static func payload(of position: Int64) -> PostgresRequest<[UInt8]?> {
    PostgresRequest(segment: [PostgresStatements.payload(.integer(position))]) { results in
      results.first.map { $0.bytes(0, 0) }
    }
  }

  // MARK: - Reading

  private static func all<Element>(_ rows: PostgresRows, _ read: (Int) -> Element?) -> [Element]? {
    let elements = (0..<rows.count).compactMap(read)
    return elements.count == rows.count ? elements : nil
  }

  static func branches(_ rows: PostgresRows) -> [PostgresBranch]? {
    all(rows) { row in
      guard let id = rows.integer(row, 0), let epoch = rows.integer(row, 1) else { return nil }
      return PostgresBranch(id: id, epoch: epoch)
    }
  }

  private static func ranges(_ rows: PostgresRows) -> [Range]? {
    all(rows) { row in
      guard let lane = rows.integer(row, 0), let first = rows.integer(row, 1), let last = rows.integer(row, 2)
      else { return nil }
      return Range(lane: lane, first: first, last: last)
    }
  }

  private static func customers(_ rows: PostgresRows) -> [ClaimedCustomer]? {
    all(rows) { ClaimedCustomer(rows, $0) }
  }
}
