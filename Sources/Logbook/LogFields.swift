// Owns the fields of one line while an event is being written: keys from the program, values from anywhere.
// Keys are static, so a key can never hold what a line cannot. Invariant: every call appends one whole
// ` key=value`; nothing written here ends a line. Failure: none; see `LogValue` for odd values.

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

  /// Adds a text around a number.
  public mutating func field(_ key: StaticString, _ sentence: LogSentence, _ number: Int64) {
    append(key: key)
    sentence.append(number, to: &bytes)
  }

  /// Adds fields that were written before.
  public mutating func fields(_ fragment: LogFragment) { bytes.append(contentsOf: fragment.bytes) }

  /// Adds bytes that should be UTF-8 and need not be.
  public mutating func field(_ key: StaticString, bytes value: [UInt8]) {
    append(key: key)
    value.withUnsafeBufferPointer { LogValue.append(bytes: $0, to: &bytes) }
  }

  mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(key: StaticString) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.utf8CodeUnitCount + 2) { room in
      Self.write(key, endingAt: room.count, in: room)
      bytes.append(contentsOf: room)
    }
  }

  /// The key and a number in one piece: nearly every field is one, and whether there is room is asked once.
  private mutating func append(_ key: StaticString, _ number: Int64) {
    let longest = key.utf8CodeUnitCount + 2 + LogValue.longestNumber
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { room in
      let digits = LogValue.write(number, endingAt: room.count, in: room)
      let start = Self.write(key, endingAt: digits, in: room)
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: room[start...]))
    }
  }

  /// Writes ` key=` into room, up to a place; where it begins.
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

/// Fields that stand in more than one line, written once.
public struct LogFragment: Sendable {
  fileprivate private(set) var bytes: [UInt8] = []

  public init() {}

  /// Writes other fields in the place of these.
  public mutating func replace(_ fill: (inout LogFields) -> Void) {
    var fields = LogFields(continuing: [])
    swap(&fields.bytes, &bytes)
    fields.bytes.removeAll(keepingCapacity: true)
    fill(&fields)
    swap(&fields.bytes, &bytes)
  }
}

/// A text around a number, ready to be written: `customer ` 12 `: deposit started`.
public struct LogSentence: Sendable {
  /// The halves as they stand in quotes, each with the quote on its outer side.
  private let before, after: [UInt8]

  /// A sentence of what stands before the number and what stands after it.
  public init(before: String, after: String) {
    self.before = LogValue.quoted(before).dropLast()
    self.after = Array(LogValue.quoted(after).dropFirst())
  }

  func append(_ number: Int64, to line: inout [UInt8]) {
    line.append(contentsOf: before)
    LogValue.append(number, to: &line)
    line.append(contentsOf: after)
  }
}
