// Move of a whole bank into an empty shared database: the order of the transfer, in bounded portions, and the checks
// before the rows become visible.
// Invariant: the move is one transaction. Before the commit, all rows in the database are counted by kind, and the
// result is audited. If anything differs from the home, nothing is moved.
// Errors: Failure `move_refused` if it is certain that nothing was moved; StoreError if the connection, the server or
// the reading of the home failed.
import BankModel
import Coordinator
import Postgres
import PostgresReading
import PostgresStore
import QueueCore
import Time
import Wire

final class BookMove {
  /// Timeout for the server's response to one portion or to the commit.
  private static let patience = TimeSpan.seconds(300)
  /// Rows per portion.
  static let portion = 2_048

  private let books: MovingBooks
  private let source: any QueueExport
  private unowned let told: any MoveWatch
  private let connection: ReadingConnection
  private var owner: (id: Int64, epoch: Int64) = (0, 0)
  private var days: [ExportedDay] = []
  private var numbers: [ServiceName: Int64] = [:]
  private var lanes: [Line: Int64] = [:]
  private var tallies: [DayOfLane: [Int64]] = [:]
  /// By lane: first and last ticket that have a receipt from a window of the present day.
  private var served: [Int64: (first: Int64, last: Int64)] = [:]
  private var done: Int64 = 0
  private var total: Int64 = 0

  private struct DayOfLane: Hashable {
    var day: BusinessDay
    var lane: Int64
  }

  init(_ books: MovingBooks, told: any MoveWatch) throws(StoreError) {
    self.books = books
    self.told = told
    source = books.source
    connection = try ReadingConnection(books.address, patience: Self.patience, moves: true)
  }

  func run() throws -> MovedBooks {
    let audit = try source.audit()
    let rows = try source.countRows()
    if let first = audit.remarks.first {
      throw refusal(.homeBroken, audit.remarks.count, first.description)
    }
    total = rows[.tickets]
    try connection.prepareBooks()
    return try connection.inTransaction {
      if let former = try brought(rows) { return former }
      try fill()
      return try verified(audit, rows)
    } isCommitting: {
      try told.isCommitting()
    }
  }

  /// Result of an earlier move of this bank; nil if the database is unused. A home that has changed after the move,
  /// such as a restored copy that was opened alone, is refused, because the database lacks its later data.
  private func brought(_ rows: ExportedRows) throws -> MovedBooks? {
    let look = try connection.ask(all: MovingStatements.hold + [MovingStatements.look]).last
    guard let look, let number = look.integer(0, 0), let isEmpty = look.boolean(0, 1),
      let open = look.integer(0, 2)
    else { throw StoreError.damaged(path: connection.name, detail: Remark(.noBusinessDay)) }
    if number == books.name.number {
      let moved = try count()
      if let mark = look.integer(0, 3) {
        guard try MovedState(source, rows).mark == mark else {
          let kind = rows.difference(from: moved) ?? .receipts
          throw refusal(.movedOtherwise, kind.rawValue, rows[kind], moved[kind])
        }
      } else if rows[.tickets] > moved[.tickets] {
        // Databases moved by an older program have no mark.
        throw refusal(.movedOtherwise, "tickets", rows[.tickets], moved[.tickets])
      }
      return MovedBooks(
        place: connection.name, rows: moved,
        balance: try PostgresReading(on: connection).trialBalance(), isRepeated: true)
    }
    guard isEmpty else { throw refusal(.sharedBooksFull) }
    guard open == 0 else { throw refusal(.sharedBooksOpen, open) }
    return nil
  }

  // MARK: - Transfer

  private func fill() throws {
    let rows = try connection.ask(
      MovingStatements.branch(.text(books.branch), .text(books.host)),
      MovingStatements.name(
        .integer(books.name.number), .integer(books.name.day), .integer(books.name.ticket)),
      MovingStatements.forgetFirstDay)
    guard let id = rows[0].integer(0, 0), let epoch = rows[0].integer(0, 1) else {
      throw StoreError.damaged(path: connection.name, detail: Remark(.rowMeaningless, "bank.branch", 0))
    }
    owner = (id, epoch)
    _ = try connection.ask(
      MovingStatements.mark(.integer(try MovedState(source, source.countRows()).mark)))
    try moveServices()
    try moveDays()
    try moveKeys()
    try moveReceipts()
    try moveAttempts()
    for state in [CustomerState.waiting, .delayed, .dead] { try moveCustomers(state) }
    try moveReleases()
    try writeTallies()
  }

  private func moveServices() throws {
    let names = try connection.ask(
      MovingStatements.services(source.services.names.map(\.text)), MovingStatements.allServices)[1]
    for row in 0..<names.count {
      if let name = names.text(row, 0).flatMap({ ServiceName($0) }) { numbers[name] = Int64(row) + 1 }
    }
  }

  private func number(of service: Service) throws -> Int64 {
    guard let number = numbers[source.services[service]] else {
      throw StoreError.damaged(path: connection.name, detail: Remark(.serviceUnknown, service.number))
    }
    return number
  }

  private func moveDays() throws {
    var columns = MovedColumns(numbers: 3)
    try source.eachDay { day in
      days.append(day)
      columns.add([day.day, day.openedAt.milliseconds, day.closedAt?.milliseconds ?? .min])
    }
    _ = try connection.ask(MovingStatements.days.with(columns.values))
    for day in days { _ = try connection.ask(all: MovingStatements.room(for: day.day)) }
  }

  /// Moves keys with their tickets. The ranges in `ticket_batch` must be consecutive, so tickets without a key are
  /// added, too.
  private func moveKeys() throws {
    var columns = MovedColumns(numbers: 4, texts: 1)
    var rest = days[...]
    var next: TicketNumber = 1
    func add(_ day: BusinessDay, _ first: TicketNumber, _ last: TicketNumber, _ key: ExportedKey?)
      throws(StoreError)
    {
      guard first <= last else { return }
      columns.add([day, first, last, key?.request.request ?? .min], texts: [key?.key])
      if columns.count >= Self.portion {
        try send(MovingStatements.intake, of: [.integer(owner.id)], &columns)
      }
    }
    try source.eachKey { key throws(StoreError) in
      let tickets = key.request.tickets
      while let day = rest.first, day.day < tickets.day {
        try add(day.day, next, day.issued, nil)
        rest.removeFirst()
        next = 1
      }
      guard let day = rest.first, day.day == tickets.day, tickets.first >= next, tickets.last <= day.issued,
        tickets.first <= tickets.last
      else {
        throw StoreError.damaged(
          path: "bank.db",
          detail: Remark(.keyOfTicketsOfNobody, tickets.first, tickets.last, tickets.day))
      }
      try add(day.day, next, tickets.first - 1, nil)
      try add(day.day, tickets.first, tickets.last, key)
      next = tickets.last + 1
    }
    for day in rest {
      try add(day.day, next, day.issued, nil)
      next = 1
    }
    try send(MovingStatements.intake, of: [.integer(owner.id)], &columns)
  }

  private func moveReceipts() throws {
    var last: Int64 = 0
    let present = days.last?.day ?? 0
    while true {
      let page = try source.receipts(day: nil, after: last, limit: Self.portion)
      guard let end = page.last else { return }
      try know(page.map { Line(service: $0.service, priority: $0.priority) })
      var columns = MovedColumns(numbers: 23, texts: 2, bytes: 4)
      for receipt in page {
        let lane = lanes[Line(service: receipt.service, priority: receipt.priority)] ?? 0
        columns.add(receipt, lane: lane)
        let place = receipt.outcome == .served ? 4 : receipt.outcome == .outOfStock ? 5 : 6
        count(receipt.day, lane, [0, place])
        guard receipt.day == present, receipt.window != nil else { continue }
        let range = served[lane] ?? (receipt.ticket, receipt.ticket)
        served[lane] = (min(range.first, receipt.ticket), max(range.last, receipt.ticket))
      }
      try send(MovingStatements.receipts, of: ownership, &columns)
      try pass(page.count)
      guard page.mayGoOn(limit: Self.portion) else { return }
      last = end.sequence
    }
  }

  private func moveAttempts() throws {
    var columns = MovedColumns(numbers: 13, texts: 1)
    try source.eachAttempt { attempt throws(StoreError) in
      columns.add(attempt, service: numbers[source.services[attempt.window.service]] ?? 0)
      if columns.count >= Self.portion { try send(MovingStatements.attempts, of: ownership, &columns) }
    }
    try send(MovingStatements.attempts, of: ownership, &columns)
  }

  private func moveCustomers(_ state: CustomerState) throws {
    var cursor: TicketCursor?
    let present = days.last?.day ?? 0
    while true {
      let page = try source.customers(in: state, after: cursor, limit: Self.portion)
      guard let end = page.last else { return }
      try know(page.map(\.customer.line))
      var columns = MovedColumns(numbers: 10, texts: 1, bytes: 1)
      for one in page {
        let lane = lanes[one.customer.line] ?? 0
        columns.add(one, lane: lane, payload: try source.payload(of: one.customer.ticket))
        count(present, lane, [0, Int(state == .waiting ? 1 : state == .delayed ? 2 : 3)])
        if columns.bytes >= MovedColumns.longest { try send(MovingStatements.customers, &columns) }
      }
      try send(MovingStatements.customers, &columns)
      try pass(page.count)
      cursor = TicketCursor(state: state, line: end.customer.line, after: end.customer.ticket)
    }
  }

  /// Moves the tickets for which this home's stock may have reservations. The stock releases the reservations when
  /// the branch is open.
  private func moveReleases() throws {
    var last: TicketOfDay?
    while true {
      let page = try source.unreleased(after: last, limit: Self.portion)
      var columns = MovedColumns(numbers: 3)
      for ticket in page {
        let issued = try source.momentOfIssue(ofUnreleased: ticket)
        columns.add([ticket.day, ticket.ticket, issued?.milliseconds ?? 0])
      }
      try send(MovingStatements.releases, of: [.integer(owner.id)], &columns)
      guard page.count == Self.portion else { return }
      last = page.last
    }
  }

  private func writeTallies() throws {
    var columns = MovedColumns(numbers: 9)
    for (place, counts) in tallies { columns.add([place.day, place.lane] + counts) }
    var claims = MovedColumns(numbers: 3)
    for (lane, range) in served { claims.add([lane, range.first, range.last]) }
    try send(MovingStatements.tallies, of: [.integer(owner.id)], &columns)
    try send(MovingStatements.claims, of: ownership, &claims)
  }

  // MARK: - Portions

  private var ownership: [PostgresValue] { [.integer(owner.id), .integer(owner.epoch)] }

  private func send(
    _ statement: PostgresStatement, of owner: [PostgresValue] = [], _ columns: inout MovedColumns
  ) throws(StoreError) {
    guard columns.count > 0 else { return }
    _ = try connection.ask(statement.with(owner + columns.values))
    columns.removeAll()
  }

  /// Assigns numbers to new lanes.
  private func know(_ lines: [Line]) throws {
    let new = Set(lines).filter { lanes[$0] == nil }
    guard !new.isEmpty else { return }
    let order = new.sorted { ($0.service.number, $0.priority.code) < ($1.service.number, $1.priority.code) }
    let rows = try connection.ask(
      MovingStatements.lanes(
        services: try order.map { try number(of: $0.service) }, priorities: order.map(\.priority.code),
        branches: order.map(owner(of:))),
      MovingStatements.allLanes)[1]
    var known: [[Int64]: Int64] = [:]
    for row in 0..<rows.count {
      if let lane = rows.integer(row, 0), let service = rows.integer(row, 1),
        let priority = rows.integer(row, 2), let branch = rows.integer(row, 3)
      {
        known[[service, priority, branch]] = lane
      }
    }
    for line in order {
      lanes[line] = known[[try number(of: line.service), line.priority.code, owner(of: line)]]
    }
  }

  /// The only branch that serves a line: the moved branch if the line draws on this home's stock, else 0.
  private func owner(of line: Line) -> Int64 { line.service.drawsOnStock ? owner.id : 0 }

  private func count(_ day: BusinessDay, _ lane: Int64, _ places: [Int]) {
    for place in places {
      tallies[DayOfLane(day: day, lane: lane), default: Array(repeating: 0, count: 7)][place] += 1
    }
  }

  private func pass(_ count: Int) throws {
    done += Int64(count)
    guard told.moved(done, of: total) else { throw refusal(.moveGivenUp) }
  }

  // MARK: - Verification

  private func count() throws -> ExportedRows {
    let found = try connection.ask(MovingStatements.count)[0]
    var rows = ExportedRows()
    for (column, kind) in ExportedRows.Kind.allCases.enumerated() {
      rows[kind] = found.integer(0, column) ?? -1
    }
    return rows
  }

  private func verified(_ before: StoreAudit, _ rows: ExportedRows) throws -> MovedBooks {
    let moved = try count()
    if let kind = rows.difference(from: moved) {
      throw refusal(.movedOtherwise, kind.rawValue, rows[kind], moved[kind])
    }
    let reading = try PostgresReading(on: connection)
    let balance = try reading.trialBalance()
    guard balance == (try source.trialBalance()) else {
      throw refusal(.movedOtherwise, "ledger", try source.trialBalance().difference, balance.difference)
    }
    var after = try reading.audit()
    // Durability settings of the server are not a result of the move.
    after.remarks.removeAll { [.fsyncOff, .commitsUnawaited].contains($0.kind) }
    if let first = after.remarks.first { throw refusal(.movedBroken, first.description) }
    guard after == before else { throw refusal(.movedOtherwise, "audit", before.issued, after.issued) }
    return MovedBooks(place: connection.name, rows: moved, balance: balance, isRepeated: false)
  }

  private func refusal(_ kind: Remark.Kind, _ values: any CustomStringConvertible...) -> Failure {
    var remark = Remark(kind)
    remark.values = values.map { $0.description }
    return Failure(.notMoved, subject: connection.name, remark: remark)
  }
}
