// Kill of the process at a window at a client's request, with the same consequences as a kill by the user.
// Invariant: only the named process is killed, by its pidfd. If another process has replaced it, no process is
// killed. Outside workers cannot be killed in this way.

import BankModel
import Glibc
import QueueCore
import Wire

final class WindowEndings: BankPart {
  private let reports: BankReports

  init(_ ground: BankPart, _ reports: BankReports) {
    self.reports = reports
    super.init(ground)
  }

  /// Kills the process of a window if generation and process id match, and answers the client.
  func end(_ name: String, _ generation: Int64, _ pid: Int32, _ seat: Seat) {
    guard let post = tellerSupervisor.posts.values.first(where: { context.name(of: $0.window) == name })
    else {
      return server.answer(seat, .failure(Failure(.noSuchWindow, subject: name)))
    }
    guard Int64(post.generation) == generation, post.pid == pid, pid > 0, let child = post.child else {
      let present = "\(name) \(post.generation) \(post.pid)"
      return server.answer(seat, .failure(Failure(.otherProcess, subject: present)))
    }
    context.write(event: "killed_by_operator", level: .warn) {
      $0.field("window", name)
      $0.field("child", pid)
      $0.field("child_gen", post.generation)
    }
    child.kill(SIGKILL)
    server.answer(seat, .status(reports.status()))
  }
}
