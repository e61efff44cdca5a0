// Name of a ticket's order at the stock. It consists of the identity of the bank's database, the ticket's day
// and number, and the time at which the ticket was issued.
// Invariant: no other database produces the same name. Nor does a later ticket with the same number in an
// older copy of this database, because it was issued at another time. Tickets from before the database had an
// identity keep their old names.

import Time

/// Identity of a bank's database, which is part of the names of its orders at the stock.
public struct BooksName: Hashable, Sendable {
  /// A number that is drawn once.
  public var number: Int64
  /// The first day, and the first ticket of that day, whose orders contain the number.
  public var day: BusinessDay
  /// See ``day``.
  public var ticket: TicketNumber

  public init(number: Int64, day: BusinessDay, ticket: TicketNumber) {
    (self.number, self.day, self.ticket) = (number, day, ticket)
  }

  /// A database without an identity: all orders are named by day and number alone.
  public static let none = BooksName(number: 0, day: .max, ticket: .max)

  /// Purpose of an order, as far as its name shows it.
  public enum Origin: Hashable, Sendable {
    /// A ticket of this database, or of another copy of it.
    case own(day: BusinessDay, ticket: TicketNumber)
    case others
    /// No ticket: a person, or the vending machine.
    case none
  }

  /// Common prefix of all order names that contain the number.
  public var prefix: String { "b\(String(UInt64(bitPattern: number), radix: 16, digits: 16))-" }

  /// Order name of a ticket.
  public func order(day: BusinessDay, ticket: TicketNumber, issuedAt: WallTime) -> OrderID {
    guard covers(day, ticket) else { return OrderID(day: day, ticket: ticket) }
    return OrderID("\(prefix)\(day)-\(ticket)-\(String(issuedAt.milliseconds, radix: 36))")
  }

  /// Order name of a finished ticket.
  public func order(of receipt: Receipt) -> OrderID {
    order(day: receipt.day, ticket: receipt.ticket, issuedAt: receipt.issuedAt)
  }

  /// Parses the purpose of an order from its name.
  public func origin(of order: OrderID) -> Origin {
    let parts = order.text.split(separator: "-", omittingEmptySubsequences: false)
    if parts.count == 2, let day = Int64(parts[0]), let ticket = Int64(parts[1]),
      order == OrderID(day: day, ticket: ticket)
    {
      return covers(day, ticket) ? .others : .own(day: day, ticket: ticket)
    }
    guard parts.count == 4, parts[0].count == 17, parts[0].first == "b",
      let number = UInt64(parts[0].dropFirst(), radix: 16), let day = Int64(parts[1]),
      let ticket = Int64(parts[2])
    else { return .none }
    return Int64(bitPattern: number) == self.number ? .own(day: day, ticket: ticket) : .others
  }

  private func covers(_ day: BusinessDay, _ ticket: TicketNumber) -> Bool {
    (day, ticket) >= (self.day, self.ticket)
  }
}
