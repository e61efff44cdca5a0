// Processes of former attempts that could not be ended, and the services that wait for their end.
// Invariant: no window of such a service gets a process while one of them lives.
// Failure: a process of an unknown service holds up all services whose work is done by processes.

import BankModel
import CommandRunner
import Glibc
import Posix
import Time

/// What is left of former attempts.
struct Leftovers {
  /// How often a service looks whether they have ended.
  static let pause = TimeSpan.seconds(1)

  private var processes: [Orphans.Left] = []

  mutating func add(_ others: [Orphans.Left]) {
    for process in others where !processes.contains(process) { processes.append(process) }
  }

  /// The numbers of those that live and hold up this service.
  mutating func holding(_ service: Service) -> [pid_t] {
    guard !processes.isEmpty else { return [] }
    processes.removeAll { !$0.isAlive }
    return processes.filter { $0.service == 0 || $0.service == service.number }.map(\.pid).sorted()
  }
}
