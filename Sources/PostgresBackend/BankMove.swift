// Move of a whole bank into an empty shared database, in portions, with checks before the rows become visible.
// Invariant: the move is one transaction. Before the commit, the result is counted and audited. If it differs from
// the home, nothing is moved.
// Errors: Failure `move_refused` if it is certain that nothing was moved; StoreError if the connection, the server or
// the reading of the home failed.
import BankModel
import Coordinator
import Postgres
import PostgresQueries
import PostgresStore
import QueueCore
import Time
import Wire

/// One move of a bank from a home into a shared database.
final class BankMove {
  /// Timeout for one answer of the server.
  private static let timeout = TimeSpan.seconds(300)
  /// Maximum number of rows per portion.
  static let rowsPerBatch = 2_048

  private let input: MoveInput
  private let source: any QueueExport
  private unowned let observer: any MoveObserver
  private let connection: BlockingConnection
  /// Number and epoch of the branch that owns the moved rows.
  private var owner: (id: Int64, epoch: Int64) = (0, 0)
  /// Days of the bank, once they are moved.
  private var days: [ExportedDay] = []
  private var numbers: [ServiceName: Int64] = [:]
  private var lanes: [Line: Int64] = [:]
  /// Counts of each day and lane, in the order of the columns.
  private var tallies: [DayAndLane: [Int64]] = [:]
  /// By lane: first and last ticket that have a receipt from a window of the present day.
  private var served: [Int64: (first: Int64, last: Int64)] = [:]
  private var movedCount: Int64 = 0
  /// Number of tickets to move.
  private var total: Int64 = 0

  private struct DayAndLane: Hashable {
    var day: BusinessDay
    var lane: Int64
  }

  init(_ input: MoveInput, observer: any MoveObserver) throws(StoreError) {
    self.input = input
    self.observer = observer
    source = input.source
    connection = try BlockingConnection(input.address, timeout: Self.timeout, isWritable: true)
  }

  /// Moves the bank, and verifies the result before the commit.
  func run() throws -> MoveResult {
    let audit = try source.audit()
    let rows = try source.countRows()
    if let first = audit.messageDetails.first {
      throw refusal(.homeAuditFailed, audit.messageDetails.count, first.description)
    }
    total = rows[.tickets]
    try connection.prepareSchema()
    return try connection.inTransaction {
      if let former = try earlierMove(rows) { return former }
      try fill()
      return try verify(audit, rows)
    } isCommitting: {
      try observer.willCommit()
    }
  }

  /// Result of an earlier move of this bank; nil if the database is unused. A home that has changed after the move,
  /// such as a restored copy that was opened alone, is refused, because the database lacks its later data.
  private func earlierMove(_ rows: ExportedRows) throws -> MoveResult? {
    let databaseState = try connection.ask(
      all: ImportStatements.lockOutBranches + [ImportStatements.databaseState]
    ).last
    guard let databaseState, let number = databaseState.integer(0, 0),
      let isEmpty = databaseState.boolean(0, 1),
      let open = databaseState.integer(0, 2)
    else { throw StoreError.damaged(path: connection.name, detail: MessageDetail(.noBusinessDay)) }
    if number == input.name.number {
      let moved = try count()
      if let mark = databaseState.integer(0, 3) {
        guard try BankChecksum(source, rows).mark == mark else {
          let kind = rows.difference(from: moved) ?? .receipts
          throw refusal(.movedCountDiffers, kind.rawValue, rows[kind], moved[kind])
        }
      } else if rows[.tickets] > moved[.tickets] {
        // Databases moved by an older program have no mark.
        throw refusal(.movedCountDiffers, "tickets", rows[.tickets], moved[.tickets])
      }
      return MoveResult(
        place: connection.name, rows: moved,
        balance: try PostgresReader(on: connection).trialBalance(), isRepeated: true)
    }
    guard isEmpty else { throw refusal(.sharedStoreNotEmpty) }
    guard open == 0 else { throw refusal(.sharedStoreHasOpenBranches, open) }
    return nil
  }

  // MARK: - Transfer

  /// Transfers the data of the home.
  private func fill() throws {
    let rows = try connection.ask(
      ImportStatements.branch(.text(input.branch), .text(input.host)),
      ImportStatements.name(
        .integer(input.name.number), .integer(input.name.day), .integer(input.name.ticket)),
      ImportStatements.deleteFirstDay)
    guard let id = rows[0].integer(0, 0), let epoch = rows[0].integer(0, 1) else {
      throw StoreError.damaged(path: connection.name, detail: MessageDetail(.rowInvalid, "bank.branch", 0))
    }
    owner = (id, epoch)
    _ = try connection.ask(
      ImportStatements.mark(.integer(try BankChecksum(source, source.countRows()).mark)))
    try moveServices()
    try moveDays()
    try moveKeys()
    try moveReceipts()
    try moveAttempts()
    for state in [CustomerState.waiting, .delayed, .dead] { try moveCustomers(state) }
    try moveReleases()
    try writeTallies()
  }

  /// Adds the services of the home to the database, and reads the numbers that they have there.
  private func moveServices() throws {
    let names = try connection.ask(
      ImportStatements.services(source.services.names.map(\.text)), ImportStatements.allServices)[1]
    for row in 0..<names.count {
      if let name = names.text(row, 0).flatMap({ ServiceName($0) }) { numbers[name] = Int64(row) + 1 }
    }
  }

  /// Number that a service of the home has in the shared database.
  private func number(of service: Service) throws -> Int64 {
    guard let number = numbers[source.services[service]] else {
      throw StoreError.damaged(path: connection.name, detail: MessageDetail(.serviceUnknown, service.number))
    }
    return number
  }

  /// Moves the days, and creates their partitions.
  private func moveDays() throws {
    var columns = ColumnBatch(numbers: 3)
    try source.eachDay { day in
      days.append(day)
      columns.add([day.day, day.openedAt.milliseconds, day.closedAt?.milliseconds ?? .min])
    }
    _ = try connection.ask(ImportStatements.days.with(columns.values))
    for day in days { _ = try connection.ask(all: ImportStatements.partitions(for: day.day)) }
  }

  /// Moves the idempotency keys with the tickets that were issued under them. The ranges in `ticket_batch` must be
  /// consecutive, so tickets without a key are added, too.
  private func moveKeys() throws {
    var columns = ColumnBatch(numbers: 4, texts: 1)
    var rest = days[...]
    var next: TicketNumber = 1
    /// Adds a range of tickets of one day, with the key under which they were issued; nil for none.
    func add(_ day: BusinessDay, _ first: TicketNumber, _ last: TicketNumber, _ key: ExportedKey?)
      throws(StoreError)
    {
      guard first <= last else { return }
      columns.add([day, first, last, key?.request.request ?? .min], texts: [key?.key])
      if columns.count >= Self.rowsPerBatch {
        try send(ImportStatements.intake, of: [.integer(owner.id)], &columns)
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
          detail: MessageDetail(.keyOfUnissuedRange, tickets.first, tickets.last, tickets.day))
      }
      try add(day.day, next, tickets.first - 1, nil)
      try add(day.day, tickets.first, tickets.last, key)
      next = tickets.last + 1
    }
    for day in rest {
      try add(day.day, next, day.issued, nil)
      next = 1
    }
    try send(ImportStatements.intake, of: [.integer(owner.id)], &columns)
  }

  /// Moves the receipts with their results, and counts them.
  private func moveReceipts() throws {
    var last: Int64 = 0
    let present = days.last?.day ?? 0
    while true {
      let page = try source.receipts(day: nil, after: last, limit: Self.rowsPerBatch)
      guard let end = page.last else { return }
      try assignLanes(page.map { Line(service: $0.service, priority: $0.priority) })
      var columns = ColumnBatch(numbers: 23, texts: 2, bytes: 4)
      for receipt in page {
        let lane = lanes[Line(service: receipt.service, priority: receipt.priority)] ?? 0
        columns.add(receipt, lane: lane)
        let place = receipt.outcome == .served ? 4 : receipt.outcome == .outOfStock ? 5 : 6
        count(receipt.day, lane, [0, place])
        guard receipt.day == present, receipt.window != nil else { continue }
        let range = served[lane] ?? (receipt.ticket, receipt.ticket)
        served[lane] = (min(range.first, receipt.ticket), max(range.last, receipt.ticket))
      }
      try send(ImportStatements.receipts, of: ownerValues, &columns)
      try reportProgress(page.count)
      guard page.mayHaveMore(limit: Self.rowsPerBatch) else { return }
      last = end.sequence
    }
  }

  /// Moves the attempts that ended without a receipt.
  private func moveAttempts() throws {
    var columns = ColumnBatch(numbers: 13, texts: 1)
    try source.eachAttempt { attempt throws(StoreError) in
      columns.add(attempt, service: numbers[source.services[attempt.window.service]] ?? 0)
      if columns.count >= Self.rowsPerBatch { try send(ImportStatements.attempts, of: ownerValues, &columns) }
    }
    try send(ImportStatements.attempts, of: ownerValues, &columns)
  }

  /// Moves the customers of one state with their payloads, and counts them.
  private func moveCustomers(_ state: CustomerState) throws {
    var cursor: TicketCursor?
    let present = days.last?.day ?? 0
    while true {
      let page = try source.customers(in: state, after: cursor, limit: Self.rowsPerBatch)
      guard let end = page.last else { return }
      try assignLanes(page.map(\.customer.line))
      var columns = ColumnBatch(numbers: 10, texts: 1, bytes: 1)
      for one in page {
        let lane = lanes[one.customer.line] ?? 0
        columns.add(one, lane: lane, payload: try source.payload(of: one.customer.ticket))
        count(present, lane, [0, Int(state == .waiting ? 1 : state == .delayed ? 2 : 3)])
        if columns.bytes >= ColumnBatch.maxBytes { try send(ImportStatements.customers, &columns) }
      }
      try send(ImportStatements.customers, &columns)
      try reportProgress(page.count)
      cursor = TicketCursor(state: state, line: end.customer.line, after: end.customer.ticket)
    }
  }

  /// Moves the tickets for which this home's stock may have reservations.
  private func moveReleases() throws {
    var last: TicketOfDay?
    while true {
      let page = try source.unreleased(after: last, limit: Self.rowsPerBatch)
      var columns = ColumnBatch(numbers: 3)
      for ticket in page {
        let issued = try source.issueTime(ofUnreleased: ticket)
        columns.add([ticket.day, ticket.ticket, issued?.milliseconds ?? 0])
      }
      try send(ImportStatements.releases, of: [.integer(owner.id)], &columns)
      guard page.count == Self.rowsPerBatch else { return }
      last = page.last
    }
  }

  /// Writes the counts of all days, and the released claims of the present day.
  private func writeTallies() throws {
    var columns = ColumnBatch(numbers: 9)
    for (place, counts) in tallies { columns.add([place.day, place.lane] + counts) }
    var claims = ColumnBatch(numbers: 3)
    for (lane, range) in served { claims.add([lane, range.first, range.last]) }
    try send(ImportStatements.tallies, of: [.integer(owner.id)], &columns)
    try send(ImportStatements.claims, of: ownerValues, &claims)
  }

  // MARK: - Portions

  /// Values of ``owner`` as parameters.
  private var ownerValues: [PostgresValue] { [.integer(owner.id), .integer(owner.epoch)] }

  /// Sends the rows of a portion, if there are any, and empties the portion.
  private func send(
    _ statement: PostgresStatement, of owner: [PostgresValue] = [], _ columns: inout ColumnBatch
  ) throws(StoreError) {
    guard columns.count > 0 else { return }
    _ = try connection.ask(statement.with(owner + columns.values))
    columns.removeAll()
  }

  /// Adds the lanes of these lines to the database if they are new, and reads the numbers that they have there.
  private func assignLanes(_ lines: [Line]) throws {
    let new = Set(lines).filter { lanes[$0] == nil }
    guard !new.isEmpty else { return }
    let order = new.sorted { ($0.service.number, $0.priority.code) < ($1.service.number, $1.priority.code) }
    let rows = try connection.ask(
      ImportStatements.lanes(
        services: try order.map { try number(of: $0.service) }, priorities: order.map(\.priority.code),
        branches: order.map(owner(of:))),
      ImportStatements.allLanes)[1]
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

  /// Branch to which a line is bound: that of ``owner`` if the line draws on this home's stock, else 0.
  private func owner(of line: Line) -> Int64 { line.service.usesStock ? owner.id : 0 }

  /// Adds one to these counts of a day and a lane; `columnIndexes` selects the counts.
  private func count(_ day: BusinessDay, _ lane: Int64, _ columnIndexes: [Int]) {
    for place in columnIndexes {
      tallies[DayAndLane(day: day, lane: lane), default: Array(repeating: 0, count: 7)][place] += 1
    }
  }

  /// Adds to the number of moved tickets, and reports the sum to the observer; throws if its client is gone.
  private func reportProgress(_ count: Int) throws {
    movedCount += Int64(count)
    guard observer.moved(movedCount, of: total) else { throw refusal(.moveClientGone) }
  }

  // MARK: - Verification

  /// Counts the rows in the database by kind.
  private func count() throws -> ExportedRows {
    let found = try connection.ask(ImportStatements.count)[0]
    var rows = ExportedRows()
    for (column, kind) in ExportedRows.Kind.allCases.enumerated() {
      rows[kind] = found.integer(0, column) ?? -1
    }
    return rows
  }

  /// Compares the numbers of rows, the sums and the audit with those of the home; throws at the first difference.
  private func verify(_ before: StoreAudit, _ rows: ExportedRows) throws -> MoveResult {
    let moved = try count()
    if let kind = rows.difference(from: moved) {
      throw refusal(.movedCountDiffers, kind.rawValue, rows[kind], moved[kind])
    }
    let reading = try PostgresReader(on: connection)
    let balance = try reading.trialBalance()
    guard balance == (try source.trialBalance()) else {
      throw refusal(.movedCountDiffers, "ledger", try source.trialBalance().difference, balance.difference)
    }
    var after = try reading.audit()
    // Durability settings of the server are not a result of the move.
    after.messageDetails.removeAll { [.fsyncOff, .synchronousCommitOff].contains($0.kind) }
    if let first = after.messageDetails.first { throw refusal(.movedAuditFailed, first.description) }
    guard after == before else { throw refusal(.movedCountDiffers, "audit", before.issued, after.issued) }
    return MoveResult(place: connection.name, rows: moved, balance: balance, isRepeated: false)
  }

  /// The failure that reports why nothing was moved.
  private func refusal(_ kind: MessageDetail.Kind, _ values: any CustomStringConvertible...) -> Failure {
    var messageDetail = MessageDetail(kind)
    messageDetail.values = values.map { $0.description }
    return Failure(.notMoved, subject: connection.name, messageDetail: messageDetail)
  }
}
