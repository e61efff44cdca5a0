// The rules of the command line, one test a rule: what is accepted and the resulting values.
// `UsageErrorTests` has the sentences. Invariant under test: the order of options never matters, and only
// what the table contains is accepted.

import Arguments
import Testing
import Time

@Suite("Parsing")
struct ParsingTests {
  @Test("options may stand before the command, after it, and between operands")
  func optionsAnywhere() throws {
    for line in [
      ["--json", "put", "3", "--wait"], ["--wait", "--json", "put", "3"], ["put", "--json", "3", "--wait"],
    ] {
      guard case .run(let invocation) = try CommandTable.sample.parse(line) else {
        Issue.record("\(line)")
        continue
      }
      #expect(invocation.name == "put")
      #expect(invocation.flag("json"))
      #expect(invocation.flag("wait"))
      #expect(invocation.operands.integer("N") == 3)
    }
  }

  @Test("an option of a command with a value may stand before the command")
  func ownOptionBeforeCommand() throws {
    let invocation = try run("--weight", "20", "put", "3")
    #expect(invocation.integer("weight") == 20)
  }

  @Test("a value is the next word or follows an equals sign")
  func valueForms() throws {
    #expect(try run("put", "3", "--kind", "letter").text("kind") == "letter")
    #expect(try run("put", "3", "--kind=letter").text("kind") == "letter")
    #expect(try run("put", "3", "--label=a=b").text("label") == "a=b")
  }

  @Test("a short option takes its value after it, in the next word, or after an equals sign")
  func shortValueForms() throws {
    for words in [["-n", "5"], ["-n5"], ["-n=5"]] {
      guard case .run(let invocation) = try CommandTable.sample.parse(["follow"] + words) else {
        Issue.record("\(words)")
        continue
      }
      #expect(invocation.integer("lines") == 5)
    }
  }

  @Test("short flags combine, and the last of them may take a value")
  func combinedFlags() throws {
    for words in [["-fqn", "5"], ["-fqn5"]] {
      guard case .run(let invocation) = try CommandTable.sample.parse(["follow"] + words) else {
        Issue.record("\(words)")
        continue
      }
      #expect(invocation.flag("follow"))
      #expect(invocation.flag("quiet"))
      #expect(invocation.integer("lines") == 5)
    }
  }

  @Test("two dashes end the options")
  func endOfOptions() throws {
    let invocation = try run("follow", "-f", "--", "-n", "--json")
    #expect(invocation.operands.texts("WORKER") == ["-n", "--json"])
    #expect(!invocation.flag("json"))
  }

  @Test("command words may follow two dashes")
  func commandAfterEndOfOptions() throws {
    #expect(try run("--json", "--", "shelf", "add", "apple", "-3").name == "shelf add")
  }

  @Test("a negative number is an operand if the operand is a number")
  func negativeOperand() throws {
    #expect(try run("shelf", "add", "apple", "-3").operands.integer("N") == -3)
    #expect(try refusal("shelf", "add", "-3").reason == .unknownOption("-3", suggestions: []))
    #expect(try refusal("hold", "-3").reason == .unknownOption("-3", suggestions: []))
  }

  @Test("a negative number is the value of an option")
  func negativeOptionValue() throws {
    #expect(try run("put", "3", "--shift", "-4").integer("shift") == -4)
    #expect(try run("put", "3", "--shift=-4").integer("shift") == -4)
  }

  @Test("a lone dash is an ordinary word")
  func loneDash() throws {
    #expect(try run("put", "--from", "-").text("from") == "-")
    #expect(try run("hold", "-").operands.text("AISLE") == "-")
  }

  @Test("an option given twice is refused unless it may be repeated")
  func repeatedOptions() throws {
    #expect(try refusal("put", "3", "--wait", "--wait").reason == .repeatedOption("--wait"))
    #expect(try refusal("follow", "-n5", "--lines=6").reason == .repeatedOption("--lines"))
    #expect(try run("put", "3", "--label", "a", "--label=b").options.texts("label") == ["a", "b"])
  }

  @Test("a command may have two or three words, and a shorter one may be a command as well")
  func longNames() throws {
    #expect(try run("shelf").name == "shelf")
    #expect(try run("shelf", "add", "apple", "3").name == "shelf add")
    #expect(try run("shelf", "--json", "admin", "add").name == "shelf admin add")
  }

  @Test("an alias of a choice gives the word the program works with")
  func aliases() throws {
    #expect(try run("shelf", "add", "사과", "3").operands.text("ITEM") == "apple")
  }

  @Test("help is given for the command before it, also if the line is wrong otherwise")
  func help() throws {
    let table = CommandTable.sample
    #expect(try table.parse(["put", "--help"]) == .help(["put"]))
    #expect(try table.parse(["put", "-h"]) == .help(["put"]))
    #expect(try table.parse(["put", "0", "--nonsense", "5", "--kind", "-h"]) == .help(["put"]))
    #expect(try table.parse(["follow", "-fh"]) == .help(["follow"]))
    #expect(try table.parse(["shelf", "admin", "--help"]) == .help(["shelf", "admin"]))
    #expect(try table.parse(["--help"]) == .help([]))
    #expect(try table.parse(["help"]) == .help([]))
    #expect(try table.parse(["help", "shelf", "add"]) == .help(["shelf", "add"]))
    #expect(try table.parse(["--help", "shelf", "add"]) == .help(["shelf", "add"]))
  }

  @Test("help after two dashes is an operand, and as a value it is a value")
  func helpAsWord() throws {
    #expect(try run("follow", "--", "--help").operands.texts("WORKER") == ["--help"])
    #expect(try run("put", "3", "--label=--help").text("label") == "--help")
  }

  @Test("an unknown command is reported even with a request for help")
  func helpForUnknownCommand() throws {
    #expect(try refusal("putt", "--help").reason == .unknownCommand("putt", under: [], suggestions: ["put"]))
  }

  @Test("the version can be requested anywhere")
  func version() throws {
    #expect(try CommandTable.sample.parse(["--version"]) == .version)
    #expect(try CommandTable.sample.parse(["put", "--version"]) == .version)
  }

  @Test("no command is an error that refers to the overview")
  func noCommand() throws {
    #expect(try refusal().wantsOverview)
    #expect(try refusal("--json").reason == .missingCommand)
    #expect(try !refusal("shelf", "admin").wantsOverview)
  }

  @Test("a hidden command runs")
  func hiddenCommand() throws {
    #expect(try run("secret").name == "secret")
  }

  @Test("an option replaces an operand, which is then neither needed nor allowed")
  func replacedOperand() throws {
    #expect(try run("put", "--from", "list").operands.integer("N") == nil)
    #expect(
      try refusal("put", "3", "--from", "list").reason
        == .operandWithOption(operand: "N", value: "3", option: "--from"))
    #expect(
      try refusal("put").reason
        == .missingOperand(name: "N", summary: Text("How many parcels.", "소포의 수.")))
  }

  @Test("every kind of value is given by its own accessor")
  func typedValues() throws {
    let put = try run("put", "3", "--weight", "20", "--speed", "0.5")
    #expect(put.integer("weight") == 20)
    #expect(put.speed("speed") == .thousandths(500))
    #expect(put.text("kind") == nil)
    #expect(!put.flag("wait"))
    let close = try run("close", "--timeout", "1.1s")
    #expect(close.duration("timeout") == .milliseconds(1100))
    #expect(
      try run("resize", "left=2", "right=0").operands.assignments("SHELF=N")
        == [Assignment(name: "left", number: 2), Assignment(name: "right", number: 0)])
    #expect(try run("show", "--day", "all").text("day") == "all")
    #expect(try run("show", "--day", "7").integer("day") == 7)
    #expect(try run("show", "--day", "7").text("day") == nil)
    #expect(try run("shelf", "admin", "add", "--made", "2024-02-29").text("made") == "2024-02-29")
  }

  @Test("the language and the form are found on a line that is wrong otherwise")
  func glimpse() {
    let table = CommandTable.sample
    let values = table.globalValues(inPossiblyInvalid: ["putt", "--nonsense", "--lang", "ko", "x", "--json"])
    #expect(values.text("lang") == "ko")
    #expect(values.flag("json"))
    #expect(table.globalValues(inPossiblyInvalid: ["put", "--lang", "kr", "--home"]).text("lang") == nil)
    #expect(table.globalValues(inPossiblyInvalid: ["put", "--lang=ko", "--lang=en"]).text("lang") == "ko")
  }

  @Test("a request for an undeclared name stops the program, because that is its own mistake")
  func undeclaredName() async {
    await #expect(processExitsWith: .failure) {
      _ = try run("put", "3").integer("depth")
    }
    await #expect(processExitsWith: .failure) {
      _ = try run("put", "3").integer("kind")
    }
  }
}
