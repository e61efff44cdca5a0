// Help texts and options of the commands that inspect a
// bank, and of those about this program itself.
import Arguments
import BankModel

extension BankctlTable {
  private static let group = Text("Oversight", "점검")
  private static let program = Text("This program", "이 프로그램")

  static var oversight: [CommandSpec] { [board, logs, kill, audit, chaos, ledger, account, completions] }

  private static let board = CommandSpec(
    "board", group: group, "The bank as its screens show it.", "화면에 보이는 은행의 모습을 보여 줍니다.",
    details: Text(
      "Counts by service and grade, rates, the windows, who is served, the first who wait in the order of their numbers, and "
        + "the last events. With -w a line follows whenever something has changed, at most twenty a second; with --json each "
        + "line is a whole frame.",
      "업무와 등급마다의 수, 처리 속도, 창구, 업무중인 고객, 번호 순서대로 먼저 기다리는 고객, 최근에 일어난 일을 보여 줍니다. -w를 주면 바뀔 때마다 초당 20줄까지 이어서 "
        + "쓰고, --json이면 한 줄이 한 장면 전체입니다."),
    examples: [
      Example("bankctl board", "Once.", "한 번 봅니다."),
      Example("bankctl board -w --json", "Every frame, for a script.", "모든 장면을 스크립트에 넘깁니다."),
    ],
    options: [
      OptionSpec(
        "watch", short: "w", "Stay, and show what changes, also after a restart.",
        "바뀌는 것을 이어서 봅니다. 은행을 다시 열어도 이어집니다.")
    ])

  private static let kill = CommandSpec(
    "kill", group: group, "End the process of a window, as kill -9 does.", "창구의 프로세스를 kill -9처럼 끝냅니다.",
    details: Text(
      "Its customer is served by the next one, and how soon is printed. Only the process that is there now is ended: where "
        + "another one has come meanwhile, the exit code is 5. At a terminal it is asked first.",
      "그 고객의 업무는 다음 프로세스가 다시 시작하며, 얼마나 걸렸는지 알려 줍니다. 지금 있는 프로세스만 끝내고, 그사이에 다른 프로세스가 왔으면 종료 코드는 5입니다. "
        + "터미널에서는 먼저 묻습니다."),
    examples: [
      Example("bankctl kill loan-1", "The teller at a window.", "한 창구의 은행원을 끝냅니다."),
      Example("bankctl kill loan-1 --yes --json", "Unasked, for a script.", "묻지 않고 끝내고 스크립트에 알립니다."),
    ],
    operands: [
      OperandSpec("WINDOW", .text, offers: workers, "The window, such as deposit-1.", "deposit-1 같은 창구입니다.")
    ],
    options: [OptionSpec("yes", "Do not ask.", "묻지 않습니다.")])

  private static let logs = CommandSpec(
    "logs", group: group,
    "The logs of all processes, merged in time order.", "모든 프로세스의 로그를 시간 순서로 모아 보여 줍니다.",
    examples: [
      Example("bankctl logs -n 20", "The last twenty lines.", "마지막 스무 줄을 봅니다."),
      Example("bankctl logs deposit-1 loan-1 -f", "Two windows, as they work.", "두 창구가 일하는 것을 이어서 봅니다."),
      Example("bankctl logs --since 5m", "The last five minutes.", "지난 5분을 봅니다."),
      Example("bankctl logs --since 08:30", "Since half past eight, UTC.", "UTC 8시 반부터 봅니다."),
    ],
    operands: [
      OperandSpec(
        "WORKER", .text, .repeating, offers: workers,
        summary: Text("Only the logs of these, such as deposit-1.", "deposit-1처럼 이름을 주면 그 로그만 봅니다."))
    ],
    options: [
      OptionSpec(
        "follow", short: "f", "Stay, and show new lines as they come, also after a restart.",
        "새로 나오는 줄도 이어서 봅니다. 은행을 다시 열어도 이어집니다."),
      OptionSpec(
        "lines", short: "n", .integer(0...10_000_000), value: "N",
        default: Text("all; 10 with -f", "모두, -f면 10"), "Only the last N lines.", "마지막 N줄만 봅니다."),
      OptionSpec(
        "since", .text, value: "T",
        "Only what came later: a time back from now such as 5m, a time of today (UTC), or an RFC 3339 time.",
        "그 뒤의 것만 봅니다. 5m처럼 지금부터 거슬러 올라간 시간, 오늘의 시각(UTC), RFC 3339 시각을 쓸 수 있습니다."),
    ])

  /// Workers that usually have a log.
  private static let workers = [
    "coordinator", "guardian", "deposit-1", "deposit-2", "loan-1", "juice-1", "stock", "vending",
  ]

  private static let audit = CommandSpec(
    "audit", group: group, "Check that nothing is lost or done twice.", "잃은 것이나 두 번 된 것이 없는지 점검합니다.",
    details: Text(
      "Whether the bank is open or not. Where something is wrong it is listed, and the exit code is 1.",
      "은행이 열려 있어도 닫혀 있어도 됩니다. 잘못된 것이 있으면 모두 알리고 종료 코드는 1입니다."),
    examples: [Example("bankctl audit", "Customers, accounts, stock and money.", "고객과 계좌, 재고, 돈을 점검합니다.")])

  private static let ledger = CommandSpec(
    "ledger", group: group, "The trial balance of all accounts.", "모든 계좌의 시산표를 봅니다.",
    details: Text(
      "Every receipt of a served customer is one balanced transfer, so the balances together are zero.",
      "업무가 끝난 고객의 영수증 하나하나가 차변과 대변이 같은 이체이므로 잔액을 모두 더하면 0입니다."),
    examples: [Example("bankctl ledger", "Cash, loans and customers.", "현금, 대출금, 고객 계좌를 봅니다.")])

  private static let account = CommandSpec(
    "account", group: group, "A customer's account and what moved it last.", "고객 한 사람의 계좌와 최근 거래를 봅니다.",
    examples: [Example("bankctl account 12", "Account 12.", "12번 계좌를 봅니다.")],
    operands: [OperandSpec("N", .integer(0...Limits.account), "The account's number.", "계좌 번호입니다.")])

  private static let completions = CommandSpec(
    "completions", group: program, "Print a completion script for a shell.", "셸의 자동 완성 스크립트를 씁니다.",
    examples: [
      Example(
        "bankctl completions bash > ~/.local/share/bash-completion/completions/bankctl", "For bash.",
        "bash에서 쓸 스크립트를 만듭니다."),
      Example(
        "bankctl completions fish > ~/.config/fish/completions/bankctl.fish", "For fish.",
        "fish에서 쓸 스크립트를 만듭니다."),
    ], operands: [OperandSpec("SHELL", .choice(["bash", "zsh", "fish"]), "The shell.", "셸입니다.")])
}
