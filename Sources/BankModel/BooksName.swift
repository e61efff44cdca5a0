// Owns how a ticket's order at the stock is called: by the books in which the ticket stands, its day and number, and the
// moment at which it was issued. It knows no disk.
// Invariant: no other books give the same name, nor does a later ticket of the same number in an older copy of these
// books: that one was issued at another moment. Tickets from before the books had a name keep the names that they had.

import Time

/// The name of a bank's books, which its orders at the stock carry.
public struct BooksName: Hashable, Sendable {
  /// The number, drawn once.
  public var number: Int64
  /// The first day, and the first ticket of it, whose orders carry the number.
  public var day: BusinessDay
  /// See ``day``.
  public var ticket: TicketNumber

  public init(number: Int64, day: BusinessDay, ticket: TicketNumber) {
    (self.number, self.day, self.ticket) = (number, day, ticket)
  }

  /// Books that were never given a name: all orders are called by day and number alone.
  public static let none = BooksName(number: 0, day: .max, ticket: .max)

  /// What an order was made for, as far as its name tells.
  public enum Origin: Hashable, Sendable {
    /// A ticket of these books, or of another copy of them.
    case own(day: BusinessDay, ticket: TicketNumber)
    case others
    /// No ticket: a person, or the vending machine.
    case none
  }

  /// With what the names of all orders begin that carry the number.
  public var prefix: String { "b\(String(UInt64(bitPattern: number), radix: 16, digits: 16))-" }

  /// The name of the order of a ticket.
  public func order(day: BusinessDay, ticket: TicketNumber, issuedAt: WallTime) -> OrderID {
    guard covers(day, ticket) else { return OrderID(day: day, ticket: ticket) }
    return OrderID("\(prefix)\(day)-\(ticket)-\(String(issuedAt.milliseconds, radix: 36))")
  }

  /// The name of the order of a ticket that has ended.
  public func order(of receipt: Receipt) -> OrderID {
    order(day: receipt.day, ticket: receipt.ticket, issuedAt: receipt.issuedAt)
  }

  /// For what an order was made.
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
