// A bank that moves into a shared database: all of it is there, once, or nothing is, in spite of obstacles
// and killed processes.

import BankModel
import ControlClient
import Glibc
import Posix
import PosixFixture
import Postgres
import PostgresFixture
import PostgresQueries
import QueueCore
import Storage
import Testing
import Time
import Wire

@testable import Coordinator
@testable import PostgresBackend

@Suite("A bank that moves into a shared database", .enabled(if: PostgresCluster.isInstalled))
struct MoveTests {
  @Test("All is there as it was in the home, and both pass their audits")
  func everything() throws {
    let stage = try MoveFixture()
    let report = try stage.move()
    #expect(!report.isRepeated && report.day == 2)
    #expect(report.rows.allSatisfy { $0.before == $0.after }, "\(report.rows)")
    let counts = Dictionary(uniqueKeysWithValues: report.rows.map { ($0.name, $0.after) })
    #expect(counts["receipts"] == 5 && counts["results"] == 1 && counts["keys"] == 2 && counts["days"] == 2)
    #expect(
      counts["waiting"] == 5 && counts["delayed"] == 1 && counts["dead"] == 1 && counts["payloads"] == 2)
    let (old, new) = (try stage.original(), try stage.database.reading())
    #expect(try new.audit().problems == [])
    #expect(try old.audit() == new.audit())
    #expect(try old.trialBalance() == new.trialBalance())
    #expect(try new.refresh().name == old.storedBankID() && new.refresh().name.number == 4_711)
    #expect(try Self.plain(old.allReceipts()) == Self.plain(new.allReceipts()))
    #expect(Self.plain(stage.receipts) == Self.plain(try new.allReceipts()))
    // A follower sees them in the order of the old bank's commits.
    let followed = try new.receipts(from: 1, behind: [], of: nil, limit: 100)
    #expect(
      try followed.isComplete && followed.entries.map(\.mark.commit) == old.allReceipts().map(\.sequence))
    for (day, ticket) in [(1, 4), (2, 6), (2, 7)] as [(BusinessDay, TicketNumber)] {
      var before = try old.attempts(day: day, ticket: ticket)
      let after = try new.attempts(day: day, ticket: ticket).map(Self.bare)
      for place in before.indices {
        before[place].words = before[place].words.replacing("\0", with: "\u{FFFD}")
      }
      #expect(before == after && after.count == 1, "\(day)-\(ticket)")
    }
    for state in [CustomerState.waiting, .delayed, .dead] {
      let before = try old.customers(in: state, after: nil, limit: 100).sorted {
        $0.customer.ticket < $1.customer.ticket
      }
      let after = try new.customers(in: state, after: nil, limit: 100).sorted {
        $0.customer.ticket < $1.customer.ticket
      }
      #expect(before == after && !after.isEmpty, "\(state)")
      for one in before {
        #expect(try old.payload(of: one.customer.ticket) == new.payload(of: one.customer.ticket))
      }
    }
    for key in ["월요일", "k", "unknown"] {
      #expect(try old.request(forKey: key) == new.request(forKey: key), "\(key)")
    }
  }

  /// Without the fields that only its new place adds.
  private static func plain(_ receipts: [Receipt]) -> [Receipt] {
    receipts.map { receipt in
      var receipt = receipt
      (receipt.sequence, receipt.branch) = (0, nil)
      return receipt
    }.sorted { ($0.day, $0.ticket) < ($1.day, $1.ticket) }
  }

  private static func bare(_ attempt: Attempt) -> Attempt {
    var attempt = attempt
    attempt.branch = nil
    return attempt
  }

  @Test(
    "A branch that opens there serves waiting customers from the first on, and no served one again")
  func continues() throws {
    let stage = try MoveFixture()
    _ = try stage.move()
    let loop = try EventLoop()
    let (store, opening) = try PostgresStoreOpener().join(
      BranchJoinRequest(
        address: stage.database.address, name: "seoul", host: "h", services: [ServiceName("mail")!]),
      on: loop, progressed: {})
    #expect(opening.identity.number == 1 && opening.identity.epoch == 2 && opening.dayCounters.day == 2)
    _ = try store.ask(.page(Line(service: .deposit, priority: .regular), after: 0, limit: 100))
    var tickets: [TicketNumber]?
    let until = SystemClock.monotonic() + .seconds(120)
    while tickets == nil, SystemClock.monotonic() < until {
      store.finishIteration()
      while let event = try store.takeResult() {
        if case .pageLoaded(_, let page) = event { tickets = page.map(\.ticket) }
      }
      try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(10))
    }
    #expect(tickets == [1, 3])
  }

  @Test(
    "Juice customers stay with this home, and what its stock may hold for a cancelled one is kept"
  )
  func juice() throws {
    let stage = try MoveFixture(juice: true)
    #expect(try stage.move().rows.allSatisfy { $0.before == $0.after })
    let reader = try stage.database.reading()
    #expect(try reader.audit().problems == [])
    #expect(try reader.find(9)?.customer.service == .juice)
    #expect(
      try stage.database.number(
        "SELECT count(*) FROM bank.customer JOIN bank.lane l ON l.number = (position >> 40) & 1048575 WHERE l.branch = 1"
      )
        == 1)
    #expect(try reader.unreleased(after: nil, limit: 10) == [TicketOfDay(day: 2, ticket: 10)])
    #expect(try stage.original().unreleased(after: nil, limit: 10).count == 1)
  }

  @Test("An obstacle is reported, and nothing is changed on either side")
  func refused() throws {
    func refusal(
      _ stage: MoveFixture, _ kind: MessageDetail.Kind, _ prepare: (MoveFixture) throws -> Void = { _ in }
    )
      throws
    {
      try prepare(stage)
      let error = #expect(throws: Failure.self) { _ = try stage.move() }
      #expect(error?.code == .notMoved && error?.messageDetail?.kind == kind, "\(String(describing: error))")
      #expect(MoveMarkerFile.read(from: stage.home.moveMarkerFile) == nil)
      try stage.home.requireOwnDatabase()
    }
    try refusal(MoveFixture(), .sharedStoreNotEmpty) { stage in
      _ = try PreparedDatabase(stage.database, "INSERT INTO bank.ticket_batch VALUES (1, 1, 3, 1)")
    }
    try refusal(MoveFixture(), .sharedStoreHasOpenBranches) { stage in
      _ = try PreparedDatabase(
        stage.database,
        "INSERT INTO bank.branch (name, epoch, lease_expires_at, opened_ms, schema_version) VALUES ('x', 1, clock_timestamp() + interval '1 hour', 0, 2)"
      )
    }
    // The database changes the data it is given.
    try refusal(MoveFixture(), .movedCountDiffers) { stage in
      _ = try PreparedDatabase(
        stage.database,
        "CREATE FUNCTION bank.lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN CASE WHEN new.ticket = 3 THEN NULL ELSE new END; END $$",
        "CREATE TRIGGER lose BEFORE INSERT ON bank.receipt_1 FOR EACH ROW EXECUTE FUNCTION bank.lose()")
    }
    try refusal(MoveFixture(), .movedCountDiffers) { stage in
      _ = try PreparedDatabase(
        stage.database,
        "CREATE FUNCTION bank.take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.amount := 7; RETURN new; END $$",
        "CREATE TRIGGER take BEFORE INSERT ON bank.receipt_1 FOR EACH ROW EXECUTE FUNCTION bank.take()")
    }
    let gone = try MoveFixture()
    let error = #expect(throws: Failure.self) { _ = try gone.move { _ in false } }
    #expect(error?.messageDetail?.kind == .moveClientGone)
    #expect(try gone.move().isRepeated == false, "and the next move finds everything empty")
  }

  /// A database that a test has created and changed.
  private struct PreparedDatabase {
    init(_ stage: ReaderDatabase, _ texts: String...) throws {
      try BlockingConnection(stage.address, timeout: .seconds(20), isWritable: true).prepareSchema()
      for text in texts { try stage.run(text) }
    }
  }

  @Test("A restored copy that was used by itself is refused by name, and opens alone as before")
  func restored() throws {
    let stage = try MoveFixture()
    _ = try stage.move()
    // The note was lost with the home, and the copy was opened and served a customer.
    try Directory.unlink(stage.home.moveMarkerFile)
    let store = try SQLiteStore(path: stage.home.database)
    var dayCounters = try store.load(now: WallTime(milliseconds: 95_000)).dayCounters
    dayCounters.issued += 1
    let one = Customer(
      ticket: dayCounters.issued, service: .deposit, priority: .regular, amount: 5, account: 1,
      issuedAt: WallTime(milliseconds: 95_000), attempts: 0, crashes: 0, failures: 0)
    try store.stage(.insert(one))
    dayCounters.waiting[one.line] += 1
    try store.commit(dayCounters)
    try store.close()
    let error = #expect(throws: Failure.self) { _ = try stage.move() }
    #expect(
      error?.code == .notMoved && error?.messageDetail?.kind == .movedCountDiffers,
      "\(String(describing: error))")
    #expect(error?.messageDetail?.values.first == "tickets")
    #expect(MoveMarkerFile.read(from: stage.home.moveMarkerFile) == nil)
    try stage.home.requireOwnDatabase()
  }

  @Test(
    "A moved home is not opened by mistake; the same move again finds out, another is refused"
  )
  func note() throws {
    let stage = try MoveFixture()
    _ = try stage.move()
    let place = stage.database.address
    #expect(
      MoveMarkerFile.read(from: stage.home.moveMarkerFile) == MoveMarkerFile(address: place, isDone: true))
    let moved = #expect(throws: Failure.self) { try stage.home.requireOwnDatabase() }
    #expect(
      moved?.code == .databaseMoved && moved?.subject == place && moved?.detail == stage.home.moveMarkerFile)
    let again = try stage.move()
    #expect(again.isRepeated && again.rows.allSatisfy { $0.before == $0.after })
    let other = try ReaderDatabase(prepared: false)
    let error = #expect(throws: Failure.self) { _ = try stage.move(to: other.address) }
    #expect(error?.code == .databaseMoved && error?.subject == place)
    // As a power cut between the commit and the note leaves it.
    try MoveMarkerFile(address: place, isDone: false).write(at: stage.home.moveMarkerFile)
    let unknown = #expect(throws: Failure.self) { try stage.home.requireOwnDatabase() }
    #expect(unknown?.messageDetail?.kind == .moveOutcomeUnknown)
    #expect(try stage.move().isRepeated)
    for text in ["", "moved\n", "moved\nmysql://x\n", "moved\npostgres://a/b\nmore\n"] {
      #expect(!MoveMarkerFile.parse(text).isDone, "\(text)")
    }
  }

  @Test(
    "A moved home that was opened there answers the same move with its result, and refuses any other one"
  )
  func openedThere() throws {
    let stage = try MoveFixture()
    _ = try stage.move()
    func ask(to address: String) throws -> ControlAnswer? {
      var order = LaunchSettings(.inspect, home: ControlClient.BankHome(path: stage.home.path))
      // As the record of the last opening names it.
      order.store = stage.database.address
      let bank = try BankLauncher(program: try ReaderFixture.bankd).launch(order, standardError: .inherit)
      defer {
        bank.connection.hangUp()
        _ = bank.awaitExit(until: SystemClock.monotonic() + .seconds(120))
      }
      let number = try bank.connection.send(.move(MoveParameters(address: address)))
      while let reply = try bank.connection.next(until: SystemClock.monotonic() + .seconds(120)) {
        if reply.number == number, !reply.more { return reply.answer }
      }
      return nil
    }
    let other = try ask(to: "postgres://bank@elsewhere.invalid/bank")
    guard case .failure(let refused)? = other else {
      Issue.record("\(String(describing: other))")
      return
    }
    #expect(refused.code == .databaseMoved && refused.subject == stage.database.address)
    let same = try ask(to: stage.database.address)
    guard case .moved(let report)? = same else {
      Issue.record("\(String(describing: same))")
      return
    }
    #expect(report.isRepeated && report.day == 2)
    // A home that was never moved has no database of its own.
    try Directory.unlink(stage.home.moveMarkerFile)
    let branch = try ask(to: stage.database.address)
    guard case .failure(let failure)? = branch else {
      Issue.record("\(String(describing: branch))")
      return
    }
    #expect(failure.code == .unsupportedWithSharedStore && failure.subject == "move")
  }

  @Test("kill -9 in the middle: nothing has moved, and a second run moves all of it")
  func killed() throws {
    let stage = try MoveFixture(extraCustomers: 20_000)
    func begin() throws -> LaunchedBank {
      try BankLauncher(program: try ReaderFixture.bankd).launch(
        LaunchSettings(.inspect, home: ControlClient.BankHome(path: stage.home.path)), standardError: .inherit
      )
    }
    let first = try begin()
    _ = try first.connection.send(.move(MoveParameters(address: stage.database.address)))
    // A part of it is in the database by then.
    let reply = try first.connection.next(until: SystemClock.monotonic() + .seconds(120))
    guard case .progress(let progress)? = reply?.answer else {
      Issue.record("\(String(describing: reply))")
      return
    }
    #expect(progress.phase == .moving && progress.done > 0 && progress.done < progress.total)
    try #require(kill(first.process.pid, SIGKILL) == 0)
    _ = first.awaitExit(until: SystemClock.monotonic() + .seconds(120))
    #expect(MoveMarkerFile.read(from: stage.home.moveMarkerFile) == nil)
    try stage.database.client.runLoop {
      try stage.database.number(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bank-move' AND datname = current_database()"
      ) == 0
    }
    for table in ["receipt", "customer", "ticket_batch", "branch", "attempt", "counter_delta"] {
      #expect(try stage.database.number("SELECT count(*) FROM bank.\(table)") == 0, "\(table)")
    }
    let second = try begin()
    let number = try second.connection.send(.move(MoveParameters(address: stage.database.address)))
    var last: ControlReply?
    while last?.more != false {
      last = try second.connection.next(until: SystemClock.monotonic() + .seconds(120))
      guard last != nil else { break }
      #expect(last?.number == number)
    }
    guard case .moved(let report)? = last?.answer else {
      Issue.record("\(String(describing: last))")
      return
    }
    #expect(
      !report.isRepeated && report.rows.contains(MovedRows(name: "receipts", before: 20_005, after: 20_005)))
    #expect(try stage.database.reading().audit().problems == [])
    second.connection.hangUp()
    _ = second.awaitExit(until: SystemClock.monotonic() + .seconds(120))
  }
}
