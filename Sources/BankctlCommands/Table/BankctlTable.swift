// The complete command line of bankctl: common options and all commands.
// Help, completions and parsing are made from this table.
import Arguments
import BankModel

extension CommandSpec {
  /// A command whose summary is given in both languages.
  init(
    _ name: String, aliases: [String] = [], formerNames: [String] = [], group: Text, _ english: String,
    _ korean: String, details: Text? = nil, examples: [Example], operands: [OperandSpec] = [],
    options: [OptionSpec] = []
  ) {
    self.init(
      name, aliases: aliases, formerNames: formerNames, group: group, summary: Text(english, korean),
      details: details, examples: examples, operands: operands, options: options)
  }
}

extension OperandSpec {
  /// An operand whose summary is given in both languages.
  init(
    _ name: String, _ kind: ValueKind, offers: [String] = [], replacedBy: String? = nil,
    impliedBy: [String] = [], _ english: String, _ korean: String
  ) {
    self.init(
      name, kind, offers: offers, replacedBy: replacedBy, impliedBy: impliedBy, summary: Text(english, korean)
    )
  }
}

extension OptionSpec {
  /// An option without a value.
  init(
    _ name: String, short: Character? = nil, aliases: [String] = [], _ english: String, _ korean: String
  ) {
    self.init(name, short: short, aliases: aliases, summary: Text(english, korean))
  }

  /// An option with a value.
  init(
    _ name: String, short: Character? = nil, _ kind: ValueKind, value: String? = nil,
    default standard: Text? = nil, environment: String? = nil, excludes: [String] = [],
    offers: [String] = [], aliases: [String] = [], formerNames: [String] = [], _ english: String,
    _ korean: String
  ) {
    self.init(
      name, short: short, kind, value: value, default: standard, environment: environment,
      excludes: excludes, offers: offers, aliases: aliases, formerNames: formerNames,
      summary: Text(english, korean))
  }
}

extension Example {
  /// An example whose explanation is given in both languages.
  init(_ line: Text, _ english: String, _ korean: String) { self.init(line, Text(english, korean)) }
}

/// The command line of bankctl.
package enum BankctlTable {
  static let version = "0.1.0"

  /// All commands, options, examples and exit codes.
  package static var table: CommandTable {
    CommandTable(
      program: "bankctl",
      summary: Text(
        "a durable job queue that starts and supervises its workers",
        "워커를 직접 실행하고 감시하는 내구성 있는 작업 대기열입니다"),
      examples: [
        Example(
          "bankctl open", "Demo: one business day from the first customer to closing time.",
          "데모: 첫 고객부터 마감까지, 영업일 하루를 보여 줍니다."),
        Example(
          "bankctl start && bankctl enqueue 10 --wait", "Open the bank and serve ten customers.",
          "은행을 열고 고객 열 명의 업무를 처리합니다."),
        Example("bankctl stop", "Serve all waiting customers, then close.", "기다리는 고객을 모두 처리한 뒤 마감합니다."),
      ], globalOptions: globals,
      commands: openingAndClosing + atWork + customers + shop + vending + web + configuration + oversight,
      exitCodes: exitCodes)
  }

  /// Options of every command.
  static var globals: [OptionSpec] {
    [
      OptionSpec(
        "home", .path, value: "DIR", default: "~/.local/state/bank", environment: "BANK_HOME",
        "Directory of the bank.", "은행의 디렉터리입니다."),
      OptionSpec(
        "lang", .choice(["ko", "en"]), environment: "BANK_LANG",
        "Language of messages.", "메시지 언어입니다."), json,
    ]
  }

  package static let json = OptionSpec("json", "Print JSON for scripts.", "스크립트용 JSON으로 출력합니다.")

  package static let commonExitCodes = [
    ExitCode(0, Text("done", "처리했습니다")), ExitCode(1, Text("failed", "실패했습니다")),
    ExitCode(2, Text("usage error", "사용법 오류")),
  ]

  static var exitCodes: [ExitCode] {
    commonExitCodes + [
      ExitCode(3, Text("the bank is not open", "은행이 열려 있지 않습니다")),
      ExitCode(
        4,
        Text(
          "no such ticket, day, account, worker, service, juice, fruit or product",
          "그런 번호표나 영업일, 계좌, 워커, 업무, 쥬스, 과일, 상품이 없습니다")),
      ExitCode(
        5,
        Text(
          "not possible in the current state (already open, out of stock, insufficient balance …)",
          "지금 상태에서는 할 수 없습니다(이미 열림, 재고 부족, 잔액 부족 등)")),
      ExitCode(
        75,
        Text(
          "try later: queue full, closing, disk full, service unavailable, timeout",
          "나중에 다시 시도하세요: 대기열이나 디스크가 가득 찼거나, 마감 중이거나, 서비스를 쓸 수 없거나, 시간이 초과되었습니다")),
    ]
  }

  /// Services of the demo for which tickets are issued with `enqueue`, with their Korean names.
  static let ticketServices: [Choice] = [Choice("deposit", aliases: ["예금"]), Choice("loan", aliases: ["대출"])]

  /// All services of the demo, with their Korean names.
  static let serviceNames = ticketServices + [Choice("juice", aliases: ["쥬스", "주스"])]

  static let windows: ValueKind = .integer(0...Limits.windowsPerService)

  static let customerCount: ValueKind = .integer(1...Limits.customersPerCommand)

  /// The option `--seed`. It accepts any 64 bits, so negative numbers are valid, too.
  static let seed = OptionSpec(
    "seed", .integer(Int64.min...Int64.max), value: "S", default: Text("from the system", "시스템이 정함"),
    "Random seed; the same seed repeats the same choices.", "난수 시드입니다. 시드가 같으면 같은 선택을 반복합니다.")
}
