// Lease of a service of commands: it belongs to the runner, which reports progress while its loop runs.
import Foundation
import Glibc
import Testing

@Suite("Lease of a runner", .serialized) struct RunnerLeaseTests {
  private func start(_ branch: ScratchBank) throws {
    let begun = branch.path("begun")
    let file = try branch.write(
      """
      {"services": {"slow": {"run": ["sh", "-c", "echo begun >> \(begun); read s; exec sleep $s"], "lease": "3s",
         "retries": {"max_crashes": 9}}},
       "windows": {"deposit": 0, "loan": 0, "juice": 0}}
      """, to: "bank.json")
    try branch.start("--config", file)
  }

  private func begun(_ branch: ScratchBank) -> Int {
    ((try? String(contentsOfFile: branch.path("begun"), encoding: .utf8)) ?? "").split(separator: "\n").count
  }

  @Test("a stopped runner without a timeout is replaced after its lease, and another one serves its customer")
  func stopped() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully("enqueue", "--service", "slow", "--payload", "1000\n")
      try branch.waitUntil("the command has started") { begun(branch) == 1 }
      let runner = try #require(try branch.status().worker("slow-1"))
      branch.processes.signal(runner.pid, SIGSTOP)
      try branch.waitUntil("the command has started again", within: .seconds(40)) { begun(branch) >= 2 }
      #expect(try branch.json("ticket", "1")["attempts"].items.first?["end"].text == "lease_expired")
      #expect(try branch.status().worker("slow-1")?.pid != runner.pid)
      try branch.runSuccessfully("cancel", "1")
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a command that is silent for several leases is served in its first attempt")
  func silent() throws {
    try withScratchBank { branch in
      try start(branch)
      try branch.runSuccessfully(
        "enqueue", "--service", "slow", "--payload", "10\n", "--wait", timeout: .seconds(120))
      #expect(begun(branch) == 1)
      #expect(try branch.receipts().map { $0["attempts"].integer } == [1])
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }
}
