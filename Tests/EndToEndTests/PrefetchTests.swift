// Tellers that hold several customers: they serve them in order, and none of these is lost or served twice, whichever
// process is killed.
import Glibc
import Testing

@Suite("Prefetched customers", .serialized)
struct PrefetchTests {
  @Test("a kill of a teller with several customers counts as a crash only for the first; all are served once")
  func killedTeller() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "2s", more: #", "prefetch": 4"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "6", "--service", "deposit")
      try branch.waitUntil("the teller holds four customers") {
        let status = try branch.status()
        #expect(status.isBalanced, "\(status.document)")
        return status.queue("serving") == 4 && status.queue("waiting") == 2
      }
      #expect(try branch.json("ticket", "4")["state"].text == "serving")
      try branch.kill(worker: "deposit-1")
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      try branch.expectOneReceiptEach(6)
      let ends = try (1...6).map { ticket in
        try branch.json("ticket", "\(ticket)")["attempts"].items.compactMap(\.["end"].text)
      }
      let again = ends.filter { $0.count > 1 }
      #expect(again.count { $0.first == "killed" } == 1, "\(ends)")
      #expect(again.allSatisfy { $0.last == "served" && ["killed", "recalled"].contains($0[0]) }, "\(ends)")
      try branch.expectClean()
    }
  }

  @Test("customers cancelled at a teller are not served, and its others are, in their order")
  func cancelled() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "500ms", more: #", "prefetch": 4"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "6", "--service", "deposit")
      try branch.waitUntil("the teller holds four customers") { try branch.status().queue("serving") == 4 }
      // One prefetched customer, and the one being served, which stays so while the teller is stopped.
      let teller = try branch.kill(worker: "deposit-1", SIGSTOP)
      let served = try #require(try branch.status().worker("deposit-1")?.ticket)
      let other = served + 2
      for ticket in [other, served] {
        let taken = try branch.json("cancel", "\(ticket)")
        #expect(taken["outcome"].text == "cancelled" && taken["window"].text == "deposit-1", "\(taken)")
      }
      branch.processes.signal(teller, SIGCONT)
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      let receipts = try branch.receipts()
      #expect(receipts.compactMap(\.["ticket"].integer).sorted() == Array(1...6))
      let runSuccessfully = receipts.filter { $0["outcome"].text == "served" }.compactMap(
        \.["ticket"].integer)
      #expect(runSuccessfully == (1...6).filter { $0 != other && $0 != served })
      #expect(try branch.status().worker("deposit-1")?.generation == 1, "the teller continues")
      try branch.expectClean()
    }
  }

  @Test("a coordinator killed while tellers hold customers loses none")
  func killedCoordinator() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 2, loan: 1, depositWork: "100ms", more: #", "prefetch": 8"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "60")
      try branch.waitUntil("the tellers hold more than eight customers") {
        try branch.status().queue("serving") > 8
      }
      branch.processes.signal(try branch.status().pid, SIGKILL)
      try branch.waitUntil("the coordinator is back") { try branch.statusIfAnswered()?.state == "open" }
      try branch.runSuccessfully("wait", timeout: .seconds(60))
      try branch.expectOneReceiptEach(60)
      try branch.expectClean()
    }
  }

  @Test("a reset recalls the customers of all tellers, and the next day starts with idle ones")
  func reset() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "30s", more: #", "prefetch": 3"#)
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "5", "--service", "deposit")
      try branch.waitUntil("the teller holds three customers") { try branch.status().queue("serving") == 3 }
      try branch.runSuccessfully("reset")
      try branch.waitUntil("the teller is idle") { try branch.status().worker("deposit-1")?.state == "idle" }
      #expect(try branch.status().worker("deposit-1")?.document["restarts"].integer == 0)
      #expect(try branch.status().queue("issued") == 0)
      try branch.expectClean()
      try branch.runSuccessfully("enqueue", "1", "--service", "deposit")
      try branch.waitUntilServed(by: "deposit-1", ticket: 1)
      try branch.runSuccessfully("stop", "--now", "--timeout", "0ms")
    }
  }

  @Test("reload changes how many customers a teller holds")
  func reload() throws {
    try withScratchBank { branch in
      let file = try branch.configuration(deposit: 1, loan: 0, depositWork: "30s")
      try branch.start("--config", file)
      try branch.runSuccessfully("enqueue", "5", "--service", "deposit")
      try branch.waitUntil("the teller holds one customer") { try branch.status().queue("serving") == 1 }
      _ = try branch.configuration(
        deposit: 1, loan: 0, depositWork: "30s", more: #", "prefetch": 3"#)
      try branch.runSuccessfully("reload")
      try branch.waitUntil("the teller holds three customers") { try branch.status().queue("serving") == 3 }
      try branch.runSuccessfully("stop", "--now", "--timeout", "0ms")
    }
  }
}
