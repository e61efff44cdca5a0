// The story that everything else is a variation of: a bank opens, customers come, are served, and it closes.
import Testing

@Suite("The main story", .serialized)
struct MainStoryTests {
  @Test("a bank opens, prints its windows with their pids, and the pids are alive")
  func opening() throws {
    try withBranch { branch in
      let opened = try branch.done("start", "--speed", "20")
      let status = try branch.status()
      #expect(status.workers.map(\.name) == ["deposit-1", "deposit-2", "loan-1"])
      for worker in status.workers {
        #expect(opened.out.contains("\(worker.name)  "), opened.story)
        #expect(opened.out.contains("pid \(worker.pid)"), opened.story)
        #expect(branch.processes.isAlive(worker.pid))
      }
    }
  }
}
