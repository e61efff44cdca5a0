// JSON form of a day's counts by line and by service. Each is one text in the row of the day, so a commit
// changes one row. The texts are readable with sqlite3 (json_each).
// Invariant: a text with an unexpected character, or with a number above `Int64.max`, is rejected.

import BankModel
import QueueCore

/// JSON text of counts in the row of a day.
enum DayCounterText {
  /// Writes the waiting customers by the number of the line, without empty lines: `{"4352":3,"4608":1}`.
  static func write(_ waiting: LineCounts, _ lines: LineNumbers) -> [UInt8] {
    var text = DecimalTextWriter(open: "{", room: 16 * waiting.lines.count)
    for (place, line) in waiting.lines.enumerated() where waiting[place] != 0 {
      guard let number = lines[line] else {
        preconditionFailure("a customer waits in a line without a number")
      }
      text.append(number, asKeyOf: waiting[place])
    }
    text.close(by: "}")
    return text.bytes
  }

  /// Writes counts in the order of the services' numbers: `[3,1,0]`. Trailing zeros after those of the built-in
  /// services are omitted, because a bank may have had many services, and this text is written often.
  static func write(_ counts: some Collection<Int64>) -> [UInt8] {
    var told = ServiceName.branch.count
    for (place, count) in counts.enumerated() where count != 0 && place >= told { told = place + 1 }
    var text = DecimalTextWriter(open: "[", room: 8 * min(told, counts.count))
    for count in counts.prefix(told) { text.append(count) }
    text.close(by: "]")
    return text.bytes
  }

  /// All numbers of a stored text, in order; nil if the text is invalid. The order of brackets and commas is not
  /// checked.
  static func numbers(in text: [UInt8]) -> [Int64]? {
    var numbers: [Int64] = []
    var number: Int64?
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let (product, isTooLarge) = (number ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, isTooLargeThen) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
        if isTooLarge || isTooLargeThen { return nil }
        number = sum
      case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""),
        UInt8(ascii: ":"), UInt8(ascii: ","):
        if let number { numbers.append(number) }
        number = nil
      default: return nil
      }
    }
    return number == nil ? numbers : nil
  }
}

/// Cache of the counts and pauses by service that were bound last. A statement keeps its bound values, and while
/// customers only arrive, these values do not change.
struct ServiceCountCache {
  /// Statement with the cached values; nil for none.
  private var bound: OpaquePointer?
  private var counts: (served: [Int64], paused: [Bool]) = ([], [])

  /// Binds both texts to the parameter `first` and the next one, unless they are already bound.
  mutating func bind(_ dayCounters: DayCounters, to statement: Statement, from first: Int32)
    throws(StoreError)
  {
    let isKept = bound == statement.handle
    bound = nil
    if !isKept || dayCounters.servedByService != counts.served {
      try statement.bind(first, utf8: DayCounterText.write(dayCounters.servedByService))
      counts.served = dayCounters.servedByService
    }
    if !isKept || dayCounters.paused != counts.paused {
      try statement.bind(first + 1, utf8: DayCounterText.write(dayCounters.paused.lazy.map { $0 ? 1 : 0 }))
      counts.paused = dayCounters.paused
    }
    bound = statement.handle
  }
}

/// Writer of a JSON array or object of numbers. Its capacity is reserved first, because a text is written often.
private struct DecimalTextWriter {
  private(set) var bytes: [UInt8] = []

  init(open bracket: Unicode.Scalar, room: Int) {
    bytes.reserveCapacity(2 + room)
    bytes.append(UInt8(ascii: bracket))
  }

  /// Adds an element of an array.
  mutating func append(_ number: Int64) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    appendDigits(of: number)
  }

  /// Adds a member of an object.
  mutating func append(_ key: Int64, asKeyOf number: Int64) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    appendDigits(of: key)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    appendDigits(of: number)
  }

  /// Adds the decimal digits of a number, without a sign.
  private mutating func appendDigits(of number: Int64) {
    // The highest digit is written first. The divisor is at most 10¹⁸, which fits into 64 bits.
    var unit: UInt64 = 1
    while number.magnitude / unit >= 10 { unit *= 10 }
    while unit > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number.magnitude / unit % 10))
      unit /= 10
    }
  }

  mutating func close(by bracket: Unicode.Scalar) { bytes.append(UInt8(ascii: bracket)) }
}
