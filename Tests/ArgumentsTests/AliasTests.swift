// Other names of commands and options, which are accepted, and names of earlier versions, which are refused
// with the present one. Invariant under test: every part of the target knows the same names.

import Arguments
import Testing
import Time

@Suite("Aliases and former names")
struct AliasTests {
  private static let summary = Text("Put parcels away.", "소포를 넣습니다.")

  /// `put` has an alias, a former name and options with both; `wait` has an option with the alias as its name.
  private var table: CommandTable {
    CommandTable(
      program: "depot", summary: Self.summary,
      commands: [
        CommandSpec(
          "put", aliases: ["store away"], formerNames: ["stow"], group: Self.summary, summary: Self.summary,
          examples: [Example("depot put", Self.summary)],
          options: [
            OptionSpec(
              "step-timeout", .duration, default: "1s", aliases: ["timeout"], formerNames: ["patience"],
              summary: Self.summary),
            OptionSpec("now", excludes: ["step-timeout"], summary: Self.summary),
          ]),
        CommandSpec(
          "wait", group: Self.summary, summary: Self.summary, examples: [Example("depot wait", Self.summary)],
          options: [OptionSpec("timeout", .duration, summary: Self.summary)]),
        CommandSpec(
          "shelf admin hold", formerNames: ["shelf admin set-aside"], group: Self.summary,
          summary: Self.summary, examples: [Example("depot shelf admin hold", Self.summary)]),
      ])
  }

  private func run(_ words: String...) throws -> Invocation {
    guard case .run(let invocation) = try table.parse(words) else { throw Unexpected.notACommand(words) }
    return invocation
  }

  private func refusal(_ words: String...) throws -> UsageError {
    do { _ = try table.parse(words) } catch { return error }
    throw Unexpected.accepted(words)
  }

  @Test("the table has no faults")
  func sample() { #expect(table.faults() == []) }

  @Test("an alias of a command runs it under its own name, and has its help")
  func commands() throws {
    let invocation = try run("store", "away", "--now")
    #expect(invocation.name == "put" && invocation.flag("now"))
    #expect(try table.parse(["store", "away", "--help"]) == .help(["store", "away"]))
    #expect(
      table.help(for: ["store", "away"], language: .english) == table.help(for: ["put"], language: .english))
    #expect(table.withoutCommand(["--now", "store", "away"]) == ["--now"])
  }

  @Test("an alias of an option gives its value under the option's name")
  func options() throws {
    for name in ["step-timeout", "timeout"] {
      #expect(try run("put", "--\(name)", "5s").duration("step-timeout") == .seconds(5))
      #expect(try run("put", "--\(name)=5s").duration("step-timeout") == .seconds(5))
    }
    #expect(try run("--timeout", "5s", "put").duration("step-timeout") == .seconds(5))
  }

  @Test("an alias before the command belongs to the command, which may use the word as a name")
  func otherCommand() throws {
    #expect(try run("--timeout", "5s", "wait").duration("timeout") == .seconds(5))
    #expect(
      try refusal("--step-timeout", "5s", "wait").reason == .unknownOption("--step-timeout", suggestions: []))
  }

  @Test("an option and its alias count as one option, and a missing value is reported under the typed name")
  func once() throws {
    #expect(
      try refusal("put", "--timeout", "1s", "--step-timeout", "2s").reason
        == .repeatedOption("--step-timeout"))
    #expect(
      try refusal("put", "--timeout").reason == .missingValue(option: "--timeout", placeholder: "DURATION"))
    #expect(try refusal("put", "--timeout", "5s", "--now").message(in: .english).contains("conflict"))
  }

  @Test("help names the aliases and no former name", arguments: TextLanguage.allCases)
  func help(language: TextLanguage) {
    let also = language == .korean ? "다른 이름" : "also"
    let page = table.help(for: ["put"], language: language, width: 120)
    #expect(page.contains("(\(also): store away)") && page.contains("; \(also): --timeout)"))
    #expect(table.help(language: language, width: 120).contains("(\(also): store away)"))
    #expect(!page.contains("stow") && !page.contains("patience"))
  }

  @Test("a former name is refused with the present one, and is not run")
  func formerNames() throws {
    #expect(
      try refusal("put", "--patience", "5s").reason
        == .unknownOption("--patience", suggestions: ["--step-timeout"]))
    #expect(try refusal("stow").reason == .unknownCommand("stow", under: [], suggestions: ["put"]))
    #expect(
      try refusal("shelf", "admin", "set-aside").message(in: .english)
        == "Unknown command 'shelf admin set-aside'. Did you mean 'shelf admin hold'? "
        + "See 'depot shelf admin --help'.")
  }

  @Test("completions know the aliases and offer no former name", arguments: CompletionShell.allCases)
  func completions(shell: CompletionShell) {
    let script = table.completionScript(for: shell)
    for word in ["store", "away", "timeout", "step-timeout"] { #expect(script.contains(word), "\(word)") }
    for word in ["stow", "patience", "set-aside"] { #expect(!script.contains(word), "\(word)") }
    guard shell == .bash else { return }
    func offers(_ words: String...) -> [String] { ShellProbe.bash(["depot"] + words, script: script) }
    #expect(offers("st") == ["store"] && offers("store", "") == ["away"])
    #expect(offers("store", "away", "--st") == ["--step-timeout"])
    #expect(offers("put", "--ti") == ["--timeout"])
    #expect(offers("put", "--timeout", "5s", "--no") == ["--now"])
  }

  @Test("a name that is used twice is a fault")
  func faults() {
    func faults(_ change: (inout CommandTable) -> Void) -> [String] {
      var table = table
      change(&table)
      return table.faults()
    }
    #expect(faults { $0.commands[1].aliases = [["put"]] } == ["command 'put' is declared twice"])
    #expect(faults { $0.commands[1].formerPaths = [["put"]] } == ["the former command 'put' is in use"])
    #expect(
      faults { $0.commands[0].options[1].aliases = ["timeout"] }.contains(
        "option '--timeout' takes a value in one command and none in another"))
    #expect(
      faults { $0.commands[1].options[0].formerNames = ["timeout"] } == [
        "option '--timeout' in command 'wait': the former name '--timeout' is in use"
      ])
    #expect(
      faults { $0.commands[1].options[0].aliases = ["Big"] } == [
        "option '--timeout' in command 'wait' has an invalid name"
      ])
  }
}
