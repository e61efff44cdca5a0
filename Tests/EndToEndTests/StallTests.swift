// A coordinator that stands still for a while: its tellers are not judged by that time. That what they have said meanwhile
// is heard before they are judged is looked at where more can wait than one look brings, in `HeardFirstTests`.
import Glibc
import Testing

@Suite("A coordinator that stands still", .serialized)
struct StallTests {
  @Test(
    "tellers who were stopped together with their coordinator are not judged by time in which nobody listened"
  )
  func everybody() throws {
    try withBranch { branch in
      let file = try branch.configuration(deposit: 4, depositWork: "5s", more: #", "lease": "1s""#)
      try branch.start("--config", file)
      try branch.done("enqueue", "4", "--service", "deposit")
      try branch.waitUntil("all are served") { try branch.status().queue("serving") == 4 }
      let before = try branch.status()
      let pids = [before.pid] + before.workers.map(\.pid)
      for pid in pids { branch.processes.signal(pid, SIGSTOP) }
      // Longer than a lease: the stop is what is tried here.
      Moment.pass(milliseconds: 2_000)
      // The coordinator goes on first, and nobody has said anything meanwhile.
      for pid in pids { branch.processes.signal(pid, SIGCONT) }
      try branch.done("wait", "--timeout", "120s")
      #expect(try branch.status().workers.map(\.pid) == before.workers.map(\.pid))
      #expect(branch.events("stuck", in: "coordinator").isEmpty)
      try branch.expectOneReceiptEach(4)
      try branch.expectClean()
    }
  }
}
