// Owns how the counts of a day by line and by service are written in its row, as one JSON text each: a commit changes one
// row, and whoever looks with sqlite3 can read it (json_each). It knows no database.
// Invariant: what was not written here is refused when it is read, and never traps.

import BankModel
import QueueCore

enum DayCounts {
  /// `{"4352":3,"4608":1}`: customers in line by the number of the line; those of empty lines are left out.
  static func write(_ waiting: LineCounts, _ lines: LineNumbers) -> [UInt8] {
    var text = DigitText(open: "{")
    for (line, count) in waiting.occupied {
      guard let number = lines[line] else {
        preconditionFailure("somebody stands in a line without a number")
      }
      text.append(number, asKeyOf: count)
    }
    return text.closed(by: "}")
  }

  /// `[3,1,0]`, in the order of the services' numbers.
  static func write(_ counts: [Int64]) -> [UInt8] {
    var text = DigitText(open: "[")
    for count in counts { text.append(count) }
    return text.closed(by: "]")
  }

  /// All the numbers of such a text in their order; nil where it is none.
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

private struct DigitText {
  private var bytes: [UInt8]

  init(open bracket: Unicode.Scalar) { bytes = [UInt8(ascii: bracket)] }

  mutating func append(_ number: Int64) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    appendDigits(of: number)
  }

  mutating func append(_ key: Int64, asKeyOf number: Int64) {
    bytes.append(
      contentsOf: bytes.count > 1 ? [UInt8(ascii: ","), UInt8(ascii: "\"")] : [UInt8(ascii: "\"")])
    appendDigits(of: key)
    bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    appendDigits(of: number)
  }

  private mutating func appendDigits(of number: Int64) {
    let start = bytes.count
    var rest = number.magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }

  func closed(by bracket: Unicode.Scalar) -> [UInt8] { bytes + [UInt8(ascii: bracket)] }
}
