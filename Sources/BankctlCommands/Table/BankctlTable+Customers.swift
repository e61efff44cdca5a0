// Help texts and options of the commands for customers, tickets and receipts.
// `BankctlTable` has the whole table and the order of the groups.
import Arguments
import BankModel
import Wire

extension BankctlTable {
  private static let group = Text("Customers", "고객")

  static var customers: [CommandSpec] {
    [enqueue, commandLine, output, tickets, ticket, receipts, cancel, requeue]
  }

  private static let number: ValueKind = .integer(1...Limits.ticket)
  private static let day: ValueKind = .integer(1...Int64.max)

  private static let enqueue = CommandSpec(
    "enqueue", group: group, "Add customers to the queue.", "대기열에 고객을 추가합니다.",
    details: Text(
      "Returns when the tickets are on disk. Service, amount and account are random unless given. Services with "
        + "`ledger` in the configuration require --amount and --account; other configured services do not accept them. "
        + "A payload requires a service whose command or worker reads it. With --wait the exit code is 0 if all "
        + "customers were served, and 1 if one was cancelled or is a dead letter.\n\n"
        + "--at and --in schedule customers: they are queued in ticket order when the time comes, even after a "
        + "restart. --at takes an RFC 3339 time (2026-11-24T09:00:00+09:00) or a local time of today (09:00). With a "
        + "past RFC 3339 time they are queued immediately; a past time of today is refused, because tomorrow's may be "
        + "meant. --in is converted to a time when the bank receives the request. Times refer to the host's clock (the "
        + "database server's clock if branches share a database) and shift if that clock is set.\n\n"
        + "With --from every line is a JSON object such as "
        + "{\"service\":\"deposit\",\"grade\":\"vip\",\"amount\":50000,\"account\":12,"
        + "\"key\":\"a-1\"}, where each field is optional. If a line is invalid, its number is reported and no "
        + "customer is added. Use \"at\" (RFC 3339) or \"in\" (such as \"5m\") to schedule, \"payload\" (text) or "
        + "\"payload_b64\" (base64) for data.",
      "번호표가 디스크에 기록되면 끝납니다. 업무, 금액, 계좌를 지정하지 않으면 무작위로 정합니다. 설정에 ledger가 있는 업무에는 금액과 계좌를 모두 "
        + "지정해야 하고, 설정의 다른 업무에는 둘 다 쓸 수 없습니다. 페이로드는 명령이나 워커가 읽는 업무에만 쓸 수 있습니다. --wait를 쓰면 종료 "
        + "코드는 고객이 모두 처리되었을 때 0이고, 취소되거나 보류된 고객이 있으면 1입니다.\n\n"
        + "--at과 --in은 고객을 예약합니다. 예약한 고객은 그 시각이 되면 번호 순서대로 대기열에 들어가며, 은행을 다시 열어도 예약은 그대로입니다. --at에는 RFC 3339 "
        + "시각(2026-11-24T09:00:00+09:00)이나 이곳의 오늘 시각(09:00)을 씁니다. 지나간 RFC 3339 시각이면 바로 대기열에 들어가고, 오늘의 지나간 시각은 내일을 뜻할 "
        + "수도 있어 거절합니다. --in은 은행이 고객을 받은 때부터 셉니다. 시각은 시스템의 시계를 따르며(여러 지점이 데이터베이스를 공유하면 데이터베이스 서버의 시계), 시계를 바꾸면 예약도 그만큼 "
        + "빨라지거나 늦어집니다.\n\n"
        + "--from은 파일에서 한 줄에 하나씩 {\"service\":\"deposit\",\"grade\":\"vip\",\"amount\":50000,\"account\":12,"
        + "\"key\":\"a-1\"} 같은 객체를 읽습니다. 각 항목은 뺄 수 있습니다. 잘못된 줄이 있으면 줄 번호를 알리고 고객을 한 명도 추가하지 않습니다. "
        + "예약은 \"at\"(RFC 3339 시각)이나 \"in\"(\"5m\" 등)으로, 페이로드는 \"payload\"(텍스트)나 \"payload_b64\"(base64)로 지정합니다."
    ),
    examples: [
      Example("bankctl enqueue 10", "Add ten random customers.", "무작위 고객 열 명을 추가합니다."),
      Example(
        "bankctl enqueue 3 --service loan --grade vip --wait",
        "Add three VIP loan customers and wait until all are done.", "대출을 원하는 VIP 세 명을 추가하고, 모두 끝날 때까지 기다립니다."
      ),
      Example(
        "bankctl enqueue 100 --key monday-1", "Idempotent: repeating the key adds no customer twice.",
        "다시 실행해도 같은 키로는 두 번 추가되지 않습니다."),
      Example(
        "cat people.jsonl | bankctl enqueue --from -", "Read one customer per line from a pipe.",
        "파이프에서 한 줄에 고객 한 명씩 읽습니다."),
      Example(
        "bankctl enqueue 2 --service deposit --in 5m", "Schedule two customers in five minutes.",
        "고객 두 명을 5분 뒤로 예약합니다."),
      Example(
        "bankctl enqueue --service thumbs --payload-file photo.jpg",
        "Add one customer with a file as payload.",
        "파일의 내용을 페이로드로 하는 고객 한 명을 추가합니다."),
    ],
    operands: [
      OperandSpec(
        "N", customerCount, replacedBy: "from", impliedBy: ["payload", "payload-file"],
        "Number of customers. Required without a payload; with a payload the default is 1.",
        "고객의 수입니다. 페이로드가 없으면 꼭 지정해야 하고, 있으면 기본값은 1입니다.")
    ],
    options: enqueueOptions)

  private static var enqueueOptions: [OptionSpec] {
    let chance: Text = Text("at random", "무작위")
    return [
      OptionSpec(
        "service", .text, value: "NAME", default: chance, offers: ticketServices.map(\.value),
        "Service: deposit, loan or one from the configuration.",
        "업무입니다. deposit, loan 또는 설정에 적힌 업무를 지정합니다."),
      OptionSpec(
        "grade", .choice(["vvip", "vip", "regular"]), default: "regular",
        "Grade; higher grades are served first.", "등급입니다. 높은 등급을 먼저 처리합니다."),
      OptionSpec(
        "priority", .integer(0...Int64(UInt32.max)), value: "P", excludes: ["grade"],
        "Priority; 0 is served first. The grades are 0, 1023 and 1024.",
        "우선순위입니다. 0이 가장 먼저이고, 등급은 0, 1023, 1024입니다."),
      OptionSpec(
        "amount", .integer(1...Limits.amount), value: "WON", default: chance,
        "Amount per customer, in won.", "고객마다의 금액(원)입니다."),
      OptionSpec(
        "account", .integer(1...Limits.account), value: "ID", default: chance,
        "Account number.", "계좌 번호입니다."), seed,
      OptionSpec(
        "key", .text, value: "KEY",
        "Idempotency key: repeating the command returns the same tickets; a different command with the same key is "
          + "refused.",
        "멱등 키입니다. 같은 명령을 다시 실행하면 같은 번호표를 돌려주고, 다른 명령에 같은 키를 쓰면 거절합니다."),
      OptionSpec(
        "payload", .bytes, excludes: ["payload-file"], "Payload as text.",
        "페이로드(텍스트)입니다."),
      OptionSpec(
        "payload-file", .path, "Payload from a file (up to 1 MiB; '-' = stdin).",
        "페이로드를 파일(1 MiB까지)에서 읽습니다. '-'는 표준 입력입니다."),
      OptionSpec(
        "at", .text, value: "TIME", excludes: ["in"],
        "Start no earlier than this time of the host's clock; a past time means immediately.",
        "시스템 시계의 이 시각 전에는 시작하지 않습니다. 지나간 시각이면 바로 처리합니다."),
      OptionSpec(
        "in", .duration, value: "DURATION",
        "Start after this delay, counted from when the bank receives the request.",
        "은행이 받은 때부터 이 시간이 지나기 전에는 시작하지 않습니다."),
      OptionSpec(
        "from", .path,
        excludes: [
          "service", "grade", "priority", "amount", "account", "key", "payload", "payload-file", "at", "in",
        ],
        "Read customers from a file, '-' for standard input.", "고객을 파일에서 읽습니다. '-'는 표준 입력입니다."),
      OptionSpec("wait", "Wait until all customers are done.", "모두 끝날 때까지 기다립니다."), unlessPaused,
    ]
  }

  /// The service of a command line, unless the user names another one.
  static let commandLines = ServiceName("run")!

  private static let commandLine = CommandSpec(
    "run", group: group, "Run a command as a job.", "명령을 작업으로 실행합니다.",
    details: Text(
      "Queues the command with the current directory, environment, umask and limits; it survives kill -9 and reboots. "
        + "It is not passed to a shell. After a kill it is started again, always with the same BANK_KEY in its "
        + "environment; if it fails, it becomes a dead letter and is not retried. With --wait this program shows its "
        + "output and exits with its exit code, or 128 + signal number if it was killed. For a cancelled command or "
        + "a dead letter without an exit code of its own, the exit code is 1, never 0.",
      "명령을 현재 디렉터리, 환경 변수, umask, 자원 제한과 함께 대기열에 넣고, 창구가 비면 실행합니다. 모든 프로세스를 kill -9로 종료하거나 시스템을 다시 시작해도 남아 있습니다. "
        + "셸을 거치지 않습니다. 강제 종료되면 같은 BANK_KEY로 다시 시작하고, 실패하면 다시 시도하지 않고 보류합니다. --wait를 쓰면 출력을 보여 주고 명령의 종료 코드로 끝납니다. "
        + "시그널로 종료되면 128에 시그널 번호를 더한 값입니다. 취소되거나 보류된 명령은 0으로 끝나지 않습니다. 명령에 종료 코드가 없으면 1입니다."),
    examples: [
      Example(
        "bankctl run -- make all", "Queue a command and print its ticket.", "명령을 대기열에 넣고 번호표를 출력합니다."),
      Example(
        "bankctl run --wait -- sh -c 'sleep 5; date'",
        "Wait for it; show its output and return its exit code.",
        "끝날 때까지 기다리며 출력과 종료 코드를 그대로 받습니다."),
    ],
    operands: [
      OperandSpec(
        "COMMAND", .bytes, .commandLine,
        summary: Text("Program and arguments, after --.", "-- 뒤에 쓰는 프로그램과 그 인수입니다."))
    ],
    options: [
      OptionSpec("wait", "Wait for the command and exit with its exit code.", "명령을 기다려 그 종료 코드로 끝납니다."),
      OptionSpec(
        "stdin",
        "Pass standard input to the command. Otherwise its standard input is empty.",
        "표준 입력을 명령에 전달합니다. 쓰지 않으면 명령의 표준 입력은 비어 있습니다."),
      OptionSpec(
        "service", .text, value: "NAME", default: Text("run"),
        "A configured service that takes command lines: one with \"run\": [].",
        "명령을 받는 업무입니다. 설정에 \"run\": [] 로 적습니다."),
      OptionSpec(
        "priority", .integer(0...Int64(UInt32.max)), value: "P", default: Text("1024"),
        "Priority; 0 is started first.", "우선순위입니다. 0이 가장 먼저입니다."),
    ])

  private static let output = CommandSpec(
    "output", group: group, "Show the output of a command.", "번호표의 명령이 출력한 내용을 보여 줍니다.",
    details: Text(
      "Works while the command runs, too. Short output is stored in the receipt; longer output in HOME/output, up to "
        + "limits.output_bytes. The rest is discarded. If output_retention has removed the file, the exit code is 4.",
      "실행 중에도 볼 수 있습니다. 짧은 출력은 영수증과 함께 남고, 긴 출력은 홈의 output 디렉터리에 limits.output_bytes까지 남습니다. 나머지는 버려집니다. "
        + "설정의 output_retention에 따라 파일이 삭제되었으면 종료 코드는 4입니다."),
    examples: [
      Example("bankctl output 12", "Show its standard output so far.", "지금까지의 표준 출력을 봅니다."),
      Example(
        "bankctl output 12 --stderr -f", "Follow its standard error until it exits.", "끝날 때까지 표준 오류를 이어서 봅니다."
      ),
    ],
    operands: [OperandSpec("N", number, "Ticket number.", "번호표의 번호입니다.")],
    options: [
      OptionSpec(
        "day", day, value: "D", default: Text("the current day", "오늘"), "Business day.", "영업일입니다."),
      OptionSpec("stderr", "Show standard error.", "표준 오류를 보여 줍니다."),
      OptionSpec("follow", short: "f", "Follow until the command exits.", "명령이 끝날 때까지 이어서 보여 줍니다."),
    ])

  private static let tickets = CommandSpec(
    "tickets", group: group, "List waiting and active customers.", "대기중과 업무중 목록을 보여 줍니다.",
    examples: [
      Example("bankctl tickets", "Show both lists.", "두 목록"),
      Example(
        "bankctl tickets --state waiting --after 200 --limit 200",
        "Show the second page of waiting customers.",
        "대기중 목록의 둘째 쪽"),
      Example(
        "bankctl tickets --state dead", "Show dead letters.",
        "보류된 고객"),
    ],
    options: [
      OptionSpec(
        "state", .choice(["waiting", "serving", "delayed", "dead"]), "Show only one list.", "한 목록만 봅니다."),
      OptionSpec(
        "after", number, value: "N", "Only tickets after this number, in order.", "이 번호 다음부터 번호 순서대로 보여 줍니다."),
    ] + filters)

  private static let ticket = CommandSpec(
    "ticket", group: group, "Show a customer's timeline.", "고객 한 명의 처리 이력을 보여 줍니다.",
    examples: [
      Example("bankctl ticket 7", "Show ticket 7 of the current day.", "오늘의 7번 고객"),
      Example("bankctl ticket 7 --day 2", "Show ticket 7 of day 2.", "2일차의 7번 고객"),
    ], operands: [OperandSpec("N", number, "Ticket number.", "번호표의 번호입니다.")],
    options: [
      OptionSpec(
        "day", day, value: "D", default: Text("the current day", "오늘"), "Business day.", "영업일입니다.")
    ])

  private static let receipts = CommandSpec(
    "receipts", group: group,
    "Show receipts, one per line, in commit order.", "기록된 순서대로 영수증을 한 줄씩 보여 줍니다.",
    examples: [
      Example("bankctl receipts", "Show the receipts of the current day.", "오늘의 영수증"),
      Example("bankctl receipts --day all --json", "Print all receipts as JSON.", "모든 영수증(스크립트용 JSON)"),
      Example("bankctl receipts --follow", "Follow new receipts.", "새로 나오는 영수증도 이어서 표시"),
    ],
    options: [
      OptionSpec(
        "day", .integerOrWord(1...Int64.max, ["all"]), value: "D|all", default: Text("the current day", "오늘"),
        "Business day of the receipts.", "어느 영업일의 영수증인지 정합니다."),
      OptionSpec(
        "follow", short: "f",
        "Follow new receipts, also after a restart.", "새로 나오는 영수증도 이어서 보여 줍니다. 은행을 다시 열어도 이어집니다."),
      filters[0],
      OptionSpec(
        "limit", .integer(1...TicketQuery.limitAtMost), value: "N", excludes: ["follow"],
        "Maximum number of entries.",
        "최대 N개까지 표시합니다."),
    ])

  private static let cancel = CommandSpec(
    "cancel", group: group, "Cancel waiting, active or dead-letter customers.",
    "기다리거나 업무중이거나 보류된 고객을 취소합니다.",
    details: Text(
      "An active customer gets its receipt immediately and its work is stopped, including all processes a command has "
        + "started.",
      "업무중인 고객도 바로 영수증을 받습니다. 하던 일은 중단하며, 명령은 그 명령이 시작한 모든 프로세스와 함께 종료합니다."),
    examples: [
      Example(
        "bankctl cancel 7", "Cancel customer 7, who gets a cancelled receipt.",
        "7번 고객을 취소하고 취소 영수증을 남깁니다."),
      Example("bankctl cancel 7 --day 2", "Only if day 2 has not ended.", "2일차가 끝나지 않았을 때만 취소"),
      Example("bankctl cancel 3 5 7-12", "Cancel several at once.", "여러 명을 한 번에 취소"),
    ], operands: [numbers()],
    options: [ofDay(excluding: [])])

  /// The operand for ticket numbers and ranges; `option` may be given in its place.
  private static func numbers(replacedBy option: String? = nil) -> OperandSpec {
    OperandSpec(
      "N", .text, .repeatingOnceOrMore, replacedBy: option,
      summary: Text(
        "Ticket number or range.", "번호표의 번호나 범위입니다."))
  }

  private static let filters = [
    OptionSpec("service", .text, value: "NAME", "Only this service.", "이 업무만 보여 줍니다."),
    OptionSpec(
      "limit", .integer(1...TicketQuery.limitAtMost), value: "N", "Maximum number of entries.",
      "최대 N개까지 표시합니다."),
  ]

  /// The option `--day` of commands that change tickets.
  private static func ofDay(excluding others: [String]) -> OptionSpec {
    OptionSpec(
      "day", day, value: "D", default: Text("the current day", "오늘"), excludes: others,
      "Business day of the ticket; if it has ended, nothing is changed.",
      "번호표의 영업일입니다. 이미 끝난 날이면 아무것도 바꾸지 않습니다.")
  }

  private static let requeue = CommandSpec(
    "requeue", group: group, "Requeue dead letters.", "보류된 고객을 다시 줄에 세웁니다.",
    examples: [
      Example("bankctl requeue 7", "Requeue one of them.", "한 명을 다시 줄 세우기"),
      Example("bankctl requeue 3 5 7-12", "Requeue several at once.", "여러 명을 한 번에 다시 줄 세우기"),
      Example("bankctl requeue --dead", "Requeue all dead letters.", "모두 다시 줄 세우기"),
    ], operands: [numbers(replacedBy: "dead")],
    options: [OptionSpec("dead", "All dead letters.", "보류된 고객 모두입니다."), ofDay(excluding: ["dead"])])
}
