// An operand that is another program's command line: its words come after `--`, and the options before it.

import Arguments
import Testing

@Suite("Operands that are a command line")
struct CommandLineOperandTests {
  private static let summary = Text("Run a program.", "프로그램을 실행합니다.")
  private let table = CommandTable(
    program: "depot", summary: Self.summary,
    commands: [
      CommandSpec(
        "run", group: Self.summary, summary: Self.summary,
        examples: [Example("depot run --wait -- make -j2", Self.summary)],
        operands: [OperandSpec("COMMAND", .bytes, .commandLine, summary: Self.summary)],
        options: [OptionSpec("wait", summary: Self.summary)]),
      CommandSpec(
        "follow", group: Self.summary, summary: Self.summary,
        examples: [Example("depot follow --lines", Self.summary)],
        options: [OptionSpec("lines", summary: Self.summary)]),
    ], exitCodes: [])

  private func refusal(_ words: String...) -> UsageError? {
    do { _ = try table.parse(words) } catch { return error }
    return nil
  }

  @Test("the usage line has the options before the dashes, and the overview has the dashes")
  func help() {
    #expect(table.faults() == [])
    let page = table.help(for: ["run"], language: .english)
    #expect(page.contains("\n  depot run [OPTIONS] -- COMMAND [ARG …]\n"))
    #expect(page.contains("\n  COMMAND [ARG …]  Run a program.\n"))
    #expect(table.help(language: .english).contains("\n  run -- COMMAND [ARG …]  Run a program.\n"))
  }

  @Test("all words after the dashes belong to the program, and there must be at least one")
  func words() throws {
    guard case .run(let line) = try table.parse(["run", "--wait", "--", "make", "-j2", "--wait"]) else {
      Issue.record("it is not a command")
      return
    }
    #expect(line.flag("wait") && line.operands.texts("COMMAND") == ["make", "-j2", "--wait"])
    #expect(refusal("run", "--wait")?.reason == .missingOperand(name: "COMMAND", summary: Self.summary))
  }

  @Test("an unknown option after the program asks for the dashes, and one before it does not")
  func withoutDashes() {
    #expect(refusal("run", "make", "-j2")?.reason == .optionWithoutDashes("-j2"))
    #expect(refusal("run", "make", "--jobs=2")?.reason == .optionWithoutDashes("--jobs"))
    #expect(refusal("run", "-j2", "make")?.reason == .unknownOption("-j2", suggestions: []))
    #expect(
      refusal("run", "--wiat", "--", "make")?.reason == .unknownOption("--wiat", suggestions: ["--wait"]))
    #expect(
      refusal("--lines", "run", "--", "make")?.reason == .unknownOption("--lines", suggestions: []))
    let error = refusal("run", "make", "-j2")
    #expect(
      error?.message(in: .english)
        == "Unknown option '-j2' for 'depot run'. Put -- before the command. See 'depot run --help'.")
    #expect(
      error?.message(in: .korean)
        == "'depot run' 명령에 없는 옵션입니다: '-j2'. 실행할 명령 앞에 --를 쓰세요. "
        + "'depot run --help' 명령으로 사용법을 볼 수 있습니다.")
  }
}
