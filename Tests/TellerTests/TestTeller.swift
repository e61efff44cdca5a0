// A teller's machine with the messages of these tests.

import BankModel
import Time
import Wire

@testable import Teller

struct TestTeller {
  var machine = TellerMachine(build: "test")

  /// Actions of the machine after an event, at this many nanoseconds.
  mutating func when(_ event: TellerEvent, at nanoseconds: Int64 = 0) -> [TellerAction] {
    var actions: [TellerAction] = []
    machine.apply(event, at: MonotonicTime(nanoseconds: nanoseconds), into: &actions)
    return actions
  }

  /// Work that no test waits for, in microseconds.
  static let anHour: Int64 = 3_600_000_000

  /// A teller that has sent ready.
  static func ready(work: Int64 = 1_000, beat: Int64 = 1_000_000, logsCustomers: Bool = true) -> TestTeller {
    var teller = TestTeller()
    _ = teller.when(.began)
    _ = teller.when(.received(.welcome(settings(work: work, beat: beat, logsCustomers: logsCustomers))))
    return teller
  }

  static func settings(
    work: Int64 = 1_000, beat: Int64 = 1_000_000, logPath: String = "", logsCustomers: Bool = true
  ) -> TellerSettings {
    TellerSettings(
      name: "deposit-1", service: .deposit, generation: 1, workMicroseconds: work, beatMicroseconds: beat,
      language: .korean, logPath: logPath, logLimit: 1 << 20, logKeep: 3, logsCustomers: logsCustomers)
  }

  static func assignment(
    _ ticket: Int64, service: Service = .deposit, priority: Priority = .regular, generation: Int32 = 1
  ) -> Assignment {
    let customer = Customer(
      ticket: ticket, service: service, priority: priority, amount: 50_000, account: 12,
      issuedAt: WallTime(milliseconds: 0))
    return Assignment(
      day: 1, customer: customer, lease: Lease(ticket: ticket, attempt: 1, generation: generation))
  }
}
