// Help texts and options of the commands for the configuration.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments

extension BankctlTable {
  private static let group = Text("Configuration", "설정")

  static var configuration: [CommandSpec] { [show, check] }

  private static let show = CommandSpec(
    "config show", group: group,
    "Show every setting, its value and its source.", "모든 설정의 값과 그 출처를 보여 줍니다.",
    details: Text(
      "Shows the values that 'bankctl start' would use with the same options, in the syntax of the file; differences "
        + "from the running bank are shown.",
      "같은 옵션을 준 'bankctl start'가 쓸 값이며, 파일에 적는 모양 그대로 보여 줍니다. 실행 중인 은행의 값이 다르면 알립니다."),
    examples: [
      Example("bankctl config show", "Show the settings of this bank.", "이 은행의 설정"),
      Example(
        "bankctl config show --config new.json --speed 10", "Show them with another file and speed.",
        "다른 파일과 다른 속도를 지정했을 때의 설정"),
      Example("bankctl config show --json", "Print JSON for scripts.", "스크립트용 JSON"),
    ], options: startOptions)

  private static let check = CommandSpec(
    "config check", group: group, "Check a configuration file.", "설정 파일을 확인합니다.",
    details: Text(
      "Reads the file as 'bankctl start' and 'bankctl reload' read it, with its files of fruits and drinks, and checks "
        + "that the programs exist, also those of your services. Nothing is opened or changed. The first error is "
        + "reported with its file and line.",
      "'bankctl start'와 'bankctl reload'가 읽는 그대로 파일과 그에 딸린 과일과 음료 파일을 읽고, 필요한 프로그램과 업무의 프로그램이 있는지 봅니다. "
        + "아무것도 열거나 바꾸지 않습니다. 처음 찾은 잘못을 파일과 줄 번호로 알립니다."),
    examples: [
      Example("bankctl config check", "Check the file that the bank would use.", "은행이 쓸 파일을 확인합니다."),
      Example(
        "bankctl config check new.json && mv new.json bank.json",
        "Check a new file before it replaces the old one.",
        "새 파일을 옛 파일 자리에 놓기 전에 확인합니다."),
    ],
    operands: [
      OperandSpec(
        "FILE", .path, .optional,
        summary: Text("The file; default: the one that the bank would use.", "없으면 은행이 쓸 파일을 확인합니다."))
    ])
}
