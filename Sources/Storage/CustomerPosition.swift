// Owns the key of a kept customer: state, line and ticket packed into one integer whose order is the order of the
// lists. It knows no database. Invariant: two different customers never share a position, and positions of one line
// rise with the ticket. Tickets from outside are clamped, so that no number can reach into another line.

import BankModel

/// The key of a customer's row: `state << 60 | service << 52 | grade << 48 | ticket`.
struct CustomerPosition: Equatable {
  /// The packed key; always positive.
  let key: Int64

  /// The highest ticket that fits; above `Limits.ticket`.
  static let highestTicket: TicketNumber = 1 << 48 - 1
  static let keptStates: [CustomerState] = [.waiting, .delayed, .dead]

  /// The position of a ticket in a list; the ticket is clamped to what fits.
  init(_ state: CustomerState, _ line: Line, _ ticket: TicketNumber) {
    key =
      Int64(state.rawValue) << 60 | Int64(line.service.rawValue) << 52 | Int64(line.grade.rawValue) << 48
      | min(max(ticket, 0), Self.highestTicket)
  }

  init(key: Int64) { self.key = key }

  static func keys(of state: CustomerState) -> ClosedRange<Int64> {
    let first = Int64(state.rawValue) << 60
    return first...first | (1 << 60 - 1)
  }

  var ticket: TicketNumber { key & Self.highestTicket }
  var state: CustomerState? {
    switch key >> 60 {
    case 1: .waiting
    case 2: .delayed
    case 3: .dead
    default: nil
    }
  }
  var line: Line? {
    guard let service = Service(rawValue: UInt8(truncatingIfNeeded: key >> 52)),
      let grade = Grade(rawValue: UInt8(truncatingIfNeeded: key >> 48) & 15)
    else { return nil }
    return Line(service: service, grade: grade)
  }
}
