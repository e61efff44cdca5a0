// Kill of the process at a window at a client's request.
// Invariant: if another process has replaced the named one, no process is killed.

import BankModel
import Glibc
import QueueCore
import Wire

final class WindowKills: CoordinatorComponent {
  private let reports: BankReports

  init(_ dependencies: CoordinatorComponent, _ reports: BankReports) {
    self.reports = reports
    super.init(dependencies)
  }

  /// Kills the process of a window if generation and process id match, and answers the client.
  func end(_ name: String, _ generation: Int64, _ pid: Int32, _ requester: RequestHandle) {
    guard let slot = tellerSupervisor.slots.values.first(where: { context.name(of: $0.window) == name })
    else {
      return server.answer(requester, .failure(Failure(.noSuchWindow, subject: name)))
    }
    guard Int64(slot.generation) == generation, slot.pid == pid, pid > 0, let child = slot.child else {
      let present = "\(name) \(slot.generation) \(slot.pid)"
      return server.answer(requester, .failure(Failure(.processChanged, subject: present)))
    }
    context.write(event: "killed_by_operator", level: .warn) {
      $0.field("window", name)
      $0.field("child", pid)
      $0.field("child_gen", slot.generation)
    }
    child.kill(SIGKILL)
    server.answer(requester, .status(reports.status()))
  }
}
