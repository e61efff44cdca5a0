// Fields of one log line while it is written. Values are arbitrary. Keys are string literals and are not escaped.
// Invariant: a public call appends whole ` key=value` fields without a line feed.
// Errors: none; `LogValue` escapes unusual values.

/// Collects the fields of one event; see ``LogFile/write(event:level:at:_:)``.
public struct LogFields {
  var bytes: [UInt8]

  init(continuing bytes: consuming [UInt8]) { self.bytes = bytes }

  /// Adds a whole number.
  public mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
    if let number = Int64(exactly: value) { return append(key, number) }
    append(key: key)
    LogValue.append(String(value), to: &bytes)
  }

  /// Adds a text; nil adds nothing.
  public mutating func field(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    append(key: key)
    LogValue.append(value, to: &bytes)
  }

  /// Adds a preformatted text that contains a number.
  public mutating func field(_ key: StaticString, _ sentence: LogMessageTemplate, _ number: Int64) {
    append(key: key)
    sentence.append(number, to: &bytes)
  }

  /// Adds fields that were formatted before.
  public mutating func fields(_ fragment: LogFragment) { bytes.append(contentsOf: fragment.bytes) }

  /// Adds bytes, usually UTF-8. Invalid bytes are escaped.
  public mutating func field(_ key: StaticString, bytes value: [UInt8]) {
    append(key: key)
    value.withUnsafeBufferPointer { LogValue.append(bytes: $0, to: &bytes) }
  }

  /// Appends text as it is.
  mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends ` key=`.
  private mutating func append(key: StaticString) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.utf8CodeUnitCount + 2) { room in
      Self.write(key, endingAt: room.count, in: room)
      bytes.append(contentsOf: room)
    }
  }

  /// Appends key and number in one piece, so that the capacity is checked once.
  private mutating func append(_ key: StaticString, _ number: Int64) {
    let longest = key.utf8CodeUnitCount + 2 + LogValue.longestNumber
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { room in
      let digits = LogValue.write(number, endingAt: room.count, in: room)
      let start = Self.write(key, endingAt: digits, in: room)
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: room[start...]))
    }
  }

  /// Writes ` key=` into `room` before the index `end`. Returns its start index.
  @discardableResult
  private static func write(
    _ key: StaticString, endingAt end: Int, in room: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    let count = key.utf8CodeUnitCount
    let start = end - count - 2
    room[start] = UInt8(ascii: " ")
    room[end - 1] = UInt8(ascii: "=")
    _ = UnsafeMutableBufferPointer(rebasing: room[start + 1..<end - 1])
      .update(fromContentsOf: UnsafeBufferPointer(start: key.utf8Start, count: count))
    return start
  }
}

/// Fields that are formatted once and added to several lines.
public struct LogFragment: Sendable {
  fileprivate private(set) var bytes: [UInt8] = []

  public init() {}

  /// Replaces the fields by those that `fill` adds.
  public mutating func replace(_ fill: (inout LogFields) -> Void) {
    var fields = LogFields(continuing: [])
    swap(&fields.bytes, &bytes)
    fields.bytes.removeAll(keepingCapacity: true)
    fill(&fields)
    swap(&fields.bytes, &bytes)
  }
}

/// A preformatted text with a place for a number, such as `customer 12: deposit started`.
public struct LogMessageTemplate: Sendable {
  /// The two parts in quoted form. Each has only its outer quote.
  private let before, after: [UInt8]

  /// Quotes and escapes both texts once, so that adding a number to a line needs no escaping.
  public init(before: String, after: String) {
    self.before = LogValue.quoted(before).dropLast()
    self.after = Array(LogValue.quoted(after).dropFirst())
  }

  /// Appends the text with this number.
  func append(_ number: Int64, to line: inout [UInt8]) {
    line.append(contentsOf: before)
    LogValue.append(number, to: &line)
    line.append(contentsOf: after)
  }
}
