// What a person has confirmed, as the form of the question carries it: how many, up to which ticket, on which day.
// Invariant: the digits of a confirmation read as the same confirmation; anything else reads as none.
import BankModel

/// The binding of a confirmation: it holds for this many tickets, up to this number, on this day.
public struct Confirmed: Sendable, Equatable {
  /// The number of tickets that the question named.
  public var count: Int64
  /// The highest ticket that had been issued then.
  public var last: TicketNumber
  /// The business day of the tickets.
  public var day: BusinessDay

  public init(count: Int64, last: TicketNumber, day: BusinessDay) {
    (self.count, self.last, self.day) = (count, last, day)
  }

  private static let width = 19

  /// Digits alone, so that every client that sends the number back sends all of it.
  public var digits: String { "\(count)\(Self.padded(last))\(Self.padded(day))" }

  /// The confirmation of some digits; nil for anything else.
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

  private static func padded(_ number: Int64) -> String {
    let digits = String(max(0, number))
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    Int64(String(decoding: digits, as: UTF8.self))
  }
}
