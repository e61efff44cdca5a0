// Parameter values of a statement and their encoding: all are binary (PostgreSQL's "send" formats), so that no number
// is formatted and parsed as text.
// Invariant: the bytes of a call are in one buffer, and a parameter is a range of it. Encoding cannot fail.

/// Parameter types, by the type OIDs that are the same on every server (pg_type.dat).
public enum PostgresType: UInt32, Sendable, Hashable {
  case boolean = 16
  case bytes = 17
  /// bigint
  case integer = 20
  case text = 25
  /// bytea[]
  case manyBytes = 1001
  /// text[]
  case texts = 1009
  /// bigint[]
  case integers = 1016
}

/// A parameter value of a statement.
public enum PostgresValue: Sendable, Hashable {
  case null
  case boolean(Bool)
  case integer(Int64)
  /// The server rejects a text with a zero byte, and with it the whole segment.
  case text(String)
  case bytes([UInt8])
  case integers([Int64])
  /// Nil is NULL.
  case texts([String?])
  /// Nil is NULL.
  case manyBytes([[UInt8]?])
}

/// Encoded parameters of one call.
struct PostgresParameters {
  /// The encoded values, one after the other.
  private(set) var bytes: [UInt8] = []
  /// Start and length of each parameter in ``bytes``; the length is -1 for NULL.
  private(set) var cells: [(start: Int, length: Int)] = []

  init(_ values: [PostgresValue]) {
    cells.reserveCapacity(values.count)
    for value in values {
      let start = bytes.count
      if case .null = value {
        cells.append((start, -1))
        continue
      }
      append(value)
      cells.append((start, bytes.count - start))
    }
  }

  /// Appends the binary encoding of a value; nothing for NULL.
  private mutating func append(_ value: PostgresValue) {
    switch value {
    case .null: break
    case .boolean(let isTrue): bytes.append(isTrue ? 1 : 0)
    case .integer(let number): append(number)
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .bytes(let content): bytes.append(contentsOf: content)
    case .integers(let numbers):
      beginArray(of: .integer, count: numbers.count, hasNull: false)
      bytes.reserveCapacity(bytes.count + numbers.count * 12)
      for number in numbers {
        append(Int32(8))
        append(number)
      }
    case .texts(let texts):
      beginArray(of: .text, count: texts.count, hasNull: texts.contains(nil))
      for text in texts { appendElement(text?.utf8) }
    case .manyBytes(let contents):
      beginArray(of: .bytes, count: contents.count, hasNull: contents.contains(nil))
      for content in contents { appendElement(content) }
    }
  }

  /// Appends the header of a one-dimensional array with lower bound 1 (array_send).
  private mutating func beginArray(of type: PostgresType, count: Int, hasNull: Bool) {
    append(Int32(count == 0 ? 0 : 1))
    append(Int32(hasNull ? 1 : 0))
    append(Int32(bitPattern: type.rawValue))
    guard count > 0 else { return }
    append(Int32(truncatingIfNeeded: count))
    append(Int32(1))
  }

  /// Appends an element of an array: its length and its bytes, or the length -1 for NULL.
  private mutating func appendElement(_ content: (some Collection<UInt8>)?) {
    guard let content else { return append(Int32(-1)) }
    append(Int32(truncatingIfNeeded: content.count))
    bytes.append(contentsOf: content)
  }

  /// Appends an integer in network byte order.
  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
