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
  /// How many services have numbers.
  var services: Int64
  /// Of the day by branch and lane.
  var counts: [(branch: Int64, lane: Int64, SharedNumbers.Counts)] = []
  var branches: [SharedNumbers.Branch] = []

  static var request: PostgresRequest<SharedLook> {
    PostgresRequest(
      segment: [
        PostgresStatements.lookAtLanes(), PostgresStatements.expired(), PostgresStatements.lookAtDay(),
        PostgresStatements.lookAtNumbers(), PostgresStatements.lookAtBranches(),
      ], read: SharedLook.init)
  }

  init?(_ results: [PostgresRows]) {
    guard results.count == 5, let expired = PostgresBranch.branches(results[1]) else { return nil }
    self.expired = expired
    lanes = results[0]
    for row in 0..<lanes.count where lanes.boolean(row, 3) == true {
      if let lane = lanes.integer(row, 0) { waiting.append(lane) }
    }
    let days = results[2]
    guard let day = days.integer(0, 0), let opened = days.integer(0, 1), let drains = days.boolean(0, 2),
      let now = days.integer(0, 3), let services = days.integer(0, 5)
    else { return nil }
    (self.day, openedAt, isDraining, self.services) = (day, WallTime(milliseconds: opened), drains, services)
    self.now = now
    due = days.integer(0, 4).map { .milliseconds(max(0, $0.subtractingReportingOverflow(now).partialValue)) }
    for row in 0..<results[3].count {
      let numbers = (0..<9).compactMap { results[3].integer(row, $0) }
      guard numbers.count == 9 else { return nil }
      var counts = SharedNumbers.Counts()
      (counts.issued, counts.waiting, counts.delayed, counts.dead) = (
        numbers[2], numbers[3], numbers[4], numbers[5]
      )
      (counts.served, counts.outOfStock, counts.cancelled) = (numbers[6], numbers[7], numbers[8])
      self.counts.append((numbers[0], numbers[1], counts))
    }
    for row in 0..<results[4].count {
      guard let branch = Self.branch(results[4], row) else { return nil }
      branches.append(branch)
    }
  }

  private static func branch(_ rows: PostgresRows, _ row: Int) -> SharedNumbers.Branch? {
    guard let id = rows.integer(row, 0), let name = rows.text(row, 1), let host = rows.text(row, 2),
      let epoch = rows.integer(row, 3), let closed = rows.boolean(row, 4), let windows = rows.integer(row, 5),
      let commits = rows.integer(row, 6), let lease = rows.integer(row, 7)
    else { return nil }
    return SharedNumbers.Branch(
      id: id, name: name, host: host, epoch: epoch, state: closed ? .closed : lease > 0 ? .open : .expired,
      lease: .milliseconds(closed ? 0 : lease), windows: windows, served: 0, commits: commits)
  }

  /// The numbers by service, line and branch.
  func numbers(_ line: (Int64) -> Line?) -> SharedNumbers {
    var numbers = SharedNumbers()
    numbers.day = day
    var served: [Int64: Int64] = [:]
    for (branch, lane, counts) in counts {
      served[branch, default: 0] += counts.served + counts.outOfStock
      guard let line = line(lane) else { continue }
      numbers.services[line.service, default: .init()].add(counts)
      numbers.waiting[line, default: 0] += counts.waiting
    }
    numbers.branches = branches.map { branch in
      var branch = branch
      branch.served = served[branch.id] ?? 0
      return branch
    }
    return numbers
  }
}

extension SharedNumbers.Counts {
  mutating func add(_ other: Self) {
    issued += other.issued
    waiting += other.waiting
    delayed += other.delayed
    dead += other.dead
    served += other.served
    outOfStock += other.outOfStock
    cancelled += other.cancelled
  }
}

extension SharedNumbers {
  /// The same without how long the leases still run, which changes with every look.
  var withoutLeases: SharedNumbers {
    var numbers = self
    for index in numbers.branches.indices { numbers.branches[index].lease = .zero }
    return numbers
  }

  /// Over all services.
  public var total: Counts {
    services.values.reduce(into: Counts()) { $0.add($1) }
  }
}
