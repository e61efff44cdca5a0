// Environment of a command: the variables of its service, or those that its customer brings, and variables about the
// customer.
import BankModel
import CommandRunner
import Posix
import Time
import Wire

/// Makes the environments of the commands of one service.
struct CommandEnvironment: Sendable {
  /// Variables of a command whose customer brings no environment.
  let common: EnvironmentVariables

  /// Reads the common variables.
  ///
  /// - Parameters:
  ///   - settings: `NAME=VALUE` each, as the service configures them; the last value of a repeated name applies.
  ///   - own: the variables of this process.
  init(_ settings: [String], own: EnvironmentVariables) {
    common = InheritedEnvironment.common(settings, own: own)
  }

  /// Variables of one customer's command: those of the service, or `variables` in their place, and those about the
  /// customer, such as `BANK_KEY`.
  ///
  /// - Parameters:
  ///   - variables: the variables to use instead of ``common``; nil for ``common``.
  ///   - deadline: end of the command's time limit; nil for none.
  func variables(
    of customer: CommandCustomer, deadline: WallTime?, over variables: EnvironmentVariables? = nil
  ) -> EnvironmentVariables {
    var all = variables ?? common
    all["BANK_KEY"] = customer.key
    all["BANK_ATTEMPT"] = String(customer.attempt)
    all["BANK_TICKET"] = String(customer.ticket)
    all["BANK_DAY"] = String(customer.day)
    all["BANK_SERVICE"] = customer.service
    // Wall-clock time, because a command can compare it with its own clock.
    all["BANK_DEADLINE"] = deadline.map { Timestamp.utc(milliseconds: $0.milliseconds) }
    return all
  }
}

/// Data about a customer that the customer's command receives in environment variables.
struct CommandCustomer: Sendable, Hashable {
  /// Unique key of the customer, the same in every attempt.
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
