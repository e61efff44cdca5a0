// Full screens in a shell, left by Ctrl-C and suspended by Ctrl-Z: later input goes to the shell, and the terminal is
// always restored. Also `status --watch`, which fills the screen like the others.
import Foundation
import Glibc
import Testing

@Suite("Full screens", .serialized)
struct FullScreenTests {
  private static let hidden = "\u{1B}[?1049h\u{1B}[?25l"
  private static let shown = "\u{1B}[?25h\u{1B}[?1049l"

  /// Shell that runs these lines.
  private func shell(_ branch: ScratchBank, _ script: String) throws -> TerminalProgram {
    try TerminalProgram(
      branch, ["--norc", "-c", script], program: "/bin/bash", size: (columns: 80, rows: 24))
  }

  @Test(
    "Ctrl-C leaves either vending screen with code 130, buys nothing, and later input goes to the shell",
    arguments: ["", "a"])
  func interrupt(way: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.runSuccessfully("vending", "admin", "add", "strawberry-milk", "2")
      try branch.runSuccessfully("vending", "insert", "5000")
      let program = try shell(
        branch, "\(Binaries.bankctl) vending; echo code=$?; read -r line; echo \"heard <$line>\"")
      try program.waitFor("5,000 won")
      program.type(way)
      if way == "a" { try program.waitFor("Vending machine, manager") }
      // Sent at once, as by fast typing: b would buy a milk, and + would order one.
      program.type("\u{3}1+b")
      try program.waitFor("code=130")
      program.type("\r")
      try program.waitFor("heard <1+b>")
      #expect(try program.finish() == 0, "\(program.screen)")
      #expect(program.isInLineMode)
      let machine = try branch.json("vending")
      #expect(machine["balance"].integer == 5_000, "\(machine)")
      #expect(machine["products"].item(where: "product", is: "strawberry-milk")["stock"].integer == 2)
    }
  }

  @Test(
    "Ctrl-Z stops the screen and its parent with the terminal restored; fg shows the current state",
    arguments: [["stock", "edit"], ["vending"], ["status", "--watch"], ["top"]])
  func suspend(words: [String]) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      // The shell in between acts as a script; if it were not stopped, the outer one would wait for ever.
      let program = try shell(
        branch,
        "set -m; /bin/bash -c '\(Binaries.bankctl) \(words.joined(separator: " ")); exit $?'; echo stopped=$?; "
          + "read -r line; fg; echo ended=$?")
      try program.waitFor(Self.hidden)
      let sign = words[0] == "stock" ? "Close" : words[0] == "vending" ? "Balance: 0 won" : "deposit-1"
      try program.waitFor(sign)
      program.type("\u{1A}")
      try program.waitFor("stopped=148")
      #expect(program.screen.contains(Self.shown) && program.isInLineMode, "\(program.screen)")
      if words[0] == "vending" { try branch.runSuccessfully("vending", "insert", "1000") }
      program.clear()
      program.type("on\r")
      try program.waitFor(Self.hidden)
      try program.waitFor(words[0] == "vending" ? "Balance: 1,000 won" : sign)
      try branch.waitUntil("the outer shell has the terminal again") { !program.isInLineMode }
      program.type("\u{3}")
      try program.waitFor("ended=130")
      #expect(try program.finish() == 0 && program.isInLineMode, "\(program.screen)")
    }
  }

  @Test("a screen that was stopped from outside takes the terminal back when it continues")
  func stoppedFromOutside() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"], size: (columns: 80, rows: 24))
      try program.waitFor("Close")
      kill(program.pid, SIGSTOP)
      program.clear()
      kill(program.pid, SIGCONT)
      try program.waitFor(Self.hidden)
      try program.waitFor("Close")
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
    }
  }

  @Test("status --watch redraws on a resize, shows no typed letters, and marks the rows that it hides")
  func status() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["status", "--watch"], size: (columns: 100, rows: 40))
      try program.waitFor("vending")
      #expect(!program.screen.contains("more row") && !program.isInLineMode)
      program.clear()
      program.type("xyz\r\u{1B}[A")
      program.resize(columns: 100, rows: 8)
      try program.waitFor("more rows")
      // The last screen of the former size may have been written just before this one.
      let picture = program.screen.components(separatedBy: "\u{1B}[H").last { $0.contains("more row") }
      #expect(picture?.contains("vending") == false, "\(program.screen)")
      program.clear()
      program.resize(columns: 20, rows: 60)
      try program.waitFor("state idle")
      try program.waitFor("vending")
      program.clear()
      try branch.runSuccessfully("enqueue", "3", "--service", "deposit", "--wait")
      try program.waitFor("served 3")
      #expect(!program.screen.contains("xyz") && !program.screen.contains("^["), "\(program.screen)")
      program.clear()
      program.type("q")
      #expect(try program.finish() == 0 && program.isInLineMode)
      #expect(
        program.screen.components(separatedBy: Self.shown).last?.contains("served 3") == true,
        "the last output stays visible: \(program.screen)")
    }
  }

  @Test("the last screen of status --watch shows a closed bank, without a note that it waits for a restart")
  func lastPicture() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let programs = try OutputLanguage.allCases.map {
        try TerminalProgram(branch, ["status", "--watch"], language: $0, size: (columns: 100, rows: 40))
      }
      for program in programs { try program.waitFor("vending") }
      try branch.runSuccessfully("stop")
      for program in programs {
        #expect(try program.finish() == 0, "\(program.screen)")
        let last = program.screen.components(separatedBy: Self.shown).last ?? ""
        #expect(last.contains("closed") || last.contains("마감"), "\(last)")
        #expect(!last.contains("backing off") && !last.contains("재시작 대기"), "\(last)")
        #expect(last.contains("vending"), "\(last)")
      }
    }
  }

  @Test(
    "pasted text is ignored with a note, and Ctrl-C after it works",
    arguments: ["vending", "stock edit", "top"])
  func paste(words: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(
        branch, words.split(separator: " ").map(String.init), size: (columns: 80, rows: 24))
      try program.waitFor("\u{1B}[?2004h")
      try program.waitFor(words == "vending" ? "Balance: 0 won" : words == "top" ? "deposit-1" : "Close")
      program.type("\u{1B}[200~" + String(repeating: "15+b\r ", count: 40) + "\u{1B}[201~")
      try program.waitFor("Pasted text was ignored.")
      program.type("\u{3}")
      #expect(try program.finish() == 130 && program.isInLineMode)
      #expect(program.screen.contains("\u{1B}[?2004l"))
      #expect(try branch.json("vending", "balance")["balance"].integer == 0)
      #expect(try branch.stock() == Recipes.fresh)
    }
  }

  @Test("status --watch continues after a coordinator was killed, and exits with the bank")
  func watchOn() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["status", "--watch"], size: (columns: 100, rows: 40))
      try program.waitFor("generation 1")
      branch.processes.signal(try branch.status().pid, SIGKILL)
      try program.waitFor("generation 2")
      try branch.runSuccessfully("stop")
      #expect(try program.finish() == 0, "\(program.screen)")
      #expect(program.isInLineMode && program.screen.contains(Self.shown))
    }
  }
}
