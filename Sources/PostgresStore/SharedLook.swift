// Owns what a branch sees of the whole bank in one look, as it is asked for and read.
// Invariant: what comes in another shape than was asked for is nil and no trap.
import BankModel
import Postgres
import QueueCore
import Time

/// What there is to be seen of the bank.
struct SharedLook {
  /// The lanes as rows, and those in which somebody may wait whom nobody has.
  var lanes: PostgresRows
  var waiting: [Int64] = []
  /// Branches whose lease has run out and who have claims.
  var expired: [PostgresBranch] = []
  var day: BusinessDay
  var openedAt: WallTime
  var isDraining: Bool
  /// The database's clock, in milliseconds since 1970.
  var now: Int64
  /// Until somebody is due; nil for nobody.
  var due: TimeSpan?
  /// The number of the books; nil where they have none.
  var books: Int64?
  /// The last ticket of the day.
  var issued: Int64
  /// How many services have numbers.
  var services: Int64
  /// When the customer was issued who has waited longest of those at no window, by the database's clock; nil for none.
  var oldest: Int64?
  /// Of the day by branch and lane: tickets that were given, and how the others are counted.
  private var counts: [(branch: Int64, lane: Int64, issued: Int64, BankNumbers.ServiceCounts)] = []
  private var branches: [BankNumbers.Branch] = []
  /// The leases of all branches.
  private(set) var leases: [SeenLease] = []
  /// For which tickets the branch's stock is to be asked.
  var releases: [OwedRelease] = []
  /// Large requests that have their tickets and are still coming in: those of the branch, and those left by others.
  var batches: [ArrivingName] = []

  /// - Parameter window: for how long somebody may be due to be seen, in milliseconds.
  static func request(
    of branch: PostgresBranch, within window: Int64 = DueWindow.everything
  ) -> PostgresRequest<SharedLook> {
    PostgresRequest(
      segment: [
        PostgresStatements.lookAtLanes(), PostgresStatements.expired(),
        PostgresStatements.lookAtDay(.integer(window)),
        PostgresStatements.lookAtNumbers(), PostgresStatements.lookAtBranches(),
        PostgresStatements.lookAtReleases(.integer(branch.id)),
        PostgresStatements.lookAtBatches(.integer(branch.id)),
      ], read: SharedLook.init)
  }

  init?(_ results: [PostgresRows]) {
    guard results.count == 7, let expired = PostgresBranch.branches(results[1]) else { return nil }
    self.expired = expired
    lanes = results[0]
    for row in 0..<lanes.count where lanes.boolean(row, 4) == true {
      if let lane = lanes.integer(row, 0) { waiting.append(lane) }
    }
    let days = results[2]
    guard let day = days.integer(0, 0), let opened = days.integer(0, 1), let drains = days.boolean(0, 2),
      let now = days.integer(0, 3), let services = days.integer(0, 5), let issued = days.integer(0, 7)
    else { return nil }
    (books, self.issued) = (days.integer(0, 6), issued)
    (self.day, openedAt, isDraining, self.services) = (day, WallTime(milliseconds: opened), drains, services)
    self.now = now
    oldest = days.integer(0, 8)
    due = days.integer(0, 4).map { .milliseconds(max(0, $0.subtractingReportingOverflow(now).partialValue)) }
    for row in 0..<results[3].count {
      let numbers = (0..<9).compactMap { results[3].integer(row, $0) }
      guard numbers.count == 9 else { return nil }
      var counts = BankNumbers.ServiceCounts()
      (counts.waiting, counts.delayed, counts.dead) = (numbers[3], numbers[4], numbers[5])
      (counts.served, counts.sentAway, counts.cancelled) = (numbers[6] + numbers[7], numbers[7], numbers[8])
      self.counts.append((numbers[0], numbers[1], numbers[2], counts))
    }
    for row in 0..<results[4].count {
      guard let branch = Self.branch(results[4], row) else { return nil }
      branches.append(branch)
      leases.append(
        SeenLease(
          branch: PostgresBranch(id: branch.identity.number, epoch: branch.identity.epoch),
          end: branch.state == .closed ? nil : results[4].integer(row, 8)))
    }
    for row in 0..<results[6].count {
      let numbers = (0..<3).compactMap { results[6].integer(row, $0) }
      guard numbers.count == 3 else { return nil }
      batches.append(ArrivingName(branch: numbers[0], epoch: numbers[1], number: numbers[2]))
    }
    for row in 0..<results[5].count {
      guard let day = results[5].integer(row, 0), let ticket = results[5].integer(row, 1),
        let issued = results[5].integer(row, 2)
      else { return nil }
      releases.append(
        OwedRelease(
          ticket: TicketOfDay(day: day, ticket: ticket), issuedAt: WallTime(milliseconds: issued)))
    }
  }

  private static func branch(_ rows: PostgresRows, _ row: Int) -> BankNumbers.Branch? {
    guard let id = rows.integer(row, 0), let name = rows.text(row, 1), let host = rows.text(row, 2),
      let epoch = rows.integer(row, 3), let closed = rows.boolean(row, 4), let windows = rows.integer(row, 5),
      let commits = rows.integer(row, 6), let lease = rows.integer(row, 7)
    else { return nil }
    return BankNumbers.Branch(
      identity: BranchIdentity(number: id, name: name, epoch: epoch), host: host,
      state: closed ? .closed : lease > 0 ? .open : .expired, leaseMilliseconds: closed ? 0 : lease,
      windows: windows, served: 0, commits: commits)
  }

  /// The numbers of the bank, of so many services.
  ///
  /// - Parameter line: who stands in a lane, and the branch that alone serves there, or 0.
  func numbers(_ services: Int, _ line: (Int64) -> (line: Line, branch: Int64)?) -> BankNumbers {
    var numbers = BankNumbers(day: day, services: Array(repeating: .init(), count: services))
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

extension BankNumbers {
  /// The same without how long the leases still run, which changes with every look.
  var withoutLeases: BankNumbers {
    var numbers = self
    for index in numbers.branches.indices { numbers.branches[index].leaseMilliseconds = 0 }
    return numbers
  }
}
