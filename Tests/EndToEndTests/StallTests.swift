// Stopped coordinator: the time of the stop does not count against the leases of its tellers. `SilenceTimeoutTests`
// covers that messages received meanwhile are handled before leases expire, with more messages than one read returns.
import Glibc
import Testing

@Suite("A stopped coordinator", .serialized)
struct StallTests {
  @Test("tellers stopped together with their coordinator do not lose their leases")
  func allProcesses() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 4, depositWork: "5s", more: #", "lease": "1s""#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "4", "--service", "deposit")
      try branch.waitUntil("all four customers are being served") {
        try branch.status().queue("serving") == 4
      }
      let before = try branch.status()
      let pids = [before.pid] + before.workers.map(\.pid)
      for pid in pids { branch.processes.signal(pid, SIGSTOP) }
      // Longer than a lease, which this test requires.
      Polling.pause(milliseconds: 2_000)
      // The coordinator continues first, and no teller has sent anything meanwhile.
      for pid in pids { branch.processes.signal(pid, SIGCONT) }
      try branch.runSuccessfully("wait", "--timeout", "120s")
      #expect(try branch.status().workers.map(\.pid) == before.workers.map(\.pid))
      #expect(branch.events("stuck", in: "coordinator").isEmpty)
      try branch.expectOneReceiptEach(4)
      try branch.expectClean()
    }
  }
}
