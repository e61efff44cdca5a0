// Customers in whose hands the coordinator dies: one that kills it each time is a dead letter in the end, at home and at a branch,
// and one that was only there is served.
import Foundation
import Glibc
import Testing

@Suite("A coordinator that dies with a customer in hand", .serialized) struct CoordinatorFallTests {
  /// A command that notes each attempt, and lasts as long as its payload says.
  private func write(_ branch: Branch, crashes: Int) throws -> String {
    let script = "read s; echo $BANK_TICKET $BANK_ATTEMPT >> \(branch.path("begun")); exec sleep $s"
    return try branch.write(
      """
      {"services": {"work": {"run": ["sh", "-c", "\(script)"], "windows": 2,
         "retries": {"max_crashes": \(crashes), "initial_delay": "50ms", "max_delay": "100ms"}}},
       "windows": {"deposit": 0, "loan": 0, "juice": 0}}
      """, to: "bank.json")
  }

  private func begun(_ ticket: Int, _ branch: Branch) -> [String] {
    ((try? String(contentsOfFile: branch.path("begun"), encoding: .utf8)) ?? "").split(separator: "\n")
      .filter { $0.hasPrefix("\(ticket) ") }.map { String($0.dropFirst("\(ticket) ".count)) }
  }

  /// Kills the coordinator as soon as a customer has begun once more; its guardian starts the next one.
  private func kill(_ branch: Branch, at attempt: Int, of ticket: Int) throws {
    try branch.waitUntil("attempt \(attempt) has begun", within: .seconds(40)) {
      begun(ticket, branch).count == attempt
    }
    var pid = 0
    try branch.waitUntil("there is a coordinator") {
      pid = try branch.statusIfAnswered()?.pid ?? 0
      return pid > 0
    }
    branch.processes.signal(pid, SIGKILL)
    try branch.waitUntil("there is another one", within: .seconds(40)) {
      try branch.statusIfAnswered().map { $0.pid != pid } == true
    }
  }

  private func state(_ ticket: Int, _ branch: Branch) throws -> String? {
    try branch.statusIfAnswered() == nil ? nil : branch.json("ticket", "\(ticket)")["state"].text
  }

  private func condemn(_ branch: Branch, crashes: Int) throws {
    try branch.done("enqueue", "--service", "work", "--payload", "1000\n")
    for attempt in 1...(2 + crashes) { try kill(branch, at: attempt, of: 1) }
    try branch.waitUntil("it is put aside", within: .seconds(40)) { try state(1, branch) == "dead" }
    #expect(begun(1, branch) == (1...(2 + crashes)).map(String.init), "each attempt has its number")
    let attempts = try branch.json("ticket", "1")["attempts"].items
    #expect(attempts.map { $0["end"].text } == Array(repeating: "lost", count: 2 + crashes), "\(attempts)")
    try branch.done("enqueue", "2", "--service", "work", "--payload", "0\n")
    try branch.waitUntil("the others are served") { try branch.status().queue("served") == 2 }
    #expect(try branch.json("audit")["ok"].flag == true)
  }

  @Test("a customer with whom it dies each time is a dead letter, and the others are served") func guilty()
    throws
  {
    try withBranch { branch in
      try branch.start("--config", try write(branch, crashes: 2))
      try condemn(branch, crashes: 2)
      // An operator lets it begin again, and has the count begin again, too.
      try branch.done("requeue", "1")
      try branch.waitUntil("it has begun again") { begun(1, branch).last == "5" }
      try branch.done("cancel", "1")
      try branch.done("stop", "--now")
      try branch.expectNobodyLeft()
    }
  }

  @Test("one that was only there twice is served, and its attempts say why it took three") func innocent()
    throws
  {
    try withBranch { branch in
      try branch.start("--config", try write(branch, crashes: 1))
      try branch.done("enqueue", "--service", "work", "--payload", "3\n")
      for attempt in 1...2 { try kill(branch, at: attempt, of: 1) }
      try branch.waitUntil("it is served", within: .seconds(40)) { try state(1, branch) == "done" }
      #expect(try branch.receipts().map { $0["attempts"].integer } == [3])
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.done("stop")
      try branch.expectNobodyLeft()
    }
  }

  @Test("at a branch that shares its books it is the same") func shared() throws {
    try withSharedBank(branches: 1) { bank, branches in
      let branch = branches[0]
      try bank.open(branch, speed: "1", "--config", try write(branch, crashes: 1))
      try condemn(branch, crashes: 1)
      try branch.done("stop", "--now")
      try branch.expectNobodyLeft()
    }
  }
}
