// Help texts and options of the commands that open and close a bank.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments

extension BankctlTable {
  private static let group = Text("Opening and closing", "개점과 마감")

  static var openingAndClosing: [CommandSpec] { [open, console, start, stop, move] }

  private static var windowOptions: [OptionSpec] {
    [
      OptionSpec(
        "deposit", windows, default: Text("from the configuration, otherwise 2", "설정의 값, 없으면 2"),
        "Number of deposit windows.", "예금 창구의 수입니다."),
      OptionSpec(
        "loan", windows, default: Text("from the configuration, otherwise 1", "설정의 값, 없으면 1"),
        "Number of loan windows.", "대출 창구의 수입니다."),
      OptionSpec(
        "windows", .assignment(names: [], 0...256), repeatable: true, offers: serviceNames.map(\.value),
        summary: Text(
          "Number of windows of a service; repeat for several services.", "업무의 창구 수입니다. 업무마다 지정할 수 있습니다.")),
    ]
  }

  private static var paceOptions: [OptionSpec] {
    [
      OptionSpec(
        "speed", .speed, default: Text("from the configuration, otherwise 1", "설정의 값, 없으면 1"),
        "Divide every simulated duration; 'max' makes them zero.", "모의 처리 시간을 모두 이 수로 나눕니다. 'max'는 0으로 만듭니다."
      ),
      OptionSpec("config", .path, environment: "BANK_CONFIG", "Configuration file.", "설정 파일입니다."),
      OptionSpec(
        "store", .text, value: "URL",
        default: Text("from the configuration, otherwise the bank's home", "설정의 값, 없으면 은행의 홈"),
        environment: "BANK_STORE",
        "PostgreSQL database shared by several branches: postgres://USER@HOST/DATABASE (password in ~/.pgpass).",
        "여러 지점이 공유할 PostgreSQL 데이터베이스입니다. postgres://사용자@호스트/데이터베이스 형식이며, 비밀번호는 ~/.pgpass에 둡니다."),
    ]
  }

  /// Options that override the configuration, and the option that names the configuration file.
  static var startOptions: [OptionSpec] {
    windowOptions + [
      OptionSpec(
        "juice", windows, default: Text("from the configuration, otherwise 1", "설정의 값, 없으면 1"),
        "Number of juice stations.", "쥬스 스테이션의 수입니다.")
    ] + paceOptions
  }

  private static let open = CommandSpec(
    "open", group: group, "Show one business day from beginning to end.", "영업일 하루를 처음부터 끝까지 보여 줍니다.",
    details: Text(
      "Opens the bank, adds customers, prints a line whenever a customer is started or completed, and closes when all "
        + "have been served. Ctrl-C finishes only active customers; the others wait for the next start. Press it again "
        + "to stop everything immediately.",
      "은행을 열고 고객을 받아, 업무의 시작과 완료를 한 줄씩 보여 주고, 모두 처리하면 마감합니다. Ctrl-C를 누르면 업무중인 고객만 "
        + "마치고 나머지는 다음 개점을 기다리며, 한 번 더 누르면 바로 끝냅니다."),
    examples: [
      Example("bankctl open", "Run a day with 10 to 30 customers.", "고객 10–30명이 오는 하루"),
      Example(
        "bankctl open --customers 100 --deposit 4 --speed 10", "Run a busy day ten times as fast.",
        "붐비는 하루를 열 배 빠르게"),
    ],
    options: [
      OptionSpec(
        "customers", customerCount, default: Text("10 to 30 at random", "10–30명 중 무작위"),
        "Number of customers.", "고객의 수입니다."), seed,
    ] + windowOptions + paceOptions)

  private static let console = CommandSpec(
    "console", group: group, "Interactive menu: 1 opens the bank for a day, 2 exits.",
    "대화형 메뉴입니다. 1은 은행을 하루 열고, 2는 "
      + "종료합니다.",
    examples: [
      Example(
        "bankctl console", "Open the menu.", "메뉴를 엽니다."),
      Example(
        "printf '1\\n2\\n' | bankctl console --speed max", "Run a day without a keyboard.", "키보드 없이 하루 실행"),
    ], options: windowOptions + paceOptions)

  private static let start = CommandSpec(
    "start", group: group,
    "Open the bank and return when every window is ready.", "은행을 열고 모든 창구가 준비될 때까지 기다립니다.",
    examples: [
      Example("bankctl start", "Open with the configured windows.", "설정에 적힌 창구로 엽니다."),
      Example(
        "bankctl start --deposit 3 --loan 2 --speed 10", "Open five windows, ten times as fast.",
        "창구 다섯 개, 열 배 빠르게 엽니다."),
      Example(
        "bankctl start --foreground", "Run in the foreground, for systemd and containers.",
        "은행이 닫힐 때까지 실행됩니다(systemd, 컨테이너용)."),
      Example(
        "bankctl start --store postgres://bank@db/bank",
        "Open a branch of a bank in PostgreSQL.",
        "PostgreSQL에 있는 은행의 지점을 엽니다."),
    ],
    options: startOptions + [
      OptionSpec(
        "foreground",
        "Run in the foreground until the bank has closed. SIGTERM or Ctrl-C closes it; a second one "
          + "skips waiting customers.",
        "은행이 닫힐 때까지 실행됩니다. SIGTERM이나 Ctrl-C로 마감하며, 두 번째는 기다리는 고객을 건너뜁니다.")
    ])

  private static let move = CommandSpec(
    "move", aliases: ["migrate"], group: group, "Migrate a closed bank into a PostgreSQL database.",
    "닫힌 은행을 PostgreSQL 데이터베이스로 옮깁니다.",
    details: Text(
      "Everything is migrated: days, receipts with their results, attempts, keys, and all waiting, delayed and "
        + "dead-letter customers. Only the branch of this home can serve those who wait for juice, because the stock "
        + "stays here. The target must be empty. The move is one transaction, verified before it commits. If it is "
        + "interrupted, run it again: it reports whether the move took place. The database in the home stays as it is "
        + "and is no longer opened.",
      "영업일, 영수증과 결과, 시도, 키, 그리고 대기중·예약·재시도·보류된 고객까지 모두 옮깁니다. 재고는 이 홈에 남으므로, 쥬스를 기다리는 고객은 이 홈의 지점만 처리할 수 "
        + "있습니다. 대상 데이터베이스는 비어 있어야 합니다. 한 트랜잭션으로 옮기고, 커밋하기 전에 점검합니다. "
        + "중간에 무엇이 종료되더라도 같은 명령을 다시 실행하면 옮겨졌는지 알 수 있습니다. 홈의 데이터베이스는 그대로 남고 더는 열지 않습니다."),
    examples: [
      Example(
        "bankctl move --to postgres://bank@db/bank",
        "Then open it with 'bankctl start --store "
          + "postgres://bank@db/bank'.",
        "그 뒤 'bankctl start --store postgres://bank@db/bank'로 엽니다.")
    ],
    options: [
      OptionSpec(
        "to", .text, value: "URL",
        summary: Text(
          "The PostgreSQL database, without a password: postgres://USER@HOST/DATABASE.",
          "옮길 PostgreSQL 데이터베이스입니다. postgres://사용자@호스트/데이터베이스처럼 비밀번호 없이 씁니다."))
    ])

  private static let stop = CommandSpec(
    "stop", group: group, "Serve all waiting customers, then close.", "기다리는 고객을 모두 처리한 뒤 마감합니다.",
    details: Text(
      "Four steps: no new customers are accepted, waiting customers are served, active customers are finished, and "
        + "remaining workers are killed. Ctrl-C skips to the next step. The day is closed when every ticket has its "
        + "receipt; otherwise the remaining customers wait for the next start. With several branches only this branch "
        + "closes and its claims return to the others; --bank drains all branches and ends the day.",
      "네 단계로 마감합니다. 새 고객을 받지 않고, 기다리는 고객을 처리하고, 업무중인 고객을 마치고, 남은 워커를 강제 종료합니다. Ctrl-C를 누르면 다음 단계로 넘어갑니다. "
        + "모든 번호표에 영수증이 나오면 영업일이 끝나고, 남은 고객이 있으면 다음 개점을 기다립니다. 여러 지점이 있는 은행에서는 이 지점만 닫고 담당하던 고객을 다른 지점에 반환합니다. --bank는 "
        + "모든 지점이 고객을 모두 처리하게 하고 영업일을 끝냅니다."),
    examples: [
      Example("bankctl stop", "Close when no customers are waiting.", "기다리는 고객이 없으면 마감합니다."),
      Example(
        "bankctl stop --step-timeout 30s", "Customers not served within 30 seconds wait for the next start.",
        "30초 뒤에 남은 고객은 다음 개점을 기다립니다."),
      Example(
        "bankctl stop --leave-delayed", "Delayed customers wait for the next start.",
        "예약·재시도 고객은 다음 개점을 기다립니다."),
      Example("bankctl stop --now", "Finish only active customers.", "업무중인 고객만 마칩니다."),
      Example("bankctl stop --bank", "Close all branches and end the day.", "모든 지점과 영업일을 마칩니다."),
    ],
    options: [
      OptionSpec(
        "step-timeout", .duration, value: "T", default: Text("no limit", "제한 없음"), aliases: ["timeout"],
        "Time limit per step. Customers not served by then wait for the next start.",
        "각 단계의 시간 제한입니다. 그때까지 처리하지 못한 고객은 다음 개점을 기다립니다."),
      OptionSpec("now", "Finish only active customers.", "업무중인 고객만 마칩니다."),
      OptionSpec(
        "no-wait",
        "Return when the bank has started to close; required to close the bank from its own work.",
        "마감을 시작하고 바로 끝납니다. 은행이 실행한 명령이 그 은행을 마감하려면 이 옵션이 필요합니다."),
      OptionSpec(
        "leave-delayed", excludes: ["now"],
        summary: Text(
          "Leave delayed customers for the next start and serve the others.",
          "예약·재시도 고객은 다음 개점에 넘기고 나머지를 처리합니다.")),
      OptionSpec(
        "bank", excludes: ["now"],
        summary: Text(
          "Drain all branches of the bank, then end the day.",
          "은행의 모든 지점이 고객을 모두 처리한 뒤 영업일을 마칩니다.")),
    ])
}
