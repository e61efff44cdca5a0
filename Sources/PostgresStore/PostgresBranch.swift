// Owns a branch as the shared books know it, its number and its epoch, and every request that it makes in their name.
// Invariant: a branch of an epoch that has ended changes nothing: its requests are answered with nothing, by which it finds
// out that it was fenced. It knows no clock: leases are by the clock of the database.
import Postgres
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

  private var fence: [PostgresValue] { [.integer(id), .integer(epoch)] }

  // MARK: - The lease

  /// A branch begins. One of the same name that was before has ended by this, and what it had is given back.
  public static func join(
    _ name: String, lease: TimeSpan
  ) -> PostgresRequest<(branch: PostgresBranch, returned: [Range])> {
    PostgresRequest(segment: [
      PostgresStatements.join(.text(name), .integer(lease.milliseconds)), PostgresStatements.giveBack(),
    ]) { results in
      guard let id = results.first?.integer(0, 0), let epoch = results.first?.integer(0, 1),
        results.count == 2,
        let returned = ranges(results[1])
      else { return nil }
      return (PostgresBranch(id: id, epoch: epoch), returned)
    }
  }

  /// Goes on for another lease; false where the branch was fenced.
  public func renew(lease: TimeSpan) -> PostgresRequest<Bool> {
    PostgresRequest(segment: [PostgresStatements.renew.with(fence + [.integer(lease.milliseconds)])]) {
      $0.first.map { $0.count == 1 }
    }
  }

  /// Other branches whose lease has run out and who have claims.
  public static var expired: PostgresRequest<[PostgresBranch]> {
    PostgresRequest(segment: [PostgresStatements.expired()]) { results in
      results.first.flatMap { rows in
        all(rows) { row in
          guard let id = rows.integer(row, 0), let epoch = rows.integer(row, 1) else { return nil }
          return PostgresBranch(id: id, epoch: epoch)
        }
      }
    }
  }

  /// Ends the epoch of a branch whose lease has run out and gives back what it had. nil where it is alive, or somebody else
  /// was sooner.
  public static func rescue(_ expired: PostgresBranch) -> PostgresRequest<[Range]?> {
    ending([PostgresStatements.fenceExpired.with(expired.fence), PostgresStatements.giveBack()])
  }

  /// Ends its own epoch and gives back what it has. nil where it was fenced before.
  public func leave() -> PostgresRequest<[Range]?> {
    Self.ending([PostgresStatements.leave.with(fence), PostgresStatements.giveBack()])
  }

  private static func ending(_ segment: [PostgresCall]) -> PostgresRequest<[Range]?> {
    PostgresRequest(segment: segment) { results in
      guard results.count == 2, let returned = ranges(results[1]) else { return nil }
      return .some(results[0].count == 1 ? returned : nil)
    }
  }

  // MARK: - Claiming

  /// Claims of a lane what was given back, and else the next page. Where there is both, both come: customers in the order of
  /// their tickets, those that were given back first.
  public func claim(lane: Int64, atMost count: Int) -> PostgresRequest<[ClaimedCustomer]> {
    let place = fence + [.integer(lane)]
    return PostgresRequest(segment: [
      PostgresStatements.claimReturned.with(place), PostgresStatements.lockLane(.integer(lane)),
      PostgresStatements.claimNext.with(place + [.integer(Int64(count))]),
    ]) { results in
      guard results.count == 3, let returned = Self.customers(results[0]),
        let next = Self.customers(results[2])
      else { return nil }
      return returned + next
    }
  }

  /// Gives back a part of a page of its own: false where the branch does not have it in one piece.
  public func giveBack(_ part: Range) -> PostgresRequest<Bool> {
    let values: [PostgresValue] = [.integer(part.lane), .integer(part.first), .integer(part.last)]
    return PostgresRequest(segment: [PostgresStatements.giveBackPart.with(fence + values)]) {
      $0.first.map { $0.count == 1 }
    }
  }

  // MARK: - Intake and completion

  /// Gives tickets to one request; nil where the branch was fenced. Several requests may go in one transaction.
  public func take(_ intakes: [PostgresIntake]) -> PostgresRequest<[PostgresIntake.Answer?]> {
    PostgresRequest(
      segment: [PostgresStatements.lockIntake()]
        + intakes.map { PostgresStatements.intake.with(fence + $0.values) }
    ) { results in
      guard results.count == intakes.count + 1 else { return nil }
      return results.dropFirst().map(PostgresIntake.Answer.init)
    }
  }

  /// Ends customers. The tickets that come back have their receipt by this commit; nothing has become of the others, nor of
  /// anybody where the branch was fenced.
  ///
  /// - Parameter number: of this commit in this epoch, never the same again; by it a branch learns after a lost connection
  ///   what is in the books, see ``lastCommit``.
  public func complete(
    _ completion: PostgresCompletion, number: Int64, day: Int64
  ) -> PostgresRequest<[Int64]> {
    PostgresRequest(segment: [
      PostgresStatements.complete.with(fence + [.integer(number), .integer(day)] + completion.values)
    ]) { results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return rows.has(0, 0) ? rows.integers(0, 0) : []
    }
  }

  /// The last commit of this epoch that is in the books; nil where there is none.
  ///
  /// It is the last word only when nothing of the epoch can still be under way in the server, which may go on with what it was
  /// sent for a while after a connection was lost: behind ``join(_:lease:)`` of the same name, which waits for it.
  public var lastCommit: PostgresRequest<Int64?> {
    PostgresRequest(segment: [PostgresStatements.lastCommit.with(fence)]) { results in
      guard let rows = results.first, rows.count == 1 else { return nil }
      return .some(rows.integer(0, 0))
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
