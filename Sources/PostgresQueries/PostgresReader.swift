// Read access to a shared database: one connection with blocking queries, and the services and lanes of the last
// look-up. The queries change nothing and block no writer.
// Invariant: invalid data from the database does not trap. An invalid row throws `StoreError.damaged`; a missing
// optional value or count is nil or 0.
// Errors: StoreError.failed if the database rejects a query or is unreachable. After a loss of the connection the next
// query uses a new one, unless it is within a snapshot.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Time

/// A shared database, for reads by a process that may block. Not Sendable: one query at a time.
///
/// In a shared database the sequence of a receipt is `day << 40 | ticket`. Branches commit concurrently, so no single
/// commit order exists.
public final class PostgresReader: QueueReader {
  /// Timeout for one answer of the server.
  public static let timeout = TimeSpan.seconds(120)

  let connection: BlockingConnection
  /// Services and their numbers, as of the last look-up.
  public private(set) var services = ServiceDirectory()
  /// Line of each lane, as of the last look-up.
  private(set) var lines: [Int64: Line] = [:]
  /// Branch by lane, for each lane that only one branch serves.
  private(set) var owners: [Int64: Int64] = [:]
  /// Branch to which receipts of juice and unreleased tickets are limited; nil for all branches.
  var stock: Int64?

  /// Opens the database at an address.
  ///
  /// - Parameter known: returns the remembered identity of the database. A different database is refused.
  /// - Throws: `failed` if the address is invalid, the database is unreachable or refused, or the schema is missing or
  ///   older; `newerSchema`; `damaged`.
  public init(
    _ address: String, timeout: TimeSpan = PostgresReader.timeout, in language: Language = .english,
    knowing known: @escaping () -> SharedStoreProgress? = { nil }
  ) throws(StoreError) {
    connection = try BlockingConnection(address, timeout: timeout, in: language, knowing: known)
    try requireSchema()
    _ = try refresh()
  }

  /// Uses a connection of the caller, and its transaction if one is open.
  package init(on connection: BlockingConnection) throws(StoreError) {
    self.connection = connection
    try requireSchema()
    _ = try refresh()
  }

  /// A reader of the same database that returns receipts of juice and unreleased tickets of one branch only; nil if
  /// this branch does not exist.
  public func reading(ofStockOf branch: String) throws(StoreError) -> PostgresReader? {
    guard let id = try connection.ask(Self.numberOfBranch(.text(branch)))[0].integer(0, 0) else { return nil }
    let reading = try PostgresReader(on: connection)
    reading.stock = id
    return reading
  }

  /// The address as it may be displayed.
  public var name: String { connection.name }

  /// False: this connection stages nothing.
  public var hasStagedChanges: Bool { false }

  /// Nil: `bank.customer` contains only customers whose tickets were issued.
  public var firstUnissuedTicket: TicketNumber? { nil }

  /// Identity of the database, the present day, and its last ticket.
  public struct Numbers: Sendable, Equatable {
    /// Identity of the database.
    public var name: BankID
    /// The present day.
    public var day: BusinessDay
    /// Highest issued ticket of the day.
    public var issued: TicketNumber
  }

  /// Throws if the schema is missing, older or newer than that of this program.
  private func requireSchema() throws(StoreError) {
    let schema = try connection.ask(.once("SELECT to_regclass('bank.version') IS NOT NULL"))
    guard schema[0].boolean(0, 0) == true else {
      throw .failed(path: name, detail: MessageDetail(.neverOpened))
    }
    let version = try connection.ask(.once("SELECT number FROM bank.version"))
    guard version[0].count == 1, let found = version[0].integer(0, 0), found >= 1 else {
      throw damage(of: "version", 0)
    }
    let known = SchemaMigration.knownVersion
    guard found <= known else { throw .newerSchema(path: name, found: found, known: known) }
    guard found == known else {
      throw .failed(path: name, detail: MessageDetail(.sharedStoreOutdated, found, known))
    }
  }

  /// Reads again what may have changed: the day, the services and the lanes.
  public func refresh() throws(StoreError) -> Numbers {
    let rows = try connection.ask(
      Self.meta(), Self.presentDay(), Self.allServices(), Self.allLanes())
    try adopt(services: rows[2], lanes: rows[3])
    return Numbers(name: try readBankID(rows[0]), day: try day(rows[1]), issued: rows[1].integer(0, 1) ?? 0)
  }

  /// The day in a row; throws if the day is missing or impossible.
  private func day(_ rows: PostgresRows) throws(StoreError) -> BusinessDay {
    guard let day = rows.integer(0, 0) else {
      throw .damaged(path: name, detail: MessageDetail(.noBusinessDay))
    }
    guard ReceiptSequence.days ~= day else { throw damage(of: "day", day) }
    return day
  }

  /// The present day.
  func presentDay() throws(StoreError) -> BusinessDay { try day(try connection.ask(Self.presentDay())[0]) }

  /// Identity of the database, from rows of names and values.
  private func readBankID(_ rows: PostgresRows) throws(StoreError) -> BankID {
    var values: [String: Int64] = [:]
    for row in 0..<rows.count { if let name = rows.text(row, 0) { values[name] = rows.integer(row, 1) } }
    guard let number = values["bank id"], let day = values["bank id day"],
      let ticket = values["bank id ticket"]
    else { throw .damaged(path: name, detail: MessageDetail(.bankIDIncomplete)) }
    return BankID(number: number, day: day, ticket: ticket)
  }

  /// Replaces the known services and lanes by those in these rows; throws if any of them is invalid.
  private func adopt(services rows: PostgresRows, lanes: PostgresRows) throws(StoreError) {
    var names: [ServiceName] = []
    for row in 0..<rows.count {
      let number = rows.integer(row, 0) ?? 0
      guard number == Int64(row) + 1, let name = rows.text(row, 1).flatMap({ ServiceName($0) }) else {
        throw .damaged(path: name, detail: MessageDetail(.serviceInvalid, number))
      }
      names.append(name)
    }
    guard let directory = ServiceDirectory(names: names) else {
      throw .damaged(path: name, detail: MessageDetail(.serviceInvalid, names.count))
    }
    services = directory
    var lines: [Int64: Line] = [:]
    var owners: [Int64: Int64] = [:]
    for row in 0..<lanes.count {
      guard let number = lanes.integer(row, 0), 1...PostgresPosition.highestLane ~= number,
        let service = lanes.integer(row, 1).flatMap({ directory.service(numbered: $0) }),
        let priority = lanes.integer(row, 2).flatMap({ Priority(code: $0) }),
        let owner = lanes.integer(row, 3), owner >= 0
      else { throw .damaged(path: name, detail: MessageDetail(.lineInvalid, lanes.integer(row, 0) ?? 0)) }
      lines[number] = Line(service: service, priority: priority)
      if owner > 0 { owners[number] = owner }
    }
    (self.lines, self.owners) = (lines, owners)
  }

  /// Line of a lane. Reads the lanes again if the lane is new.
  func line(of lane: Int64) throws(StoreError) -> Line {
    if let line = lines[lane] { return line }
    let rows = try connection.ask(Self.allServices(), Self.allLanes())
    try adopt(services: rows[0], lanes: rows[1])
    guard let line = lines[lane] else {
      throw .damaged(path: name, detail: MessageDetail(.lineInvalid, lane))
    }
    return line
  }

  /// Lanes of a line, in order; several if each of them is served by one branch only.
  func lanes(of line: Line) -> [Int64] { lines.filter { $0.value == line }.map(\.key).sorted() }

  // MARK: - Invalid data

  /// Error that reports the row with the key `place` in a table as invalid.
  func damage(of table: String, _ place: any CustomStringConvertible) -> StoreError {
    .damaged(path: name, detail: MessageDetail(.rowInvalid, "bank.\(table)", place))
  }

  /// The number with 32 bits; throws if it is missing or out of range.
  func int32(_ value: Int64?) throws(StoreError) -> Int32 {
    guard let value, let number = Int32(exactly: value) else {
      throw .damaged(path: name, detail: MessageDetail(.numberRange, value ?? 0))
    }
    return number
  }

  // MARK: - Statements

  /// The named numbers that make up the identity of the database.
  private static let meta = PostgresStatement(
    "read-meta", [],
    "SELECT name, value FROM bank.meta WHERE name IN ('bank id', 'bank id day', 'bank id ticket')")
  private static let presentDay = PostgresStatement(
    "read-day", [],
    """
    SELECT day, (SELECT last FROM bank.ticket_batch i WHERE i.day = d.day ORDER BY last DESC LIMIT 1)
    FROM bank.day d ORDER BY day DESC LIMIT 1
    """)
  private static let allServices = PostgresStatement(
    "read-services", [], "SELECT number, name FROM bank.service ORDER BY number")
  private static let numberOfBranch = PostgresStatement(
    "read-branch-number", [.text], "SELECT id FROM bank.branch WHERE name = $1")
  private static let allLanes = PostgresStatement(
    "read-lanes", [], "SELECT number, service, priority_code, branch FROM bank.lane ORDER BY number")
}

/// Position of a receipt in the order of all receipts: by day and ticket.
enum ReceiptSequence {
  /// Possible days.
  static let days: ClosedRange<BusinessDay> = 1...(1 << 23 - 1)

  /// Sequence number of a ticket's receipt; nil for an impossible day or number.
  static func sequence(_ day: BusinessDay, _ ticket: TicketNumber) -> Int64? {
    guard days ~= day, 1...Limits.ticket ~= ticket else { return nil }
    return day << 40 | ticket
  }

  /// Day and ticket of the receipt with this sequence number.
  static func parts(of sequence: Int64) -> (day: BusinessDay, ticket: TicketNumber) {
    let sequence = max(0, sequence)
    return (sequence >> 40, sequence & PostgresPosition.highestTicket)
  }
}
