// Result rows of one statement, copied from the library into one buffer.
// Invariant: the rows are an independent value that outlives the connection. A cell that cannot be decoded is nil and
// not a trap, because the server is not trusted.
import CPostgres

/// Result rows of one statement.
public struct PostgresRows: Sendable, Hashable {
  /// Number of columns; 0 for a statement without result columns.
  public private(set) var columns = 0
  /// Number of rows.
  public private(set) var count = 0
  /// Number of rows that the statement inserted, changed, deleted or returned, as reported by the server.
  public internal(set) var affected: Int64 = 0
  private var bytes: [UInt8] = []
  /// Start and length of each cell in ``bytes``; the length is -1 for NULL.
  private var cells: [Cell] = []

  /// Start and length of one value in ``bytes``.
  private struct Cell: Hashable {
    var start: Int
    var length: Int
  }

  /// Approximate size in bytes.
  var size: Int { bytes.count + cells.count * MemoryLayout<Cell>.stride }

  init() {}

  /// Creates rows as a server would send them, for a simulated server.
  package init(_ rows: [[PostgresValue]]) {
    columns = rows.first?.count ?? 0
    for row in rows {
      precondition(row.count == columns, "all rows have the same columns")
      let encoded = PostgresParameters(row)
      cells += encoded.cells.map { Cell(start: bytes.count + $0.start, length: $0.length) }
      bytes += encoded.bytes
      count += 1
    }
    affected = Int64(count)
  }

  /// Appends the rows of a result of the library.
  mutating func append(_ result: OpaquePointer) {
    let width = PQnfields(result)
    columns = Int(width)
    for row in 0..<PQntuples(result) {
      for column in 0..<width {
        guard PQgetisnull(result, row, column) == 0 else {
          cells.append(Cell(start: bytes.count, length: -1))
          continue
        }
        let length = Int(PQgetlength(result, row, column))
        cells.append(Cell(start: bytes.count, length: length))
        bytes.append(
          contentsOf: UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length))
      }
      count += 1
    }
  }

  /// Place of a value in ``bytes``; nil for NULL and outside the rows.
  private func range(_ row: Int, _ column: Int) -> Range<Int>? {
    guard row >= 0, row < count, column >= 0, column < columns else { return nil }
    let cell = cells[row * columns + column]
    return cell.length < 0 ? nil : cell.start..<(cell.start + cell.length)
  }

  /// True if the value is not NULL.
  public func has(_ row: Int, _ column: Int) -> Bool { range(row, column) != nil }

  /// An integer of 2, 4 or 8 bytes, or a timestamp in microseconds since 2000; nil for any other length and for NULL.
  public func integer(_ row: Int, _ column: Int) -> Int64? {
    range(row, column).flatMap { integer(in: $0) }
  }

  /// A boolean; nil for a value that is not one byte long and for NULL.
  public func boolean(_ row: Int, _ column: Int) -> Bool? {
    range(row, column).flatMap { $0.count == 1 ? bytes[$0.lowerBound] != 0 : nil }
  }

  /// A text, with invalid UTF-8 replaced by U+FFFD; nil for NULL.
  public func text(_ row: Int, _ column: Int) -> String? {
    range(row, column).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  /// The raw bytes of the value; nil for NULL.
  public func bytes(_ row: Int, _ column: Int) -> [UInt8]? { range(row, column).map { Array(bytes[$0]) } }

  /// An empty or one-dimensional array of integers without NULL (array_send); nil for any other value and for NULL.
  public func integers(_ row: Int, _ column: Int) -> [Int64]? {
    guard let whole = range(row, column), whole.count >= 12, let dimensions = number(at: whole.lowerBound)
    else {
      return nil
    }
    if dimensions == 0 { return [] }
    guard dimensions == 1, whole.count >= 20, let count = number(at: whole.lowerBound + 12), count >= 0 else {
      return nil
    }
    var offset = whole.lowerBound + 20
    var numbers: [Int64] = []
    numbers.reserveCapacity(min(Int(count), whole.count / 4))
    for _ in 0..<count {
      guard offset + 4 <= whole.upperBound, let length = number(at: offset), length > 0,
        offset + 4 + Int(length) <= whole.upperBound,
        let element = integer(in: (offset + 4)..<(offset + 4 + Int(length)))
      else { return nil }
      numbers.append(element)
      offset += 4 + Int(length)
    }
    return offset == whole.upperBound ? numbers : nil
  }

  /// Decodes an integer of 2, 4 or 8 bytes; nil for any other length.
  private func integer(in range: Range<Int>) -> Int64? {
    guard [2, 4, 8].contains(range.count) else { return nil }
    let bits = bytes[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let shift = UInt64(64 - range.count * 8)
    return Int64(bitPattern: bits << shift) >> Int64(shift)
  }

  /// Decodes the four-byte integer at an offset.
  private func number(at offset: Int) -> Int32? {
    integer(in: offset..<(offset + 4)).map { Int32(truncatingIfNeeded: $0) }
  }
}
