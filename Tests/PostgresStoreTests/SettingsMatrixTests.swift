// A small day of two branches at a database whose settings, or those of their role, would change the meaning
// of their statements. Tickets, delays, payloads, cancellations and the end of the day work as ever, and no
// foreign function runs with their rights.

import BankModel
import Posix
import Postgres
import PostgresFixture
import QueueCore
import Testing
import Time

@testable import PostgresStore

@Suite("A day under settings of role and database", .enabled(if: PostgresCluster.isInstalled))
struct SettingsMatrixTests {
  /// The settings of a database or a role.
  struct Case: CustomStringConvertible {
    var whose: String
    var settings: [(String, String)]
    var description: String { "\(whose): \(settings.map { "\($0.0) \($0.1)" }.joined(separator: ", "))" }
  }

  private static let isolation = ["repeatable read", "serializable"].map {
    [("default_transaction_isolation", "'\($0)'")]
  }
  private static let others: [[(String, String)]] = [
    [("search_path", "public, pg_catalog")],
    [("statement_timeout", "'1ms'"), ("lock_timeout", "'1ms'")],
    [
      ("TimeZone", "'Asia/Seoul'"), ("DateStyle", "'SQL, DMY'"), ("IntervalStyle", "'sql_standard'"),
      ("bytea_output", "'escape'"), ("standard_conforming_strings", "off"), ("array_nulls", "off"),
      ("extra_float_digits", "-15"), ("client_encoding", "'LATIN1'"),
    ],
    [("exit_on_error", "on"), ("row_security", "on"), ("synchronous_commit", "off")],
  ]
  static let cases: [Case] =
    (isolation + others).map { Case(whose: "DATABASE", settings: $0) }
    + (isolation + [others.flatMap(\.self)]).map { Case(whose: "ROLE bank IN DATABASE", settings: $0) }

  @Test("All customers are served once, and the day ends", arguments: cases)
  func day(_ one: Case) throws {
    let stage = try SharedStoreFixture()
    let name = try #require(stage.stage.client.rows(.once("SELECT current_database()::text"))[0].text(0, 0))
    for (setting, value) in one.settings {
      try stage.stage.client.run("ALTER \(one.whose) \(name) SET \(setting) = \(value)")
    }
    // A role that may create in public, as all may up to PostgreSQL 14.
    try stage.stage.client.run(
      "CREATE TABLE public.ran (n bigint)",
      """
      CREATE FUNCTION public.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.ran VALUES (1); RETURN QUERY SELECT a FROM pg_catalog.unnest($1) a; END $$
      """)
    let branches = [try stage.open("one"), try stage.open("other")]
    for branch in branches { (branch.servesImmediately, branch.pageSize) = (true, 7) }
    for _ in 0..<15 {
      for branch in branches {
        branch.store.enqueueCustomers(stage.request(), SharedStoreFixture.customers(4))
      }
    }
    let soon = WallTime(milliseconds: SystemClock.wall().milliseconds + 300)
    let delayed = SharedStoreFixture.customers(
      3, SharedStoreFixture.loans, dueAt: soon, payload: [0, 255, 92, 39])
    branches[0].store.enqueueCustomers(stage.request(), delayed)
    // Not due before it is cancelled, on a busy machine either.
    let later = SharedStoreFixture.customers(
      1, SharedStoreFixture.loans, dueAt: WallTime(milliseconds: soon.milliseconds + 600_000))
    guard case .issued(let tickets) = try stage.ask(branches[0], { $0.enqueueCustomers($1, later) }) else {
      Issue.record("no tickets")
      return
    }
    let cancelled = try #require(tickets.new.first?.first)
    #expect(try stage.ask(branches[1]) { $0.cancel($1, cancelled) } == .done)
    try stage.runLoop { branches[0].done.count + branches[1].done.count == 123 }
    #expect(Set(branches.flatMap(\.done)).count == 123, "no customer is served twice")
    var given: [TicketNumber] = []
    for branch in branches {
      #expect(branch.refusals.isEmpty && branch.losses.isEmpty && branch.rejectedCompletions.isEmpty)
      for answer in branch.answers.values {
        guard case .issued(let tickets) = answer else { continue }
        for run in tickets.new { given += Array(run.first...run.last) }
      }
    }
    #expect(given.sorted() == Array(1...124), "no ticket is given twice")
    try stage.check()
    #expect(try stage.number("SELECT count(*) FROM public.ran") == 0)
    #expect(try stage.ask(branches[0]) { $0.endDay($1) } == .done)
    try stage.runLoop { branches.allSatisfy { $0.days == [2] } }
  }

  @Test("A page claimed after the database's clock was set back does not come before earlier ones")
  func claimsInOrder() throws {
    let stage = try StoreDatabase()
    let branch = try stage.join("b")
    try stage.enqueue(branch, 30)
    _ = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10))
    // As if the clock had been an hour ahead until now.
    try stage.client.run("UPDATE bank.claim SET claimed_at = claimed_at + interval '1 hour'")
    for _ in 0..<2 { _ = try stage.ask(stage.client, branch.claim(lane: StoreDatabase.deposits, atMost: 10)) }
    #expect(
      try stage.number(
        """
        SELECT count(*) FROM bank.claim a JOIN bank.claim b
        ON a.lane = b.lane AND a.last < b.last AND a.claimed_at > b.claimed_at
        """) == 0)
  }
}
