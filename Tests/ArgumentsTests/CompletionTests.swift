// The completion scripts, tried in the shells themselves: the offers of bash at each kind of place, and the
// syntax of all three scripts; zsh and fish are run if they are installed. Invariant: every line is one that
// a person could have typed, cut as bash cuts it.

import Arguments
import Testing

@Suite("Completions")
struct CompletionTests {
  private func expect(
    _ words: String..., offers: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(ShellProbe.bash(["depot"] + words) == offers, sourceLocation: sourceLocation)
  }

  @Test("bash offers commands, and no hidden one")
  func commands() {
    expect("", offers: ["put", "close", "shelf", "resize", "hold", "follow", "show"])
    expect("sh", offers: ["shelf", "show"])
    expect("sec", offers: [])
  }

  @Test("bash offers the words that continue a command's name, also after options with values")
  func subcommands() {
    expect("shelf", "", offers: ["add", "admin"])
    expect("shelf", "admin", "", offers: ["add"])
    expect("--lang", "ko", "shelf", "ad", offers: ["add", "admin"])
    expect("--lang", "=", "ko", "--json", "shelf", "ad", offers: ["add", "admin"])
  }

  @Test("bash offers the options of the command and those of every command")
  func options() {
    expect(
      "close", "--", offers: ["--timeout", "--now", "--home", "--lang", "--json", "--help", "--version"])
    expect("put", "3", "--wa", offers: ["--wait"])
    expect("close", "--", "-", offers: [])
  }

  @Test("bash offers choices as values, in the next word and after an equals sign")
  func choices() {
    expect("put", "3", "--kind", "", offers: ["parcel", "letter"])
    expect("put", "3", "--kind", "=", offers: ["parcel", "letter"])
    expect("put", "3", "--kind", "=", "l", offers: ["letter"])
    expect("--kind", "", offers: ["parcel", "letter"])
    expect("show", "--day", "", offers: ["all"])
    expect("follow", "-n", "", offers: [])
  }

  @Test("bash offers operands by their place")
  func operands() {
    expect("shelf", "add", "", offers: ["apple", "pear"])
    expect("shelf", "add", "apple", "", offers: [])
    expect("resize", "", offers: ["left=", "right="])
    expect("resize", "left", "=", "3", "r", offers: ["right="])
    expect("resize", "left", "=", offers: [])
  }

  @Test(
    "known words of a free text are offered, and any other is accepted",
    arguments: CompletionShell.allCases)
  func offeredTexts(shell: CompletionShell) {
    var table = CommandTable.sample
    table.commands.append(
      CommandSpec(
        "wrap", group: "Storing", summary: "Wrap.",
        operands: [
          OperandSpec("PAPER", .text, offers: ["silk", "kraft"], summary: "Which."),
          OperandSpec("NAME", .text, .repeating, offers: ["ann", "bob"], summary: "For whom."),
        ]))
    let script = table.completionScript(for: shell)
    for word in ["silk", "kraft", "ann", "bob"] { #expect(script.contains(word)) }
    guard shell == .bash else { return }
    func offers(_ words: String...) -> [String] {
      ShellProbe.bash(["depot", "wrap"] + words, script: script)
    }
    #expect(offers("") == ["silk", "kraft"] && offers("k") == ["kraft"])
    #expect(offers("gold", "") == ["ann", "bob"] && offers("silk", "ann", "b") == ["bob"])
    #expect((try? table.parse(["wrap", "gold", "carl"])) != nil)
  }

  @Test(
    "a list with commas is completed item by item, and names of assignments are known",
    arguments: CompletionShell.allCases)
  func lists(shell: CompletionShell) {
    var table = CommandTable.sample
    table.commands.append(
      CommandSpec(
        "wrap", group: "Storing", summary: "Wrap.",
        operands: [
          OperandSpec(
            "PAPER=N", .assignment(names: [], 0...9), .repeatingOnceOrMore, offers: ["silk", "kraft"],
            summary: "Which.")
        ],
        options: [OptionSpec("with", .text, offers: ["bow", "card", "cord"], summary: "What else.")]))
    let script = table.completionScript(for: shell)
    for word in ["silk", "kraft", "bow", "card", "cord"] { #expect(script.contains(word)) }
    guard shell == .bash else { return }
    func offers(_ words: String...) -> [String] {
      ShellProbe.bash(["depot", "wrap"] + words, script: script)
    }
    #expect(offers("") == ["silk=", "kraft="] && offers("silk", "=", "1", "k") == ["kraft="])
    #expect(offers("--with", "") == ["bow", "card", "cord"] && offers("--with", "c") == ["card", "cord"])
    #expect(offers("--with", "card,") == ["card,bow", "card,cord"])
    #expect(offers("--with", "card,bow,c") == ["card,bow,cord"])
    #expect(offers("--with", "=", "card,b") == ["card,bow"])
  }

  @Test("bash offers files for a path")
  func files() {
    expect("put", "--from", "/proc/self/mountinf", offers: ["/proc/self/mountinfo"])
    expect("put", "--from", "=", "/proc/self/mountinf", offers: ["/proc/self/mountinfo"])
    expect("--home", "/et", offers: ["/etc"])
  }

  @Test("bash that does not cut words at the equals sign gets whole words")
  func wordBreaks() {
    #expect(ShellProbe.bash(["depot", "put", "--kind=l"], breaksAtEquals: false) == ["--kind=letter"])
    #expect(
      ShellProbe.bash(["depot", "put", "--from=/proc/self/mountinf"], breaksAtEquals: false) == [
        "--from=/proc/self/mountinfo"
      ])
  }

  @Test(
    "every script is good syntax in its shell", arguments: CompletionShell.allCases, TextLanguage.allCases)
  func syntax(shell: CompletionShell, language: TextLanguage) {
    let script = CommandTable.sample.completionScript(for: shell, language: language)
    #expect(script.hasSuffix("\n"))
    // A shell that is not installed cannot judge; bash always does.
    guard shell == .bash || ShellProbe.isInstalled(shell.rawValue) else { return }
    #expect(
      ShellProbe.output(of: "\(shell.rawValue) -n \"$SCRIPT\" 2>&1 && echo good", script: script) == "good\n")
  }

  @Test(
    "every script knows every visible command word, option and choice", arguments: CompletionShell.allCases)
  func completeness(shell: CompletionShell) {
    let table = CommandTable.sample
    let script = table.completionScript(for: shell)
    for command in table.commands where !command.isHidden {
      for word in command.path { #expect(script.contains(word)) }
      for option in command.options { #expect(script.contains(option.name)) }
    }
    #expect(!script.contains("secret"))
  }

  @Test("zsh and fish explain in the chosen language, with quotes escaped")
  func explanations() {
    var table = CommandTable.sample
    table.commands[0].summary = Text("Don't $(drop) `it` \\ here.", "'떨어뜨리지' 마십시오.")
    #expect(table.completionScript(for: .zsh).contains("'put:Don'\\''t $(drop) `it` \\ here.'"))
    #expect(table.completionScript(for: .fish).contains("-d 'Don\\'t $(drop) `it` \\\\ here.'"))
    #expect(table.completionScript(for: .zsh, language: .korean).contains("선반을 보여 줍니다."))
    #expect(table.completionScript(for: .fish, language: .korean).contains("선반을 보여 줍니다."))
  }

  @Test("fish offers the same, where it is installed")
  func fish() {
    guard ShellProbe.isInstalled("fish") else { return }
    func offers(_ line: String) -> [String] {
      let script =
        CommandTable.sample.completionScript(for: .fish)
        + "function depot; end\ncomplete -C '\(line)' | string replace -r '\\t.*' ''\n"
      return ShellProbe.output(of: "HOME=/tmp fish --no-config \"$SCRIPT\" 2>/dev/null", script: script)
        .split(separator: "\n").map(String.init)
    }
    #expect(offers("depot shelf ") == ["add", "admin"])
    #expect(offers("depot --lang ko shelf add ") == ["apple", "pear"])
    #expect(offers("depot put 3 --kind=l") == ["--kind=letter"])
    #expect(offers("depot resize left=2 ") == ["left=", "right="])
  }
}
