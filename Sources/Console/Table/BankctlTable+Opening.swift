// Help texts and options of the commands
// that open and close a bank.
import Arguments

extension BankctlTable {
  private static let group = Text("Opening and closing", "개점과 마감")

  static var openingAndClosing: [CommandSpec] { [open, console, start, stop, move] }

  private static var windowOptions: [OptionSpec] {
    [
      OptionSpec(
        "deposit", windows, default: Text("that of the configuration, else 2", "설정의 값, 없으면 2"),
        "Windows for deposits.", "예금 창구의 수입니다."),
      OptionSpec(
        "loan", windows, default: Text("that of the configuration, else 1", "설정의 값, 없으면 1"),
        "Windows for loans.", "대출 창구의 수입니다."),
      OptionSpec(
        "windows", .assignment(names: [], 0...256), repeatable: true, offers: serviceNames.map(\.value),
        summary: Text(
          "Windows for any service; may be given once for each.", "어느 업무든 그 창구의 수입니다. 업무마다 한 번씩 줄 수 있습니다.")),
    ]
  }

  private static var paceOptions: [OptionSpec] {
    [
      OptionSpec(
        "speed", .speed, default: Text("that of the configuration, else 1", "설정의 값, 없으면 1"),
        "Divides every simulated duration; 'max' makes them zero.", "흉내 내는 시간을 모두 이 수로 나눕니다. 'max'는 0으로 만듭니다."
      ),
      OptionSpec("config", .path, environment: "BANK_CONFIG", "The configuration file.", "설정 파일입니다."),
      OptionSpec(
        "store", .text, value: "URL",
        default: Text("that of the configuration, else the bank's own home", "설정의 값, 없으면 은행의 홈"),
        environment: "BANK_STORE",
        "The PostgreSQL database whose books several branches share: postgres://USER@HOST/DATABASE, without a password.",
        "여러 지점이 장부를 함께 쓸 PostgreSQL 데이터베이스입니다. postgres://사용자@호스트/데이터베이스처럼 비밀번호 없이 씁니다."),
    ]
  }

  /// Options that override the configuration, and the configuration itself.
  static var startOptions: [OptionSpec] {
    windowOptions + [
      OptionSpec(
        "juice", windows, default: Text("that of the configuration, else 1", "설정의 값, 없으면 1"),
        "Juice stations.", "쥬스 스테이션의 수입니다.")
    ] + paceOptions
  }

  private static let open = CommandSpec(
    "open", group: group, "Show one business day from beginning to end.", "영업일 하루를 처음부터 끝까지 보여 줍니다.",
    details: Text(
      "Opens the bank, lets customers come, shows a line for each start and each completion, and closes when everyone "
        + "was served. Ctrl-C finishes only those being served; the others wait for the next start. Pressed again it "
        + "ends everything at once.",
      "은행을 열고 고객을 받아, 업무의 시작과 완료를 한 줄씩 보여 주고, 모두 처리하면 마감합니다. Ctrl-C를 누르면 업무중인 고객만 "
        + "마치고 나머지는 다음 개점을 기다리며, 한 번 더 누르면 바로 끝냅니다."),
    examples: [
      Example("bankctl open", "A day with 10 to 30 customers.", "고객 10–30명이 오는 하루를 봅니다."),
      Example(
        "bankctl open --customers 100 --deposit 4 --speed 10", "A busy day, ten times as fast.",
        "붐비는 하루를 열 배 빠르게 봅니다."),
    ],
    options: [
      OptionSpec(
        "customers", customerCount, default: Text("10 to 30 at random", "10–30명 중 무작위"),
        "How many customers come.", "찾아오는 고객의 수입니다."), seed,
    ] + windowOptions + paceOptions)

  private static let console = CommandSpec(
    "console", group: group, "The menu of the original console app.", "원래 콘솔 앱의 메뉴를 보여 줍니다.",
    examples: [
      Example(
        "bankctl console", "Type 1 to open the bank for a day, 2 to end.", "1을 입력하면 은행을 하루 열고, 2를 입력하면 끝납니다."),
      Example(
        "printf '1\\n2\\n' | bankctl console --speed max", "A day without a keyboard.", "키보드 없이 하루를 보냅니다."),
    ], options: windowOptions + paceOptions)

  private static let start = CommandSpec(
    "start", group: group,
    "Open the bank and return when every window is ready.", "은행을 열고 모든 창구가 준비될 때까지 기다립니다.",
    examples: [
      Example("bankctl start", "With the windows of the configuration.", "설정에 적힌 창구로 엽니다."),
      Example(
        "bankctl start --deposit 3 --loan 2 --speed 10", "Five windows, ten times as fast.",
        "창구 다섯 개, 열 배 빠르게 엽니다."),
      Example(
        "bankctl start --foreground", "Stay with the bank, as systemd and containers want it.",
        "은행이 닫힐 때까지 끝나지 않아 systemd와 컨테이너에서 씁니다."),
      Example(
        "bankctl start --store postgres://bank@db/bank",
        "As one of several branches that share a queue; passwords come from ~/.pgpass.",
        "대기열을 함께 쓰는 여러 지점 중 하나로 엽니다. 비밀번호는 ~/.pgpass에서 읽습니다."),
    ],
    options: startOptions + [
      OptionSpec(
        "foreground", "Stay until the bank has closed; SIGTERM and Ctrl-C close it, a second one faster.",
        "은행이 닫힐 때까지 끝나지 않습니다. SIGTERM이나 Ctrl-C로 마감하며, 두 번째는 더 빨리 마감합니다.")
    ])

  private static let move = CommandSpec(
    "move", group: group, "Move a closed bank into books that branches share.",
    "닫힌 은행을 여러 지점이 함께 쓰는 장부로 옮깁니다.",
    details: Text(
      "Everything goes along: days, receipts with their results, attempts, keys, and everybody who waits, is delayed or was put "
        + "aside. Books in which somebody has been already are refused, and so is a bank in which somebody waits for juice. It "
        + "is one transaction, counted and audited before it is ended: whatever dies, either nothing has moved or everything, "
        + "and the same command again finds out which. The books in the home stay as they are and are not opened any more.",
      "영업일, 영수증과 결과, 시도, 키, 그리고 대기중·지연·보류된 고객까지 모두 옮깁니다. 이미 고객이 있는 장부와, 쥬스를 기다리는 고객이 있는 은행은 거절합니다. 한 "
        + "트랜잭션으로 옮기고, 끝내기 전에 세고 점검합니다. 무엇이 죽든 모두 옮겨졌거나 하나도 옮겨지지 않았으며, 같은 명령을 다시 실행하면 알 수 있습니다. 홈의 장부는 그대로 남고 더는 열지 "
        + "않습니다."),
    examples: [
      Example(
        "bankctl move --to postgres://bank@db/bank", "Then 'bankctl start --store postgres://bank@db/bank'.",
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
    "stop", group: group, "Let everyone waiting be served, then close.", "기다리는 고객을 모두 처리한 뒤 마감합니다.",
    details: Text(
      "Four steps: no new customers are taken, those who wait are served, those being served are "
        + "finished, and tellers that have not gone then are killed. Ctrl-C goes one step further. The day is "
        + "closed when every ticket has its receipt; otherwise those left go on waiting for the next start. Of a bank with "
        + "several branches this one alone is closed, and what it had taken over goes to the others at once; --bank has all of "
        + "them serve everybody, and ends the day.",
      "네 단계로 마감합니다. 새 고객을 받지 않고, 기다리는 고객을 처리하고, 업무중인 고객을 마치고, 남은 은행원을 강제로 끝냅니다. Ctrl-C를 누르면 다음 단계로 넘어갑니다. "
        + "모든 번호표에 영수증이 나오면 영업일이 끝나고, 남은 고객이 있으면 다음 개점을 기다립니다. 여러 지점이 있는 은행에서는 이 지점만 닫고 넘겨받았던 고객을 바로 다른 "
        + "지점에 돌려줍니다. --bank는 모든 지점이 고객을 모두 처리하게 하고 영업일을 끝냅니다."),
    examples: [
      Example("bankctl stop", "Close when nobody waits any more.", "기다리는 고객이 없으면 마감합니다."),
      Example(
        "bankctl stop --timeout 30s", "Those left after 30 seconds wait for the next start.",
        "30초 뒤에 남은 고객은 다음 개점을 기다립니다."),
      Example(
        "bankctl stop --leave-delayed", "Whoever is delayed until tomorrow waits for the next start.",
        "내일로 미뤄진 고객은 다음 개점을 기다립니다."),
      Example("bankctl stop --now", "Finish only those being served.", "업무중인 고객만 마칩니다."),
      Example("bankctl stop --bank", "All branches, and the day.", "모든 지점과 영업일을 마칩니다."),
    ],
    options: [
      OptionSpec(
        "timeout", .duration, value: "T", default: Text("no limit", "제한 없음"),
        "Time limit of each step; customers who are not served by then wait for the next start.",
        "각 단계의 시간 제한입니다. 그때까지 처리하지 못한 고객은 다음 개점을 기다립니다."),
      OptionSpec("now", "Finish only those being served.", "업무중인 고객만 마칩니다."),
      OptionSpec(
        "no-wait",
        "Return when the bank has begun to close; a command of the bank itself can close it in no other way.",
        "마감을 시작하게 하고 바로 돌아옵니다. 은행이 실행한 명령이 그 은행을 마감하려면 이 옵션이 필요합니다."),
      OptionSpec(
        "leave-delayed", excludes: ["now"],
        summary: Text(
          "Leave delayed customers for the next start, and serve the others.",
          "예약되어 미뤄진 고객은 다음 개점에 넘기고 나머지를 처리합니다.")),
      OptionSpec(
        "bank", excludes: ["now"],
        summary: Text(
          "Let all branches of a shared bank serve everybody, then end the day.",
          "함께 쓰는 은행의 모든 지점이 고객을 모두 처리한 뒤 영업일을 마칩니다.")),
    ])
}
