// The rules of a table, and the parsing of example lines: one broken table for each rule. A program's own
// tests check that its `faults()` are empty. Invariant under test: a faulty table is reported, and still
// never traps.

import Arguments
import Testing

@Suite("Faults of a table")
struct FaultsTests {
  private let summary = Text("Something.", "무언가.")

  /// The faults of the sample table after a change.
  private func faults(_ change: (inout CommandTable) -> Void) -> [String] {
    var table = CommandTable.sample
    change(&table)
    return table.faults()
  }

  @Test("the sample has none, so every one of its examples parses")
  func sample() {
    #expect(CommandTable.sample.faults() == [])
  }

  @Test("every example of the sample is a line of its own command")
  func examples() throws {
    for command in CommandTable.sample.commands {
      for example in command.examples {
        let arguments = try #require(example.arguments(of: "depot"))
        guard case .run(let invocation) = try CommandTable.sample.parse(arguments) else {
          Issue.record("\(example.line)")
          continue
        }
        #expect(invocation.command.path == command.path)
      }
    }
  }

  @Test("an example that does not parse, or is another command's, is a fault")
  func badExamples() {
    let bad = Text("Bad.", "나쁨.")
    #expect(
      faults { $0.commands[0].examples = [Example("depot put 0", bad)] } == [
        "the example 'depot put 0' does not parse: N must be between 1 and 10,000,000, not 0. "
          + "See 'depot put --help'."
      ])
    #expect(
      faults { $0.commands[0].examples = [Example("depot shelf", bad)] } == [
        "the example 'depot shelf' belongs to 'shelf', not 'put'"
      ])
    #expect(
      faults { $0.examples = [Example("cat x", bad)] } == ["the example 'cat x' does not start with 'depot'"])
    #expect(faults { $0.commands[0].examples = [] } == ["command 'put' has no example"])
  }

  @Test("invalid names, or duplicate ones, are faults")
  func names() {
    #expect(
      faults { $0.commands.append($0.commands[3]) }.contains("command 'shelf add' is declared twice"))
    #expect(
      faults { $0.globalOptions.append(OptionSpec("Big Name", summary: summary)) } == [
        "option '--Big Name' in the global options has an invalid name"
      ])
    #expect(
      faults { $0.globalOptions.append(OptionSpec("help", summary: summary)) }.contains(
        "option '--help' in the global options is declared twice"))
    #expect(
      faults { $0.globalOptions.append(OptionSpec("host", short: "h", summary: summary)) }.contains(
        "option '--host' in the global options: '-h' is declared twice"))
    #expect(
      faults { $0.globalOptions.append(OptionSpec("five", short: "5", summary: summary)) } == [
        "option '--five' in the global options: '-5' is not a letter"
      ])
    #expect(
      faults { $0.globalOptions.append(OptionSpec("odd", .choice(["a b", "$x"]), summary: summary)) } == [
        "option '--odd' in the global options: 'a b' is not a valid choice",
        "option '--odd' in the global options: '$x' is not a valid choice",
      ])
    #expect(
      faults { $0.globalOptions.append(OptionSpec("none", .choice([]), summary: summary)) } == [
        "option '--none' in the global options has no choices"
      ])
  }

  @Test("a name that takes a value in one command and none in another is a fault")
  func ambiguity() {
    #expect(
      faults { $0.commands[2].options = [OptionSpec("weight", summary: summary)] } == [
        "option '--weight' takes a value in one command and none in another"
      ])
    #expect(
      faults { $0.commands[2].options = [OptionSpec("force", short: "n", summary: summary)] } == [
        "option '-n' takes a value in one command and none in another"
      ])
  }

  @Test("operands out of order and unknown names are faults")
  func operands() {
    let optional = OperandSpec("A", .text, .optional, summary: summary)
    let repeating = OperandSpec("B", .text, .repeating, summary: summary)
    let required = OperandSpec("C", .text, summary: summary)
    func operandFaults(_ operands: [OperandSpec]) -> [String] {
      faults { table in
        table.commands[6].operands = operands
        table.commands[6].examples = [Example("depot hold a b c", Text("x", "가"))]
      }
    }
    #expect(
      operandFaults([optional, required, repeating]) == [
        "operand C of command 'hold' is required but follows an optional one"
      ])
    #expect(
      operandFaults([repeating, optional]).contains("operand B of command 'hold' repeats but is not the last")
    )
    #expect(
      operandFaults([required, OperandSpec("B", .text, .repeating, replacedBy: "gone", summary: summary)])
        == [
          "operand B of command 'hold' is replaced by '--gone', which does not exist"
        ])
    #expect(
      faults { $0.commands[1].options[1].excludes = ["gone"] } == [
        "option '--now' in command 'close' excludes '--gone', which does not exist"
      ])
  }

  @Test("a sentence that is not translated is a fault")
  func translation() {
    #expect(
      faults { $0.commands[0].summary = "Only English." } == [
        "the summary of command 'put' is not translated"
      ])
    #expect(
      faults { $0.commands[0].summary = Text("", "가") } == ["the summary of command 'put' has an empty text"])
  }

  @Test("a faulty table still parses anything without a trap")
  func faultyTable() {
    let broken = CommandTable(
      program: "", summary: "",
      globalOptions: [OptionSpec("", short: "-", .choice([]), summary: ""), OptionSpec("", summary: "")],
      commands: [
        CommandSpec("", group: "", summary: "", operands: [OperandSpec("", .flag, .repeating, summary: "")]),
        CommandSpec("a", group: "", summary: "", options: [OptionSpec("x", .integer(0...0), summary: "")]),
        CommandSpec("a", group: "", summary: "", options: [OptionSpec("x", summary: "")]),
      ])
    #expect(!broken.faults().isEmpty)
    for line in [
      [], ["a"], ["--x", "a"], ["a", "--x"], ["--"], ["--="], ["---"], ["-"], ["", "a"], ["a", "b"],
    ] {
      _ = try? broken.parse(line)
      _ = broken.globalValues(inPossiblyInvalid: line)
      _ = broken.help(for: line, language: .english)
    }
    for shell in CompletionShell.allCases { _ = broken.completionScript(for: shell) }
  }

  @Test(
    "an example is cut into words as a shell would",
    arguments: [
      ("depot put 10", ["put", "10"]), ("depot  put '1 0' \"a'b\" c\\ d", ["put", "1 0", "a'b", "c d"]),
      ("A=1 B=2 ./depot put", ["put"]), ("seq 3 | depot put --from - > out", ["put", "--from", "-"]),
      ("depot put 3 && depot shelf", ["put", "3"]), ("depot put ''", ["put", ""]),
    ])
  func shellWords(line: String, words: [String]) {
    #expect(Example(Text(line, line), "").arguments(of: "depot") == words)
  }

  @Test(
    "an example with an open quote or without the program has no words",
    arguments: ["depot 'x", "depot \\", "", "ls"])
  func noWords(line: String) {
    #expect(Example(Text(line, line), "").arguments(of: "depot") == nil)
  }
}
