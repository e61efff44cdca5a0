// Key of a stored customer: state, line and ticket packed into one integer, so that the rows of a line are in
// ticket order.
// Invariant: the positions of one line ascend with the ticket. Tickets are clamped, so that no ticket changes the
// bits of the line.

import BankModel

/// Key of a customer's row: `state << 60 | line << 40 | ticket`. ``LineNumbers`` assigns the number of a line.
struct CustomerPosition: Equatable {
  /// Packed key; positive unless it was read from an invalid row.
  let key: Int64

  /// The highest ticket that fits into a key.
  static let highestTicket: TicketNumber = 1 << 40 - 1
  /// States of customers that have a row.
  static let storedStates: [CustomerState] = [.waiting, .delayed, .dead]

  /// Makes the key of a ticket in a state and a line. The ticket is clamped.
  init(_ state: CustomerState, _ line: Int64, _ ticket: TicketNumber) {
    key = Int64(state.rawValue) << 60 | line << 40 | min(max(ticket, 0), Self.highestTicket)
  }

  /// Makes a position from a stored key, which may be invalid.
  init(key: Int64) { self.key = key }

  /// All keys of customers in this state.
  static func keys(of state: CustomerState) -> ClosedRange<Int64> {
    let first = Int64(state.rawValue) << 60
    return first...first | (1 << 60 - 1)
  }

  var ticket: TicketNumber { key & Self.highestTicket }
  /// Number of the line.
  var line: Int64 { key >> 40 & LineNumbers.highest }
  /// State of the customer; nil if the key is invalid.
  var state: CustomerState? {
    switch key >> 60 {
    case 1: .waiting
    case 2: .delayed
    case 3: .dead
    default: nil
    }
  }
}
