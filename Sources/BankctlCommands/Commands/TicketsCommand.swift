// `tickets`: lists of the customers that are waiting, serving, delayed or dead letters.
// Without options and as text, the lists of waiting and serving customers are printed even if they are empty.
import BankModel
import Posix
import Wire

/// Implementation of `bankctl tickets`.
enum TicketsCommand {
  /// Prints the requested lists of customers.
  static func run(_ session: Session) throws(CommandError) {
    let state = session.invocation.text("state").flatMap { CustomerState(name: $0) }
    var query = TicketQuery(
      state: state, after: session.invocation.integer("after"), limit: session.invocation.integer("limit"))
    if let name = session.invocation.text("service") { query.service = try session.service(named: name) }
    let list = TicketList(session)
    if query.isByNumber { return try inOrder(query, list, session) }
    var left: [CustomerState?] =
      session.asJSON ? [state] : state.map { [$0] } ?? [.waiting, .serving, .delayed, .dead]
    try CoordinatorClient.withReadableBank(session, resumes: true) { coordinator throws(CommandError) in
      list.begin()
      while let next = left.first {
        try list.print(next, isAsked: state == next, at: coordinator)
        left.removeFirst()
      }
    }
    try session.output.flush()
  }

  /// Prints one list ordered by ticket number, as `--service`, `--after` and `--limit` require; resumes after a
  /// reconnect.
  private static func inOrder(
    _ query: TicketQuery, _ list: TicketList, _ session: Session
  ) throws(CommandError) {
    var query = query
    try CoordinatorClient.withReadableBank(session, resumes: true) { coordinator throws(CommandError) in
      guard query.limit != 0 else { return }
      try coordinator.ask(.tickets(query), TaskProgress(.tickets, session.messages)) {
        answer throws(CommandError) in
        for ticket in try answer.tickets {
          try session.line(.listed(ticket), or: label(ticket, session))
          query.after = ticket.ticket
          query.limit = query.limit.map { $0 - 1 }
        }
      }
    }
    try session.output.flush()
  }

  /// Colour of the header of a list.
  fileprivate static func role(_ state: CustomerState) -> Palette.Role {
    switch state {
    case .waiting: .waiting
    case .serving: .serving
    case .delayed, .dead, .done: .alarm
    }
  }

  /// `7 - 예금`, followed by what else the ticket has, such as a grade, a due time or a window.
  static func label(_ ticket: TicketReport, _ session: Session) -> String {
    let messages = session.messages
    let label = "\(ticket.ticket) - \(messages.phrases.service(ticket.service))"
    let palette = session.output.palette
    var text = palette.paint(label, of: ticket.service)
    if let grade = messages.phrases.grade(ticket.priority) { text += " \(grade)" }
    if let itemName = ticket.itemName { text += " " + messages.safe(itemName) }
    if let dueAt = ticket.dueAt {
      text += palette.paint(" " + messages.until(Timestamp.utc(milliseconds: dueAt)), .quiet)
    }
    if let window = ticket.window { text += palette.paint(" \(window)", .quiet) }
    if let reason = messages.reason(ticket) { text += palette.paint(" " + reason, .alarm) }
    return text
  }
}

/// Records which part of the lists was printed, so that printing resumes after it if the bank is opened or
/// closed meanwhile.
private final class TicketList {
  private let session: Session
  private let meter: ProgressMeter
  /// Bitmap of the printed tickets of this day, 64 per element.
  private var printed: [TicketNumber: UInt64] = [:]
  private var day: Int64?
  /// True if the lists were requested again after a part of them was printed.
  private var isAgain = false
  /// The list whose header was printed last; `count` is the number of its printed rows.
  private var header: CustomerState?
  private var count: Int64 = 0
  private var rows: Int64 = 0

  init(_ session: Session) {
    self.session = session
    meter = ProgressMeter(messages: session.messages)
  }

  /// Call before the lists are requested on a connection. If a part was printed over an earlier one, it is not
  /// repeated.
  func begin() { isAgain = rows > 0 }

  /// Prints the customers in one state (nil for all) that were not printed yet. `isAsked` is true if the user chose the
  /// state; its header is then printed even without customers.
  func print(_ state: CustomerState?, isAsked: Bool, at coordinator: CoordinatorClient) throws(CommandError) {
    let isPermanent = !session.asJSON && (isAsked || state == .waiting || state == .serving)
    let task = TaskProgress(.tickets, session.messages, meter)
    try coordinator.ask(.tickets(TicketQuery(state: state)), task) { answer throws(CommandError) in
      let page = try answer.tickets.filter(isNew)
      if let state, !session.asJSON, header != state, isPermanent || !page.isEmpty {
        (header, count) = (state, 0)
        let title = session.messages.header(state)
        try session.output.line(session.output.palette.paint(title, TicketsCommand.role(state)))
      }
      for ticket in page { try print(ticket) }
      if !session.output.isTerminal { task.count(rows) }
    }
    meter.finish()
    if isPermanent, count == 0 { try session.output.line("  " + session.messages.noCustomers) }
    count = 0
  }

  /// Prints one customer and records that it was printed.
  private func print(_ ticket: TicketReport) throws(CommandError) {
    try session.line(.listed(ticket), or: "  " + TicketsCommand.label(ticket, session))
    if day != ticket.day { (day, printed) = (ticket.day, [:]) }
    printed[ticket.ticket >> 6, default: 0] |= 1 << UInt64(ticket.ticket & 63)
    count += 1
    rows += 1
  }

  /// True if the customer was not printed before.
  private func isNew(_ ticket: TicketReport) -> Bool {
    guard isAgain, ticket.day == day else { return true }
    return (printed[ticket.ticket >> 6] ?? 0) & 1 << UInt64(ticket.ticket & 63) == 0
  }
}
