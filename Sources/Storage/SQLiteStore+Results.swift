// Owns the rows of what the work of served customers left behind. They stand apart from the receipts, which are walked over,
// counted and summed without them.
// Invariant: a row is written in the transaction of its receipt and never touched again. Whose work leaves nothing behind
// costs nothing: between which receipts there are rows is known, and only there is one looked for. A page of receipts walks
// over both tables side by side, once, and reads no more results than it gives out.

import BankModel
import QueueCore
import Time

/// The columns of a result behind those that say whose it is, and their order.
enum ResultColumns {
  static let ending = ["exit_code", "exit_signal"]
  static let lengths = ["output_length", "output_filed", "errors_length", "errors_filed"]
  static let bytes = ["output", "output_end", "errors", "errors_end"]
  static let all = ending + ["duration_ns"] + lengths + bytes
  static let list = all.joined(separator: ", ")
}

extension SQLiteStore {
  /// Writes what the work left behind that ended with the receipt which was gathered last.
  func insert(_ result: WorkResult, of receipt: Receipt) throws(StoreError) {
    results.add(sequence...sequence)
    let statement = statements.insertResult
    statement.bindAll(
      sequence, receipt.day, receipt.ticket, result.ending?.exitCode.map(Int64.init),
      result.ending?.exitSignal.map(Int64.init),
      result.duration.nanoseconds, result.output.length, result.output.filed, result.errors.length,
      result.errors.filed)
    // The bytes stay no longer.
    defer { for column in 11...Int32(14) { statement.bind(column, optional: nil) } }
    let pieces = [result.output.first, result.output.last, result.errors.first, result.errors.last]
    try run(statement, with: pieces[...], from: 11, of: receipt)
  }

  /// Binds the bytes where they lie, one piece within the other, and runs the statement while they stay.
  private func run(
    _ statement: Statement, with pieces: ArraySlice<[UInt8]>, from column: Int32, of receipt: Receipt
  ) throws(StoreError) {
    guard let piece = pieces.first else {
      return try statement.run(broken: Remark(.resultTwice, receipt.ticket, receipt.day))
    }
    var failure: StoreError?
    piece.withUnsafeBytes { bytes in
      do throws(StoreError) {
        if bytes.isEmpty {
          statement.bind(column, optional: nil)
        } else {
          try statement.bind(column, staying: bytes)
        }
        try run(statement, with: pieces.dropFirst(), from: column + 1, of: receipt)
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  func addResult(to receipt: inout Receipt) throws(StoreError) {
    guard results.mayHave(receipt.sequence) else { return }
    var walk = ResultWalk()
    defer { statements.results.reset() }
    receipt.result = try result(of: receipt.sequence, &walk)
  }

  /// How far a walk over the results has come, which goes forward only.
  struct ResultWalk {
    fileprivate(set) var hasBegun = false
    /// The receipt of the row that the walk stands at; nil at the end.
    fileprivate var place: Int64?
  }

  func result(of sequence: Int64, _ walk: inout ResultWalk) throws(StoreError) -> WorkResult? {
    let row = statements.results
    if !walk.hasBegun {
      row.bind(1, sequence)
      walk.hasBegun = true
      walk.place = try row.step() ? row.integer(0) : nil
    }
    // Of a row that is passed over nothing is read but its number.
    while let place = walk.place, place < sequence { walk.place = try row.step() ? row.integer(0) : nil }
    guard walk.place == sequence else { return nil }
    return try result(row)
  }

  private func result(_ row: Statement) throws(StoreError) -> WorkResult {
    let output = Excerpt(
      first: row.bytes(8), last: row.bytes(9), length: row.integer(4), filed: row.integer(5))
    let errors = Excerpt(
      first: row.bytes(10), last: row.bytes(11), length: row.integer(6), filed: row.integer(7))
    guard let output, let errors else { throw damage(Remark(.resultMeaningless, row.integer(0))) }
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

  /// Every result is of a receipt that says that the work was done, of the same ticket, and means something.
  func auditResults(_ report: inout AuditRecord) throws(StoreError) {
    var pages = KeptPages()
    // The length of a blob stands in its row: nothing of it is read for that.
    try database.withStatement(
      """
      SELECT sequence, day, ticket,
        (exit_code IS NOT NULL AND exit_signal IS NOT NULL) OR duration_ns < 0
          OR output_filed NOT BETWEEN 0 AND output_length OR errors_filed NOT BETWEEN 0 AND errors_length
          OR ifnull(length(output), 0) + ifnull(length(output_end), 0) > output_length
          OR ifnull(length(errors), 0) + ifnull(length(errors_end), 0) > errors_length
      FROM result ORDER BY sequence
      """, while: "reading all results"
    ) { row throws(StoreError) in
      while try row.step() {
        let (sequence, day, ticket) = (row.integer(0), row.integer(1), row.integer(2))
        let receipt = try entry(numbered: sequence, &pages)
        let isItsOwn =
          receipt.map { $0.day == day && $0.ticket == ticket && $0.outcome == Int64(Outcome.served.rawValue) }
        if isItsOwn != true { report.note(Remark(.resultOfNobody, ticket, day)) }
        if row.integer(3) != 0 { report.note(Remark(.resultMeaningless, sequence)) }
      }
    }
  }
}
