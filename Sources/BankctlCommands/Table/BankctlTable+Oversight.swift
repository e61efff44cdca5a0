// Help texts and options of the commands that inspect a bank, and of those about this program itself.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments
import BankModel

extension BankctlTable {
  private static let group = Text("Oversight", "점검")
  private static let program = Text("This program", "이 프로그램")

  static var oversight: [CommandSpec] { [board, logs, kill, audit, chaos, ledger, account, completions] }

  private static let board = CommandSpec(
    "snapshot", formerNames: ["board"], group: group,
    "Print a snapshot of the bank: what the dashboard shows.", "대시보드에 나오는 은행의 스냅샷을 출력합니다.",
    details: Text(
      "Shows counts by service and grade, rates, windows, active customers, the first waiting customers in ticket "
        + "order, and recent events. With -w a line follows whenever something has changed, at most twenty per second; "
        + "with --json each line is a whole snapshot.",
      "업무와 등급마다의 수, 처리 속도, 창구, 업무중인 고객, 번호 순서대로 먼저 기다리는 고객, 최근 이벤트를 보여 줍니다. -w를 쓰면 바뀔 때마다 초당 20줄까지 이어서 "
        + "쓰고, --json이면 한 줄이 스냅샷 하나입니다."),
    examples: [
      Example("bankctl snapshot", "Print it once.", "한 번 출력"),
      Example("bankctl snapshot -w --json", "Follow all snapshots as JSON.", "모든 스냅샷(스크립트용 JSON)"),
    ],
    options: [
      OptionSpec(
        "watch", short: "w", "Follow changes, also after a restart.",
        "바뀌는 것을 이어서 봅니다. 은행을 다시 열어도 이어집니다.")
    ])

  private static let kill = CommandSpec(
    "kill", group: group, "Kill a process of the bank (SIGKILL).", "은행의 프로세스를 강제 종료합니다(SIGKILL).",
    details: Text(
      "The bank replaces it. The next process serves its customer; the recovery time is printed. If it has been "
        + "replaced meanwhile, nothing is killed and the exit code is 5. Asks for confirmation on a terminal.",
      "은행이 다음 프로세스를 시작합니다. 처리하던 고객의 업무는 다음 프로세스가 다시 시작하며, 얼마나 걸렸는지 알려 줍니다. 그사이에 다른 프로세스로 바뀌었으면 아무것도 종료하지 않고 종료 코드는 "
        + "5입니다. 터미널에서는 먼저 확인합니다."),
    examples: [
      Example("bankctl kill loan-1", "Kill the worker at a window.", "한 창구의 워커를 강제 종료"),
      Example("bankctl kill coordinator", "Kill the coordinator.", "코디네이터를 강제 종료"),
      Example(
        "bankctl kill loan-1 --yes --json", "Kill without confirmation; print JSON.", "확인 없이 강제 종료하고 JSON 출력"),
    ],
    operands: [
      OperandSpec(
        "PROCESS", .text, offers: processes, "Name of the process, such as deposit-1 or coordinator.",
        "deposit-1이나 coordinator 같은 프로세스의 이름입니다.")
    ],
    options: [OptionSpec("yes", "Do not ask for confirmation.", "확인 없이 실행합니다.")])

  private static let logs = CommandSpec(
    "logs", group: group,
    "Show the logs of all processes, merged in time order.", "모든 프로세스의 로그를 시간 순서로 모아 보여 줍니다.",
    examples: [
      Example("bankctl logs -n 20", "Show the last twenty lines.", "마지막 스무 줄"),
      Example("bankctl logs deposit-1 coordinator -f", "Follow two processes.", "두 프로세스의 로그를 이어서 표시"),
      Example("bankctl logs --since 5m", "Show the last five minutes.", "지난 5분"),
      Example("bankctl logs --since 08:30", "Show lines since 08:30 UTC.", "UTC 8시 30분부터"),
    ],
    operands: [
      OperandSpec(
        "PROCESS", .text, .repeating, offers: processes,
        summary: Text(
          "Only the logs of these processes, such as deposit-1 or coordinator.",
          "deposit-1이나 coordinator 같은 이름을 지정하면 그 프로세스의 로그만 보여 줍니다."))
    ],
    options: [
      OptionSpec(
        "follow", short: "f", "Follow new lines, also after a restart.",
        "새로 나오는 줄도 이어서 봅니다. 은행을 다시 열어도 이어집니다."),
      OptionSpec(
        "lines", short: "n", .integer(0...10_000_000), value: "N",
        default: Text("all; 10 with -f", "모두, -f면 10"), "Only the last N lines.", "마지막 N줄만 봅니다."),
      OptionSpec(
        "since", .text, value: "T",
        "Only lines since then: an age such as 5m, a time of today (UTC), or an RFC 3339 time.",
        "그 뒤의 줄만 보여 줍니다. 5m 같은 경과 시간, 오늘의 시각(UTC), RFC 3339 시각을 지정할 수 있습니다."),
    ])

  /// Names of processes that a bank usually has, for completions.
  private static let processes = [
    "coordinator", "guardian", "deposit-1", "deposit-2", "loan-1", "juice-1", "stock", "vending", "web",
  ]

  private static let audit = CommandSpec(
    "audit", group: group, "Check that nothing is lost or done twice.", "유실되거나 두 번 처리된 것이 없는지 점검합니다.",
    details: Text(
      "Works on open and closed banks. Lists problems; exit code 1 if there are any.",
      "열려 있거나 닫힌 은행에 쓸 수 있습니다. 문제가 있으면 모두 알리고 종료 코드는 1입니다."),
    examples: [
      Example("bankctl audit", "Check customers, accounts, stock and money.", "고객과 계좌, 재고, 돈을 점검합니다.")
    ])

  private static let ledger = CommandSpec(
    "ledger", group: group, "Show the trial balance of all accounts.", "모든 계좌의 시산표를 보여 줍니다.",
    details: Text(
      "Every receipt of a served customer is one balanced transfer, so the balances add up to zero.",
      "업무가 끝난 고객의 영수증 하나하나가 차변과 대변이 같은 이체이므로 잔액을 모두 더하면 0입니다."),
    examples: [Example("bankctl ledger", "Show cash, loans and customers.", "현금, 대출금, 고객 계좌를 봅니다.")])

  private static let account = CommandSpec(
    "account", group: group, "Show an account and its latest transfers.", "계좌와 최근 이체를 보여 줍니다.",
    examples: [Example("bankctl account 12", "Show account 12.", "12번 계좌")],
    operands: [OperandSpec("N", .integer(0...Limits.account), "Account number.", "계좌 번호입니다.")])

  private static let completions = CommandSpec(
    "completions", group: program, "Print a completion script for a shell.", "셸의 자동 완성 스크립트를 출력합니다.",
    examples: [
      Example(
        "bankctl completions bash > ~/.local/share/bash-completion/completions/bankctl", "For bash.",
        "bash에서 쓸 스크립트를 만듭니다."),
      Example(
        "bankctl completions fish > ~/.config/fish/completions/bankctl.fish", "For fish.",
        "fish에서 쓸 스크립트를 만듭니다."),
    ], operands: [OperandSpec("SHELL", .choice(["bash", "zsh", "fish"]), "The shell.", "셸입니다.")])
}
