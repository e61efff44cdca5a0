// Owns who stands where in one business day, as the checker has followed it: a second opinion, made of plain tables.
// It must not know leases or tellers. Invariant: each line is in the order of its numbers and holds those who wait, whose
// tickets are spoken, and who are at no window.
import BankModel

struct QueueView {
  var day: BusinessDay
  var lastTicket: TicketNumber = 0
  var customers: [TicketNumber: Customer] = [:]
  var states: [TicketNumber: CustomerState] = [:]
  /// Those whose tickets are not on disk.
  var newcomers: [TicketNumber] = []
  private var standing = [[TicketNumber]](repeating: [], count: Line.allCases.count)

  init(day: BusinessDay) { self.day = day }

  mutating func stand(_ customer: Customer) {
    let line = customer.line.index
    var place = standing[line].count
    while place > 0, standing[line][place - 1] > customer.ticket { place -= 1 }
    standing[line].insert(customer.ticket, at: place)
  }

  mutating func leaveLine(_ customer: Customer) -> Bool {
    let line = customer.line.index
    guard let place = standing[line].firstIndex(of: customer.ticket) else { return false }
    standing[line].remove(at: place)
    return true
  }

  func first(of service: Service) -> TicketNumber? {
    for grade in Grade.allCases {
      if let ticket = standing[Line(service: service, grade: grade).index].first { return ticket }
    }
    return nil
  }

  mutating func settleNewcomers(through last: TicketNumber) {
    for ticket in newcomers where ticket <= last { if let customer = customers[ticket] { stand(customer) } }
    newcomers.removeAll { $0 <= last }
  }

  /// The request that was half taken in is given up: its customers never had a ticket.
  mutating func dropArriving() {
    for ticket in newcomers where ticket > lastTicket {
      customers[ticket] = nil
      states[ticket] = nil
    }
    newcomers.removeAll { $0 > lastTicket }
  }

  mutating func dropNewcomers() {
    for ticket in newcomers {
      customers[ticket] = nil
      states[ticket] = nil
    }
    lastTicket -= TicketNumber(newcomers.count { $0 <= lastTicket })
    newcomers.removeAll()
  }

  mutating func begin(day: BusinessDay) { self = QueueView(day: day) }

  var summary: String {
    let counts = [CustomerState.waiting, .delayed, .serving, .dead].map { state in
      "\(states.values.count { $0 == state }) \(state.name)"
    }
    return counts.joined(separator: ", ")
  }
}
