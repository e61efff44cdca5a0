// Fixtures of the tests of the stores: temporary directories, customers, and a small branch that keeps the
// day's counters. A crash of a store on disk is a copy of its files while the store is open: that is what a
// killed process leaves.

import BankModel
import Glibc
import QueueCore
import Time

@testable import Storage

/// A directory of a test's own, removed at the end.
final class Scratch {
  let path: String

  init() {
    var template = Array("/tmp/bank-storage-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      mkdtemp(buffer.baseAddress!).map { String(cString: $0) } ?? ""
    }
    precondition(!path.isEmpty, "No directory could be made for a test.")
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  var database: String { "\(path)/bank.db" }

  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// All bytes of a file; nil if it does not exist.
  static func bytes(of path: String) -> [UInt8]? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  static func write(_ bytes: [UInt8], to path: String) {
    guard let file = fopen(path, "wb") else { preconditionFailure("\(path) could not be written.") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  /// What a disk would contain if the process with this store were killed now: the database and its log,
  /// elsewhere.
  func copyAfterKill() -> Scratch {
    let copy = Scratch()
    for name in names {
      if let bytes = Self.bytes(of: "\(path)/\(name)") { Self.write(bytes, to: "\(copy.path)/\(name)") }
    }
    return copy
  }
}

extension Schema {
  /// The schema as a program of this version has created it.
  func ofVersion(_ version: Int) -> Schema {
    var schema = self
    schema.migrations = Array(migrations.prefix(version))
    return schema
  }
}

extension Scratch {
  /// The key of a waiting customer before schema 5.
  static func formerKey(service: Int64, grade: Int64, ticket: TicketNumber) -> Int64 {
    1 << 60 | service << 52 | grade << 48 | ticket
  }

  /// A bank of the first version, with one customer who wants a loan; loans are paused.
  func firstVersion() throws -> Database {
    let database = try Database.open(path: database, schema: Schema.bank.ofVersion(1))
    let customer = Self.formerKey(service: 2, grade: 3, ticket: 1)
    try database.execute(
      """
      INSERT INTO day VALUES (1, 5, NULL, 1, 1, 0, 0, 0, 0, 0);
      INSERT INTO line VALUES (1, 1, 0), (1, 2, 0), (1, 3, 0), (2, 1, 0), (2, 2, 0), (2, 3, 1);
      INSERT INTO service_state VALUES (1, 0, 0), (2, 0, 1);
      INSERT INTO customer (position, amount, account, issued_ms, attempts, crashes, failures)
        VALUES (\(customer), 7, 8, 9, 0, 0, 0);
      """, while: "testing")
    return database
  }
}

extension Database {
  /// Plants damage with SQL. Receipts can be changed, added and removed as if they were a table; the pages
  /// and the blocks of tickets are then written again, as far as blocks can be.
  func damage(_ script: String) throws {
    guard script.contains(" receipt ") else { return try execute(script, while: "planting damage") }
    try execute(
      """
      PRAGMA trusted_schema = ON; -- for the functions in the view
      CREATE TEMP TABLE receipt AS SELECT * FROM main.receipt;
      \(script);
      DELETE FROM receipt_page;
      DELETE FROM ticket_block;
      INSERT INTO receipt_page SELECT sequence, day, finished_ms, json_array(json_array(
        ticket, service, grade, outcome, window_number, generation, pid, attempts, amount, account, debit, credit,
        finished_ms - issued_ms, finished_ms - started_ms, 0)) FROM temp.receipt;
      INSERT INTO ticket_block
      WITH RECURSIVE slot(number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM slot WHERE number < 63)
      SELECT part.day << 34 | part.block, (
        SELECT group_concat(printf('%013d', coalesce((
            SELECT sequence FROM temp.receipt WHERE day = part.day AND ticket = part.block << 6 | number), 0)), '')
        FROM slot)
      FROM (SELECT DISTINCT day, ticket >> 6 AS block FROM temp.receipt WHERE ticket > 0) AS part;
      DROP TABLE temp.receipt;
      """, while: "planting damage")
  }
}

/// The stores that every test of the conformance suite runs against.
enum StoreKind: CaseIterable, CustomStringConvertible, Sendable {
  case memory, sqlite

  var description: String { self == .memory ? "in memory" : "in SQLite" }
}

/// A store with a branch around it: it issues numbers and keeps the counters that the store is given.
final class StoreFixture {
  let kind: StoreKind
  private(set) var store: any LocalQueueStore
  private(set) var scratch = Scratch()
  var dayCounters: DayCounters
  private(set) var delayedAtStart: [DelayedCustomer]
  var clock: Int64 = 1_700_000_000_000

  /// - Parameter former: the place of an existing database; nil for a new one.
  init(_ kind: StoreKind, opening former: Scratch? = nil) throws {
    self.kind = kind
    if let former { scratch = former }
    store = kind == .memory ? MemoryStore() : try SQLiteStore(path: scratch.database)
    let loaded = try store.load(now: WallTime(milliseconds: clock))
    dayCounters = loaded.dayCounters
    delayedAtStart = loaded.delayed
  }

  var now: WallTime {
    clock += 1
    return WallTime(milliseconds: clock)
  }

  /// The process is killed, and the next one opens what is on disk.
  func crash() throws {
    if let memory = store as? MemoryStore {
      memory.crash()
    } else {
      let copy = scratch.copyAfterKill()
      store = try SQLiteStore(path: copy.database)
      scratch = copy
    }
    let loaded = try store.load(now: now)
    dayCounters = loaded.dayCounters
    delayedAtStart = loaded.delayed
  }

  func commit() throws { try store.commit(dayCounters) }

  func rollBack(to dayCounters: DayCounters) {
    store.rollBack()
    self.dayCounters = dayCounters
  }

  // MARK: Events of a branch

  @discardableResult
  func arrive(
    _ line: Line, amount: Won = 50_000, account: AccountNumber = 12, itemName: String = ""
  ) throws -> Customer {
    let customer = Customer(
      ticket: dayCounters.issued + 1, service: line.service, priority: line.priority, amount: amount,
      account: account,
      issuedAt: now, itemName: itemName)
    try store.stage(.insert(customer))
    dayCounters.issued += 1
    dayCounters.waiting[line] += 1
    return customer
  }

  @discardableResult
  func finish(
    _ customer: Customer, from state: CustomerState = .waiting, _ outcome: Outcome = .served,
    leaving result: WorkResult? = nil, missing shortages: [Shortage] = []
  ) throws -> Receipt {
    var receipt = receipt(for: customer, outcome)
    (receipt.result, receipt.shortages) = (result, shortages)
    try store.stage(.finish(customer, from: state, receipt))
    leave(state, customer.line)
    if outcome.isFinishedByWorker {
      dayCounters.served += 1
      dayCounters.servedByService[customer.service.index] += 1
    } else {
      dayCounters.cancelled += 1
    }
    return receipt
  }

  func receipt(for customer: Customer, _ outcome: Outcome = .served) -> Receipt {
    let isServed = outcome.isFinishedByWorker
    return Receipt(
      day: dayCounters.day, ticket: customer.ticket, service: customer.service, priority: customer.priority,
      outcome: outcome,
      window: isServed ? Window(service: customer.service, place: 2) : nil, generation: isServed ? 3 : 0,
      pid: isServed ? 4_242 : 0, attempts: customer.attempts + (isServed ? 1 : 0), amount: customer.amount,
      account: customer.account, issuedAt: customer.issuedAt, startedAt: isServed ? now : nil,
      finishedAt: now, itemName: customer.itemName)
  }

  /// An attempt that failed; the customer keeps waiting.
  func fail(
    _ customer: Customer, _ end: AttemptEnd = .killed, words: String = ""
  ) throws -> Customer {
    var attempt = attempt(at: customer, end)
    attempt.words = words
    try store.stage(.record(attempt))
    var customer = customer
    customer.attempts += 1
    if end == .failed { customer.failures += 1 } else { customer.crashes += 1 }
    try store.stage(.update(customer))
    return customer
  }

  func attempt(at customer: Customer, _ end: AttemptEnd = .killed) -> Attempt {
    Attempt(
      day: dayCounters.day, ticket: customer.ticket, number: customer.attempts + 1,
      window: Window(service: customer.service, place: 1), generation: 7, pid: 99, startedAt: now,
      endedAt: now,
      end: end, processEnd: end == .killed ? .signal(9) : end == .failed ? .code(1) : nil)
  }

  func postpone(_ customer: Customer, until due: Int64) throws {
    try store.stage(.postpone(customer, dueAt: WallTime(milliseconds: due)))
    leave(.waiting, customer.line)
    dayCounters.delay(of: customer.service)
  }

  func deadLetter(_ customer: Customer) throws {
    try store.stage(.bury(customer))
    leave(.waiting, customer.line)
    dayCounters.dead += 1
  }

  func makeWaiting(_ customer: Customer, from state: CustomerState) throws {
    try store.stage(.revive(customer, from: state))
    leave(state, customer.line)
    dayCounters.waiting[customer.line] += 1
  }

  func cancelEveryone() throws {
    try store.stage(.cancelAllCustomers(day: dayCounters.day, at: now))
    dayCounters.cancelled += dayCounters.waitingInAll + dayCounters.delayed + dayCounters.dead
    dayCounters.waiting = LineCounts()
    for service in store.services.services {
      dayCounters.delay(-dayCounters.delayedByService[service.index], of: service)
    }
    dayCounters.dead = 0
  }

  func startNextDay() {
    dayCounters = DayCounters(day: dayCounters.day + 1, openedAt: now, paused: dayCounters.paused)
  }

  private func leave(_ state: CustomerState, _ line: Line) {
    switch state {
    case .delayed: dayCounters.delay(-1, of: line.service)
    case .dead: dayCounters.dead -= 1
    default: dayCounters.waiting[line] -= 1
    }
  }
}

extension Line {
  static let deposit = Line(service: .deposit, priority: .regular)
  static let loan = Line(service: .loan, priority: .regular)
  static let vipDeposit = Line(service: .deposit, priority: .vip)
}

extension StoreError {
  /// The kind of error, for comparison without its text.
  var kind: String {
    switch self {
    case .diskFull: "diskFull"
    case .inUse: "inUse"
    case .newerSchema: "newerSchema"
    case .damaged: "damaged"
    case .failed: "failed"
    }
  }
}

/// Runs `body` and returns the store's error; nil if there was none.
func storeError(_ body: () throws -> Void) -> StoreError? {
  do {
    try body()
    return nil
  } catch {
    return error as? StoreError
  }
}

extension QueueReader {
  /// The tickets of a key.
  func tickets(forKey key: String) throws(StoreError) -> IssuedTickets? { try request(forKey: key)?.tickets }
}
