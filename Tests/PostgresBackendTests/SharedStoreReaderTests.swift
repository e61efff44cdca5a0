// Answers to a coordinator's clients from the processes that read the shared database: all of it, once, and
// in its order, even if a reader dies or a client reads slowly.

import BankModel
import Glibc
import Posix
import PosixFixture
import PostgresFixture
import QueueCore
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("Readers of a shared database", .enabled(if: PostgresCluster.isInstalled))
struct SharedStoreReaderTests {
  private static let all = ReceiptQuery(days: .present, follow: false)

  /// A database with this number of receipts, each with a result of this number of bytes, and a few
  /// customers.
  private func database(receipts count: Int, resultBytes: Int = 0) throws -> ReaderDatabase {
    let database = try ReaderDatabase()
    let result =
      resultBytes > 0
      ? "5, 0, NULL, convert_to(repeat('x', \(resultBytes)), 'UTF8'), NULL, \(resultBytes), 0, '', NULL, 0, 0"
      : "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
    try database.run(
      "INSERT INTO bank.ticket_batch VALUES (1, 1, \(count + 1_200), 1)",
      ReaderDatabase.receipts(
        """
        INSERT INTO bank.receipt
        SELECT 1, n, 4, 1, 1, 1, 1, 1, 0, 5, NULL, NULL, 1, 1000 + n, 2000, NULL, 1, 1, n, NULL, \(result)
        FROM generate_series(1, \(count)) n
        """),
      "INSERT INTO bank.claim VALUES (4, 1, \(count), 1, 1, now(), 0)",
      """
      INSERT INTO bank.customer SELECT (1 + n % 3 / 2 << 60) | ((2 + n % 3)::bigint << 40) | (\(count) + n), 100, n, 1, 0, 0, 0, 0,
        false, CASE WHEN n % 3 = 2 THEN 5 END FROM generate_series(1, 1200) n
      """.replacing("1 + n % 3 / 2 << 60", with: "(1 + n % 3 / 2)::bigint << 60"),
      """
      INSERT INTO bank.counter_delta (branch, epoch, commit_no, day, lane, issued, waiting, delayed, served)
      VALUES (1, 1, 1, 1, 2, 400, 400, 0, 0), (1, 1, 1, 1, 3, 400, 400, 0, 0), (1, 1, 1, 1, 4, \(count + 400), 0, 400, \(count))
      """)
    return database
  }

  @Test(
    "Every question about the database is answered, by two processes, and a list comes once in order"
  )
  func everything() throws {
    let database = try database(receipts: 1_300)
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let client = try stage.client()
    let receipts = client.ask(.receipts(Self.all))
    let some = client.ask(
      .receipts(ReceiptQuery(days: .day(1), follow: false, after: 1 << 40 | 700, limit: 550)))
    let tickets = client.ask(.tickets(TicketQuery()))
    let numbered = client.ask(.tickets(TicketQuery(after: 1_400)))
    let few = client.ask(.tickets(TicketQuery(state: .delayed, limit: 7)))
    let ofLoan = client.ask(.tickets(TicketQuery(service: .loan)))
    let ticket = client.ask(.ticket(number: 7, day: nil))
    let ledger = client.ask(.ledger)
    let account = client.ask(.account(5))
    let audit = client.ask(.audit)
    let wrong = client.ask(.receipts(ReceiptQuery(days: .day(9), follow: false)))
    try stage.runLoop { client.ended.count == 11 }
    #expect(client.receipts(receipts).map(\.ticket) == Array(1...1_300))
    #expect(client.receipts(some).map(\.ticket) == Array(701...1_250))
    let states = client.tickets(tickets)
    #expect(states.count == 1_200 && states.prefix(800).allSatisfy { $0.state == .waiting })
    #expect(states.suffix(400).allSatisfy { $0.state == .delayed })
    #expect(Set(states.map(\.ticket)).count == 1_200)
    #expect(client.tickets(numbered).map(\.ticket) == Array(1_401...2_500))
    #expect(client.tickets(few).map(\.ticket) == (0..<7).map { 1_302 + 3 * $0 })
    #expect(client.tickets(ofLoan).count == 400)
    guard case .ticket(let story)? = client.answers[ticket]?.last,
      case .audit(let report)? = client.answers[audit]?.last
    else {
      Issue.record("\(client.answers[ticket] ?? []) \(client.answers[audit] ?? [])")
      return
    }
    #expect(story.receipt?.window == "thumbs-1" && report.problems.isEmpty && report.issued == 2_500)
    #expect(report.notes?.count == 1, "what the server guarantees for a commit")
    #expect(client.failure(ledger) == nil && client.failure(account) == nil)
    #expect(client.failure(wrong)?.code == .noSuchDay)
    #expect(stage.reader.pids.count == 2 && stage.reader.count(of: client.session) == 0)
  }

  @Test(
    "A client that does not read costs a few parts, delays no other, and later gets all of it once"
  )
  func slow() throws {
    let database = try database(receipts: 2_000, resultBytes: 20_000)
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let (slow, quick) = (try stage.client(), try stage.client())
    slow.channel.pauseReading()
    let list = slow.ask(.receipts(Self.all))
    try stage.runLoop { slow.session.channel.backlog >= stage.server.share }
    var most = 0
    for _ in 0..<20 {
      let asked = quick.ask(.ticket(number: 9, day: nil))
      try stage.runLoop { quick.ended.contains(asked) }
      most = max(most, slow.session.channel.backlog)
    }
    #expect(most < stage.server.share + 2 << 20, "\(most) bytes wait for it")
    slow.channel.resumeReading()
    try stage.runLoop { slow.ended.contains(list) }
    #expect(slow.receipts(list).map(\.ticket) == Array(1...2_000))
  }

  @Test(
    "A question is asked again when the reader dies; if that dies, too, the client gets an error"
  )
  func death() throws {
    let database = try database(receipts: 10)
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let client = try stage.client()
    let first = client.ask(.receipts(Self.all))
    try stage.runLoop { client.ended.contains(first) }
    let holder = try PostgresClient.connected(database.address)
    // A session that locks the table keeps every reader waiting.
    try holder.run("BEGIN", "LOCK TABLE bank.receipt IN ACCESS EXCLUSIVE MODE")
    let held = client.ask(.receipts(Self.all))
    let behind = client.ask(.ticket(number: 3, day: nil))
    let former = try kill(stage, database)
    #expect(stage.reader.pids != [former])
    try holder.run("ROLLBACK")
    try stage.runLoop { client.ended.isSuperset(of: [held, behind]) }
    #expect(client.receipts(held).count == 10 && client.failure(behind) == nil)
    try holder.run("BEGIN", "LOCK TABLE bank.receipt IN ACCESS EXCLUSIVE MODE")
    let lost = client.ask(.receipts(Self.all))
    for _ in 0..<2 { _ = try kill(stage, database) }
    try stage.runLoop { client.ended.contains(lost) }
    #expect(client.failure(lost)?.messageDetail?.kind == .readerExited)
    try holder.run("ROLLBACK")
    let last = client.ask(.receipts(Self.all))
    try stage.runLoop { client.ended.contains(last) }
    #expect(client.receipts(last).count == 10)
    #expect(stage.events.count { $0 == "reader_lost" } == 3)
  }

  /// Kills the reader when it waits for the server, and waits until it is reaped.
  private func kill(_ stage: ReaderFixture, _ database: ReaderDatabase) throws -> Int32 {
    let waiting = """
      SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bank-reader' AND wait_event_type = 'Lock'
      AND datname = current_database()
      """
    try stage.runLoop { try stage.reader.pids.count == 1 && database.number(waiting) == 1 }
    let pid = try #require(stage.reader.pids.first)
    Glibc.kill(pid, SIGKILL)
    try stage.runLoop { stage.reader.pids != [pid] }
    // The server notices when it looks.
    try database.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'bank-reader' AND datname = current_database()
      """)
    try stage.runLoop { try database.number(waiting) == 0 || stage.reader.pids.count == 1 }
    return pid
  }

  @Test("A client that leaves takes its requests with it, and an audit without clients is abandoned")
  func leaving() throws {
    let database = try database(receipts: 10)
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let holder = try PostgresClient.connected(database.address)
    let (leaving, staying) = (try stage.client(), try stage.client())
    try holder.run("BEGIN", "LOCK TABLE bank.receipt IN ACCESS EXCLUSIVE MODE")
    _ = leaving.ask(.audit)
    _ = leaving.ask(.receipts(Self.all))
    try stage.runLoop { stage.reader.pids.count == 2 }
    #expect(stage.reader.count(of: leaving.session) == 2)
    leaving.channel.close()
    try stage.runLoop { stage.reader.pids.count == 1 }
    #expect(stage.reader.count(of: leaving.session) == 0 && stage.events.contains("reader_ended"))
    try holder.run("ROLLBACK")
    let (ticket, audit) = (staying.ask(.ticket(number: 3, day: nil)), staying.ask(.audit))
    try stage.runLoop { staying.ended.isSuperset(of: [ticket, audit]) }
    #expect(staying.failure(ticket) == nil && staying.failure(audit) == nil)
  }

  @Test(
    "A follower sees every receipt of every branch once, also late commits and later epochs"
  )
  func following() throws {
    let database = try database(receipts: 700)
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let client = try stage.client()
    let follower = client.ask(.receipts(ReceiptQuery(days: .present, follow: true)))
    func told() -> [[Int64]] {
      client.receipts(follower).map { [$0.branch ?? 0, $0.epoch ?? 0, $0.commit ?? 0, $0.ticket] }
    }
    try stage.runLoop { told().count == 700 }
    #expect(told() == (1...700).map { [1, 1, $0, $0] })
    // One transaction has started before the other, and commits later.
    let late = try PostgresClient.connected(database.address)
    try late.run("BEGIN", Self.receipt(701, by: 2, 1, 5))
    try database.run(Self.receipt(702, by: 3, 1, 9), Self.receipt(703, by: 3, 1, 9))
    try stage.runLoop { told().count == 702 }
    try late.run("COMMIT")
    try stage.runLoop { told().count == 703 }
    #expect(told().suffix(3) == [[3, 1, 9, 702], [3, 1, 9, 703], [2, 1, 5, 701]])
    // Numbers start again in an epoch, and a number that was given earlier may be used later.
    try database.run(
      Self.receipt(704, by: 3, 2, 1), Self.receipt(650_001, by: 3, 2, 2), Self.receipt(705, by: 3, 2, 3))
    try stage.runLoop { told().count == 706 }
    #expect(told().suffix(3) == [[3, 2, 1, 704], [3, 2, 2, 650_001], [3, 2, 3, 705]])
    // A cancellation takes another path, and may be there after a later number.
    try database.run(Self.receipt(800, by: 3, 2, 2, outcome: 2))
    try stage.runLoop { told().count == 707 }
    #expect(told().last == [3, 2, 2, 800])
    // A reader that dies during a question is succeeded by another, and so is an unreachable server.
    for pid in stage.reader.pids { Glibc.kill(pid, SIGKILL) }
    try database.run(Self.receipt(706, by: 1, 1, 701))
    try stage.runLoop { told().count == 708 }
    #expect(!client.ended.contains(follower) && stage.reader.subscriptions(of: client.session) == 1)
    // A client that continues after what it has seen gets only the rest.
    let other = try stage.client()
    var rest = ReceiptQuery(days: .present, follow: true)
    for receipt in client.receipts(follower).prefix(702) { rest.advance(past: receipt) }
    let second = other.ask(.receipts(rest))
    try stage.runLoop { other.receipts(second).count == 6 }
    #expect(Set(other.receipts(second).map(\.ticket)) == [701, 704, 650_001, 705, 800, 706])
    other.channel.close()
    try stage.runLoop { stage.reader.subscriptions(of: other.session) == 0 }
  }

  /// A receipt as a branch's commit writes it.
  private static func receipt(_ ticket: Int, by branch: Int, _ epoch: Int, _ commit: Int, outcome: Int = 1)
    -> String
  {
    ReaderDatabase.receipts(
      """
      INSERT INTO bank.receipt (day, ticket, lane, outcome, generation, pid, attempts, amount, account, issued_ms,
        finished_ms, branch, epoch, commit_no)
      VALUES (1, \(ticket), 4, \(outcome), 1, 1, 1, 0, 5, 1, 3000, \(branch), \(epoch), \(commit))
      """)
  }

  @Test("A follower of one service, from a day on, gets no others; one that names an end is refused")
  func followingSome() throws {
    let database = try database(receipts: 3)
    try database.run("INSERT INTO bank.day (day, opened_ms) VALUES (2, 5)")
    try database.run(
      "CREATE TABLE bank.receipt_2 PARTITION OF bank.receipt FOR VALUES FROM (2) TO (3)",
      "CREATE TABLE bank.commit_2 PARTITION OF bank.commit FOR VALUES FROM (2) TO (3)",
      ReaderDatabase.receipts(
        """
        INSERT INTO bank.receipt SELECT (jsonb_populate_record(r,
          '{"day": 2, "lane": 1}'::jsonb || jsonb_build_object('commit_no', commit_no + 3))).* FROM bank.receipt r
        """))
    let stage = try ReaderFixture(reading: database.address)
    defer { #expect(throws: Never.self) { try stage.close() } }
    let client = try stage.client()
    let deposit = try #require(ServiceName("deposit"))
    let all = client.ask(.receipts(ReceiptQuery(days: .all, follow: true)))
    let present = client.ask(.receipts(ReceiptQuery(days: .present, follow: true)))
    let some = client.ask(.receipts(ReceiptQuery(days: .all, follow: true, service: deposit)))
    let wrong = client.ask(.receipts(ReceiptQuery(days: .all, follow: true, limit: 4)))
    try stage.runLoop {
      client.receipts(all).count == 6 && client.receipts(present).count == 3
        && client.receipts(some).count == 3
        && client.ended == [wrong]
    }
    #expect(
      client.receipts(all).map(\.day) == [1, 1, 1, 2, 2, 2] && client.failure(wrong)?.code == .badRequest)
    #expect(
      client.receipts(present).allSatisfy { $0.day == 2 } && client.receipts(some).allSatisfy { $0.day == 2 })
  }

  @Test("Without a reader, or a database, the client gets an error that names what is missing")
  func unavailable() throws {
    let nowhere = try ReaderFixture(reading: "postgres://u@/d?host=/nowhere")
    let client = try nowhere.client()
    for _ in 0..<2 {
      let asked = client.ask(.ticket(number: 1, day: nil))
      try nowhere.runLoop { client.ended.contains(asked) }
      #expect(client.failure(asked)?.subject.contains("postgres://u@/nowhere/d") == true)
      #expect(
        client.failure(asked)?.detail.contains("no connection") == true,
        "\(String(describing: client.failure(asked)))")
    }
    try nowhere.close()
    let none = try ReaderFixture(reading: "postgres:///d", program: "/nowhere/bankd")
    let other = try none.client()
    let asked = other.ask(.ledger)
    try none.runLoop { other.ended.contains(asked) }
    #expect(other.failure(asked)?.messageDetail?.kind == .readerUnavailable)
    try none.close()
  }

  @Test("An inspector whose opener is gone does not start, and one whose opener hangs up ends")
  func orphan() throws {
    let database = try database(receipts: 1)
    let pair = try UnixSocket.pair()
    let stranger = try ChildProcess.spawn(
      executable: try ReaderFixture.bankd,
      arguments: ["--inspect", "--store", database.address, "--opener", "1"],
      environment: Environment.all(), channel: pair.second)
    #expect(stranger.wait().ending == .code(0))
    let other = try UnixSocket.pair()
    let inspector = try ChildProcess.spawn(
      executable: try ReaderFixture.bankd,
      arguments: ["--inspect", "--store", database.address, "--opener", "\(CurrentProcess.pid)"],
      environment: Environment.all(), channel: other.second)
    let isThere = try eventually {
      try database.number(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'bank-reader' AND datname = current_database()
        """) == 1
    }
    #expect(isThere)
    try other.first.close()
    #expect(inspector.wait().ending == .code(0))
  }
}
