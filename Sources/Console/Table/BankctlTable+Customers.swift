// Help texts and options of the commands for
// customers, tickets and receipts.
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
    "enqueue", group: group, "Customers take tickets.", "고객이 번호표를 뽑습니다.",
    details: Text(
      "Ends when the tickets are on disk. Service, amount and account are drawn at random where they are not given. "
        + "Customers of a service that has a ledger in the configuration need amount and account; those of its other "
        + "services have neither. A payload is for a service whose command or worker reads it; for any other service it is "
        + "refused. With --wait the exit code is 0 if all of them were served, and 1 if one was cancelled or is a dead letter.\n\n"
        + "With --at or --in they are not served before that: they are delayed, and stand in line at the place of their numbers "
        + "when the time has come, also after a restart. --at is a moment in RFC 3339 (2026-11-24T09:00:00+09:00) or a time of "
        + "today here (09:00). For a moment that has passed they stand in line at once; a time of today that has passed is refused, "
        + "because tomorrow's may be meant. --in becomes such a moment when the bank takes them in. The moment is one of the "
        + "machine's clock (the database server's, if branches share their books): if that clock is set, they come sooner or "
        + "later with it.\n\n"
        + "With --from every line is an object such as {\"service\":\"deposit\",\"grade\":\"vip\",\"amount\":50000,\"account\":12,"
        + "\"key\":\"a-1\"}, where each field may be left out; a bad line is named by its number and no customer is added. For "
        + "later stands there as \"at\", a moment in RFC 3339, or as \"in\", such as \"5m\". What a customer carries stands "
        + "there as \"payload\", a text, or as \"payload_b64\", bytes in base64.",
      "이 명령은 번호표가 디스크에 기록되면 끝납니다. 업무, 금액, 계좌를 지정하지 않으면 무작위로 정합니다. 설정에 ledger가 있는 업무에는 금액과 계좌를 모두 "
        + "지정해야 하고, 설정의 다른 업무에는 둘 다 쓸 수 없습니다. 맡기는 내용은 명령이나 작업 프로그램이 읽는 업무에만 쓸 수 있습니다. --wait를 쓰면 종료 "
        + "코드는 고객이 모두 처리되었을 때 0이고, 취소되거나 보류된 고객이 있으면 1입니다.\n\n"
        + "--at과 --in은 고객을 예약합니다. 예약한 고객은 그때까지 미루었다가 번호 순서대로 줄에 세우며, 은행을 다시 열어도 예약은 그대로입니다. --at에는 RFC "
        + "3339 시점(2026-11-24T09:00:00+09:00)이나 이곳의 오늘 시각(09:00)을 씁니다. 지나간 시점을 쓰면 고객이 바로 줄을 서고, 오늘의 지나간 시각은 "
        + "내일을 뜻할 수도 있어 거절합니다. --in은 은행이 고객을 받은 때부터 세어 그런 시점으로 바꿉니다. 시점은 컴퓨터의 시계를 따르며(여러 지점이 장부를 "
        + "함께 쓰면 데이터베이스 서버의 시계), 시계를 바꾸면 예약도 그만큼 빨라지거나 늦어집니다.\n\n"
        + "--from은 파일에서 한 줄에 하나씩 {\"service\":\"deposit\",\"grade\":\"vip\",\"amount\":50000,\"account\":12,"
        + "\"key\":\"a-1\"} 같은 객체를 읽습니다. 각 항목은 뺄 수 있습니다. 잘못된 줄이 있으면 줄 번호를 알리고 고객을 한 명도 추가하지 않습니다. "
        + "예약은 RFC 3339 시점 \"at\"이나 \"5m\" 같은 \"in\"으로 적고, 고객이 맡기는 내용은 텍스트면 \"payload\", 바이트면 base64로 "
        + "\"payload_b64\"에 적습니다."),
    examples: [
      Example("bankctl enqueue 10", "Ten customers, drawn at random.", "무작위로 정한 고객 열 명을 추가합니다."),
      Example(
        "bankctl enqueue 3 --service loan --grade vip --wait",
        "Three VIPs for loans; wait until all are done.", "대출을 원하는 VIP 세 명을 추가하고, 모두 끝날 때까지 기다립니다."),
      Example(
        "bankctl enqueue 100 --key monday-1", "Repeatable: the same key adds nobody twice.",
        "되풀이해도 같은 키로는 두 번 추가되지 않습니다."),
      Example(
        "cat people.jsonl | bankctl enqueue --from -", "One customer a line, from a pipe.",
        "파이프에서 한 줄에 고객 한 명씩 읽습니다."),
      Example(
        "bankctl enqueue 2 --service deposit --in 5m", "Two customers, not before five minutes have passed.",
        "5분이 지난 뒤에 받을 고객 두 명을 추가합니다."),
      Example(
        "bankctl enqueue --service thumbs --payload-file photo.jpg", "One customer, who carries a file.",
        "파일의 내용을 맡기는 고객 한 명을 추가합니다."),
    ],
    operands: [
      OperandSpec(
        "N", customerCount, replacedBy: "from", impliedBy: ["payload", "payload-file"],
        "The number of customers; 1 if it is left out with a payload.",
        "고객의 수입니다. 맡기는 내용이 있으면 뺄 수 있고, 그때는 한 명입니다.")
    ],
    options: enqueueOptions)

  private static var enqueueOptions: [OptionSpec] {
    let chance: Text = Text("at random", "무작위")
    return [
      OptionSpec(
        "service", .text, value: "NAME", default: chance, offers: ticketServices.map(\.value),
        "What they come for: deposit, loan, or a service of the configuration.",
        "찾아온 업무입니다. deposit, loan, 또는 설정에 적힌 업무입니다."),
      OptionSpec(
        "grade", .choice(["vvip", "vip", "regular"]), default: "regular",
        "Their standing; a higher one is served first.", "등급입니다. 높은 등급을 먼저 처리합니다."),
      OptionSpec(
        "priority", .integer(0...Int64(UInt32.max)), value: "P", excludes: ["grade"],
        "How soon they are served, 0 first; the grades are 0, 1023 and 1024.",
        "먼저 처리할 순서입니다. 0이 가장 먼저이고, 등급은 0, 1023, 1024입니다."),
      OptionSpec(
        "amount", .integer(1...Limits.amount), value: "WON", default: chance,
        "The amount of each, in won.", "각자의 금액(원)입니다."),
      OptionSpec(
        "account", .integer(1...Limits.account), value: "ID", default: chance,
        "The account of each.", "각자의 계좌입니다."), seed,
      OptionSpec(
        "key", .text, value: "KEY",
        "Makes the command repeatable: the same key again returns the same tickets, and with another request it is "
          + "refused.",
        "명령을 되풀이할 수 있게 합니다. 같은 키는 같은 번호표를 돌려주고, 다른 요청에 쓰면 거절합니다."),
      OptionSpec(
        "payload", .bytes, excludes: ["payload-file"], "What each of them carries, as text.",
        "각자가 맡기는 내용입니다."),
      OptionSpec(
        "payload-file", .path, "The same from a file of at most 1 MiB, '-' for standard input.",
        "맡기는 내용을 1 MiB까지의 파일에서 읽습니다. '-'는 표준 입력입니다."),
      OptionSpec(
        "at", .text, value: "TIME", excludes: ["in"],
        "Not before this moment of the machine's clock, or this time of today; a moment that has passed is at once.",
        "컴퓨터 시계의 이 시점이나 오늘의 이 시각 전에는 처리하지 않습니다. 지나간 시점이면 바로 처리합니다."),
      OptionSpec(
        "in", .duration, value: "DURATION",
        "Not before so much time has passed by that clock, counted from when the bank takes them in.",
        "은행이 받은 때부터 그 시계로 이만큼 지나기 전에는 처리하지 않습니다."),
      OptionSpec(
        "from", .path,
        excludes: [
          "service", "grade", "priority", "amount", "account", "key", "payload", "payload-file", "at", "in",
        ],
        "Read customers from a file, '-' for standard input.", "고객을 파일에서 읽습니다. '-'는 표준 입력입니다."),
      OptionSpec("wait", "Wait until all of them are done.", "모두 끝날 때까지 기다립니다."), unlessPaused,
    ]
  }

  /// The service that takes command lines in every bank.
  static let commandLines = ServiceName("run")!

  private static let commandLine = CommandSpec(
    "run", group: group, "Have the bank run a command.", "명령을 은행이 실행하게 합니다.",
    details: Text(
      "The command line becomes a customer with its directory, environment, umask and limits, and is started when a window is free: "
        + "also after kill -9 of everything, or a restart of the machine. No shell reads it. It may be started more than "
        + "once, always with the same BANK_KEY in its environment. With --wait this program shows what it writes and ends "
        + "with its exit code; 128 and the number of the signal where it was killed. A command that was cancelled, or is a "
        + "dead letter, never ends with 0: where it has no code of its own, the exit code is 1.",
      "명령을 현재 디렉터리, 환경 변수, umask, 자원 제한과 함께 줄에 세우고, 창구가 비면 실행합니다. 모든 프로세스를 kill -9로 종료하거나 컴퓨터를 다시 켜도 남아 있습니다. "
        + "셸을 거치지 않습니다. 두 번 이상 시작될 수 있지만 환경 변수 BANK_KEY는 늘 같습니다. --wait를 쓰면 출력을 보여 주고 명령의 종료 코드로 끝납니다. "
        + "시그널로 종료되면 128에 시그널 번호를 더한 값입니다. 취소되거나 보류된 명령은 0으로 끝나지 않습니다. 명령에 종료 코드가 없으면 1입니다."),
    examples: [
      Example(
        "bankctl run -- make all", "Put a command in line; prints its ticket.", "명령을 줄에 세우고 번호표를 출력합니다."),
      Example(
        "bankctl run --wait -- sh -c 'sleep 5; date'", "Wait for it, with its output and its code.",
        "끝날 때까지 기다리며 출력과 종료 코드를 그대로 받습니다."),
    ],
    operands: [
      OperandSpec(
        "COMMAND", .bytes, .commandLine,
        summary: Text("The program and its arguments, after --.", "-- 뒤에 쓰는 프로그램과 그 인수입니다."))
    ],
    options: [
      OptionSpec("wait", "Wait for the command, and end with its code.", "명령을 기다려 그 종료 코드로 끝납니다."),
      OptionSpec(
        "stdin",
        "The command reads what stands on standard input here. Without it the command reads nothing.",
        "여기의 표준 입력을 명령이 읽습니다. 쓰지 않으면 명령의 표준 입력은 비어 있습니다."),
      OptionSpec(
        "service", .text, value: "NAME", default: Text("run"),
        "A service of the configuration that takes command lines: one with \"run\": [].",
        "명령을 받는 업무입니다. 설정에 \"run\": [] 로 적습니다."),
      OptionSpec(
        "priority", .integer(0...Int64(UInt32.max)), value: "P", default: Text("1024"),
        "How soon it is started, 0 first.", "먼저 처리할 순서입니다. 0이 가장 먼저입니다."),
    ])

  private static let output = CommandSpec(
    "output", group: group, "What the command of a ticket has written.", "번호표의 명령이 출력한 내용을 보여 줍니다.",
    details: Text(
      "Also while it runs. What fits is kept with the receipt; of more the beginning stands in a file below output in the "
        + "home, and of what is in neither nothing is left. Where keep_output of the configuration has removed the file, the exit code is 4.",
      "실행 중에도 볼 수 있습니다. 짧은 출력은 영수증과 함께 남고, 긴 출력은 은행 디렉터리의 output 아래 파일에 남습니다. 둘 다 넘치는 부분은 남지 않습니다. "
        + "설정의 keep_output에 따라 파일이 삭제되었으면 종료 코드는 4입니다."),
    examples: [
      Example("bankctl output 12", "Its standard output so far.", "지금까지의 표준 출력을 봅니다."),
      Example(
        "bankctl output 12 --stderr -f", "Its standard error, until it ends.", "끝날 때까지 표준 오류를 이어서 봅니다."),
    ],
    operands: [OperandSpec("N", number, "The number on the ticket.", "번호표의 번호입니다.")],
    options: [
      OptionSpec(
        "day", day, value: "D", default: Text("the present day", "오늘"), "The business day.", "영업일입니다."),
      OptionSpec("stderr", "Its standard error.", "표준 오류를 봅니다."),
      OptionSpec("follow", short: "f", "Stay until the command is over.", "명령이 끝날 때까지 이어서 봅니다."),
    ])

  private static let tickets = CommandSpec(
    "tickets", group: group, "List who waits and who is served.", "대기중과 업무중 목록을 보여 줍니다.",
    examples: [
      Example("bankctl tickets", "Both lists.", "두 목록을 봅니다."),
      Example(
        "bankctl tickets --state waiting --after 200 --limit 200", "The second page of those who wait.",
        "대기중 목록의 둘째 쪽을 봅니다."),
      Example(
        "bankctl tickets --state dead", "Those who failed too often and were put aside.",
        "여러 번 실패해 보류된 고객을 봅니다."),
    ],
    options: [
      OptionSpec(
        "state", .choice(["waiting", "serving", "delayed", "dead"]), "Only one list.", "한 목록만 봅니다."),
      OptionSpec(
        "after", number, value: "N", "Only numbers above this one, in their order.", "이보다 큰 번호만 번호 순서대로 봅니다."),
    ] + filters)

  private static let ticket = CommandSpec(
    "ticket", group: group, "What has happened to one customer.", "고객 한 명에게 있었던 일을 보여 줍니다.",
    examples: [
      Example("bankctl ticket 7", "Number 7 of the present day.", "오늘의 7번 고객을 봅니다."),
      Example("bankctl ticket 7 --day 2", "Number 7 of the second day.", "2일차의 7번 고객을 봅니다."),
    ], operands: [OperandSpec("N", number, "The number on the ticket.", "번호표의 번호입니다.")],
    options: [
      OptionSpec(
        "day", day, value: "D", default: Text("the present day", "오늘"), "The business day.", "영업일입니다.")
    ])

  private static let receipts = CommandSpec(
    "receipts", group: group,
    "The receipts, one a line, in the order they were written.", "기록된 순서대로 영수증을 한 줄씩 보여 줍니다.",
    examples: [
      Example("bankctl receipts", "Those of the present day.", "오늘의 영수증을 봅니다."),
      Example("bankctl receipts --day all --json", "All there are, for a script.", "모든 영수증을 스크립트에 넘깁니다."),
      Example("bankctl receipts --follow", "Stay, and show new ones as they come.", "새로 나오는 영수증도 이어서 봅니다."),
    ],
    options: [
      OptionSpec(
        "day", .integerOrWord(1...Int64.max, ["all"]), value: "D|all", default: Text("the present day", "오늘"),
        "Of which business day.", "어느 영업일의 영수증인지 정합니다."),
      OptionSpec(
        "follow", short: "f",
        "Stay, and show new ones as they come, also after a restart.", "새로 나오는 것도 이어서 봅니다. 은행을 다시 열어도 이어집니다."),
      filters[0],
      OptionSpec(
        "limit", .integer(1...TicketQuery.limitAtMost), value: "N", excludes: ["follow"], "So many at most.",
        "많아야 N줄만 봅니다."),
    ])

  private static let cancel = CommandSpec(
    "cancel", group: group, "Take out a customer who waits, is being served or was put aside.",
    "기다리거나 업무중이거나 보류된 고객을 내보냅니다.",
    details: Text(
      "Whoever is being served has the receipt at once; the work is ended, and a command with everything that it has started.",
      "업무중인 고객도 바로 영수증을 받습니다. 하던 일은 끝내며, 명령은 그 명령이 시작한 프로세스와 함께 끝냅니다."),
    examples: [
      Example(
        "bankctl cancel 7", "Customer 7 leaves with a receipt that says cancelled.",
        "7번 고객을 내보내고 취소 영수증을 남깁니다."),
      Example("bankctl cancel 7 --day 2", "Only if the second day is not over.", "2일차가 끝나지 않았을 때만 내보냅니다."),
      Example("bankctl cancel 3 5 7-12", "Several of them at once.", "여러 명을 한 번에 내보냅니다."),
    ], operands: [numbers()],
    options: [ofDay(excluding: [])])

  private static func numbers(replacedBy option: String? = nil) -> OperandSpec {
    OperandSpec(
      "N", .text, .repeatingOnceOrMore, replacedBy: option,
      summary: Text(
        "The number on the ticket, or the first and the last of several with a dash between.",
        "번호표의 번호입니다. 처음과 끝 번호를 줄표로 이어 줄 수도 있습니다."))
  }

  private static let filters = [
    OptionSpec("service", .text, value: "NAME", "Only those of one service.", "한 업무만 봅니다."),
    OptionSpec(
      "limit", .integer(1...TicketQuery.limitAtMost), value: "N", "So many at most.", "많아야 N줄만 봅니다."),
  ]

  private static func ofDay(excluding others: [String]) -> OptionSpec {
    OptionSpec(
      "day", day, value: "D", default: Text("the present day", "오늘"), excludes: others,
      "The business day of the ticket; where it is over, nothing is changed.",
      "번호표의 영업일입니다. 이미 끝난 날이면 아무것도 바꾸지 않습니다.")
  }

  private static let requeue = CommandSpec(
    "requeue", group: group, "Bring customers who were put aside back to the line.", "보류된 고객을 다시 줄에 세웁니다.",
    examples: [
      Example("bankctl requeue 7", "One of them.", "한 명을 세웁니다."),
      Example("bankctl requeue 3 5 7-12", "Several of them at once.", "여러 명을 한 번에 세웁니다."),
      Example("bankctl requeue --dead", "All of them.", "모두 세웁니다."),
    ], operands: [numbers(replacedBy: "dead")],
    options: [OptionSpec("dead", "All who were put aside.", "보류된 고객을 모두 세웁니다."), ofDay(excluding: ["dead"])])
}
