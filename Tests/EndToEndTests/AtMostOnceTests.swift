// Service with at most one attempt: if any process is killed, a command runs once and its customer is a dead letter.
import Foundation
import Glibc
import Testing

@Suite("At most once", .serialized)
struct AtMostOnceTests {
  private func start(_ branch: ScratchBank, _ service: String) throws {
    let file = try branch.write(
      "{\"services\": {\"pay\": \(service)}, \"windows\": {\"deposit\": 0, \"loan\": 0, \"juice\": 0}}",
      to: "bank.json")
    try branch.start("--config", file)
  }

  /// Command that records each start and runs until it is killed, unless its payload is `quick`.
  private func command(_ branch: ScratchBank, _ more: String = "") -> String {
    let script =
      "read amount; echo $amount >> \(branch.path("begun")); [ $amount = quick ] || exec sleep 1000"
    return "{\"run\": [\"sh\", \"-c\", \"\(script)\"], \"max_attempts\": 1\(more)}"
  }

  private func begun(_ branch: ScratchBank) -> [String] {
    ((try? String(contentsOfFile: branch.path("begun"), encoding: .utf8)) ?? "").split(separator: "\n").map(
      String.init)
  }

  private func awaitDeadLetter(_ ticket: Int, _ branch: ScratchBank) throws {
    try branch.waitUntil("customer \(ticket) is a dead letter") {
      try branch.statusIfAnswered() != nil
        && branch.json("ticket", "\(ticket)")["state"].text == "dead"
    }
  }

  @Test(
    "a command whose runner and coordinator are killed runs exactly once; its customer is a dead letter"
  )
  func killed() throws {
    try withScratchBank { branch in
      try start(branch, command(branch))
      try branch.runSuccessfully("enqueue", "--service", "pay", "--payload", "slow")
      try branch.runSuccessfully("enqueue", "--service", "pay", "--payload", "quick")
      try branch.waitUntil("the command has started") { begun(branch) == ["slow"] }
      let status = try branch.status()
      let runner = try #require(status.workers.first { $0.role == "runner" && $0.state == "serving" })
      branch.processes.signal(status.pid, SIGSTOP)
      branch.processes.signal(runner.pid, SIGKILL)
      branch.processes.signal(status.pid, SIGKILL)
      try branch.waitUntil("the next customer is served") {
        try branch.statusIfAnswered()?.queue("served") == 1
      }
      try awaitDeadLetter(1, branch)
      #expect(
        begun(branch) == ["slow", "quick"], "the customer became a dead letter before the next one started")
      let ticket = try branch.json("ticket", "1")
      #expect(ticket["attempts"].items.map { $0["end"].text } == ["lost"], "\(ticket)")
      #expect(ticket["attempts_counted"].integer == 1)
      #expect(try branch.status().queue("dead") == 1)
      let story = try branch.runSuccessfully("ticket", "1").out
      #expect(story.contains("the coordinator died while it was running"), "\(story)")
      #expect(
        story.contains("1 attempt counted towards max_attempts"), "\(story)"
      )
      let korean = try branch.runSuccessfully("ticket", "1", language: .ko).out
      #expect(korean.contains("코디네이터가 종료됨") && korean.contains("max_attempts로 세는 시도 1번"), "\(korean)")
      let told = try branch.events("dead", in: "coordinator", count: 1)
      #expect(told.first?["max_attempts"] == "1" && told.first?["end"] == "lost", "\(told)")
      #expect(try branch.json("audit")["ok"].flag == true)
      // An operator requeues the customer.
      try branch.runSuccessfully("requeue", "1")
      try branch.waitUntil("the command has started again") { begun(branch) == ["slow", "quick", "slow"] }
      try branch.kill(worker: "pay-1")
      try awaitDeadLetter(1, branch)
      #expect(try branch.json("ticket", "1")["attempts"].items.map { $0["end"].text } == ["lost", "killed"])
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a missing program counts as no attempt: its customer waits, and is served when the program exists")
  func notThere() throws {
    try withScratchBank { branch in
      let program = branch.path("pay.sh")
      try start(branch, "{\"run\": [\"\(program)\"], \"max_attempts\": 1}")
      try branch.runSuccessfully("enqueue", "--service", "pay", "--payload", "x")
      try branch.waitUntil("the service is paused") {
        try branch.status().service("pay")["paused"].flag == true
      }
      #expect(try branch.json("ticket", "1")["state"].text == "waiting")
      _ = try branch.write("#!/bin/sh\nexit 0\n", to: "pay.sh")
      chmod(program, 0o700)
      try branch.runSuccessfully("resume", "pay")
      try branch.waitUntil("the customer is served") { try branch.status().queue("served") == 1 }
      #expect(try branch.json("audit")["ok"].flag == true)
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }

  @Test("a reload makes a service count its attempts, and an invalid `max_attempts` is refused")
  func reload() throws {
    try withScratchBank { branch in
      try start(branch, command(branch).replacingOccurrences(of: ", \"max_attempts\": 1", with: ""))
      let counted =
        "{\"services\": {\"pay\": \(command(branch))}, "
        + "\"windows\": {\"deposit\": 0, \"loan\": 0, \"juice\": 0}}"
      let wrong = try branch.write(
        counted.replacingOccurrences(of: "\"max_attempts\": 1", with: "\"max_attempts\": 0"), to: "wrong.json"
      )
      #expect(try branch.run("config", "check", wrong).err.contains("services.pay.max_attempts"))
      let file = try branch.write(counted, to: "bank.json")
      try branch.runSuccessfully("reload")
      #expect(
        try branch.runSuccessfully("config", "show", "--config", file).out.contains(
          "services.pay.max_attempts"))
      try branch.runSuccessfully("enqueue", "--service", "pay", "--payload", "slow")
      try branch.waitUntil("the command has started") { begun(branch) == ["slow"] }
      try branch.kill(worker: "pay-1")
      try awaitDeadLetter(1, branch)
      #expect(begun(branch) == ["slow"])
      try branch.runSuccessfully("stop", "--now")
      try branch.expectNoProcessesLeft()
    }
  }
}
