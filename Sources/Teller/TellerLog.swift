// Mapping from a teller's log entries to the lines of its log: fields, and sentences about customers.
// Invariant: the names of events and fields are part of the contract of `bankctl logs`.

import BankModel
import Logging
import Posix
import Time
import Wire

struct TellerLog {
  private let file: LogFile
  private let settings: TellerSettings
  private let service: String
  /// Sentences for a customer's start and completion, by grade.
  private let started, completed: [LogMessageTemplate]
  /// Fields of the lines about the latest customer.
  private var customer = LogFragment()
  /// Attempt to which the fields in `customer` belong. A lease cannot identify it, because it does not
  /// contain the day.
  private var current: (day: Int64, ticket: Int64, attempt: Int32)?

  /// A log in this file, with the sentences of the language in the settings.
  init(_ file: LogFile, settings: TellerSettings) {
    self.file = file
    self.settings = settings
    let phrases = StringCatalog(settings.language)
    let name = settings.serviceName
    service = name.text
    started = Priority.grades.map {
      let sentence = phrases.started(priority: $0, service: name)
      return LogMessageTemplate(before: sentence.before, after: sentence.after)
    }
    completed = Priority.grades.map {
      let sentence = phrases.completed(priority: $0, service: name)
      return LogMessageTemplate(before: sentence.before, after: sentence.after)
    }
  }

  var output: LogFile { file }

  /// The sentence for the log about a customer of this grade. A customer without a grade gets the sentence of
  /// the regular grade.
  private static func sentence(of customer: Assignment, in sentences: [LogMessageTemplate])
    -> LogMessageTemplate
  {
    sentences[min(Int(customer.priority.code), sentences.count) - 1]
  }

  /// Makes the following lines refer to this customer.
  private mutating func setCustomer(_ customer: Assignment) {
    let attempt = (customer.day, customer.ticket, customer.attempt)
    if let current, current == attempt { return }
    let service = service
    self.customer.replace { $0.customer(customer, service) }
    current = attempt
  }

  mutating func write(_ note: TellerLogEntry, at moment: Moment) {
    switch note {
    case .ready: file.write(event: "ready", at: moment) { $0.field("service", service) }
    case .started(let customer):
      setCustomer(customer)
      file.write(event: "started", at: moment) {
        $0.fields(self.customer)
        $0.field("msg", Self.sentence(of: customer, in: started), customer.ticket)
      }
    case .completed(let customer, let took):
      setCustomer(customer)
      file.write(event: "completed", at: moment) {
        $0.fields(self.customer)
        $0.field("took_ms", took.milliseconds)
        $0.field("msg", Self.sentence(of: customer, in: completed), customer.ticket)
      }
    case .worked(let customer, let result, let took):
      setCustomer(customer)
      file.write(event: "completed", at: moment) {
        $0.fields(self.customer)
        $0.field("took_ms", took.milliseconds)
        $0.end(result.ending)
        $0.field("output_bytes", result.output.length)
        $0.field("error_bytes", result.errors.length)
        $0.field("msg", Self.sentence(of: customer, in: completed), customer.ticket)
      }
    case .outOfStock(let customer, let shortages):
      setCustomer(customer)
      file.write(event: "out_of_stock", at: moment) {
        $0.fields(self.customer)
        $0.field("missing", shortages.map(\.item.name).joined(separator: ","))
      }
    case .delayed(let customer, let reason):
      setCustomer(customer)
      file.write(event: "waiting_for_stock", level: .warn, at: moment) {
        $0.fields(self.customer)
        $0.field("reason", reason)
      }
    case .recalled(let customer):
      setCustomer(customer)
      file.write(event: "recalled", at: moment) { $0.fields(self.customer) }
    case .workFailed(let customer, let failure, let took):
      setCustomer(customer)
      file.write(event: "failed", level: failure.consequence == .later ? .info : .error, at: moment) {
        $0.fields(self.customer)
        $0.field("took_ms", took.milliseconds)
        $0.end(failure.processEnd)
        // The log needs only the first line of a longer text.
        $0.field("reason", failure.words.prefix { !$0.isNewline }.description)
      }
    case .failed(let customer, let reason):
      setCustomer(customer)
      file.write(event: "failed", level: .error, at: moment) {
        $0.fields(self.customer)
        $0.field("reason", reason)
      }
    case .violation(let sentence):
      file.write(event: "protocol_violation", level: .error, at: moment) { $0.field("reason", sentence) }
    case .exit(let code, let reason):
      file.write(event: "exit", level: code == TellerExit.done ? .info : .error, at: moment) {
        $0.field("code", code)
        $0.field("reason", reason)
      }
    }
  }
}

extension LogFields {
  /// Adds the exit code or the signal of a process; nothing if there is none.
  fileprivate mutating func end(_ end: ProcessEnd?) {
    switch end {
    case .code(let code): field("exit_code", code)
    case .signal(let signal): field("signal", Signals.name(signal))
    case nil: break
    }
  }

  /// Adds the fields about one customer.
  fileprivate mutating func customer(_ customer: Assignment, _ service: String) {
    field("day", customer.day)
    field("ticket", customer.ticket)
    field("service", service)
    if let grade = customer.priority.grade {
      if customer.priority != .regular { field("grade", grade) }
    } else {
      field("priority", Int64(customer.priority.number))
    }
    field("attempt", customer.attempt)
    if let itemName = customer.itemName { field("payload", itemName) }
  }
}
