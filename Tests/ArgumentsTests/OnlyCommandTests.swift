// A program without subcommands, the made-up `weigh`: its line, its help and its errors, and the words that a
// command passes on to such a program.

import Arguments
import Testing

@Suite("A program without subcommands")
struct OnlyCommandTests {
  private let table = CommandTable(
    program: "weigh",
    only: CommandSpec(
      summary: Text("Weigh parcels.", "소포의 무게를 잽니다."),
      examples: [Example("weigh box --grams", Text("Weigh the box.", "상자를 잽니다."))],
      operands: [OperandSpec("WHAT", .choice(["box", "aBag"]), .repeating, summary: Text("What.", "무엇을."))],
      options: [
        OptionSpec("grams", short: "g", summary: Text("In grams.", "그램으로.")),
        OptionSpec("times", .integer(1...9), summary: Text("How often.", "몇 번.")),
      ]),
    globalOptions: [OptionSpec("json", summary: Text("One document.", "문서 하나."))],
    exitCodes: [ExitCode(0, Text("Done.", "끝났습니다."))])

  private func invocation(_ words: String...) throws -> Invocation? {
    if case .run(let invocation) = try table.parse(words) { invocation } else { nil }
  }

  @Test("it has no faults; beside another command one without a name is one")
  func faults() {
    #expect(table.faults() == [])
    var other = table
    other.commands.append(.shelf)
    #expect(other.faults().contains("a command has no name"))
  }

  @Test("every word is an operand or an option, and none is needed")
  func line() throws {
    #expect(try invocation()?.flag("grams") == false)
    let weighed = try #require(try invocation("box", "-g", "aBag", "--times=2", "--json"))
    #expect(weighed.operands.texts("WHAT") == ["box", "aBag"] && weighed.name == "")
    #expect(weighed.flag("grams") && weighed.integer("times") == 2 && weighed.flag("json"))
    #expect(try table.parse(["box", "--help"]) == .help([]) && table.parse(["--version"]) == .version)
    #expect(throws: UsageError.self) { try table.parse(["help"]) }
  }

  @Test("an error names the program and its help")
  func errors() {
    for (words, sentence) in [
      (["--gram"], "Unknown option '--gram' for 'weigh'. Did you mean '--grams'? See 'weigh --help'."),
      (["bx"], "WHAT must be one of box, aBag, not 'bx'. Did you mean 'box'? See 'weigh --help'."),
      (["--times"], "Option --times needs a value: write '--times N'. See 'weigh --help'."),
    ] {
      #expect(throws: UsageError.self) { try table.parse(words) }
      do { _ = try table.parse(words) } catch { #expect(error.message(in: .english) == sentence) }
    }
  }

  @Test("its page of help is that of its command, with all options in one list")
  func help() {
    let page = """
      Examples
        weigh box --grams
            Weigh the box.

      Usage
        weigh [WHAT …] [OPTIONS]

      Description
        Weigh parcels.

      Arguments
        [WHAT …]  What. (one of box, aBag)

      Options
        -g, --grams  In grams.
        --times N    How often. (1 to 9)
        --json       One document.
        -h, --help   Show this help.
        --version    Show the version.

      Exit codes
        0  Done.

      """
    #expect(table.help(language: .english) == page)
    #expect(table.help(language: .korean).contains("옵션\n  -g, --grams"))
  }

  @Test("a shell completes its operands and its options", arguments: CompletionShell.allCases)
  func completions(shell: CompletionShell) {
    let script = table.completionScript(for: shell)
    for word in ["aBag", "grams", "times"] { #expect(script.contains(word), "\(word)") }
  }

  @Test(
    "a command passes on every word of the line but its own",
    arguments: [
      (["shelf", "add", "apple", "3"], ["apple", "3"]),
      (["--json", "put", "3", "--wait"], ["--json", "3", "--wait"]),
      (["--home", "put", "put", "put"], ["--home", "put", "put"]), (["shelf"], []), ([], []),
    ])
  func handsOn(line: [String], rest: [String]) {
    #expect(CommandTable.sample.withoutCommand(line) == rest)
  }
}
