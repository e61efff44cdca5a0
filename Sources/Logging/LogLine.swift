// One log line as read: keys and values in order.
// Invariant: the parser restores the values that `LogFile` wrote, except for bytes that are not UTF-8 and for values
// that `LogValue` has cut.
// Errors: the parser returns nil for a line that is not logfmt.
import Posix

/// One line of a log: an event with its fields.
public struct LogLine: Sendable, Hashable {
  /// A key with its value, without quotes and escapes.
  public struct Field: Sendable, Hashable {
    /// ASCII letters, digits, `_`, `.` and `-`.
    public var key: String
    /// Any text.
    public var value: String

    public init(key: String, value: String) { (self.key, self.value) = (key, value) }
  }

  /// The fields in the order of the line.
  public var fields: [Field]

  public init(fields: [Field]) { self.fields = fields }

  /// The value of the first field with this key; nil if there is none.
  public subscript(key: String) -> String? { fields.first { $0.key == key }?.value }

  /// Time of the event, in milliseconds since 1970; nil without a time stamp.
  public var timestamp: Int64? { self["ts"].flatMap { Timestamp.parse($0) } }
  /// Severity; nil without one.
  public var level: LogLevel? { self["level"].flatMap { LogLevel(name: $0) } }

  /// Parses a line.
  ///
  /// - Parameter bytes: one line without its line feed.
  /// - Returns: nil if the line is not a sequence of `key=value` fields separated by single spaces. Bytes that are not
  ///   UTF-8 become U+FFFD.
  public static func parse(_ bytes: [UInt8]) -> LogLine? { parse(bytes[...]) }

  /// Parses a line within a file's bytes; see ``parse(_:)-([UInt8])``.
  public static func parse(_ bytes: ArraySlice<UInt8>) -> LogLine? {
    bytes.withUnsafeBufferPointer { bytes in
      var scan = LogLineScan(bytes: bytes)
      return scan.line()
    }
  }
}

/// Parser of one line.
private struct LogLineScan {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// The line; nil if it is not logfmt.
  mutating func line() -> LogLine? {
    var fields: [LogLine.Field] = []
    fields.reserveCapacity(12)
    while true {
      guard let key = key(), let value = value() else { return nil }
      fields.append(LogLine.Field(key: key, value: value))
      if position == bytes.count { return LogLine(fields: fields) }
      guard next == UInt8(ascii: " ") else { return nil }
      position += 1
    }
  }

  /// Reads a key and the `=` after it; nil if these are not next.
  private mutating func key() -> String? {
    let begin = position
    while let byte = next, LogLine.isKeyByte(byte) { position += 1 }
    guard position > begin, next == UInt8(ascii: "=") else { return nil }
    defer { position += 1 }
    return text(begin..<position)
  }

  /// Reads a value, with or without quotes; nil if it is missing or invalid.
  private mutating func value() -> String? {
    guard next == UInt8(ascii: "\"") else {
      let begin = position
      while let byte = next, LogValue.isPlain(byte) { position += 1 }
      // An empty value is written in quotes. A missing value is invalid.
      return position > begin ? text(begin..<position) : nil
    }
    position += 1
    return quoted()
  }

  /// Reads the rest of a value in quotes; nil if the closing quote is missing or an escape is invalid.
  private mutating func quoted() -> String? {
    let begin = position
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
    // A value without escapes is copied in one piece.
    if next == UInt8(ascii: "\"") {
      defer { position += 1 }
      return text(begin..<position)
    }
    var value = Array(bytes[begin..<position])
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
      case UInt8(ascii: "\\"): guard unescape(into: &value) else { return nil }
      default: value.append(byte)
      }
    }
    return nil
  }

  /// Reads the rest of an escape; false if it is invalid.
  private mutating func unescape(into value: inout [UInt8]) -> Bool {
    guard let kind = next else { return false }
    position += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): value.append(kind)
    case UInt8(ascii: "n"): value.append(UInt8(ascii: "\n"))
    case UInt8(ascii: "r"): value.append(UInt8(ascii: "\r"))
    case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
    case UInt8(ascii: "x"):
      guard let byte = hexadecimal(digits: 2) else { return false }
      value.append(UInt8(truncatingIfNeeded: byte))
    case UInt8(ascii: "u"):
      guard let number = hexadecimal(digits: 4), let scalar = Unicode.Scalar(number) else { return false }
      value.append(contentsOf: UTF8.encode(scalar)!)
    default: return false
    }
    return true
  }

  /// Reads this many lower-case hexadecimal digits as a number; nil if there are fewer.
  private mutating func hexadecimal(digits: Int) -> UInt32? {
    guard position + digits <= bytes.count else { return nil }
    var number: UInt32 = 0
    for _ in 0..<digits {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt32(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}

extension LogLine {
  /// True if a byte is allowed in a key.
  static func isKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// Parser of the time stamp of a line.
enum LogTime {
  private static let key = Array("ts=".utf8)

  /// The time stamp of a line in milliseconds since 1970 UTC; nil if it has none.
  ///
  /// A stamp at the start of a line counts even if the rest of the line was cut.
  static func stamp(of line: [UInt8]) -> Int64? {
    if line.starts(with: key) {
      return Timestamp.parse(Array(line[key.count...].prefix { $0 != UInt8(ascii: " ") }))
    }
    return LogLine.parse(line)?.timestamp
  }
}
