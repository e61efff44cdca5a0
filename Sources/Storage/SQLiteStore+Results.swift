// Rows of the results of served customers. They are not in the rows of the receipts, so that receipts can be
// scanned, counted and summed without reading results.
// Invariant: a row is written in the same transaction as its receipt and not changed. A receipt outside the known
// range of receipts with results is not looked up.

import BankModel
import QueueCore
import Time

/// Columns of a result after those that identify its receipt, in order.
enum ResultColumns {
  /// How the process of the work ended.
  static let ending = ["exit_code", "exit_signal"]
  /// Lengths of both streams: in all, and in a file.
  static let lengths = [
    "output_length", "output_file_length", "stderr_length", "stderr_file_length",
  ]
  /// First and last bytes of both streams.
  static let bytes = ["output_head", "output_tail", "stderr_head", "stderr_tail"]
  static let all = ending + ["duration_ns"] + lengths + bytes
  static let list = all.joined(separator: ", ")
}

extension SQLiteStore {
  /// Writes the result of the receipt that was gathered last.
  func insert(_ result: WorkResult, of receipt: Receipt) throws(StoreError) {
    results.add(sequence...sequence)
    let statement = statements.insertResult
    statement.bindAll(
      sequence, receipt.day, receipt.ticket, result.ending?.exitCode.map(Int64.init),
      result.ending?.exitSignal.map(Int64.init),
      result.duration.nanoseconds, result.output.length, result.output.filed, result.errors.length,
      result.errors.filed)
    // The pointers are invalid after this function.
    defer { for column in 11...Int32(14) { statement.bind(column, optional: nil) } }
    let pieces = [result.output.first, result.output.last, result.errors.first, result.errors.last]
    try run(statement, with: pieces[...], from: 11, of: receipt)
  }

  /// Binds the bytes without copying, one piece in each nested call, and runs the statement while all pointers
  /// are valid.
  private func run(
    _ statement: Statement, with pieces: ArraySlice<[UInt8]>, from column: Int32, of receipt: Receipt
  ) throws(StoreError) {
    guard let piece = pieces.first else {
      return try statement.run(violation: MessageDetail(.resultTwice, receipt.ticket, receipt.day))
    }
    var failure: StoreError?
    piece.withUnsafeBytes { bytes in
      do throws(StoreError) {
        if bytes.isEmpty {
          statement.bind(column, optional: nil)
        } else {
          try statement.bind(column, uncopied: bytes)
        }
        try run(statement, with: pieces.dropFirst(), from: column + 1, of: receipt)
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Reads the result of a receipt, if the receipt has one.
  func addResult(to receipt: inout Receipt) throws(StoreError) {
    guard results.mayHave(receipt.sequence) else { return }
    var walk = ResultScan()
    defer { statements.results.reset() }
    receipt.result = try result(of: receipt.sequence, &walk)
  }

  /// State of a forward scan over the results.
  struct ResultScan {
    /// True after the first step of the scan.
    fileprivate(set) var hasBegun = false
    /// Sequence number of the current row's receipt; nil at the end.
    fileprivate var place: Int64?
  }

  /// Advances a scan to a receipt and returns its result; nil if the receipt has none.
  func result(of sequence: Int64, _ walk: inout ResultScan) throws(StoreError) -> WorkResult? {
    let row = statements.results
    if !walk.hasBegun {
      row.bind(1, sequence)
      walk.hasBegun = true
      walk.place = try row.step() ? row.integer(0) : nil
    }
    // Of a skipped row only the sequence number is read.
    while let place = walk.place, place < sequence { walk.place = try row.step() ? row.integer(0) : nil }
    guard walk.place == sequence else { return nil }
    return try result(row)
  }

  /// Makes a result from a row; throws if a value is invalid.
  private func result(_ row: Statement) throws(StoreError) -> WorkResult {
    let output = TruncatedOutput(
      first: row.bytes(8), last: row.bytes(9), length: row.integer(4), filed: row.integer(5))
    let errors = TruncatedOutput(
      first: row.bytes(10), last: row.bytes(11), length: row.integer(6), filed: row.integer(7))
    guard let output, let errors else { throw damage(MessageDetail(.resultInvalid, row.integer(0))) }
    return WorkResult(
      ending: try processEnd(code: row.optional(1), signal: row.optional(2)),
      duration: TimeSpan(nanoseconds: row.integer(3)), output: output, errors: errors)
  }

  static func readResults(_ database: Database) throws(StoreError) -> RowBounds {
    let purpose: StaticString = "looking for results"
    return RowBounds(
      try database.number("SELECT min(sequence) FROM result", while: purpose),
      try database.number("SELECT max(sequence) FROM result", while: purpose))
  }

  /// Adds a finding for each result that is invalid or does not belong to a served receipt of the same ticket.
  func auditResults(_ report: inout AuditRecord) throws(StoreError) {
    var pages = PageCache()
    // SQLite stores the length of a blob in its row, so the content of the blob is not read.
    try database.withStatement(
      """
      SELECT sequence, day, ticket,
        (exit_code IS NOT NULL AND exit_signal IS NOT NULL) OR duration_ns < 0
          OR output_file_length NOT BETWEEN 0 AND output_length OR stderr_file_length NOT BETWEEN 0 AND stderr_length
          OR ifnull(length(output_head), 0) + ifnull(length(output_tail), 0) > output_length
          OR ifnull(length(stderr_head), 0) + ifnull(length(stderr_tail), 0) > stderr_length
      FROM result ORDER BY sequence
      """, while: "reading all results"
    ) { row throws(StoreError) in
      while try row.step() {
        let (sequence, day, ticket) = (row.integer(0), row.integer(1), row.integer(2))
        let receipt = try entry(numbered: sequence, &pages)
        let isConsistent =
          receipt.map { $0.day == day && $0.ticket == ticket && $0.outcome == Int64(Outcome.served.rawValue) }
        if isConsistent != true { report.note(MessageDetail(.resultWithoutReceipt, ticket, day)) }
        if row.integer(3) != 0 { report.note(MessageDetail(.resultInvalid, sequence)) }
      }
    }
  }
}
