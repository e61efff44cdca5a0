// Bank with several branches for a test: its own PostgreSQL server, and any number of homes. All checks of the database
// are queries of the test itself, not of the bank's programs.
// Invariant: server and branches are gone when the test ends. Failure: Trouble, or the error of the server.
import Foundation
import Glibc
import Postgres
import PostgresFixture
import Testing

final class SharedBank {
  let cluster: PostgresCluster
  /// Address of the database that the branches use.
  let address: String

  /// - Parameter address: Address for the branches; nil for the cluster's own database.
  init(_ cluster: PostgresCluster, address: String? = nil) {
    self.cluster = cluster
    self.address = address ?? cluster.address()
  }

  @discardableResult
  func open(
    _ branch: ScratchBank, speed: String = "100", _ arguments: String..., environment: [String: String] = [:],
    address: String? = nil, at location: SourceLocation = #_sourceLocation
  ) throws -> JSON {
    let outcome = try branch.launch(
      ["start", "--json", "--speed", speed, "--store", address ?? self.address] + arguments,
      environment: environment
    ).finish(within: .seconds(60), at: location)
    try #require(outcome.code == 0, "\(outcome)\n\(branch.diagnostics())", sourceLocation: location)
    return try outcome.json()
  }

  /// Rows of a statement, from the current server.
  func rows(_ statement: String, at address: String? = nil) throws -> PostgresRows {
    try PostgresClient.connected(address ?? cluster.address()).rows(.once(statement))[0]
  }

  /// Number that a statement returns; nil if the server does not answer, or returns none.
  func number(_ statement: String, at address: String? = nil) -> Int? {
    (try? rows(statement, at: address))?.integer(0, 0).map { Int($0) }
  }

  /// Number of a branch, by its home.
  func id(of branch: ScratchBank) throws -> Int {
    try #require(number("SELECT id FROM bank.branch WHERE name LIKE '%' || '\(branch.home)'"))
  }

  func epoch(of id: Int) -> Int { number("SELECT epoch FROM bank.branch WHERE id = \(id)") ?? -1 }

  /// Number of customers that a branch has claimed, without a receipt.
  func inHand(of id: Int) -> Int {
    number(
      """
      SELECT count(*) FROM bank.customer c JOIN bank.claim k ON k.lane = (c.position >> 40) & 1048575
        AND (c.position & 1099511627775) BETWEEN k.first AND k.last AND c.position >> 60 = 1
      JOIN bank.branch b ON b.id = k.branch AND b.epoch = k.epoch WHERE b.id = \(id)
      """) ?? -1
  }

  var receipts: Int { number("SELECT count(*) FROM bank.receipt") ?? -1 }

  /// Waits until all customers are served, and expects a receipt for each and a clean audit.
  func expectAllServed(
    _ count: Int, by branches: [ScratchBank], within limit: Duration = .seconds(40),
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let branch = try #require(branches.first)
    try branch.waitUntil("all \(count) customers are served", within: limit, at: location) {
      number("SELECT count(*) FROM bank.customer") == 0 && receipts >= count
    }
    #expect(receipts == count, sourceLocation: location)
    #expect(number("SELECT count(*) FROM bank.receipt WHERE outcome <> 1") == 0, sourceLocation: location)
    #expect(number("SELECT max(last) FROM bank.ticket_batch") == count, sourceLocation: location)
    let outcome = try branch.launch(["audit", "--json"]).finish(within: .seconds(60), at: location)
    #expect(
      try outcome.code == 0 && outcome.json()["ok"].flag == true, "\(outcome)\n\(branch.diagnostics())",
      sourceLocation: location)
  }

  /// Result of a statement, also at a standby, which `PostgresClient` refuses.
  func text(_ statement: String, by branch: ScratchBank) throws -> String {
    let outcome = try branch.launch(
      [
        "-XAtq", "-h", cluster.directory, "-p", "\(cluster.port)", "-U", PostgresCluster.user, "-c",
        statement, "postgres",
      ],
      program: "/usr/bin/psql"
    ).finish()
    return outcome.out.split(separator: "\n").first.map(String.init) ?? outcome.err
  }

  /// Ends the sessions of all branches.
  func endSessions() {
    _ = number(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'bank'")
  }
}

/// Gives a test a server and branches that are not opened yet.
func withSharedBank(
  branches count: Int = 2, _ settings: [String] = [], _ test: (SharedBank, [ScratchBank]) throws -> Void
) throws {
  let bank = SharedBank(try PostgresCluster(settings))
  try withBranches(count) { try test(bank, $0) }
}

func withBranches(
  _ count: Int, _ branches: [ScratchBank] = [], _ test: ([ScratchBank]) throws -> Void
) throws {
  guard branches.count < count else { return try test(branches) }
  try withScratchBank { try withBranches(count, branches + [$0], test) }
}

/// Current time in milliseconds since 1970.
func wallMilliseconds() -> Int {
  var now = timespec()
  clock_gettime(CLOCK_REALTIME, &now)
  return now.tv_sec * 1_000 + now.tv_nsec / 1_000_000
}
