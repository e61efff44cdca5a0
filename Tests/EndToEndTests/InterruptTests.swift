// Ctrl-C on `enqueue`: it withdraws an unfinished request, prints the tickets of a finished one, and never misreports.
import Foundation
import Glibc
import Testing

@Suite("Ctrl-C on enqueue", .serialized)
struct InterruptTests {
  @Test(
    "a request that is being added is withdrawn: no customer is added, and others can still come",
    arguments: OutputLanguage.allCases)
  func withdrawn(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      let key = outputLanguage == .ko ? ["--key", "k"] : []
      let large = try branch.launch(["enqueue", "5000000"] + key, language: outputLanguage)
      try branch.waitUntil("the request is being added") {
        large.errors.contains(outputLanguage == .ko ? "번호표 발급" : "enqueueing")
      }
      let small = try branch.launch(["enqueue", "3", "--json"])
      large.signal(SIGINT)
      let outcome = try large.finish()
      #expect(outcome.code == 130 && outcome.out.isEmpty, outcome.story)
      let last = outcome.err.split(separator: "\n").last.map(String.init) ?? ""
      #expect(
        last.contains(
          outputLanguage == .ko ? "요청을 취소했습니다. 추가된 고객이 없습니다." : "Cancelled: no customers were added."),
        outcome.story)
      #expect(last.contains("같은 키로") == (outputLanguage == .ko), outcome.story)
      #expect(try small.finish().json()["first"].integer == 1)
      #expect(try branch.status().queue("issued") == 3)
      #expect(try branch.launch(["enqueue", "2", "--json"] + key).finish().json()["first"].integer == 4)
      try branch.runSuccessfully("resume")
      try branch.runSuccessfully("wait")
      try branch.expectOneReceiptEach(5)
      try branch.expectClean()
    }
  }

  @Test("the second Ctrl-C exits at once, and reports that the result is unknown")
  func second() throws {
    try withScratchBank { branch in
      // With this timeout a stopped coordinator is not taken for stuck, however long the test needs.
      let file = try branch.configuration(speed: "max", more: #", "watchdog_timeout": "1h""#)
      try branch.start("--config", file)
      try branch.runSuccessfully("pause")
      let large = try branch.launch(["enqueue", "5000000"])
      try branch.waitUntil("the request is being added") { large.errors.contains("enqueueing") }
      let bank = try branch.status().pid
      branch.processes.signal(bank, SIGSTOP)
      defer { branch.processes.signal(bank, SIGCONT) }
      large.signal(SIGINT)
      try branch.waitUntil("the request is being withdrawn") {
        large.errors.contains("Cancelling the request")
      }
      large.signal(SIGINT)
      let outcome = try large.finish()
      #expect(outcome.code == 130 && outcome.err.contains("it is not known whether"), outcome.story)
      branch.processes.signal(bank, SIGCONT)
      try branch.waitUntil("the request was withdrawn") {
        try branch.status().queue("issued") == 0
          && branch.log("coordinator").contains("event=request_withdrawn")
      }
    }
  }

  @Test("Ctrl-C works at once if the bank does not even greet: nothing was requested, and nothing is printed")
  func silentBank() throws {
    try withScratchBank { branch in
      try branch.start("--config", try branch.configuration(more: #", "watchdog_timeout": "60s""#))
      let bank = try branch.status().pid
      branch.processes.signal(bank, SIGSTOP)
      defer { branch.processes.signal(bank, SIGCONT) }
      let enqueue = try branch.launch(["enqueue", "5"])
      try branch.waitUntil("the command waits for the greeting") {
        // It sleeps, and there is nothing else that it could wait for. proc_pid_stat(5)
        let state = try String(contentsOfFile: "/proc/\(enqueue.pid)/stat", encoding: .utf8)
        return state.split(separator: ")").last?.hasPrefix(" S ") == true
      }
      let begin = ContinuousClock.now
      enqueue.signal(SIGINT)
      let outcome = try enqueue.finish()
      #expect(outcome.code == 130 && outcome.errorsWithoutProgress.isEmpty, outcome.story)
      // The bank has ten seconds to greet; an interrupted client does not wait for the rest of them.
      #expect(ContinuousClock.now - begin < .seconds(8))
      branch.processes.signal(bank, SIGCONT)
      #expect(try branch.status().queue("issued") == 0)
    }
  }

  @Test("Ctrl-C while enqueue waits for its customers reports that they stay", arguments: [true, false])
  func waiting(asJSON: Bool) throws {
    try withScratchBank { branch in
      let file = try branch.configuration(depositWork: "60s", loanWork: "60s")
      try branch.start("--config", file)
      let waiter = try branch.launch(["enqueue", "4", "--wait"] + (asJSON ? ["--json"] : []))
      try branch.waitUntil("the customers are being served") { try branch.status().queue("serving") > 0 }
      if !asJSON { try branch.waitUntil("the tickets are printed") { !waiter.lines.isEmpty } }
      // The client may be between two requests: the signal is noted until the next check.
      waiter.signal(SIGINT)
      let outcome = try waiter.finish()
      #expect(outcome.code == 130, outcome.story)
      if asJSON { #expect(try outcome.json()["last"].integer == 4) }
      #expect(outcome.err.hasSuffix("'bankctl wait' waits again.\n"), outcome.story)
      #expect(try branch.status().queue("issued") == 4)
    }
  }
}
