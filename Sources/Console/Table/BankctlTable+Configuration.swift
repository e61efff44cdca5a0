// Help texts and options of the commands
// for the configuration.
import Arguments

extension BankctlTable {
  private static let group = Text("Configuration", "설정")

  static var configuration: [CommandSpec] { [show, check] }

  private static let show = CommandSpec(
    "config show", group: group,
    "Every setting with its value, and where the value comes from.", "모든 설정의 값과 그 출처를 보여 줍니다.",
    details: Text(
      "The values are those that 'bankctl start' would use with the same options. They are written as a file has them. An open "
        + "bank goes by what it has read; where that is something else, it is said.",
      "같은 옵션을 준 'bankctl start'가 쓸 값이며, 파일에 적는 모양 그대로 보여 줍니다. 열려 있는 은행은 이미 읽은 값을 쓰며, 그 값이 "
        + "다르면 알립니다."),
    examples: [
      Example("bankctl config show", "Of this bank.", "이 은행의 설정을 봅니다."),
      Example(
        "bankctl config show --config new.json --speed 10", "With another file and another speed.",
        "다른 파일과 다른 속도를 주었을 때의 설정을 봅니다."),
      Example("bankctl config show --json", "For a script.", "스크립트에 넘깁니다."),
    ], options: startOptions)

  private static let check = CommandSpec(
    "config check", group: group, "Whether a configuration can be used.", "설정을 쓸 수 있는지 확인합니다.",
    details: Text(
      "Reads the file as 'bankctl start' and 'bankctl reload' read it, with the files of fruits and drinks that belong to it, "
        + "and looks whether the programs are there, also those of your services. Nothing is opened or changed. The first mistake is named with its file "
        + "and line.",
      "'bankctl start'와 'bankctl reload'가 읽는 그대로 파일과 그에 딸린 과일과 음료 파일을 읽고, 필요한 프로그램과 업무의 프로그램이 있는지 봅니다. "
        + "아무것도 열거나 바꾸지 않습니다. 처음 찾은 잘못을 파일과 줄 번호로 알립니다."),
    examples: [
      Example("bankctl config check", "The file that the bank would use.", "은행이 쓸 파일을 확인합니다."),
      Example(
        "bankctl config check new.json && mv new.json bank.json",
        "A new file, before it takes the old one's place.",
        "새 파일을 옛 파일 자리에 놓기 전에 확인합니다."),
    ],
    operands: [
      OperandSpec(
        "FILE", .path, .optional,
        summary: Text("Without it, the file that the bank would use.", "없으면 은행이 쓸 파일을 확인합니다."))
    ])
}
