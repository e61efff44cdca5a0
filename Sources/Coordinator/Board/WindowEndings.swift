// Owns how somebody has the process of a window ended: at once, whatever it is doing, as if it had been killed from outside.
// Its customer is served by another, as after any death. It knows nothing of what follows.
// Invariant: only the process that was meant is ended, by its descriptor; where another one is there by now nobody is. Workers
// that have come by themselves are not the bank's to end.

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

  /// Ends the process of a window if its generation and its process are these, and answers.
  func end(_ name: String, _ generation: Int64, _ pid: Int32, _ seat: Seat) {
    guard let post = tellerSupervisor.posts.values.first(where: { context.name(of: $0.window) == name })
    else {
      return server.answer(seat, .failure(Failure(.noSuchWindow, subject: name)))
    }
    guard Int64(post.generation) == generation, post.pid == pid, pid > 0, let child = post.child else {
      let present = "\(name) \(post.generation) \(post.pid)"
      return server.answer(seat, .failure(Failure(.otherProcess, subject: present)))
    }
    context.write(event: "ended_by_hand", level: .warn) {
      $0.field("window", name)
      $0.field("child", pid)
      $0.field("child_gen", post.generation)
    }
    child.kill(SIGKILL)
    server.answer(seat, .status(reports.status()))
  }
}
