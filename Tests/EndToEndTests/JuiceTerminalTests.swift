// Juice shop at a terminal: the question of the original, and the stock editor, which always restores the terminal.
import Foundation
import Glibc
import Testing

@Suite("Juice at a terminal", .serialized)
struct JuiceTerminalTests {
  private static let hidden = "\u{1B}[?1049h\u{1B}[?25l"
  private static let shown = "\u{1B}[?25h\u{1B}[?1049l"

  @Test(
    "too little fruit: \"yes\" opens the editor, its keys change the stock at once, Close returns to the shop"
  )
  func yes() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["juice", "order", "strawberry"], language: .ko)
      try program.waitFor("재료가 모자라요. 재고를 수정할까요? [예/아니오] ")
      #expect(program.screen.contains("딸기의 재고가 부족합니다."))
      program.type("글쎄\r")
      try program.waitFor("잘못된 입력입니다.")
      program.type("예\r")
      try program.waitFor("닫기")
      #expect(
        program.screen.contains(Self.hidden) && program.screen.contains("재고 추가") && !program.isInLineMode)
      program.type("+++++")
      try branch.waitUntil("five were added") { try branch.stock()["strawberry"] == 15 }
      program.type("=\u{1B}[B-")
      try branch.waitUntil("one more was added, and one banana removed") {
        try branch.stock() == Recipes.fresh.merging(["strawberry": 16, "banana": 9]) { $1 }
      }
      try branch.runSuccessfully("stock", "set", "mango", "77")
      try program.waitFor("77")
      program.type("\u{1B}[B\u{1B}[B\u{1B}[B\u{1B}[B\u{1B}[B\u{1B}[B\r")
      try program.waitFor(Self.shown)
      #expect(try program.finish() == 5, "the juice was not made")
      #expect(program.screen.contains("맛있는 쥬스를 만들어 드려요!"))
      #expect(
        program.screen.components(separatedBy: Self.shown).last?.contains("16  ") == true, "\(program.screen)"
      )
      #expect(program.isInLineMode)
      #expect(try branch.order("strawberry").code == 0)
      try branch.expectClean()
    }
  }

  @Test("Ctrl-C in the editor after the question exits the whole program, and later keys change nothing")
  func interruptedEditor() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["juice", "order", "strawberry"])
      try program.waitFor("[Yes/No]")
      program.type("yes\r")
      try program.waitFor("Close")
      try branch.waitUntil("the editor has the terminal") { !program.isInLineMode }
      program.type("\u{3}+++")
      #expect(try program.finish() == 128 + SIGINT, "\(program.screen)")
      #expect(program.screen.hasSuffix(Self.shown) && program.isInLineMode)
      #expect(try branch.stock() == Recipes.fresh)
    }
  }

  @Test(
    "\"no\", an end of the input, and Ctrl-C leave the stock unchanged",
    arguments: ["아니오\r", "n\r", "\u{4}", "\u{3}"])
  func no(answer: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["juice", "order", "strawberry"], language: .ko)
      try program.waitFor("[예/아니오]")
      program.type(answer)
      #expect(try program.finish() == (answer == "\u{3}" ? 128 + SIGINT : 5), "\(program.screen)")
      #expect(!program.screen.contains(Self.hidden) && program.isInLineMode)
      #expect(try branch.stock() == Recipes.fresh)
    }
  }

  @Test("the terminal is restored however the editor ends", arguments: ["\u{3}", "q", "\u{1B}", "\u{4}"])
  func keysThatClose(key: String) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"])
      try program.waitFor("Close")
      try branch.waitUntil("the editor has the terminal") { !program.isInLineMode }
      program.type("\u{1A}")
      program.type(key)
      #expect(try program.finish() == (key == "\u{3}" ? 128 + SIGINT : 0), "\(program.screen)")
      #expect(program.screen.contains(Self.shown) && program.isInLineMode)
      #expect(try branch.stock() == Recipes.fresh)
    }
  }

  @Test(
    "a signal ends the editor by this signal, with the terminal restored",
    arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
  func signals(signal: Int32) throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"])
      try program.waitFor("Close")
      try branch.waitUntil("the editor has the terminal") { !program.isInLineMode }
      kill(program.pid, signal)
      #expect(try program.finish() == 128 + signal, "\(program.screen)")
      #expect(program.screen.hasSuffix(Self.shown) && program.isInLineMode)
    }
  }

  @Test("closing the terminal window ends the editor and nothing else")
  func hangUp() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"])
      try program.waitFor("Close")
      program.hangUp()
      let code = try program.finish()
      #expect(code == 128 + SIGHUP || code == 1, "\(code)")
      #expect(try branch.status().state == "open")
    }
  }

  @Test("amounts never fall below zero, however often − is pressed; the editor waits for a killed stock")
  func neverBelowZero() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"])
      try program.waitFor("Close")
      program.type(String(repeating: "-", count: 25))
      try branch.waitUntil("no fruit is left") { try branch.stock()["strawberry"] == 0 }
      try branch.kill(worker: "stock")
      try branch.waitUntil("the stock is back") { try branch.status().worker("stock")?.generation == 2 }
      program.clear()
      // Keys pressed while the stock is away are not caught up on, so the test repeats the key until it has an effect.
      try branch.waitUntil("the stock changes again") {
        program.type("+")
        return try branch.stock()["strawberry"] ?? 0 > 0
      }
      program.type("q")
      #expect(try program.finish() == 0)
      try branch.expectClean()
    }
  }

  @Test("while the bank closes the editor reports that the stock is away, and it can be closed")
  func bankCloses() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      let program = try TerminalProgram(branch, ["stock", "edit"])
      try program.waitFor("Close")
      try branch.runSuccessfully("stop")
      try program.waitFor("The stock service does not respond")
      program.type("+q")
      _ = try program.finish()
      #expect(program.screen.contains(Self.shown) && program.isInLineMode)
    }
  }

  @Test("without a terminal there is neither a question nor an editor")
  func noTerminal() throws {
    try withScratchBank { branch in
      try branch.start("--speed", "max")
      try branch.expectRefusal(2, "usage", of: "stock", "edit")
      let outcome = try branch.launch(["juice", "order", "strawberry"], language: .ko, input: "예\n").finish()
      #expect(outcome.code == 5 && !outcome.out.contains("["), outcome.story)
    }
  }
}
