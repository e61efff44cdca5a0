// Owns the variables that a command begins with. Invariant: it is told nothing of the bank's own surroundings: what it has
// is what the service names, six usual variables, and what it has to know of its customer. Whatever else the bank was opened
// with, as secrets of a shell and the bank's own `BANK_HOME`, stays here. Nothing here can fail.
import BankModel
import CommandRunner
import Posix
import Time
import Wire

/// The environments of one service's commands.
struct CommandEnvironment: Sendable {
  /// Taken over from this process where the service does not name them: a program finds others, its user's files, a language
  /// and a time of day. Without them most programs work in a way that nobody has tried.
  static let inherited = ["PATH", "HOME", "LANG", "TZ", "USER", "LOGNAME"]

  /// What every customer's command has.
  let common: [String: String]

  /// - Parameters:
  ///   - settings: `NAME=VALUE` each, as the service names them; of a name that comes twice, the last.
  ///   - own: the variables of this process.
  init(_ settings: [String], own: [String: String]) {
    var common = own.filter { Self.inherited.contains($0.key) }
    if common["PATH"] == nil { common["PATH"] = ProgramSearch.usualPath }
    for setting in settings {
      guard let equals = setting.firstIndex(of: "="), equals != setting.startIndex else { continue }
      common[String(setting[..<equals])] = String(setting[setting.index(after: equals)...])
    }
    self.common = common
  }

  /// What one customer's command has.
  ///
  /// - Parameters:
  ///   - variables: all that it has otherwise; nil for ``common``.
  ///   - deadline: when it will be ended; nil for never.
  func variables(
    of customer: CommandCustomer, deadline: WallTime?, over variables: [String: String]? = nil
  ) -> [String: String] {
    var all = variables ?? common
    all["BANK_KEY"] = customer.key
    all["BANK_ATTEMPT"] = String(customer.attempt)
    all["BANK_TICKET"] = String(customer.ticket)
    all["BANK_DAY"] = String(customer.day)
    all["BANK_SERVICE"] = customer.service
    // The clock of the wall, because no other is known to the command; the bank itself counts by the steady one.
    all["BANK_DEADLINE"] = deadline.map { Timestamp.utc(milliseconds: $0.milliseconds) }
    return all
  }
}

/// What a command is told of its customer.
struct CommandCustomer: Sendable, Hashable {
  /// The same in every attempt at this customer, and no other's.
  let key: String
  let attempt: Int32
  let ticket: TicketNumber
  let day: BusinessDay
  let service: String

  init(_ assignment: Assignment, service: ServiceName) {
    (attempt, ticket, day) = (assignment.attempt, assignment.ticket, assignment.day)
    self.service = service.text
    key = (assignment.order ?? OrderID(day: assignment.day, ticket: assignment.ticket)).text
  }
}
