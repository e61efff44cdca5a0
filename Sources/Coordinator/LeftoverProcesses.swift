// Processes of earlier attempts that could not be killed, and the services that wait for their exit.
// A process of an unknown service blocks all services.

import BankModel
import CommandRunner
import Glibc
import Posix
import Time

struct LeftoverProcesses {
  static let pause = TimeSpan.seconds(1)

  private var processes: [Orphans.LeftoverProcess] = []

  /// Adds processes that could not be killed.
  mutating func add(_ others: [Orphans.LeftoverProcess]) {
    for process in others where !processes.contains(process) { processes.append(process) }
  }

  /// Process ids of existing processes that block this service.
  mutating func holding(_ service: Service) -> [pid_t] {
    guard !processes.isEmpty else { return [] }
    processes.removeAll { !$0.isAlive }
    return processes.filter { $0.service == 0 || $0.service == service.number }.map(\.pid).sorted()
  }
}
