// Owns the questions to the books that branches share: one connection that may be waited for, and the services and lanes as
// they were looked up last. It changes nothing and holds nothing against those who write.
// Invariant: nothing that comes from the database is trusted: what cannot be is `StoreError.damaged`, and never a trap.
// Failure: StoreError.failed, where the database or the way to it refuses; whoever asks again is asked on a new connection.
import BankModel
import Postgres
import PostgresStore
import QueueCore
import Time

/// The books of a shared bank, to be read by a process that may wait for them. Not Sendable: one question at a time.
///
/// A receipt's sequence is `day << 40 | ticket` here: branches commit side by side, so there is no order of commits over all of
/// them, and a list goes by days and tickets.
public final class PostgresReading: QueueReading {
  /// How long the server may take for one answer.
  public static let patience = TimeSpan.seconds(120)

  let connection: ReadingConnection
  /// Every service that had a number when it was looked last.
  public private(set) var services = ServiceDirectory()
  private(set) var lines: [Int64: Line] = [:]
  /// The branches that alone serve a lane, where there is one.
  private(set) var owners: [Int64: Int64] = [:]
  /// Whose stock is meant where juice is asked for; nil for those of all branches.
  var stock: Int64?

  /// Looks into the books at an address.
  ///
  /// - Parameter known: returns what is known of the books at that moment: other books, and a server from which another one has
  ///   taken over, are refused.
  /// - Throws: an address that is none, a database that is not reached, books of a newer program or none at all.
  public init(
    _ address: String, patience: TimeSpan = PostgresReading.patience, in language: Language = .english,
    knowing known: @escaping () -> BooksMark? = { nil }
  ) throws(StoreError) {
    connection = try ReadingConnection(address, patience: patience, in: language, knowing: known)
    try requireBooks()
    _ = try look()
  }

  /// Looks into books on a connection that somebody else has, within whatever it is doing.
  package init(on connection: ReadingConnection) throws(StoreError) {
    self.connection = connection
    try requireBooks()
    _ = try look()
  }

  /// The same books where only what was ordered from the stock of one branch counts as juice; nil where there is no such branch.
  public func reading(ofStockOf branch: String) throws(StoreError) -> PostgresReading? {
    guard let id = try connection.ask(Self.numberOfBranch(.text(branch)))[0].integer(0, 0) else { return nil }
    let reading = try PostgresReading(on: connection)
    reading.stock = id
    return reading
  }

  /// What may be shown of the address.
  public var name: String { connection.name }

  /// Nothing is staged by whoever only reads.
  public var hasStagedChanges: Bool { false }

  /// The tickets and the customers of a request come in one transaction here.
  public var arrivingFrom: TicketNumber? { nil }

  /// What is known of the present day.
  public struct Numbers: Sendable, Equatable {
    /// What the books are called.
    public var name: BooksName
    /// The present day.
    public var day: BusinessDay
    /// The highest number that was issued on it.
    public var issued: TicketNumber
  }

  private func requireBooks() throws(StoreError) {
    let schema = try connection.ask(.once("SELECT to_regclass('bank.version') IS NOT NULL"))
    guard schema[0].boolean(0, 0) == true else {
      throw .failed(path: name, detail: Remark(.neverOpened))
    }
    let version = try connection.ask(.once("SELECT number FROM bank.version"))
    guard version[0].count == 1, let found = version[0].integer(0, 0), found >= 1 else {
      throw damage(of: "version", 0)
    }
    let known = PostgresPreparation.knownVersion
    guard found <= known else { throw .newerSchema(path: name, found: found, known: known) }
    guard found == known else { throw .failed(path: name, detail: Remark(.olderBooks, found, known)) }
  }

  /// Looks up what may have changed since the last question: the day, the services and the lanes.
  public func look() throws(StoreError) -> Numbers {
    let rows = try connection.ask(
      Self.meta(), Self.presentDay(), Self.allServices(), Self.allLanes())
    try know(services: rows[2], lanes: rows[3])
    return Numbers(name: try booksName(rows[0]), day: try day(rows[1]), issued: rows[1].integer(0, 1) ?? 0)
  }

  private func day(_ rows: PostgresRows) throws(StoreError) -> BusinessDay {
    guard let day = rows.integer(0, 0) else { throw .damaged(path: name, detail: Remark(.noBusinessDay)) }
    guard ReceiptPlace.days ~= day else { throw damage(of: "day", day) }
    return day
  }

  /// The present day by itself, for a question about those who are here.
  func presentDay() throws(StoreError) -> BusinessDay { try day(try connection.ask(Self.presentDay())[0]) }

  private func booksName(_ rows: PostgresRows) throws(StoreError) -> BooksName {
    var values: [String: Int64] = [:]
    for row in 0..<rows.count { if let name = rows.text(row, 0) { values[name] = rows.integer(row, 1) } }
    guard let number = values["books"], let day = values["books day"], let ticket = values["books ticket"]
    else { throw .damaged(path: name, detail: Remark(.booksNameBroken)) }
    return BooksName(number: number, day: day, ticket: ticket)
  }

  private func know(services rows: PostgresRows, lanes: PostgresRows) throws(StoreError) {
    var names: [ServiceName] = []
    for row in 0..<rows.count {
      let number = rows.integer(row, 0) ?? 0
      guard number == Int64(row) + 1, let name = rows.text(row, 1).flatMap({ ServiceName($0) }) else {
        throw .damaged(path: name, detail: Remark(.serviceMeaningless, number))
      }
      names.append(name)
    }
    guard let directory = ServiceDirectory(names: names) else {
      throw .damaged(path: name, detail: Remark(.serviceMeaningless, names.count))
    }
    services = directory
    var lines: [Int64: Line] = [:]
    var owners: [Int64: Int64] = [:]
    for row in 0..<lanes.count {
      guard let number = lanes.integer(row, 0), 1...PostgresPosition.highestLane ~= number,
        let service = lanes.integer(row, 1).flatMap({ directory.service(numbered: $0) }),
        let priority = lanes.integer(row, 2).flatMap({ Priority(code: $0) }),
        let owner = lanes.integer(row, 3), owner >= 0
      else { throw .damaged(path: name, detail: Remark(.lineMeaningless, lanes.integer(row, 0) ?? 0)) }
      lines[number] = Line(service: service, priority: priority)
      if owner > 0 { owners[number] = owner }
    }
    (self.lines, self.owners) = (lines, owners)
  }

  /// The line of a lane. One that was made since the last look is looked up.
  func line(of lane: Int64) throws(StoreError) -> Line {
    if let line = lines[lane] { return line }
    let rows = try connection.ask(Self.allServices(), Self.allLanes())
    try know(services: rows[0], lanes: rows[1])
    guard let line = lines[lane] else { throw .damaged(path: name, detail: Remark(.lineMeaningless, lane)) }
    return line
  }

  /// The lanes of a line, in order: none where nobody ever stood, and several where branches have their own.
  func lanes(of line: Line) -> [Int64] { lines.filter { $0.value == line }.map(\.key).sorted() }

  // MARK: - What means nothing

  /// A row that cannot be.
  ///
  /// - Parameter place: what finds it in its table.
  func damage(of table: String, _ place: any CustomStringConvertible) -> StoreError {
    .damaged(path: name, detail: Remark(.rowMeaningless, "bank.\(table)", place))
  }

  func small(_ value: Int64?) throws(StoreError) -> Int32 {
    guard let value, let number = Int32(exactly: value) else {
      throw .damaged(path: name, detail: Remark(.numberRange, value ?? 0))
    }
    return number
  }

  // MARK: - Statements

  private static let meta = PostgresStatement(
    "read-meta", [], "SELECT name, value FROM bank.meta WHERE name IN ('books', 'books day', 'books ticket')")
  private static let presentDay = PostgresStatement(
    "read-day", [],
    """
    SELECT day, (SELECT last FROM bank.intake i WHERE i.day = d.day ORDER BY last DESC LIMIT 1)
    FROM bank.day d ORDER BY day DESC LIMIT 1
    """)
  private static let allServices = PostgresStatement(
    "read-services", [], "SELECT number, name FROM bank.service ORDER BY number")
  private static let numberOfBranch = PostgresStatement(
    "read-branch-number", [.text], "SELECT id FROM bank.branch WHERE name = $1")
  private static let allLanes = PostgresStatement(
    "read-lanes", [], "SELECT number, service, priority, branch FROM bank.lane ORDER BY number")
}

/// Where a receipt stands among all: by its day and its ticket.
enum ReceiptPlace {
  /// The days there can be.
  static let days: ClosedRange<BusinessDay> = 1...(1 << 23 - 1)

  /// The sequence of a ticket's receipt; nil for a day or a number that cannot be.
  static func sequence(_ day: BusinessDay, _ ticket: TicketNumber) -> Int64? {
    guard days ~= day, 1...Limits.ticket ~= ticket else { return nil }
    return day << 40 | ticket
  }

  /// The day and the number behind which a sequence says to go on.
  static func parts(of sequence: Int64) -> (day: BusinessDay, ticket: TicketNumber) {
    let sequence = max(0, sequence)
    return (sequence >> 40, sequence & PostgresPosition.highestTicket)
  }
}
