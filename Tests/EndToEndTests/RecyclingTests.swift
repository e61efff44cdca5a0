// Tellers are replaced after enough work: between customers, one window at a time.
import Testing

@Suite("Recycled tellers", .serialized)
struct RecyclingTests {
  /// Expects that the coordinator's log shows no two replacements at the same time.
  private func expectOneAtATime(_ branch: ScratchBank) {
    var current: String?
    for line in branch.log("coordinator").split(separator: "\n") {
      let fields = ScratchBank.fields(of: line)
      if fields["event"] == "recycling" {
        #expect(current == nil, "two at the same time: \(line)")
        current = fields["window"]
      } else if fields["event"] == "window_open", fields["window"] == current {
        current = nil
      }
    }
  }

  @Test("after a number of customers a window gets a new process, and no attempt is ended by that")
  func customers() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 3, loan: 1, depositWork: "4ms", loanWork: "4ms", more: #", "max_customers_per_teller": 5"#)
      let first = Status(try branch.start("--config", file)).workers
      // The number of customers needed depends on how fast a new process starts.
      var customers = 0
      try branch.waitUntil("eight tellers were recycled", within: .seconds(60)) {
        customers += 120
        try branch.runSuccessfully("enqueue", "120", "--wait")
        return branch.events("recycling", in: "coordinator").count >= 8
      }
      let exits = branch.events("recycling", in: "coordinator")
      #expect(exits.allSatisfy { $0["reason"] == "customers" && (Int($0["customers"] ?? "") ?? 0) >= 5 })
      expectOneAtATime(branch)
      let receipts = try branch.receipts()
      #expect(receipts.allSatisfy { $0["attempts"].integer == 1 })
      try branch.waitUntil("every window has a new process") {
        try branch.status().tellers.allSatisfy { now in
          now.generation > 1 && now.pid > 0 && !first.contains { $0.pid == now.pid }
        }
      }
      #expect(branch.events("exit", in: "coordinator").allSatisfy { $0["code"] == "0" })
      try branch.expectOneReceiptEach(customers)
      try branch.expectClean()
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("above a memory limit a teller is replaced after its customer, and a reload turns that off")
  func memory() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 2, loan: 1, depositWork: "5ms", loanWork: "5ms", more: #", "max_teller_memory_mb": 1"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "40", "--wait")
      let events = try branch.events("recycling", in: "coordinator", count: 2)
      #expect(
        events.allSatisfy { $0["reason"] == "memory" && (Int($0["rss_kb"] ?? "") ?? 0) > 1024 }, "\(events)")
      expectOneAtATime(branch)
      #expect(try branch.receipts().allSatisfy { $0["attempts"].integer == 1 })
      _ = try branch.configuration(deposit: 2, loan: 1, depositWork: "5ms", loanWork: "5ms")
      try branch.runSuccessfully("reload")
      let before = branch.events("recycling", in: "coordinator").count
      try branch.runSuccessfully("enqueue", "40", "--wait")
      #expect(branch.events("recycling", in: "coordinator").count == before)
      try branch.expectClean()
    }
  }
}
