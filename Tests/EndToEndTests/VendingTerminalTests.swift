// Vending machine on a full screen: its keys, its two screens, live updates, and a restored terminal.
import Glibc
import Testing

@Suite("The vending machine at a terminal", .serialized)
struct VendingTerminalTests {
  private func withMachine(_ test: (ScratchBank, TerminalProgram) throws -> Void) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["vending"])
      try program.waitFor("Balance: 0 won")
      try test(branch, program)
    }
  }

  @Test("1 and 5 insert money, Enter buys the selection, r returns the change, q exits")
  func buying() throws {
    try withMachine { branch, program in
      try branch.runSuccessfully("vending", "admin", "add", "strawberry-milk", "2")
      program.type("1")
      try program.waitFor("Balance: 1,000 won")
      program.type("5")
      try program.waitFor("Balance: 6,000 won")
      program.type("\r")
      try program.waitFor("Here is your strawberry milk.")
      try program.waitFor("Balance: 5,100 won")
      // The next product to the right is sold out.
      program.type("\u{1B}[C\r")
      try program.waitFor("It is sold out.")
      program.type("r")
      try program.waitFor("Returned 5,100 won.")
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
      #expect(program.screen.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
      #expect(try branch.history() == ["strawberry-milk"])
      #expect(try branch.json("vending", "balance")["balance"].integer == 0)
    }
  }

  @Test("changes by other clients appear at once, also after the machine was killed")
  func live() throws {
    try withMachine { branch, program in
      try branch.runSuccessfully("vending", "insert", "5000")
      try program.waitFor("Balance: 5,000 won")
      try branch.runSuccessfully("vending", "admin", "add", "top", "7")
      try program.waitFor("×7")
      try branch.runSuccessfully("vending", "buy", "top")
      try program.waitFor("×6")
      try program.waitFor("Purchases 1")
      try branch.kill(worker: "vending")
      program.clear()
      try branch.runSuccessfully("vending", "buy", "top")
      try program.waitFor("Purchases 2")
      program.type("q")
      #expect(try program.finish() == 0)
    }
  }

  @Test("\"a\" opens the manager's screen: restock, expired only, discard, the pie chart; Close returns")
  func managing() throws {
    try withMachine { branch, program in
      try branch.runSuccessfully("vending", "admin", "add", "strawberry-milk", "1", "--made", "2020-01-01")
      try branch.runSuccessfully("vending", "admin", "add", "top", "1")
      try branch.runSuccessfully("vending", "insert", "5000")
      try branch.runSuccessfully("vending", "buy", "top")
      program.type("a")
      try program.waitFor("Vending machine, manager")
      try program.waitFor("1 expired")
      try program.waitFor("Maxim T.O.P 1 (100.0%)")
      program.type("+")
      try program.waitFor("strawberry milk: added 1 (total 2).")
      program.type("0")
      try program.waitFor("strawberry milk: added 10 (total 12).")
      program.type("e")
      program.type("d")
      try program.waitFor("1 expired drink discarded.")
      program.type("e")
      program.type("-")
      try program.waitFor("strawberry milk: removed 1 (total 10).")
      program.clear()
      program.type("\u{1B}[F\r")
      try program.waitFor("Balance: 3,300 won")
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
      let products = try branch.json("vending")["products"]
      #expect(products.item(where: "product", is: "strawberry-milk")["stock"].integer == 10)
    }
  }

  @Test("the list of purchases scrolls sideways to the first one")
  func strip() throws {
    try withMachine { branch, program in
      try branch.runSuccessfully("vending", "admin", "add", "hot6", "60")
      try branch.runSuccessfully("vending", "admin", "add", "top", "1")
      try branch.runSuccessfully("vending", "insert", "100000")
      try branch.runSuccessfully("vending", "buy", "top")
      for _ in 0..<45 { try branch.runSuccessfully("vending", "buy", "hot6") }
      try program.waitFor("Purchases 46")
      program.clear()
      program.type(String(repeating: ",", count: 45))
      try program.waitFor("☕\u{1B}[2m … │")
      program.type("q")
      #expect(try program.finish() == 0)
    }
  }

  @Test("a signal ends the screen by this signal, with the terminal restored", arguments: [SIGTERM, SIGINT])
  func signals(signal: Int32) throws {
    try withMachine { branch, program in
      try branch.waitUntil("the screen has the terminal") { !program.isInLineMode }
      kill(program.pid, signal)
      #expect(try program.finish() == 128 + signal, "\(program.screen)")
      #expect(program.isInLineMode)
    }
  }
}
