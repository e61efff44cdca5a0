// Owns the command line of the simulator. It must not know what a history is.
// People type it as `scripts/simulate`, which builds.

import Arguments
import Console
import Simulator

extension SimulateProgram {
  private static let anySeed = ValueKind.integer(0...Int64.max)

  static let table = CommandTable(
    program: "bank-simulate",
    only: CommandSpec(
      summary: Text(
        "Live through histories of the bank in a simulated world and check every promise.",
        "시뮬레이션으로 은행의 나날을 되풀이하며 모든 약속을 확인합니다."),
      examples: [
        Example("bank-simulate --seeds 2000", Text("Two thousand histories.", "이천 번 시뮬레이션합니다.")),
        Example(
          "bank-simulate --seed 42 --trace",
          Text("One history, with every event and every effect.", "한 번을 모든 사건과 효과까지 자세히 보여 줍니다.")),
      ],
      options: [
        OptionSpec(
          "seeds", .integer(1...1_000_000_000), default: "200",
          summary: Text("How many histories.", "시뮬레이션 횟수입니다.")),
        OptionSpec(
          "from", anySeed, value: "SEED", default: "1", summary: Text("The seed of the first.", "첫 시드입니다.")),
        OptionSpec(
          "jobs", .integer(1...256), default: Text("one on each processor", "프로세서마다 하나"),
          summary: Text("How many at a time.", "동시에 실행하는 수입니다.")),
        OptionSpec(
          "seed", anySeed, value: "SEED",
          summary: Text("Only the history of this seed.", "이 시드만 시뮬레이션합니다.")),
        OptionSpec(
          "trace",
          summary: Text("Print every event; only with --seed.", "모든 사건을 보여 줍니다. --seed와 함께만 씁니다.")),
        OptionSpec(
          "bug", .choice(PlantedBug.allCases.map { Choice($0.name) }), value: "NAME",
          summary: Text(
            "With a planted bug, which the checker must find.", "심어 둔 버그와 함께 실행합니다. 검사기가 찾아내야 합니다.")),
      ]), globalOptions: [BankctlTable.json], exitCodes: BankctlTable.commonExitCodes)
}
