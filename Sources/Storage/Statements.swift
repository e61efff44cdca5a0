// Statements that the store runs often. Each is prepared once, when the store is opened.
// Invariant: the preparation also checks that the tables exist. If one is missing, it throws `.damaged`.

import BankModel
import CSQLite
import QueueCore

struct Statements {
  let insertCustomer, insertCustomers, deleteCustomer, deleteCustomers, updateCustomer, moveCustomer,
    deleteEveryone: Statement
  let insertPage, putBlock, insertShortage, insertRelease, releaseSome, deleteRelease, leaving, firstTicket,
    insertAttempt, insertKey: Statement
  let insertLine, deleteLines, insertLater: Statement
  let insertPayload, deletePayload, deletePayloads, payloadLengths, payload: Statement
  let updateDay, insertDay, closeDay: Statement
  let keepNumber, forgetNumber: Statement
  let customers, customer, countCustomers, delayed: Statement
  let pages, pagesOfDay, pageOfReceipt, block, shortages, releases, attempts, key: Statement
  let insertResult, results: Statement

  /// Columns of a customer's row, in the order in which they are read and bound.
  static let customerColumns =
    "position, amount, account, issued_ms, attempts, crashes, failures, due_ms, item_name"
  /// Columns of a page of receipts, in the order in which they are read and bound.
  static let pageColumns = "first, day, base_ms, entries"

  /// Number of parameters of a customer's row.
  static let customerParameters: Int32 = 9

  /// Values of several rows for one statement. The statement uses `OR FAIL`: rows written before a rejected one
  /// are kept, so SQLite needs no statement journal to undo them. The transaction is rolled back then.
  private static func several(_ row: String) -> String {
    Array(repeating: row, count: RowBatch.perStatement).joined(separator: ", ")
  }

  init(_ database: Database) throws(StoreError) {
    let prepare = database.prepare(_:while:)
    let customerRow = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
    insertCustomer = try prepare(
      "INSERT INTO customer (\(Self.customerColumns)) VALUES \(customerRow)", "adding a customer")
    insertCustomers = try prepare(
      """
      INSERT OR FAIL INTO customer (\(Self.customerColumns)) VALUES \(Self.several(customerRow))
      """, "adding customers")
    deleteCustomer = try prepare("DELETE FROM customer WHERE position = ?", "removing a customer")
    // `NOT INDEXED`, because SQLite would compare the bounds with those of the partial index, and prepare the statement
    // again for each new value.
    deleteCustomers = try prepare(
      "DELETE FROM customer NOT INDEXED WHERE position BETWEEN ? AND ?", "removing customers")
    updateCustomer = try prepare(
      "UPDATE customer SET attempts = ?2, crashes = ?3, failures = ?4 WHERE position = ?1",
      "changing a customer")
    moveCustomer = try prepare(
      """
      UPDATE customer SET attempts = ?2, crashes = ?3, failures = ?4, position = ?5, due_ms = ?6
      WHERE position = ?1
      """, "moving a customer")
    deleteEveryone = try prepare("DELETE FROM customer", "emptying the queue")

    insertPage = try prepare(
      "INSERT INTO receipt_page (\(Self.pageColumns)) VALUES (?, ?, ?, ?)", "writing receipts")
    putBlock = try prepare(
      """
      INSERT INTO ticket_block (block, sequences) VALUES (?, ?)
      ON CONFLICT (block) DO UPDATE SET sequences = excluded.sequences
      """, "indexing receipts by ticket")
    insertShortage = try prepare(
      "INSERT INTO shortage (day, ticket, item, needed, available) VALUES (?, ?, ?, ?, ?)",
      "writing shortages")
    insertRelease = try prepare(
      "INSERT INTO stock_release (day, ticket) VALUES (?, ?)", "recording a pending release")
    releaseSome = try prepare(
      """
      INSERT INTO stock_release (day, ticket)
      SELECT ?1, ticket FROM \(BulkCancel.bases) CROSS JOIN customer ON position BETWEEN base + ?2 AND base + ?3
      WHERE service = \(Service.juice.number)
      """, "recording a pending release")
    firstTicket = try prepare(
      """
      SELECT min(first) FROM (
        SELECT (
          SELECT position - base FROM customer
          WHERE position > base + ?1 AND position <= base + \(CustomerPosition.highestTicket)
          ORDER BY position LIMIT 1) AS first
        FROM \(BulkCancel.bases))
      """, "looking for the next customer")
    deleteRelease = try prepare(
      "DELETE FROM stock_release WHERE day = ? AND ticket = ?", "removing a pending release")
    leaving = try prepare(
      """
      SELECT ticket, service, code, \(CustomerAttempts.ended), amount, account, issued_ms, item_name
      FROM \(BulkCancel.bases) CROSS JOIN customer ON position BETWEEN base + ?1 AND base + ?2
      ORDER BY ticket
      """, "cancelling all customers")
    insertAttempt = try prepare(
      """
      INSERT INTO attempt (
        day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code,
        exit_signal, reason)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, "recording an attempt")
    insertKey = try prepare(
      "INSERT INTO request_key (key, day, first, last, request_digest) VALUES (?, ?, ?, ?, ?)",
      "recording a key")

    insertLine = try prepare(
      "INSERT INTO line (number, service, priority) VALUES (?, ?, ?)", "assigning a number to a line")
    deleteLines = try prepare(
      "DELETE FROM line WHERE number >= \(LineNumbers.firstAssignable)", "releasing the numbers of lines")
    insertLater = try prepare(
      "INSERT INTO scheduled_ticket (day, ticket, due_ms) VALUES (?, ?, ?)", "recording a due time")
    insertPayload = try prepare("INSERT INTO payload (ticket, bytes) VALUES (?, ?)", "storing a payload")
    deletePayload = try prepare("DELETE FROM payload WHERE ticket = ?", "removing a payload")
    deletePayloads = try prepare("DELETE FROM payload WHERE ticket BETWEEN ? AND ?", "removing payloads")
    // SQLite stores the length of a blob in its row, so the content of the blob is not read.
    payloadLengths = try prepare(
      "SELECT ticket, length(bytes) FROM payload WHERE ticket BETWEEN ? AND ? ORDER BY ticket",
      "measuring payloads")
    payload = try prepare("SELECT bytes FROM payload WHERE ticket = ?", "reading a payload")
    keepNumber = try prepare("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", "storing a number")
    forgetNumber = try prepare("DELETE FROM meta WHERE name = ?", "removing a number")
    updateDay = try prepare(
      """
      UPDATE day SET \(DayCounterColumns.all.map { "\($0) = ?" }.joined(separator: ", ")) WHERE day = ?
      """, "saving the counters of the day")
    insertDay = try prepare(
      """
      INSERT INTO day (day, opened_ms, first_sequence, \(DayCounterColumns.list))
      VALUES (?, ?, ?, \(DayCounterColumns.all.map { _ in "?" }.joined(separator: ", ")))
      """, "opening a day")
    closeDay = try prepare(
      """
      UPDATE day SET closed_ms = ?2, issued = max(issued, ?3 + ?4), served = ?3, cancelled = ?4, delayed = 0,
        dead = 0, \(DayCounterColumns.present.map { "\($0) = ''" }.joined(separator: ", ")), \(DayCounterColumns.clock) = ?5
      WHERE day = ?1
      """, "closing a day")

    customers = try prepare(
      "SELECT \(Self.customerColumns) FROM customer WHERE position > ? AND position <= ? ORDER BY position LIMIT ?",
      "reading customers")
    customer = try prepare(
      "SELECT \(Self.customerColumns) FROM customer WHERE position = ?", "looking for a customer")
    // `NOT INDEXED` as in `deleteCustomers`.
    countCustomers = try prepare(
      "SELECT count(*) FROM customer NOT INDEXED WHERE position BETWEEN ? AND ?", "counting customers")
    delayed = try prepare(
      """
      SELECT \(Self.customerColumns) FROM customer INDEXED BY customer_due
      WHERE position >= 2305843009213693952 AND position < 3458764513820540928
        AND (due_ms, ticket) > (?, ?) AND ticket < ? ORDER BY due_ms, ticket LIMIT ?
      """, "reading delayed customers")

    pages = try prepare(
      "SELECT \(Self.pageColumns) FROM receipt_page WHERE first > ? ORDER BY first", "reading receipts")
    pagesOfDay = try prepare(
      """
      SELECT \(Self.pageColumns) FROM receipt_page
      WHERE day = ?1 AND first > ?2
        AND first >= coalesce((SELECT first_sequence FROM day WHERE day = ?1), 0)
        AND first < coalesce((SELECT first_sequence FROM day WHERE day = ?1 + 1), 9223372036854775807)
      ORDER BY first
      """, "reading the receipts of a day")
    pageOfReceipt = try prepare(
      "SELECT \(Self.pageColumns) FROM receipt_page WHERE first <= ? ORDER BY first DESC LIMIT 1",
      "looking for a receipt")
    block = try prepare("SELECT sequences FROM ticket_block WHERE block = ?", "looking for a receipt")
    insertResult = try prepare(
      """
      INSERT INTO result (sequence, day, ticket, \(ResultColumns.list))
      VALUES (?, ?, ?, \(ResultColumns.all.map { _ in "?" }.joined(separator: ", ")))
      """, "writing a result")
    results = try prepare(
      "SELECT sequence, \(ResultColumns.list) FROM result WHERE sequence >= ? ORDER BY sequence",
      "reading results")
    releases = try prepare(
      "SELECT day, ticket FROM stock_release WHERE (day, ticket) > (?, ?) ORDER BY day, ticket LIMIT ?",
      "reading pending releases")
    shortages = try prepare(
      "SELECT item, needed, available FROM shortage WHERE day = ? AND ticket = ? ORDER BY item",
      "reading shortages")
    attempts = try prepare(
      """
      SELECT day, ticket, number, service, window_number, generation, pid, started_ms, ended_ms, ending, exit_code,
        exit_signal, reason
      FROM attempt WHERE day = ? AND ticket = ? ORDER BY number
      """, "reading attempts")
    key = try prepare(
      "SELECT day, first, last, request_digest FROM request_key WHERE key = ?", "looking for a key")
  }
}
