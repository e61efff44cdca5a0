// Rows that are gathered first, so that one statement writes several of them.
// Invariant: an operation that depends on a gathered row first writes the gathered rows. A violated constraint is
// detected when the row is written. So it may be reported, with the ticket, by a later call than the one that
// staged the row.

import BankModel
import QueueCore
import Time

/// Rows that are gathered and not written yet.
///
/// Several rows in one statement take less time than one statement each, because SQLite keeps the position of its
/// cursors and inserts each row after the previous one. If consecutive tickets of one line leave the queue, one
/// range deletes their rows.
struct RowBatch {
  /// Number of rows that one statement writes.
  static let perStatement = 16

  /// New customers of one line and one state, whose rows are adjacent.
  struct InsertGroup {
    let line: Line
    let number: Int64
    let areDelayed: Bool
    var customers: [InsertRow] = []
  }

  /// A new customer, with the due time of a delayed one.
  struct InsertRow {
    var customer: Customer
    var dueAt: WallTime?
  }

  /// Maximum number of groups. Before a further group is added, all groups are written.
  static let lines = 64
  /// Groups of new customers; a group stays after its customers were written.
  var newcomers: [InsertGroup] = []
  /// True if a group may have a customer.
  var hasCustomers = false
  /// Keys of the rows of customers that leave the queue.
  var deletions: [CustomerPosition] = []
  /// The page of receipts that is being filled.
  var page = ReceiptPage()
  /// Tickets and sequence numbers of the gathered receipts, including those of pages that are already written.
  var receiptTickets: [ReceiptTicket] = []

  /// Ticket of a gathered receipt, and the sequence number of the receipt.
  struct ReceiptTicket {
    let day: BusinessDay
    let ticket: TicketNumber
    let sequence: Int64
  }

  /// Maximum number of gathered departures or receipts. When it is reached, they are written.
  static let maxEntries = 256

  var isEmpty: Bool { !hasCustomers && deletions.isEmpty && receiptTickets.isEmpty }

  mutating func forget() {
    // A rollback may have removed the numbers of the lines.
    newcomers.removeAll()
    hasCustomers = false
    deletions.removeAll(keepingCapacity: true)
    page.forget()
    receiptTickets.removeAll(keepingCapacity: true)
  }
}

extension SQLiteStore {
  /// Gathers the row of a new customer.
  func addToBatch(_ customer: Customer, dueAt: WallTime?) throws(StoreError) {
    precondition(1...Limits.ticket ~= customer.ticket, "A ticket is out of range.")
    let line = customer.line
    let place: Int
    let isDelayed = dueAt != nil
    if let known = batch.newcomers.firstIndex(where: { $0.line == line && $0.areDelayed == isDelayed }) {
      place = known
    } else {
      let given = try number(of: line)
      if batch.newcomers.count == RowBatch.lines {
        try writeCustomers()
        batch.newcomers.removeAll(keepingCapacity: true)
      }
      place = batch.newcomers.count
      batch.newcomers.append(RowBatch.InsertGroup(line: line, number: given, areDelayed: isDelayed))
    }
    batch.newcomers[place].customers.append(RowBatch.InsertRow(customer: customer, dueAt: dueAt))
    batch.hasCustomers = true
    guard batch.newcomers[place].customers.count == RowBatch.perStatement else { return }
    try writeCustomers(at: place)
  }

  /// Returns the number of a line. If it has none, assigns one in the open transaction.
  private func number(of line: Line) throws(StoreError) -> Int64 {
    if let known = lines[line] { return known }
    var given = lines.give(to: line)
    if given == nil {
      try forgetUnusedLines()
      given = lines.give(to: line)
    }
    guard let number = given else {
      throw .failed(path: database.path, detail: MessageDetail(.linesExhausted))
    }
    try insert(line, number)
    return number
  }

  private func insert(_ line: Line, _ number: Int64) throws(StoreError) {
    statements.insertLine.bindAll(number, Int64(line.service.number), Int64(line.priority.number))
    try statements.insertLine.run()
  }

  /// Deletes lines without customers, so that their numbers can be assigned again.
  private func forgetUnusedLines() throws(StoreError) {
    try writeCustomers()
    batch.newcomers.removeAll()
    lines.release(except: try usedLines())
    try statements.deleteLines.run()
    for (number, line) in lines.all where number >= LineNumbers.firstAssignable { try insert(line, number) }
  }

  private func usedLines() throws(StoreError) -> Set<Int64> {
    var used: Set<Int64> = []
    for state in CustomerPosition.storedStates {
      var line: Int64 = 0
      while line <= LineNumbers.highest, let next = try firstPosition(in: state, from: line, after: 0) {
        used.insert(next.line)
        line = next.line + 1
      }
    }
    return used
  }

  /// Deletes all lines without a permanent number. The queue must be empty.
  func forgetLines() throws(StoreError) {
    try statements.deleteLines.run()
    lines.release()
    batch.newcomers.removeAll()
  }

  func writeBatch() throws(StoreError) {
    try writeCustomers()
    try writeDeletions()
    try writeReceipts()
  }

  func writeCustomers() throws(StoreError) {
    guard batch.hasCustomers else { return }
    for place in batch.newcomers.indices where !batch.newcomers[place].customers.isEmpty {
      try writeCustomers(at: place)
    }
    batch.hasCustomers = false
  }

  /// Writes the gathered new customers of the group at this index.
  private func writeCustomers(at place: Int) throws(StoreError) {
    let line = batch.newcomers[place].number
    try write(
      batch.newcomers[place].customers, by: statements.insertCustomers,
      oneByOne: statements.insertCustomer,
      { newcomer, statement, first throws(StoreError) in
        try Self.bind(newcomer, of: line, to: statement, from: first)
      }
    ) { MessageDetail(.alreadyInQueue, $0.customer.ticket, presentDay) }
    batch.newcomers[place].customers.removeAll(keepingCapacity: true)
  }

  func batchDeletion(of position: CustomerPosition) throws(StoreError) {
    batch.deletions.append(position)
    if batch.deletions.count == RowBatch.maxEntries { try writeDeletions() }
  }

  /// Deletes the rows of the customers that leave the queue; throws if a row does not exist.
  private func writeDeletions() throws(StoreError) {
    guard !batch.deletions.isEmpty else { return }
    // The customers may have been added in this transaction.
    try writeCustomers()
    batch.deletions.sort { $0.key < $1.key }
    var rest = batch.deletions[...]
    while let first = rest.first {
      var last = first
      var count: Int64 = 0
      while let next = rest.first, next.key == first.key + count {
        last = next
        count += 1
        rest.removeFirst()
      }
      if count == 1 {
        statements.deleteCustomer.bind(1, first.key)
        try statements.deleteCustomer.run()
      } else {
        statements.deleteCustomers.bindAll(first.key, last.key)
        try statements.deleteCustomers.run()
      }
      guard database.changes != count else { continue }
      let state = first.state?.name ?? ""
      throw damage(
        count == 1
          ? MessageDetail(.ticketNotFound, first.ticket, presentDay, state)
          : MessageDetail(.ticketsNotAllFound, first.ticket, last.ticket, presentDay, state))
    }
    batch.deletions.removeAll(keepingCapacity: true)
  }

  /// Writes rows: all with one statement if there are as many as `several` takes, or else one by one.
  ///
  /// - Parameter bind: binds one row to a statement, starting at a parameter. Returns the number of bound
  ///   parameters.
  private func write<Row>(
    _ rows: [Row], by several: Statement, oneByOne single: Statement,
    _ bind: (Row, Statement, Int32) throws(StoreError) -> Int32, violation: (Row) -> MessageDetail
  ) throws(StoreError) {
    guard rows.count == RowBatch.perStatement else {
      for row in rows {
        _ = try bind(row, single, 1)
        try single.run(violation: violation(row))
      }
      return
    }
    var parameter: Int32 = 1
    for row in rows { parameter += try bind(row, several, parameter) }
    // The statement stops at the rejected row, and the preceding rows are written.
    try several.run(violation: violation(rows[min(max(0, Int(database.changes)), rows.count - 1)]))
  }

  /// Binds the row of a new customer. Returns the number of bound parameters.
  private static func bind(
    _ newcomer: RowBatch.InsertRow, of line: Int64, to statement: Statement, from first: Int32
  ) throws(StoreError) -> Int32 {
    let customer = newcomer.customer
    let state: CustomerState = newcomer.dueAt == nil ? .waiting : .delayed
    statement.bind(first, CustomerPosition(state, line, customer.ticket).key)
    statement.bind(first + 1, customer.amount)
    statement.bind(first + 2, customer.account)
    statement.bind(first + 3, customer.issuedAt.milliseconds)
    // A new customer has no started attempt, so the packed column equals the number of ended attempts.
    statement.bind(first + 4, customer.attempts)
    statement.bind(first + 5, customer.crashes)
    statement.bind(first + 6, customer.failures)
    statement.bind(first + 7, optional: newcomer.dueAt?.milliseconds)
    try statement.bind(first + 8, nonEmpty: customer.itemName)
    return Statements.customerParameters
  }
}
