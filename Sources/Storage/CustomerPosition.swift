// Owns the key of a kept customer: state, line and ticket packed into one integer whose order is the order of the
// lists. It knows no database. Invariant: two different customers never share a position, and positions of one line
// rise with the ticket. Tickets from outside are clamped, so that no number can reach into another line.

import BankModel

/// The key of a customer's row: `state << 60 | line << 40 | ticket`; what number a line has is for ``LineNumbers`` to say.
struct CustomerPosition: Equatable {
  /// The packed key; always positive.
  let key: Int64

  /// The highest ticket that fits; above `Limits.ticket`.
  static let highestTicket: TicketNumber = 1 << 40 - 1
  static let keptStates: [CustomerState] = [.waiting, .delayed, .dead]

  /// The position of a ticket in a list; the ticket is clamped to what fits.
  init(_ state: CustomerState, _ line: Int64, _ ticket: TicketNumber) {
    key = Int64(state.rawValue) << 60 | line << 40 | min(max(ticket, 0), Self.highestTicket)
  }

  init(key: Int64) { self.key = key }

  static func keys(of state: CustomerState) -> ClosedRange<Int64> {
    let first = Int64(state.rawValue) << 60
    return first...first | (1 << 60 - 1)
  }

  var ticket: TicketNumber { key & Self.highestTicket }
  /// The number of the line.
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
