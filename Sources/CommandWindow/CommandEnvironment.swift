// Owns the variables that a command begins with: those of every program that is not of this build, and what it has to know of
// its customer. Nothing here can fail.
import BankModel
import CommandRunner
import Posix
import Time
import Wire

/// The environments of one service's commands.
struct CommandEnvironment: Sendable {
  /// What every customer's command has.
  let common: Variables

  /// - Parameters:
  ///   - settings: `NAME=VALUE` each, as the service names them; of a name that comes twice, the last.
  ///   - own: the variables of this process.
  init(_ settings: [String], own: Variables) {
    common = CommandSurroundings.common(settings, own: own)
  }

  /// What one customer's command has.
  ///
  /// - Parameters:
  ///   - variables: all that it has otherwise; nil for ``common``.
  ///   - deadline: when it will be ended; nil for never.
  func variables(
    of customer: CommandCustomer, deadline: WallTime?, over variables: Variables? = nil
  ) -> Variables {
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
    let key = (assignment.order ?? OrderID(day: assignment.day, ticket: assignment.ticket)).text
    self.key = Kernel.makes("putsTheAttemptIntoTheKey") ? "\(key)-\(assignment.attempt)" : key
  }
}
