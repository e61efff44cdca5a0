// Customers that are being served when the coordinator is killed: one that kills it each time becomes a dead letter, in
// a home and in a shared bank, and one that was only present is served.
import Foundation
import Glibc
import Testing

@Suite("Coordinator killed while a customer is served", .serialized) struct CoordinatorCrashesTests {
  /// Command that records each attempt, and runs for as long as its payload requires.
  private func write(_ branch: ScratchBank, crashes: Int) throws -> String {
    let script = "read s; echo $BANK_TICKET $BANK_ATTEMPT >> \(branch.path("begun")); exec sleep $s"
    return try branch.write(
      """
      {"services": {"work": {"run": ["sh", "-c", "\(script)"], "windows": 2,
         "retries": {"max_crashes": \(crashes), "initial_delay": "50ms", "max_delay": "100ms"}}},
       "windows": {"deposit": 0, "loan": 0, "juice": 0}}
      """, to: "bank.json")
  }

  private func begun(_ ticket: Int, _ branch: ScratchBank) -> [String] {
    ((try? String(contentsOfFile: branch.path("begun"), encoding: .utf8)) ?? "").split(separator: "\n")
      .filter { $0.hasPrefix("\(ticket) ") }.map { String($0.dropFirst("\(ticket) ".count)) }
  }

  /// Kills the coordinator as soon as a customer has started once more; its guardian starts the next one.
  private func kill(_ branch: ScratchBank, at attempt: Int, of ticket: Int) throws {
    try branch.waitUntil("attempt \(attempt) has started", within: .seconds(40)) {
      begun(ticket, branch).count == attempt
    }
    var pid = 0
    try branch.waitUntil("a coordinator answers") {
      pid = try branch.statusIfAnswered()?.pid ?? 0
      return pid > 0
    }
    branch.processes.signal(pid, SIGKILL)
    try branch.waitUntil("another coordinator answers", within: .seconds(40)) {
      try branch.statusIfAnswered().map { $0.pid != pid } == true
    }
  }

  private func state(_ ticket: Int, _ branch: ScratchBank) throws -> String? {
    try branch.statusIfAnswered() == nil ? nil : branch.json("ticket", "\(ticket)")["state"].text
  }

  private func makeDeadLetterByCrashes(_ branch: ScratchBank, crashes: Int) throws {
    try branch.runSuccessfully("enqueue", "--service", "work", "--payload", "1000\n")
    for attempt in 1...(2 + crashes) { try kill(branch, at: attempt, of: 1) }
    try branch.waitUntil("the customer is a dead letter", within: .seconds(40)) {
      try state(1, branch) == "dead"
    }
    #expect(begun(1, branch) == (1...(2 + crashes)).map(String.init), "each attempt has its number")
    let attempts = try branch.json("ticket", "1")["attempts"].items
    #expect(attempts.map { $0["end"].text } == Array(repeating: "lost", count: 2 + crashes), "\(attempts)")
    try branch.runSuccessfully("enqueue", "2", "--service", "work", "--payload", "0\n")
    try branch.waitUntil("the other customers are served") { try branch.status().queue("served") == 2 }
    #expect(try branch.json("audit")["ok"].flag == true)
  }

  @Test("a customer that kills the coordinator each time becomes a dead letter, and the others are served")
  func guilty()
    throws
  {
    try withScratchBank { branch in
      try branch.start("--config", try write(branch, crashes: 2))
      try makeDeadLetterByCrashes(branch, crashes: 2)
      // An operator requeues the customer, and its attempts are counted from zero again.
      try branch.runSuccessfully("requeue", "1")
      try branch.waitUntil("the customer has started again") { begun(1, branch).last == "5" }
      try branch.runSuccessfully("cancel", "1")
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a customer present at two kills is served, and its attempts show why it took three") func innocent()
    throws
  {
    try withScratchBank { branch in
      try branch.start("--config", try write(branch, crashes: 1))
      try branch.runSuccessfully("enqueue", "--service", "work", "--payload", "3\n")
      for attempt in 1...2 { try kill(branch, at: attempt, of: 1) }
      try branch.waitUntil("the customer is served", within: .seconds(40)) { try state(1, branch) == "done" }
      #expect(try branch.receipts().map { $0["attempts"].integer } == [3])
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.runSuccessfully("stop")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("the same holds for a branch of a shared bank") func shared() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let branch = branches[0]
      try bank.open(branch, speed: "1", "--config", try write(branch, crashes: 1))
      try makeDeadLetterByCrashes(branch, crashes: 1)
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }
}
