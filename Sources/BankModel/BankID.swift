// Name of a ticket's order at the stock. It consists of the identity of the bank's database, the ticket's day and
// number, and the time at which the ticket was issued.
// The issue time distinguishes the new ticket if an older copy of the database issues a ticket number again. Tickets
// that were issued before the database had an identity have a shorter name: day and ticket.

import Time

/// Identity of a bank's database, which is part of the names of its orders at the stock.
public struct BankID: Hashable, Sendable {
  /// Random number, drawn once for each database.
  public var number: Int64
  /// Business day of the first ticket whose order name contains ``number``.
  public var day: BusinessDay
  /// Number of the first ticket on ``day`` whose order name contains ``number``.
  public var ticket: TicketNumber

  public init(number: Int64, day: BusinessDay, ticket: TicketNumber) {
    (self.number, self.day, self.ticket) = (number, day, ticket)
  }

  /// A database without an identity: the order names consist of day and ticket number alone.
  public static let none = BankID(number: 0, day: .max, ticket: .max)

  /// Database whose ticket an order at the stock belongs to, as far as the name of the order shows it.
  public enum Origin: Hashable, Sendable {
    /// A ticket of this database, or of another copy of it.
    case own(day: BusinessDay, ticket: TicketNumber)
    /// A ticket of another database.
    case others
    /// Not a ticket's order, for example an order of an operator or of the vending machine.
    case none
  }

  /// Common prefix of all order names that contain ``number``.
  public var prefix: String { "b\(String(UInt64(bitPattern: number), radix: 16, digits: 16))-" }

  /// Name of a ticket's order at the stock.
  public func order(day: BusinessDay, ticket: TicketNumber, issuedAt: WallTime) -> OrderID {
    guard covers(day, ticket) else { return OrderID(day: day, ticket: ticket) }
    return OrderID("\(prefix)\(day)-\(ticket)-\(String(issuedAt.milliseconds, radix: 36))")
  }

  /// Name of a finished ticket's order at the stock.
  public func order(of receipt: Receipt) -> OrderID {
    order(day: receipt.day, ticket: receipt.ticket, issuedAt: receipt.issuedAt)
  }

  /// Determines from its name to which database the ticket of an order belongs.
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

  /// True if the ticket was issued when the database had an identity, so that its order name contains ``number``.
  private func covers(_ day: BusinessDay, _ ticket: TicketNumber) -> Bool {
    (day, ticket) >= (self.day, self.ticket)
  }
}
