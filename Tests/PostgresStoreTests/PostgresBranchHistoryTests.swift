// Three branches serve all customers while their connections are cut, their server crashes and they are
// fenced as if they had been suspended. All that a branch was sent is in the database, each branch knows all
// of its own commits there, and every ticket has one receipt.

import BankModel
import Glibc
import Posix
import PosixFixture
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("Branches that are cut off", .enabled(if: PostgresCluster.isInstalled))
struct PostgresBranchHistoryTests {
  @Test("Nothing is lost or takes effect twice, and an unknown outcome is found out")
  func history() throws {
    let seed = Environment.value("BANK_SEED").flatMap { UInt64($0) } ?? RandomSeed.fromSystem()
    print("seed \(seed); repeat with: BANK_SEED=\(seed) scripts/test StoreHistoryTests")
    var chance = SeededGenerator(seed: seed)
    let cluster = try PostgresCluster(["fsync=off", "restart_after_crash=on"])
    let stage = try StoreDatabase(on: cluster)
    try stage.enqueue(try stage.join("intake"), 3_000)
    let branches = (0..<3).map { DisconnectingBranch("branch-\($0)", stage.address, stage.client.loop) }
    var actions = [String: Int]()
    var nextAction = 50
    let end = SystemClock.monotonic() + .seconds(120)
    while branches.map(\.known.count).reduce(0, +) < 3_000 {
      try #require(SystemClock.monotonic() < end, "seed \(seed): \(branches.map(\.known.count)), \(actions)")
      try stage.client.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
      for branch in branches { try branch.finishIteration() }
      guard branches.map(\.known.count).reduce(0, +) >= nextAction else { continue }
      nextAction += Int(chance.draw(20...150))
      let victim = branches[Int(chance.draw(0...2))]
      guard let backend = victim.backend else { continue }
      let kind = chance.draw(0...9)
      switch kind {
      case 0...4: kill(backend, SIGTERM)
      // The server takes that for a crash, and restarts with all connections cut.
      case 5: kill(backend, SIGKILL)
      case 6...7: victim.cut()
      default:
        // As a branch that was suspended for a minute, which another one has noticed.
        guard let sleeper = victim.branch, let watcher = try? PostgresClient.connected(stage.address) else {
          continue
        }
        _ = try? watcher.rows(
          .once("UPDATE bank.branch SET lease_expires_at = '-infinity' WHERE id = \(sleeper.id)"))
        _ = try? watcher.rows(
          PostgresStatements.fenceExpired(.integer(sleeper.id), .integer(sleeper.epoch), .integer(0)),
          PostgresStatements.returnClaimed())
      }
      actions[
        ["ended", "ended", "ended", "ended", "ended", "crashed", "cut", "cut", "fenced", "fenced"][Int(kind)],
        default: 0] += 1
    }
    // The last event may have been a crash.
    var opened: StoreDatabase?
    _ = try eventually {
      opened = try? StoreDatabase(at: stage.address)
      return opened != nil
    }
    let database = try #require(opened, "seed \(seed)")
    try database.check()
    #expect(try database.number("SELECT count(*) FROM bank.customer") == 0)
    for branch in branches {
      let rows = try database.client.rows(
        .once(
          """
          SELECT array_agg(ticket ORDER BY ticket) FROM bank.receipt r JOIN bank.branch b ON b.id = r.branch
          WHERE b.name = '\(branch.name)'
          """))[0]
      #expect(rows.integers(0, 0) ?? [] == branch.known.sorted(), "seed \(seed)")
    }
    print("\(actions), found out: \(branches.map(\.resolvedCount))")
  }
}

/// A branch that continues through losses of its connection.
private final class DisconnectingBranch: PostgresHandler {
  let name: String
  private(set) var branch: PostgresBranch?
  /// Tickets with a receipt of this branch, as it knows.
  private(set) var known: Set<Int64> = []
  /// Commits with unknown outcome that are in the database.
  private(set) var resolvedCount = 0
  var backend: Int32? { connection.flatMap { $0.isReady ? $0.backend : nil } }
  private let address: String
  private let loop: EventLoop
  private var connection: PostgresConnection?
  private var retryAt = MonotonicTime(nanoseconds: 0)
  private var commits: Int64 = 0
  /// What was sent and not answered, by the epoch and the number of the commit.
  private var open: [PostgresBranch: [Int64: [Int64]]] = [:]
  private var isJoining = false
  private var inFlightCount = 0

  init(_ name: String, _ address: String, _ loop: EventLoop) {
    (self.name, self.address, self.loop) = (name, address, loop)
  }

  /// The connection is lost in the middle of its work.
  func cut() {
    connection?.close()
    forget()
  }

  private func forget() {
    connection = nil
    branch = nil
    isJoining = false
    inFlightCount = 0
    retryAt = SystemClock.monotonic() + .milliseconds(20)
  }

  func finishIteration() throws {
    connection?.finishIteration()
    guard SystemClock.monotonic() >= retryAt else { return }
    if connection == nil {
      connection = PostgresConnection(to: try .ofSharedStore(address), loop: loop)
      connection?.handler = self
    }
    guard let connection, connection.isReady else { return }
    // A call may find that the connection is lost before that is reported.
    do { try work(connection) } catch { if (error as? PostgresError)?.reason != .closed { throw error } }
  }

  func connected(_ connection: PostgresConnection, to server: PostgresServer) {}
  func notified(_ connection: PostgresConnection, channel: String, payload: String) {}
  func lost(_ connection: PostgresConnection, _ error: PostgresError) { forget() }

  private func work(_ connection: PostgresConnection) throws {
    guard let branch else {
      if !isJoining { try join(connection) }
      return
    }
    while inFlightCount < 3 {
      inFlightCount += 1
      try connection.send(branch.claim(lane: StoreDatabase.deposits, atMost: 10)) { [weak self] answer in
        guard let self, case .done(let page) = answer, self.branch == branch else { return }
        self.inFlightCount -= 1
        if page.isEmpty { self.ask(connection, branch) } else { self.complete(connection, branch, page) }
      }
    }
  }

  /// Joining again waits for all that its former epoch is still doing in the server, and nothing can come
  /// after it. So the database's answer about the former epoch's commits is final.
  private func join(_ connection: PostgresConnection) throws {
    isJoining = true
    try connection.send(PostgresBranch.join(name, lease: .seconds(60))) { [weak self] answer in
      guard let self, case .done(let joined) = answer else { return }
      for former in self.open.keys { self.resolve(connection, former) }
      self.commits = 0
      self.branch = joined.branch
      self.isJoining = false
    }
  }

  private func resolve(_ connection: PostgresConnection, _ former: PostgresBranch) {
    let numbers = open[former].map { Array($0.keys) } ?? []
    _ = try? connection.send(former.stored(numbers)) { [weak self] answer in
      guard let self, case .done(let stored) = answer, let open = self.open.removeValue(forKey: former) else {
        return
      }
      for (number, tickets) in open where stored.contains(number) {
        self.resolvedCount += 1
        self.known.formUnion(tickets)
      }
    }
  }

  private func complete(_ connection: PostgresConnection, _ branch: PostgresBranch, _ page: [ClaimedCustomer])
  {
    commits += 1
    let number = commits
    open[branch, default: [:]][number] = page.map(\.ticket)
    let completion = StoreDatabase.completion(of: page.map(\.position))
    _ = try? connection.send(branch.complete(completion, number: number)) { [weak self] answer in
      guard let self, case .done(let tickets) = answer else { return }
      self.open[branch]?[number] = nil
      if self.open[branch]?.isEmpty == true { self.open[branch] = nil }
      #expect(self.known.isDisjoint(with: tickets), "a ticket was served twice")
      self.known.formUnion(tickets)
      if tickets.isEmpty { self.ask(connection, branch) }
    }
  }

  /// An empty page: either no customer waits, or this epoch has ended.
  private func ask(_ connection: PostgresConnection, _ branch: PostgresBranch) {
    _ = try? connection.send(branch.renew(lease: .seconds(60))) { [weak self] answer in
      guard let self, case .done(false) = answer, self.branch == branch else { return }
      self.branch = nil
      self.inFlightCount = 0
    }
  }
}
