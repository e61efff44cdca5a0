// Help texts and options of the chaos tests.
// The tests are a command of bankctl and also a program of their own, with the same options.
import Arguments

extension BankctlTable {
  static var chaos: CommandSpec { chaos("chaos", typed: "bankctl chaos") }

  /// Command line of the program that `bankctl chaos` executes.
  package static var chaosProgram: CommandTable {
    CommandTable(
      program: ProgramCommands.chaosProgram, only: chaos("", typed: ProgramCommands.chaosProgram),
      globalOptions: globals,
      exitCodes: exitCodes)
  }

  /// Targets that `--targets` accepts for a bank with its database in its home.
  package static let targets = [
    "teller", "coordinator", "guardian", "stock", "juice", "vending", "runner", "command", "descendant",
    "worker", "outside", "web",
  ]
  /// Targets that `--targets` accepts with `--branches`.
  package static let branchTargets = [
    "teller", "coordinator", "branch", "session", "backend", "stop", "server", "partition", "zombie",
  ]

  private static var killed: OptionSpec {
    let one = targets.joined(separator: ", ")
    let several = branchTargets.joined(separator: ", ")
    return OptionSpec(
      "targets", .text, value: "LIST", default: Text("all of them", "모두"),
      offers: targets + branchTargets.filter { !targets.contains($0) }, formerNames: ["kill"],
      "Comma-separated targets: \(one). With --branches: \(several).",
      "강제 종료할 대상을 쉼표로 나눠 씁니다(\(one)). --branches와 함께 쓸 때는 \(several) 중에서 고릅니다.")
  }

  /// The command with this name; `commandText` is how users type it in examples.
  private static func chaos(_ name: String, typed commandText: String) -> CommandSpec {
    CommandSpec(
      name, group: Text("Oversight", "점검"),
      "Kill processes at random and check that nothing is lost.", "프로세스를 무작위로 강제 종료하며 유실되는 것이 없는지 확인합니다.",
      details: Text(
        "Opens a bank in a temporary home (or in --home, where no customers may wait), adds customers and kills its "
          + "processes with SIGKILL. Then all remaining customers are served; all receipts are compared with the "
          + "responses that clients received, and the stock with deliveries and sales. Exit code 1 if a guarantee was violated. The "
          + "same seed repeats the same kills. Ctrl-C stops the killing and shows the result.",
        "임시 홈(또는 기다리는 고객이 없는 --home)에 은행을 열고, 고객을 추가하면서 프로세스를 SIGKILL로 종료합니다. 그 뒤 남은 "
          + "고객을 모두 처리하고, 영수증은 고객이 받은 응답과, 재고는 입고·판매 기록과 비교합니다. 지켜지지 않은 보장이 있으면 종료 코드는 1입니다. "
          + "시드가 같으면 같은 순서로 강제 종료합니다. Ctrl-C를 누르면 강제 종료를 중단하고 결과를 보여 줍니다."),
      examples: [
        Example(Text(stringLiteral: commandText + " --for 10s"), "Test for ten seconds.", "10초 동안 시험합니다."),
        Example(
          Text(stringLiteral: commandText + " --branches 3 --for 1m"),
          "Test three branches of a bank, on a temporary PostgreSQL server that is killed, too.",
          "은행을 함께 쓰는 지점 셋을 시험합니다. 임시로 띄운 PostgreSQL 서버도 강제 종료합니다."),
        Example(
          Text(stringLiteral: commandText + " --stop --cut --seed 7"),
          "Also suspend processes and cut connections.",
          "프로세스를 정지하고 연결도 끊습니다."),
      ],
      options: [
        OptionSpec(
          "branches", .integer(2...9),
          default: Text("one bank with its database in its home", "데이터베이스가 홈에 있는 은행 하나"),
          "Run N branches on a temporary PostgreSQL server, and also kill branches, server and backends, partition "
            + "branches and suspend coordinators beyond their lease.",
          "임시 PostgreSQL 서버를 공유하는 지점의 수입니다. 지점 전체와 서버, 그 프로세스도 강제 종료하고, 지점의 연결을 끊고, 코디네이터를 리스(점유 시한)보다 오래 정지합니다."
        ),
        OptionSpec(
          "store", .text, value: "URL", default: Text("a temporary server", "임시 서버"),
          "With --branches: a database without a bank on an existing server. Its processes and network are left alone.",
          "--branches와 함께: 이미 있는 서버의, 은행이 없는 데이터베이스입니다. 서버의 프로세스와 네트워크는 건드리지 않습니다."),
        OptionSpec("for", .duration, default: "30s", "Duration of the killing.", "강제 종료를 계속하는 시간입니다."),
        killed,
        OptionSpec(
          "max-kills", .integer(1...10_000_000), default: Text("no limit", "제한 없음"), formerNames: ["kills"],
          "Stop after N kills.", "N번 강제 종료하면 끝냅니다."),
        OptionSpec("stop", "Also suspend and resume processes.", "프로세스를 정지했다 재개하기도 합니다."),
        OptionSpec("cut", "Also cut connections in the middle of a message.", "메시지 도중에 연결을 끊기도 합니다."),
        OptionSpec(
          "interval", .duration, default: "100ms", formerNames: ["every"], "Mean time between two kills.",
          "강제 종료 간격의 평균입니다."),
        OptionSpec(
          "customers", customerCount, default: Text("as many as can be served", "처리할 수 있는 만큼"),
          "Stop after N customers have been added and served.", "고객 N명이 추가되어 모두 처리되면 끝냅니다."), seed,
        OptionSpec("deposit", windows, default: "2", "Number of deposit windows.", "예금 창구의 수입니다."),
        OptionSpec("loan", windows, default: "1", "Number of loan windows.", "대출 창구의 수입니다."),
        OptionSpec("juice", windows, default: "1", "Number of juice stations.", "쥬스 스테이션의 수입니다."),
        OptionSpec(
          "speed", .speed, default: "50", "Divide every simulated duration.", "모의 처리 시간을 모두 이 수로 나눕니다."),
      ])
  }
}
