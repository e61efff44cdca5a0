// One table of commands for a home and for two branches: each row is a command with its expected result, sent to the
// branch that serves, and to one without windows. Intended differences are stated in their row.
import Foundation
import Glibc
import Testing

@Suite("A home, and two branches", .serialized)
struct ParityTests {
  /// Place to which the commands of the table are sent.
  enum CommandSite: String, CaseIterable, CustomTestStringConvertible {
    case home
    case serving = "the branch that serves"
    case other = "the branch that does not"
    var testDescription: String { rawValue }
  }

  /// Bank in which the table is run.
  struct Setting {
    var place: CommandSite
    /// Branch to which commands are sent.
    var asked: ScratchBank
    /// Branch that serves the customers.
    var serving: ScratchBank
    var isShared: Bool { place != .home }
  }

  struct Row {
    var name: String
    var attempt: (Setting) throws -> Void
    init(_ name: String, _ attempt: @escaping (Setting) throws -> Void) {
      (self.name, self.attempt) = (name, attempt)
    }
  }

  /// The mark identifies a command as one of its branch: variables of the bank's own are not inherited.
  private static func configuration(_ branch: ScratchBank, windows: Int) -> String {
    """
    {"services": {
       "echo": {"run": ["cat"], "windows": \(windows)},
       "slow": {"run": ["env", "\(ProcessTable.mark)=\(branch.path("").dropLast())", "sleep", "4711"], "windows": \(windows)},
       "fails": {"run": ["sh", "-c", "echo told; exit 3"], "windows": \(windows), "retries": {"max_failures": 1}},
       "mail": {"outside": true}, "run": {"windows": \(windows), "retries": {"max_failures": 1}}},
     "windows": {"deposit": \(windows), "loan": 0, "juice": 0}}
    """
  }

  private static func first(_ report: JSON) throws -> String { "\(try #require(report["first"].integer))" }

  static var table: [Row] {
    [
      Row("enqueue --wait, ticket, output") { bank in
        try bank.asked.runSuccessfully(
          "enqueue", "--service", "echo", "--payload", "hello", "--key", "parity", "--wait")
        let again = try bank.asked.json(
          "enqueue", "--service", "echo", "--payload", "hello", "--key", "parity")
        #expect(again.wasAlreadyIssued)
        let ticket = try first(again)
        #expect(try bank.asked.json("ticket", ticket)["result"].text == "hello")
        #expect(try bank.asked.runSuccessfully("output", ticket).out == "hello")
      },
      Row("enqueue of a list with keys") { bank in
        let file = try bank.asked.write(
          "{\"service\": \"echo\", \"payload\": \"a\", \"key\": \"one\"}\n{\"service\": \"echo\", \"payload\": \"b\", \"key\": \"two\"}\n",
          to: "list")
        let report = try bank.asked.json("enqueue", "--from", file)
        #expect(report["count"].integer == 2)
        try bank.asked.runSuccessfully("wait", "--timeout", "60s", timeout: .seconds(70))
      },
      Row("a delayed customer") { bank in
        let ticket = try first(
          try bank.asked.json("enqueue", "--service", "echo", "--payload", "x", "--in", "300ms"))
        try bank.asked.waitUntil("the customer is served") {
          try bank.asked.json("ticket", ticket)["state"].text == "done"
        }
      },
      Row("run --wait of a command that succeeds") { bank in
        let outcome = try bank.asked.launch(["run", "--wait", "--", "echo", "told"]).finish(
          within: .seconds(60))
        #expect(outcome.code == 0 && outcome.out.contains("told"), outcome.story)
      },
      Row("run --wait of a command that fails, and its output") { bank in
        let outcome = try bank.asked.launch(["run", "--wait", "--", "sh", "-c", "echo told; exit 3"]).finish(
          within: .seconds(60))
        #expect(outcome.code == 3, outcome.story)
        let dead = try bank.asked.lines("tickets", "--state", "dead").last
        let ticket = "\(try #require(dead?["ticket"].integer))"
        let output = try bank.asked.launch(["output", ticket]).finish()
        if bank.place == .other {
          // The output stays in the home of the serving branch, which the message names.
          #expect(outcome.err.contains(bank.serving.home), outcome.story)
          #expect(output.code == 4 && output.err.contains(bank.serving.home), output.story)
        } else {
          #expect(outcome.out.contains("told") && output.code == 0 && output.out == "told\n", output.story)
        }
        try bank.asked.runSuccessfully("cancel", ticket)
      },
      Row("dead letters are requeued, and cancelled") { bank in
        let ticket = try first(try bank.asked.json("enqueue", "--service", "fails", "--payload", ""))
        func awaitDeadLetter(_ attempts: Int) throws {
          try bank.asked.waitUntil("the customer is a dead letter") {
            let report = try bank.asked.json("ticket", ticket)
            return report["state"].text == "dead" && report["attempts"].items.count == attempts
          }
        }
        try awaitDeadLetter(1)
        try bank.asked.runSuccessfully("requeue", ticket)
        try awaitDeadLetter(2)
        try bank.asked.runSuccessfully("cancel", ticket)
        #expect(try bank.asked.json("ticket", ticket)["receipt"]["outcome"].text != "served")
      },
      Row("cancel ends the command of a customer at a window") { bank in
        let ticket = try first(try bank.asked.json("enqueue", "--service", "slow", "--payload", ""))
        try bank.asked.waitUntil("the command runs") { commands(of: bank.serving) == 1 }
        try bank.asked.runSuccessfully("cancel", ticket)
        try bank.asked.waitUntil("the command has exited", within: .seconds(10)) {
          commands(of: bank.serving) == 0
        }
        let receipts = try bank.asked.lines("receipts").filter { "\($0["ticket"].integer ?? 0)" == ticket }
        #expect(receipts.count == 1, "one receipt")
      },
      Row("status reports the wait of the first customer in line") { bank in
        let tickets = try bank.asked.json("enqueue", "4", "--service", "slow", "--payload", "")
        let numbers = try Array(#require(tickets["first"].integer)...#require(tickets["last"].integer))
        try bank.asked.waitUntil("one customer waits") {
          try bank.asked.json("status")["queue"]["oldest_wait_ms"].integer ?? 0 >= 1_500
        }
        for number in numbers.reversed() { try bank.asked.runSuccessfully("cancel", "\(number)") }
        try bank.asked.waitUntil("the command has exited") { commands(of: bank.serving) == 0 }
      },
      Row("an outside worker") { bank in
        let file = try bank.serving.write(try DocumentedWorkers.program("python"), to: "worker.py")
        let worker = try bank.serving.launch(
          [file, bank.serving.home + "/run/worker.sock", "mail"], program: "/usr/bin/python3")
        try bank.asked.runSuccessfully(
          "enqueue", "5", "--service", "mail", "--payload", "x", "--wait", timeout: .seconds(60))
        worker.signal(SIGTERM)
        _ = try worker.finish()
      },
      Row("wait, receipts, ledger, account and audit") { bank in
        try bank.asked.runSuccessfully("enqueue", "6", "--service", "deposit", "--seed", "1")
        try bank.asked.runSuccessfully("wait", "--timeout", "60s", timeout: .seconds(70))
        let receipts = try bank.asked.lines("receipts")
        #expect(Set(receipts.map { $0["ticket"].integer ?? 0 }).count == receipts.count)
        try bank.asked.runSuccessfully("ledger")
        #expect(try bank.asked.json("audit")["ok"].flag == true)
      },
      Row("reset is refused if other branches have customers") { bank in
        guard bank.isShared else { return }
        try bank.asked.expectRefusal(5, "unsupported_in_shared_bank", of: "reset", "--yes")
      },
      Row("a pause applies to one branch") { bank in
        try bank.serving.runSuccessfully("pause", "echo")
        let ticket = try first(try bank.asked.json("enqueue", "--service", "echo", "--payload", "p"))
        #expect(try bank.asked.json("ticket", ticket)["state"].text != "done")
        try bank.serving.runSuccessfully("resume", "echo")
        try bank.asked.waitUntil("the customer is served") {
          try bank.asked.json("ticket", ticket)["state"].text == "done"
        }
      },
      Row("the end of the day") { bank in
        let end = bank.isShared ? ["stop", "--bank", "--json"] : ["stop", "--json"]
        let outcome = try bank.asked.launch(end).finish(within: .seconds(60))
        #expect(outcome.code == 0, outcome.story)
        for branch in [bank.asked, bank.serving] { try branch.expectNoProcessesLeft() }
        #expect(try bank.asked.json("audit")["ok"].flag == true)
      },
    ]
  }

  /// Running commands of the service `slow` of a branch.
  private static func commands(of branch: ScratchBank) -> Int {
    branch.processes.all().count { branch.processes.name($0).hasPrefix("sleep 4711") }
  }

  @Test("each command of the table works as in a home", arguments: CommandSite.allCases)
  func table(_ place: CommandSite) throws {
    func attempt(_ setting: Setting) throws {
      for row in Self.table {
        do { try row.attempt(setting) } catch {
          Issue.record("\(row.name), at \(place.rawValue): \(error)\n\(setting.serving.diagnostics())")
          return
        }
      }
    }
    guard place != .home else {
      return try withScratchBank { home in
        let file = try home.write(Self.configuration(home, windows: 2), to: "bank.json")
        try home.start("--config", file, "--speed", "max")
        try attempt(Setting(place: place, asked: home, serving: home))
      }
    }
    try withSharedBank { bank, branches in
      for (branch, windows) in zip(branches, [2, 0]) {
        let file = try branch.write(Self.configuration(branch, windows: windows), to: "bank.json")
        try bank.open(branch, speed: "max", "--config", file)
      }
      let asked = place == .serving ? branches[0] : branches[1]
      try attempt(Setting(place: place, asked: asked, serving: branches[0]))
    }
  }
}
