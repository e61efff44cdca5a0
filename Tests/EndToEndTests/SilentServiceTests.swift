// Full screens while a service is stopped: they show that it does not answer, and what was sent. One request is done
// once when the service continues, and keys typed meanwhile have no later effect.
import Glibc
import Testing

@Suite("A screen whose service does not answer", .serialized)
struct SilentServiceTests {
  /// Gives a test a branch with a screen in a terminal, and a stopped worker that continues after the test.
  private func withScreen(
    _ arguments: [String], before worker: String, sign: String,
    _ test: (ScratchBank, TerminalProgram, Int) throws -> Void
  ) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("vending", "admin", "add", "strawberry-milk", "5")
      try branch.runSuccessfully("vending", "insert", "5000")
      let program = try TerminalProgram(branch, arguments, size: (columns: 160, rows: 40))
      try program.waitFor(sign)
      let pid = try #require(try branch.status().worker(worker)?.pid)
      branch.processes.signal(pid, SIGSTOP)
      defer { branch.processes.signal(pid, SIGCONT) }
      try test(branch, program, pid)
    }
  }

  @Test("one drink is bought, later keys are counted and ignored, and the answer is shown when it comes")
  func buying() throws {
    try withScreen(["vending"], before: "vending", sign: "5,000 won") { branch, program, pid in
      program.type("\r11")
      try program.waitFor("is slow to respond: buy strawberry milk")
      try program.waitFor("Sent; may still take effect: buy strawberry milk. 2 key presses were ignored.")
      program.type("\r")
      try program.waitFor("3 key presses were ignored.")
      program.clear()
      branch.processes.signal(pid, SIGCONT)
      try program.waitFor("Here is your strawberry milk. 3 key presses were ignored.")
      program.clear()
      program.type("1")
      try program.waitFor("Balance: 5,100 won")
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
      #expect(try branch.history() == ["strawberry-milk"])
      #expect(try branch.json("vending", "balance")["balance"].integer == 5_100)
      try branch.expectClean()
    }
  }

  @Test("the manager's screen shows what was sent, and drinks are added once")
  func managing() throws {
    try withScreen(["vending"], before: "vending", sign: "5,000 won") { branch, program, pid in
      branch.processes.signal(pid, SIGCONT)
      program.type("a")
      try program.waitFor("5 left")
      branch.processes.signal(pid, SIGSTOP)
      program.type("++0")
      try program.waitFor("Sent; may still take effect: add 1 strawberry milk. 2 key presses were ignored.")
      branch.processes.signal(pid, SIGCONT)
      try program.waitFor("strawberry milk: added 1 (total 6). 2 key presses were ignored.")
      program.type("qq")
      #expect(try program.finish() == 0 && program.isInLineMode)
    }
  }

  @Test("the stock editor applies the request that it has sent once, and no later key")
  func editing() throws {
    try withScreen(["stock", "edit"], before: "stock", sign: "Close") { branch, program, pid in
      program.type("+++")
      try program.waitFor(
        "The stock service does not respond. Sent; may still take effect: add 1 strawberry.")
      try program.waitFor("2 key presses were ignored.")
      program.type("-")
      try program.waitFor("3 key presses were ignored.")
      branch.processes.signal(pid, SIGCONT)
      try program.waitFor("11\u{1B}[0m")
      program.clear()
      program.type("+")
      try program.waitFor("12\u{1B}[0m")
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
      #expect(try branch.stock()["strawberry"] == 12)
    }
  }

  @Test(
    "a screen that is left without an answer reports that the result is unknown",
    arguments: [("qq", 0), ("\u{3}", 130)] as [(String, Int32)])
  func leaving(keys: String, code: Int32) throws {
    try withScreen(["vending"], before: "vending", sign: "5,000 won") { branch, program, pid in
      program.type("\r")
      try program.waitFor("is slow to respond: buy strawberry milk")
      program.type(String(keys.prefix(1)))
      if keys.count > 1 {
        try program.waitFor("Press q again to leave immediately")
        program.type(String(keys.dropFirst()))
      }
      #expect(try program.finish() == code && program.isInLineMode, "\(program.screen)")
      #expect(
        program.screen.contains("it is not known whether this was done: buy strawberry milk."),
        "\(program.screen)")
      branch.processes.signal(pid, SIGCONT)
      // The machine has received the request already, and does it once or never.
      try branch.waitUntil("the machine answers again") { try branch.run("vending", "balance").code == 0 }
      #expect(try branch.history().count <= 1)
    }
  }

  @Test("stopped coordinator: a key shows the age of the screen, and no key waits for it")
  func watching() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let pid = try branch.status().pid
      let watcher = try TerminalProgram(branch, ["status", "--watch"], size: (columns: 160, rows: 40))
      try watcher.waitFor("deposit-1")
      let shop = try TerminalProgram(branch, ["vending"], size: (columns: 160, rows: 40))
      try shop.waitFor("Balance: 0 won")
      branch.processes.signal(pid, SIGSTOP)
      defer { branch.processes.signal(pid, SIGCONT) }
      watcher.type(" ")
      try watcher.waitFor("The bank does not respond. Last data: ")
      // The path to the manager's screen asks the coordinator for permission.
      shop.type("a")
      try shop.waitFor("Vending machine, manager")
      shop.type("\u{3}")
      #expect(try shop.finish() == 130 && shop.isInLineMode)
      watcher.clear()
      branch.processes.signal(pid, SIGCONT)
      try watcher.waitFor("deposit-1")
      let picture = watcher.screen.components(separatedBy: "\u{1B}[H").last ?? ""
      #expect(!picture.contains("does not respond"), "\(watcher.screen)")
      watcher.type("q")
      #expect(try watcher.finish() == 0 && watcher.isInLineMode)
    }
  }
}
