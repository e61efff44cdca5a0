// Contents of a confirmation as its form sends them: number of tickets, highest ticket, day.
// Invariant: the digits of a confirmation with positive numbers parse to an equal confirmation. Numbers that are not
// positive are rejected.
import BankModel

/// What a user confirmed: a number of tickets, the highest possible ticket, and their business day.
public struct ConfirmationToken: Sendable, Equatable {
  /// Number of tickets in the confirmation.
  public var count: Int64
  /// Highest ticket to which the command may apply.
  public var last: TicketNumber
  /// Business day of the tickets.
  public var day: BusinessDay

  public init(count: Int64, last: TicketNumber, day: BusinessDay) {
    (self.count, self.last, self.day) = (count, last, day)
  }

  /// Number of digits of the ticket and of the day.
  private static let width = 19

  /// All three values as one string of digits, so that a client that returns only this field returns all of them. The
  /// ticket and the day have a fixed number of digits.
  public var digits: String { "\(count)\(Self.padded(last))\(Self.padded(day))" }

  /// Parses a confirmation; nil for any other text.
  public init?(digits: some StringProtocol) {
    let bytes = Array(digits.utf8)
    guard bytes.count > 2 * Self.width, bytes.count <= 3 * Self.width,
      bytes.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    let (dayBegin, lastBegin) = (bytes.count - Self.width, bytes.count - 2 * Self.width)
    guard let count = Self.number(bytes[..<lastBegin]), let last = Self.number(bytes[lastBegin..<dayBegin]),
      let day = Self.number(bytes[dayBegin...]), count > 0, last > 0, day > 0
    else { return nil }
    self.init(count: count, last: last, day: day)
  }

  /// A number with leading zeros; a negative one counts as 0.
  private static func padded(_ number: Int64) -> String {
    let digits = String(max(0, number))
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// Parses a number; nil if it does not fit in 64 bits.
  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    Int64(String(decoding: digits, as: UTF8.self))
  }
}
