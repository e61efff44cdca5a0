// Key of a stored customer: state, line and ticket packed into one integer, in the order of the lists.
// Invariant: no two customers share a position, and positions of one line ascend with the ticket. Tickets are clamped,
// so that no number can reach into another line.

import BankModel

/// Key of a customer's row: `state << 60 | line << 40 | ticket`. The number of a line comes from ``LineNumbers``.
struct CustomerPosition: Equatable {
  /// Packed key; always positive.
  let key: Int64

  /// The highest ticket that fits; above `Limits.ticket`.
  static let highestTicket: TicketNumber = 1 << 40 - 1
  static let keptStates: [CustomerState] = [.waiting, .delayed, .dead]

  /// Creates the position of a ticket in a list; the ticket is clamped.
  init(_ state: CustomerState, _ line: Int64, _ ticket: TicketNumber) {
    key = Int64(state.rawValue) << 60 | line << 40 | min(max(ticket, 0), Self.highestTicket)
  }

  init(key: Int64) { self.key = key }

  static func keys(of state: CustomerState) -> ClosedRange<Int64> {
    let first = Int64(state.rawValue) << 60
    return first...first | (1 << 60 - 1)
  }

  var ticket: TicketNumber { key & Self.highestTicket }
  /// Number of the line.
  var line: Int64 { key >> 40 & LineNumbers.highest }
  var state: CustomerState? {
    switch key >> 60 {
    case 1: .waiting
    case 2: .delayed
    case 3: .dead
    default: nil
    }
  }
}
