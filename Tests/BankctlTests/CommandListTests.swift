// Contents of the list of commands and options that is generated for the documentation.

import Arguments
import Testing

@Suite("The list of commands for the documentation")
struct CommandListTests {
  private static let group = Text("Looking", "조회")
  private let table = CommandTable(
    program: "depot", summary: Text("a depot for parcels.", "소포 보관소."),
    globalOptions: [OptionSpec("json", summary: Text("One JSON document.", "JSON 문서 하나."))],
    commands: [
      CommandSpec(
        "put", group: group, summary: Text("Put N parcels away.", "소포 N개를 넣습니다."),
        operands: [
          OperandSpec("N", .integer(1...9), replacedBy: "from", summary: Text("How many parcels.", "소포의 수."))
        ],
        options: [
          OptionSpec("kind", .choice(["parcel", "letter"]), summary: Text("The kind.", "종류.")),
          OptionSpec("from", .path, summary: Text("Read parcels from a file.", "파일에서 읽습니다.")),
        ]),
      CommandSpec("shelf add", group: group, summary: Text("Add a shelf.", "선반을 더합니다.")),
      CommandSpec("secret", group: group, summary: Text("Not for users.", "비밀."), hidden: true),
    ],
    exitCodes: [ExitCode(0, Text("Done.", "끝났습니다.")), ExitCode(2, Text("Usage.", "잘못 썼습니다."))])

  @Test("a table with mistakes has a list, too")
  func broken() {
    let broken = CommandTable(
      program: "", summary: "",
      globalOptions: [OptionSpec("", short: "-", .choice([]), summary: ""), OptionSpec("", summary: "")],
      commands: [
        CommandSpec("", group: "", summary: "", operands: [OperandSpec("", .flag, .repeating, summary: "")]),
        CommandSpec("a", group: "", summary: "", options: [OptionSpec("x", .integer(0...0), summary: "")]),
        CommandSpec("a", group: "", summary: "", options: [OptionSpec("x", summary: "")]),
      ])
    #expect(!broken.optionListMarkdown(.korean).isEmpty)
  }

  @Test(
    "the documentation's list has every command and option, escaped for a table",
    arguments: TextLanguage.allCases)
  func markdown(language: TextLanguage) {
    let list = table.optionListMarkdown(language)
    for command in table.commands where !command.isHidden {
      #expect(list.contains("`depot \(command.name)"))
      for option in command.options { #expect(list.contains("`\(option.spelling)")) }
    }
    #expect(list.contains("--kind parcel\\|letter"))
    #expect(list.contains("| `depot put N`<br>`depot put --from FILE` |"))
    #expect(list.contains(language == .korean ? "| 2 | 잘못 썼습니다. |" : "| 2 | Usage. |"))
    #expect(!list.contains("secret"))
    for line in list.split(separator: "\n") where line.hasPrefix("|") { #expect(line.hasSuffix("|")) }
  }

  @Test("an option that four commands share is listed once in the documentation's list")
  func sharedOption() {
    let patience = OptionSpec("patience", .duration, summary: Text("How long to wait.", "기다리는 시간."))
    let other = OptionSpec("patience", .duration, summary: Text("Something else.", "다른 것."))
    func list(_ count: Int) -> String {
      var table = table
      for index in 0..<count {
        table.commands.append(
          CommandSpec(
            "probe\(index)", group: Self.group, summary: Text("A probe.", "시험."),
            options: [patience]))
      }
      table.commands.append(
        CommandSpec(
          "other", group: Self.group, summary: Text("Another.", "다른 시험."), options: [other]))
      return table.optionListMarkdown(.english)
    }
    #expect(list(3).ranges(of: "How long to wait.").count == 3)
    #expect(!list(3).contains("Options of several commands"))
    let shared = list(4)
    #expect(shared.ranges(of: "How long to wait.").count == 1)
    #expect(shared.contains("`probe0`, `probe1`, `probe2`, `probe3` |"))
    #expect(shared.contains("Something else."), "another text is another option")
  }
}
