// Owns the description of the commands that look into a bank, and of those about this program itself.
// It must not know what they do.
// Invariant and failure: see BankctlTable.
import Arguments
import BankModel

extension BankctlTable {
  private static let group = Text("Oversight", "점검")
  private static let program = Text("This program", "이 프로그램")

  /// logs, audit, chaos, ledger, account, completions.
  static var oversight: [CommandSpec] { [logs, audit, chaos, ledger, account, completions] }

  private static var logs: CommandSpec {
    CommandSpec(
      "logs", group: group,
      summary: Text("The workers' logs, merged in time order.", "모든 기록을 시간 순서로 모아 보여 줍니다."),
      examples: [
        Example("bankctl logs -n 20", Text("The last twenty lines.", "마지막 스무 줄을 봅니다.")),
        Example("bankctl logs deposit-1 loan-1 -f", Text("Two windows, as they work.", "두 창구를 일하는 대로 봅니다.")),
        Example("bankctl logs --since 5m", Text("The last five minutes.", "지난 5분을 봅니다.")),
        Example("bankctl logs --since 08:30", Text("Since half past eight, UTC.", "UTC 8시 반부터 봅니다.")),
      ],
      operands: [
        OperandSpec(
          "WORKER", .text, .repeating, offers: workers,
          summary: Text("Only these, such as deposit-1.", "deposit-1처럼 이것들만 봅니다."))
      ],
      options: [
        OptionSpec(
          "follow", short: "f",
          summary: Text("Go on over rotation and restarts.", "앞으로 생길 것도 이어서 봅니다. 다시 열어도 이어집니다.")),
        OptionSpec(
          "lines", short: "n", .integer(0...10_000_000), value: "N",
          default: Text("all; 10 with -f", "모두, -f면 10"),
          summary: Text("Only the last lines.", "마지막 몇 줄만 봅니다.")),
        OptionSpec(
          "since", .text, value: "T",
          summary: Text(
            "Only what came later: a duration back from now, a time of today (UTC), or an RFC 3339 time.",
            "그 뒤의 것만 봅니다: 지금부터 거슬러 올라간 시간, 오늘의 시각(UTC), 또는 RFC 3339 시각입니다.")),
      ])
  }

  /// Whoever writes a log in a branch as it comes.
  private static let workers = [
    "coordinator", "guardian", "deposit-1", "deposit-2", "loan-1", "juice-1", "stock", "vending",
  ]

  private static var audit: CommandSpec {
    CommandSpec(
      "audit", group: group,
      summary: Text("Check every promise that can be checked.", "확인할 수 있는 모든 약속을 확인합니다."),
      details: Text(
        "Works on an open bank and on a stopped home. Exit code 1 and the list where a promise is broken.",
        "열린 은행과 닫힌 홈 모두에서 됩니다. 어긋난 약속이 있으면 목록과 종료 코드 1을 냅니다."),
      examples: [Example("bankctl audit", Text("Nothing lost, nothing twice.", "잃은 것도 두 번 된 것도 없는지 봅니다."))])
  }

  private static var ledger: CommandSpec {
    CommandSpec(
      "ledger", group: group,
      summary: Text("The trial balance of all accounts.", "모든 계좌의 시산표를 봅니다."),
      details: Text(
        "Every receipt of a served customer is one balanced transfer, so the balances together are zero.",
        "업무가 끝난 고객의 영수증 하나하나가 차변과 대변이 같은 이체이므로 잔액을 모두 더하면 0입니다."),
      examples: [Example("bankctl ledger", Text("Cash, loans and customers.", "현금, 대출금, 고객 계좌를 봅니다."))])
  }

  private static var account: CommandSpec {
    CommandSpec(
      "account", group: group,
      summary: Text("A customer's account and what moved it last.", "고객 한 사람의 계좌와 최근 거래를 봅니다."),
      examples: [Example("bankctl account 12", Text("Account 12.", "12번 계좌를 봅니다."))],
      operands: [
        OperandSpec(
          "N", .integer(0...Limits.account), summary: Text("The account's number.", "계좌 번호입니다."))
      ])
  }

  private static var completions: CommandSpec {
    CommandSpec(
      "completions", group: program,
      summary: Text("A completion script for a shell.", "셸의 자동 완성 스크립트를 씁니다."),
      examples: [
        Example(
          "bankctl completions bash > ~/.local/share/bash-completion/completions/bankctl",
          Text("For bash.", "bash에서 씁니다.")),
        Example(
          "bankctl completions fish > ~/.config/fish/completions/bankctl.fish",
          Text("For fish.", "fish에서 씁니다.")),
      ],
      operands: [
        OperandSpec(
          "SHELL", .choice(["bash", "zsh", "fish"]), summary: Text("The shell.", "셸입니다."))
      ])
  }
}
