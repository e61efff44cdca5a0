// Owns `tickets`: the lists of those who wait, are served, are delayed, or were put aside.
// It must not know how many there are: page after page is printed as it comes.
// Invariant: the two lists of the original screen are always there; the others only where somebody stands in
// them.
// Failure: CommandError.
import Arguments
import BankModel
import ControlClient
import Wire

/// The command `tickets`.
enum TicketsCommand {
  /// Runs the command.
  static func run(_ session: Session) throws(CommandError) -> ProgramExit {
    let state = session.invocation.text("state").flatMap { CustomerState(name: $0) }
    try Desk.consult(session) { desk throws(CommandError) in
      if session.asJSON {
        try printLines(of: state, at: desk, session)
      } else {
        for listed in state.map({ [$0] }) ?? [.waiting, .serving, .delayed, .dead] {
          try printList(of: listed, isAsked: state == listed, at: desk, session)
        }
      }
    }
    try session.output.flush()
    return .done
  }

  private static func printLines(
    of state: CustomerState?, at desk: Desk, _ session: Session
  ) throws(CommandError) {
    try desk.ask(.tickets(state)) { answer throws(CommandError) in
      for ticket in try answer.tickets { try session.output.line(.listed(ticket)) }
    }
  }

  private static func printList(
    of state: CustomerState, isAsked: Bool, at desk: Desk, _ session: Session
  ) throws(CommandError) {
    let isAlwaysThere = isAsked || state == .waiting || state == .serving
    var (count, hasHeader) = (0, false)
    try desk.ask(.tickets(state)) { answer throws(CommandError) in
      let page = try answer.tickets
      if !hasHeader && (isAlwaysThere || !page.isEmpty) {
        hasHeader = true
        try session.output.line(session.output.palette.paint(session.words.header(state), role(state)))
      }
      count += page.count
      for ticket in page { try session.output.line("  " + label(ticket, session)) }
    }
    if count == 0 && isAlwaysThere { try session.output.line("  " + session.words.nobody) }
  }

  private static func role(_ state: CustomerState) -> Palette.Role {
    switch state {
    case .waiting: .waiting
    case .serving: .serving
    case .delayed, .dead, .done: .alarm
    }
  }

  /// `7 - 예금`, with the grade where there is a word for it, and the window where there is one.
  static func label(_ ticket: TicketReport, _ session: Session) -> String {
    let words = session.words
    let label = "\(ticket.ticket) - \(words.phrases.service(ticket.service))"
    let palette = session.output.palette
    var text = palette.paint(label, of: ticket.service)
    if let grade = words.phrases.grade(ticket.grade) { text += " \(grade)" }
    if let payload = ticket.payload { text += " " + words.safe(payload) }
    if let window = ticket.window { text += palette.paint(" \(window)", .quiet) }
    return text
  }
}

extension ControlAnswer {
  /// A page of customers, where that is what was asked for.
  var tickets: [TicketReport] {
    get throws(CommandError) {
      guard case .tickets(let page) = self else { throw unexpected }
      return page
    }
  }

  /// One customer's story, where that is what was asked for.
  var ticket: TicketReport {
    get throws(CommandError) {
      guard case .ticket(let report) = self else { throw unexpected }
      return report
    }
  }
}
