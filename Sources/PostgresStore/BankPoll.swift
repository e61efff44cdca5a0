// One poll of the whole bank by a branch: the query, and the interpretation of its results.
// Invariant: a result of an unexpected shape is nil, not a trap.
import BankModel
import Postgres
import QueueCore
import Time

/// State of a shared bank that a branch queries: day, counts, leases, and lanes with unclaimed customers.
struct BankPoll {
  /// Rows of all lanes, as ``PostgresStatements/pollLanes`` returns them.
  var lanes: PostgresRows
  /// Numbers of the lanes that may have unclaimed customers.
  var waiting: [Int64] = []
  /// Branches with an expired lease that have claims, or slices of a request without tickets.
  var expired: [PostgresBranch] = []
  /// The present day.
  var day: BusinessDay
  /// Start of the day, by the server's clock.
  var openedAt: WallTime
  /// True if the bank accepts no new customers.
  var isDraining: Bool
  /// Server's clock, in milliseconds since 1970.
  var now: Int64
  /// Time until the next customer is due; nil for none.
  var due: TimeSpan?
  /// Random number that identifies the database (`bank id`); nil if it is missing.
  var bankID: Int64?
  /// Last ticket of the day.
  var issued: Int64
  /// Counts of the last ended day; nil if they were not requested.
  var ended: BankCounters.EndedDay?
  /// Number of services.
  var services: Int64
  /// Issue time of the longest-waiting customer that is not at a window, by the server's clock; nil for none.
  var oldest: Int64?
  /// Counts of the day by branch and lane: issued tickets, and customers by state.
  private var counts: [(branch: Int64, lane: Int64, issued: Int64, BankCounters.ServiceCounts)] = []
  private var branches: [BankCounters.Branch] = []
  /// Leases of all branches.
  private(set) var leases: [ObservedLease] = []
  /// Cancelled tickets for which the branch's stock may have reservations.
  var releases: [OwedRelease] = []
  /// Large requests that have their tickets and whose customers are still being moved to their lines.
  var largeRequests: [LargeRequestID] = []

  /// Request for the state of the whole bank. `window` limits the age of due times, in milliseconds. `isLast` adds the
  /// counts of the last ended day.
  static func request(
    of branch: PostgresBranch, within window: Int64 = DueSearchRange.everything, isLast: Bool = false
  ) -> PostgresRequest<BankPoll> {
    PostgresRequest(
      segment: [
        PostgresStatements.pollLanes(), PostgresStatements.expired(),
        PostgresStatements.pollDay(.integer(window)),
        PostgresStatements.pollCounts(), PostgresStatements.pollBranches(),
        PostgresStatements.pollReleases(.integer(branch.id)),
        PostgresStatements.pollLargeRequests(.integer(branch.id)),
      ] + (isLast ? [PostgresStatements.lookAtEnded()] : []), read: BankPoll.init)
  }

  /// Interprets the results of the query; nil if their shape is unexpected.
  init?(_ results: [PostgresRows]) {
    guard (7...8).contains(results.count), let expired = PostgresBranch.branches(results[1]) else {
      return nil
    }
    self.expired = expired
    lanes = results[0]
    for row in 0..<lanes.count where lanes.boolean(row, 4) == true {
      if let lane = lanes.integer(row, 0) { waiting.append(lane) }
    }
    let days = results[2]
    guard let day = days.integer(0, 0), let opened = days.integer(0, 1), let drains = days.boolean(0, 2),
      let now = days.integer(0, 3), let services = days.integer(0, 5), let issued = days.integer(0, 7)
    else { return nil }
    (bankID, self.issued) = (days.integer(0, 6), issued)
    (self.day, openedAt, isDraining, self.services) = (day, WallTime(milliseconds: opened), drains, services)
    self.now = now
    oldest = days.integer(0, 8)
    due = days.integer(0, 4).map { .milliseconds(max(0, $0.subtractingReportingOverflow(now).partialValue)) }
    for row in 0..<results[3].count {
      let numbers = (0..<9).compactMap { results[3].integer(row, $0) }
      guard numbers.count == 9 else { return nil }
      var counts = BankCounters.ServiceCounts()
      (counts.waiting, counts.delayed, counts.dead) = (numbers[3], numbers[4], numbers[5])
      (counts.served, counts.sentAway, counts.cancelled) = (numbers[6] + numbers[7], numbers[7], numbers[8])
      self.counts.append((numbers[0], numbers[1], numbers[2], counts))
    }
    for row in 0..<results[4].count {
      guard let branch = Self.branch(results[4], row) else { return nil }
      branches.append(branch)
      leases.append(
        ObservedLease(
          branch: PostgresBranch(id: branch.identity.number, epoch: branch.identity.epoch),
          end: branch.state == .closed ? nil : results[4].integer(row, 8)))
    }
    for row in 0..<results[6].count {
      let numbers = (0..<3).compactMap { results[6].integer(row, $0) }
      guard numbers.count == 3 else { return nil }
      largeRequests.append(LargeRequestID(branch: numbers[0], epoch: numbers[1], number: numbers[2]))
    }
    for row in 0..<results[5].count {
      guard let day = results[5].integer(row, 0), let ticket = results[5].integer(row, 1),
        let issued = results[5].integer(row, 2)
      else { return nil }
      releases.append(
        OwedRelease(
          ticket: TicketOfDay(day: day, ticket: ticket), issuedAt: WallTime(milliseconds: issued)))
    }
    guard results.count == 8 else { return }
    guard let last = results[7].integer(0, 0), let served = results[7].integer(0, 1),
      let sentAway = results[7].integer(0, 2)
    else { return nil }
    ended = BankCounters.EndedDay(day: last, served: served, sentAway: sentAway)
  }

  /// State of one branch; nil if the row has an unexpected shape.
  private static func branch(_ rows: PostgresRows, _ row: Int) -> BankCounters.Branch? {
    guard let id = rows.integer(row, 0), let name = rows.text(row, 1), let host = rows.text(row, 2),
      let epoch = rows.integer(row, 3), let closed = rows.boolean(row, 4), let windows = rows.integer(row, 5),
      let commits = rows.integer(row, 6), let lease = rows.integer(row, 7)
    else { return nil }
    return BankCounters.Branch(
      identity: BranchIdentity(number: id, name: name, epoch: epoch), host: host,
      state: closed ? .closed : lease > 0 ? .open : .expired, leaseMilliseconds: closed ? 0 : lease,
      windows: windows, served: 0, commits: commits)
  }

  /// Counters of the bank by service and branch. `line` returns the line of a lane, and the only branch that serves it,
  /// or 0.
  func numbers(_ services: Int, _ line: (Int64) -> (line: Line, branch: Int64)?) -> BankCounters {
    var numbers = BankCounters(day: day, services: Array(repeating: .init(), count: services))
    numbers.ended = ended
    var served: [Int64: Int64] = [:]
    var own: [Int64: Int64] = [:]
    for (branch, lane, issued, counts) in counts {
      served[branch, default: 0] += counts.served
      numbers.issued += issued
      guard let (line, owner) = line(lane), line.service.index < services else { continue }
      numbers.services[line.service.index] += counts
      if owner > 0 { own[owner, default: 0] += counts.waiting + counts.delayed }
    }
    numbers.branches = branches.map { branch in
      var branch = branch
      branch.served = served[branch.identity.number] ?? 0
      branch.juices = own[branch.identity.number] ?? 0
      return branch
    }
    return numbers
  }
}

extension BankCounters {
  /// The counters without the remaining times of the leases.
  var withoutLeases: BankCounters {
    var numbers = self
    for index in numbers.branches.indices { numbers.branches[index].leaseMilliseconds = 0 }
    return numbers
  }
}
