// A portion of rows to transfer, as columns of the SQL statements.
// Invariant: every column has one entry per row.
import BankModel
import Postgres
import PostgresStore
import QueueCore

/// Columns of the rows that are transferred by one statement.
struct ColumnBatch {
  /// Total bytes of payloads at which a portion ends.
  static let maxBytes = 4 << 20

  private(set) var count = 0
  /// Total bytes of the byte columns.
  private(set) var bytes = 0
  private var numbers: [[Int64]]
  private var texts: [[String?]]
  /// Columns of bytes, such as payloads.
  private var contents: [[[UInt8]?]]

  /// Creates an empty portion with these numbers of columns of each type.
  init(numbers: Int, texts: Int = 0, bytes: Int = 0) {
    self.numbers = Array(repeating: [], count: numbers)
    self.texts = Array(repeating: [], count: texts)
    contents = Array(repeating: [], count: bytes)
  }

  /// The columns: numbers, texts, bytes.
  var values: [PostgresValue] {
    numbers.map { .integers($0) } + texts.map { .texts($0) } + contents.map { .manyBytes($0) }
  }

  /// Adds a row. Traps if it has other numbers of columns.
  mutating func add(_ row: [Int64], texts words: [String?] = [], bytes byteValues: [[UInt8]?] = []) {
    precondition(
      row.count == numbers.count && words.count == texts.count && byteValues.count == contents.count)
    count += 1
    for column in row.indices { numbers[column].append(row[column]) }
    // A text in PostgreSQL cannot contain a zero byte.
    for column in words.indices {
      texts[column].append(words[column].flatMap { $0.isEmpty ? nil : $0.replacing("\0", with: "\u{FFFD}") })
    }
    for column in byteValues.indices {
      contents[column].append(byteValues[column])
      bytes += byteValues[column]?.count ?? 0
    }
  }

  mutating func removeAll() {
    (count, bytes) = (0, 0)
    for column in numbers.indices { numbers[column].removeAll(keepingCapacity: true) }
    for column in texts.indices { texts[column].removeAll(keepingCapacity: true) }
    for column in contents.indices { contents[column].removeAll(keepingCapacity: true) }
  }

  // MARK: - Rows

  /// Adds the row of a receipt, as `ImportStatements.receipts` requires.
  mutating func add(_ receipt: Receipt, lane: Int64) {
    let transfer = receipt.transfer
    var row: [Int64] = [receipt.day, receipt.ticket, lane, Int64(receipt.outcome.rawValue)]
    row += [receipt.window.map { Int64($0.place) } ?? .min, Int64(receipt.generation), Int64(receipt.pid)]
    row += [Int64(receipt.attempts), receipt.amount, receipt.account]
    row += [transfer?.debit.code ?? .min, transfer?.credit.code ?? .min, receipt.issuedAt.milliseconds]
    row += [receipt.startedAt?.milliseconds ?? .min, receipt.finishedAt.milliseconds]
    let result = receipt.result
    row += [result?.duration.nanoseconds ?? .min, result?.ending?.exitCode.map(Int64.init) ?? .min]
    row += [result?.ending?.exitSignal.map(Int64.init) ?? .min]
    row += [result?.output.length ?? .min, result?.output.filed ?? .min]
    row += [result?.errors.length ?? .min, result?.errors.filed ?? .min, receipt.sequence]
    add(
      row, texts: [receipt.itemName, PostgresShortages.text(of: receipt.shortages)],
      bytes: [result?.output.first, result?.output.last, result?.errors.first, result?.errors.last])
  }

  mutating func add(_ attempt: Attempt, service: Int64) {
    var row: [Int64] = [
      attempt.day, attempt.ticket, Int64(attempt.number), service, Int64(attempt.window.place),
    ]
    row += [Int64(attempt.generation), Int64(attempt.pid)]
    row += [attempt.startedAt.milliseconds, attempt.endedAt.milliseconds, Int64(attempt.end.rawValue)]
    row += [attempt.processEnd?.exitCode.map(Int64.init) ?? .min]
    row += [attempt.processEnd?.exitSignal.map(Int64.init) ?? .min, attempt.isFatal ? 1 : 0]
    add(row, texts: [attempt.words])
  }

  /// Adds the row of an unfinished customer.
  mutating func add(_ one: StoredCustomer, lane: Int64, payload: [UInt8]?) {
    let customer = one.customer
    var row = [
      PostgresPosition.of(state: Int64(one.state.rawValue), lane: lane, ticket: customer.ticket),
      customer.amount, customer.account, customer.issuedAt.milliseconds,
    ]
    row += [
      Int64(customer.attempts), Int64(customer.crashes), Int64(customer.failures),
      Int64(customer.startedAttempts),
    ]
    row += [customer.isAttemptRunning ? 1 : 0, one.dueAt?.milliseconds ?? .min]
    add(row, texts: [customer.itemName], bytes: [payload])
  }
}
