// Dashboard in a terminal: every page at three widths and in both languages, the effect of its keys on a real bank, and
// its view of a killed teller and coordinator.
import Glibc
import Testing

@Suite("Dashboard", .serialized)
struct TopTests {
  private static let left = "\u{1B}[?25h\u{1B}[?1049l"

  /// Gives a test a bank in which three customers are served slowly, and seven wait.
  private func withTop(
    _ arguments: String..., language: OutputLanguage = .en, size: (columns: UInt16, rows: UInt16) = (100, 30),
    _ test: (ScratchBank, TerminalProgram) throws -> Void
  ) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "0.01")
      try branch.runSuccessfully("enqueue", "10", "--service", "deposit", "--seed", "3")
      let program = try TerminalProgram(branch, ["top"] + arguments, language: language, size: size)
      try program.waitUntil("the windows are shown") { $0.contains { $0.contains("▸ deposit-1") } }
      try test(branch, program)
    }
  }

  /// Leaves with a key, and expects the terminal to be restored.
  private func leave(_ program: TerminalProgram, by keys: String = "q") throws {
    program.type(keys)
    #expect(try program.finish() == 0 && program.isInLineMode, "\(program.screen)")
    #expect(program.screen.hasSuffix(Self.left))
  }

  @Test(
    "every page fits a terminal of 40, 80 and 200 columns in both languages, and is complete",
    arguments: [(40, 12), (80, 24), (200, 50)] as [(UInt16, UInt16)], OutputLanguage.allCases)
  func pages(size: (UInt16, UInt16), language: OutputLanguage) throws {
    try withTop(language: language, size: (columns: size.0, rows: size.1)) { branch, program in
      func expect(_ what: String, _ parts: [String]) throws {
        let lines = try program.waitUntil(what) { lines in
          parts.allSatisfy { part in lines.contains { $0.contains(part) } }
        }
        #expect(lines.count == Int(size.1))
        #expect(program.grid.isAlternate && program.grid.isCursorHidden)
      }
      let isKorean = language == .ko
      try expect("the windows are shown", ["deposit-1", "loan-1", isKorean ? "업무중" : "serving", "[1 "])
      program.type("2")
      try expect("the lines are shown", ["[2 ", isKorean ? "예금" : "deposit", isKorean ? "대기중" : "waiting"])
      program.type("3")
      try expect("the dead letters are shown", ["[3 ", isKorean ? "없음" : "none"])
      program.type("4")
      try expect("the stock is shown", ["[4 ", isKorean ? "딸기" : "strawberry"])
      program.type("5")
      try expect("the vending machine is shown", ["[5 ", isKorean ? "잔액" : "Balance"])
      program.type("6")
      try expect("the log is shown", ["[6 ", isKorean ? "2번 업무 시작" : "2 started"])
      program.type("?")
      try expect("the help is shown", [isKorean ? "다른 화면" : "another page"])
      program.type("q\t")
      try expect("the first page is shown again", ["[1 "])
      try leave(program)
    }
  }

  @Test("keys steer the bank: p pauses and resumes, + and - change the windows, x cancels a customer after y")
  func steering() throws {
    try withTop { branch, program in
      program.type("p")
      try program.waitFor("Service deposit paused.")
      #expect(try branch.status().service("deposit")["paused"].flag == true)
      program.type("p")
      try program.waitFor("Service deposit resumed.")
      // There are no loans, so a closing window waits for no customer.
      program.type("jj+")
      try program.waitUntil("a second window is shown") { $0.contains { $0.contains("loan-2") } }
      program.type("-")
      try program.waitUntil("the second window is gone") { !$0.contains { $0.contains("loan-2") } }
      program.type("2jjj")
      try program.waitUntil("a waiting customer is selected") { lines in
        lines.contains { $0.hasPrefix("▸") && $0.contains("regular") }
      }
      let selected = try #require(program.grid.lines.first { $0.hasPrefix("▸") })
      let ticket = try #require(selected.split(separator: " ").dropFirst().first.flatMap { Int($0) })
      program.type("xn")
      try program.waitFor("Nothing was changed.")
      program.type("x")
      try program.waitFor("Cancel customer \(ticket)? [y/N]")
      program.type("y")
      try program.waitFor("Customer \(ticket) cancelled")
      #expect(try branch.json("ticket", "\(ticket)")["outcome"].text == "cancelled")
      try leave(program)
    }
  }

  @Test("Enter opens the history of a customer, / filters, < and > sort, z freezes")
  func looking() throws {
    try withTop { branch, program in
      program.type("\r")
      try program.waitUntil("the history is shown") { lines in
        lines.contains { $0.contains("ticket issued") }
          && lines.contains { $0.contains("started at deposit-1") }
      }
      program.type("q/loan")
      try program.waitUntil("the filter is shown") { lines in
        lines.contains { $0.contains("loan-1") } && !lines.contains { $0.contains("deposit-1") }
      }
      program.type("\u{1B}")
      try program.waitUntil("no filter is shown") { $0.contains { $0.contains("deposit-1") } }
      program.type("<")
      try program.waitUntil("the last column is shown") { $0.contains { $0.contains("5 s▾") } }
      program.type("z")
      try program.waitUntil("the screen is frozen") { $0[0].contains("frozen") }
      try branch.runSuccessfully("enqueue", "5", "--service", "loan")
      // The window for loans is still selected.
      program.type("j")
      try program.waitUntil("the selection moves") { $0.contains { $0.contains("▸ juice-1") } }
      #expect(program.grid.lines.contains { $0.contains("issued 10") })
      program.type("z")
      try program.waitUntil("the screen is live again") { $0.contains { $0.contains("issued 15") } }
      try leave(program, by: "\u{4}")
    }
  }

  @Test("a killed teller shows its exit, its successor and its customer there within a moment")
  func death() throws {
    try withTop { branch, program in
      let pid = try branch.kill(worker: "deposit-1")
      try program.waitUntil("the second generation serves the same customer") { lines in
        lines.contains { line in
          let cells = line.split(separator: " ").map(String.init)
          return cells.contains("deposit-1") && cells.contains("2") && !cells.contains("\(pid)")
            && cells.contains("serving") && cells.contains("1")
        }
      }
      program.type("6")
      try program.waitUntil("the log is shown") { lines in
        lines.contains {
          $0.contains("process died while serving 1 · deposit-1 · SIGKILL") && $0.contains("\(pid)")
        }
          && lines.contains { $0.contains("1 started · deposit-1 · attempt 2") }
      }
      try leave(program)
    }
  }

  @Test("K kills the selected teller after y, and a persistent note shows when its customer was served again")
  func kill() throws {
    try withTop("--chaos") { branch, program in
      let before = try #require(try branch.status().worker("deposit-1"))
      program.type("K")
      try program.waitUntil("the dashboard asks") { lines in
        lines.contains { $0.contains("Kill deposit-1, generation 1, pid \(before.pid), customer 1? [y/N]") }
      }
      program.type("n")
      try program.waitFor("Nothing was changed.")
      program.type("Ky")
      try program.waitUntil("the dashboard shows how long it took") { lines in
        lines.contains { $0.contains("customer 1 was served again after") && $0.contains(" ms") }
      }
      try program.waitUntil("the successor is shown") {
        $0.contains { $0.contains("deposit-1") && $0.contains(" 2 ") }
      }
      program.type("j2")
      try program.waitUntil("the note stays") { lines in
        lines.contains { $0.contains("[2 ") } && lines.contains { $0.contains("was served again after") }
      }
      let after = try #require(try branch.status().worker("deposit-1"))
      #expect(after.generation == 2 && after.ticket == 1)
      try leave(program)
    }
  }

  @Test("without --chaos K kills no process")
  func harmless() throws {
    try withTop { branch, program in
      program.type("Ky\r")
      try program.waitUntil("the history, opened by the later Enter, is shown") {
        $0.contains { $0.contains("ticket issued") }
      }
      #expect(try branch.status().worker("deposit-1")?.generation == 1)
      try leave(program, by: "qq")
    }
  }

  @Test("while a killed coordinator is away the dashboard reports it, and then shows the next one")
  func coordinator() throws {
    try withTop { branch, program in
      let status = try branch.status()
      let guardian = try #require(status.guardianPid)
      branch.processes.signal(guardian, SIGSTOP)
      defer { branch.processes.signal(guardian, SIGCONT) }
      branch.processes.signal(status.pid, SIGKILL)
      try program.waitUntil("the loss is reported") { $0.contains { $0.contains("waiting for it …") } }
      program.type("p")
      try program.waitUntil("a key is refused") { $0.contains { $0.contains("the key was ignored") } }
      branch.processes.signal(guardian, SIGCONT)
      try program.waitUntil("the next coordinator is shown") { lines in
        lines[0].contains("generation 2") && !lines.contains { $0.contains("waiting for it …") }
      }
      #expect(try branch.status().service("deposit")["paused"].flag == false)
      try leave(program)
    }
  }

  @Test("a stopped coordinator is noticed at the next key, and shown again when it continues")
  func standstill() throws {
    try withTop { branch, program in
      let pid = try branch.status().pid
      branch.processes.signal(pid, SIGSTOP)
      defer { branch.processes.signal(pid, SIGCONT) }
      program.type("j")
      try program.waitUntil("the silence is reported") {
        $0.contains { $0.contains("does not respond. Last data: ") }
      }
      branch.processes.signal(pid, SIGCONT)
      try program.waitUntil("the silence is not reported any more") {
        !$0.contains { $0.contains("does not respond") }
      }
      try leave(program)
    }
  }

  @Test("the dashboard exits with the bank, and reports it")
  func closing() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["top"], size: (columns: 80, rows: 24))
      try program.waitUntil("the windows are shown") { $0.contains { $0.contains("deposit-1") } }
      try branch.runSuccessfully("stop")
      try program.waitFor("The bank has closed.")
      #expect(try program.finish() == 0 && program.isInLineMode, "\(program.screen)")
    }
  }

  @Test(
    "the terminal is restored whichever signal ends the dashboard",
    arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130)] as [(Int32, Int32)])
  func signals(signal: Int32, code: Int32) throws {
    try withTop { branch, program in
      if signal == SIGINT { program.type("\u{3}") } else { Glibc.kill(program.pid, signal) }
      let ended = try program.finish()
      #expect(ended == code && program.isInLineMode, "\(program.screen)")
      #expect(program.screen.hasSuffix(Self.left))
    }
  }

  @Test("a hang-up of the terminal ends the dashboard")
  func hangUp() throws {
    try withTop { branch, program in
      program.hangUp()
      let ended = try program.finish()
      #expect(ended > 0)
    }
  }

  @Test("a resize redraws everything; otherwise only changed lines are written, all of them at once")
  func drawing() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["top"], size: (columns: 100, rows: 30))
      try program.waitUntil("the windows are shown") { $0.contains { $0.contains("▸ deposit-1") } }
      program.clear()
      program.type("j")
      try program.waitFor("▸ deposit-2")
      try program.waitFor("\u{1B}[?2026l")
      #expect(
        !program.screen.contains("\u{1B}[H") && program.screen.contains("\u{1B}[?2026h"), "\(program.screen)")
      #expect(program.screen.utf8.count < 400, "two rows: \(program.screen.debugDescription)")
      program.resize(columns: 40, rows: 12)
      let lines = try program.waitUntil("the screen fits the new size") { lines in
        lines.contains { $0.contains("▸ deposit-2") } && lines.last?.isEmpty == false
      }
      #expect(lines.count == 12)
      program.resize(columns: 3, rows: 2)
      try program.waitFor("\u{1B}[H")
      program.resize(columns: 120, rows: 20)
      try program.waitUntil("the screen fits the former size again") {
        $0.contains { $0.contains("▸ deposit-2") }
      }
      try leave(program)
    }
  }

  @Test("without a terminal the dashboard exits with code 2, and names the command to use instead")
  func offTerminal() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      for language in OutputLanguage.allCases {
        let outcome = try branch.run("top", language: language)
        #expect(outcome.code == 2 && outcome.out.isEmpty, "\(outcome)")
        #expect(outcome.err.contains("bankctl status -w") && outcome.err.contains("bankctl snapshot --json"))
      }
    }
  }
}
