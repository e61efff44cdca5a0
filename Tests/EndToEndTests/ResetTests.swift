// `reset` cancels all customers: it prints their number, asks at a terminal, and shows its progress.
import Glibc
import Testing

@Suite("Reset", .serialized)
struct ResetTests {
  @Test("at a terminal reset asks first, and \"no\" changes nothing", arguments: OutputLanguage.allCases)
  func question(outputLanguage: OutputLanguage) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "1200")
      let refused = try TerminalProgram(branch, ["reset"], language: outputLanguage)
      try refused.waitFor(
        outputLanguage == .ko
          ? "고객 1,200명(대기중 1,200)을 모두 취소하고" : "This cancels 1,200 customers (waiting 1,200)")
      refused.type(outputLanguage == .ko ? "아니오\n" : "no\n")
      #expect(try refused.finish() == 1)
      #expect(try branch.status().queue("waiting") == 1200)
      let agreed = try TerminalProgram(branch, ["reset"], language: outputLanguage)
      try agreed.waitFor("1,200")
      agreed.type(outputLanguage == .ko ? "예\n" : "yes\n")
      #expect(try agreed.finish() == 0)
      #expect(
        agreed.screen.contains(outputLanguage == .ko ? "고객 1,200명을 취소하고" : "Cancelled: 1,200."),
        "\(agreed.screen)")
      try branch.runSuccessfully("enqueue", "7")
      let unasked = try TerminalProgram(branch, ["reset", "--yes"], language: outputLanguage)
      #expect(try unasked.finish() == 0)
      try branch.runSuccessfully("enqueue", "5")
      let document = try branch.json("reset")
      #expect(document["cancelled"].integer == 5 && document["bank"]["day"].integer == 4)
      try branch.runSuccessfully("resume")
      try branch.expectClean()
    }
  }

  @Test("a large reset shows its progress, and the bank answers meanwhile")
  func progress() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("pause")
      try branch.runSuccessfully("enqueue", "400000", timeout: .seconds(60))
      let begin = ContinuousClock.now
      let reset = try branch.launch(["reset"])
      // A blocked bank would not have given any of these answers.
      var between = 0
      try branch.waitUntil("the reset is done", within: .seconds(60)) {
        let status = try branch.status()
        if status.day == 2, status.queue("issued") == 0, reset.isRunning { between += 1 }
        return !reset.isRunning
      }
      let outcome = try reset.finish()
      #expect(outcome.code == 0 && outcome.out.hasPrefix("Cancelled: 400,000."), outcome.story)
      #expect(between >= 2, "the bank answered \(between) times in between")
      // A fast bank may need less than a second and show no progress; a busy machine may notice the end late.
      let took = ContinuousClock.now - begin
      #expect(took < .seconds(5) || outcome.err.contains("cancelling all customers"), outcome.story)
      try branch.runSuccessfully("enqueue", "1")
      #expect(try branch.json("audit", timeout: .seconds(60))["cancelled"].integer == 400_000)
    }
  }
}
