// The simulator's executable: parses its arguments, simulates, and prints the outcome.
// Invariant: data goes to standard output, progress to standard error.
// Errors: 1 for a broken promise, 2 for invalid arguments.
import Arguments
import BankctlCommands
import Glibc
import Posix
import Simulator
import Time

/// The program `bank-simulate`.
enum SimulateProgram {
  /// Runs the requested histories, of one bank or of branches, and prints the report.
  static func run(_ invocation: Invocation, _ words: MessageCatalog) throws(CommandError) -> ProgramExit {
    let name = invocation.text("bug")
    #if !MUTANTS
      guard name == nil else {
        throw .usage(
          words.say(
            "This build contains no planted bugs. 'scripts/simulate --bug' builds a program that does.",
            "이 빌드에는 일부러 심은 버그가 없습니다. 'scripts/simulate --bug'로 빌드하세요."))
      }
    #endif
    let branchBug = name.flatMap(PlantedBranchBug.named)
    let scenario = invocation.text("scenario").flatMap(Scenario.named)
    guard invocation.flag("branches") || branchBug != nil else {
      let bug = name.flatMap(PlantedBug.named)
      return try run(invocation, scenario, words) { seed, trace in
        let outcome = Simulation.run(seed: seed, scenario: scenario, bug: bug, trace: trace)
        return (outcome.statistics, outcome.violation)
      } report: {
        SimulateReport($0, failed: $1, scenario: scenario, bug: bug, seconds: $2)
      }
    }
    guard scenario == nil else {
      throw .usage(
        words.say(
          "--scenario cannot be combined with --branches or a bug of several branches.",
          "--scenario는 --branches나 여러 지점의 버그와 함께 쓸 수 없습니다."))
    }
    #if HAS_POSTGRES
      return try run(invocation, nil, words) { seed, trace in
        let outcome = BranchSimulation.run(seed: seed, bug: branchBug, trace: trace)
        return (outcome.statistics, outcome.violation)
      } report: {
        SimulateReport($0, failed: $1, bug: branchBug, seconds: $2)
      }
    #else
      throw .usage(
        words.say(
          "--branches needs libpq: install libpq-dev and build again.",
          "--branches에는 libpq가 필요합니다. libpq-dev를 설치하고 다시 빌드하세요."))
    #endif
  }

  /// Runs one history or a range of seeds, and prints the report.
  private static func run<Counted: HistoryCounts>(
    _ invocation: Invocation, _ scenario: Scenario?, _ words: MessageCatalog,
    _ runHistory: @escaping @Sendable (UInt64, ((String) -> Void)?) -> (Counted, Violation?),
    report: (Counted, FailedHistory?, Double?) -> SimulateReport
  ) throws(CommandError) -> ProgramExit {
    /// The number given with an option; nil if the option is missing.
    func number(_ name: String) -> UInt64? { invocation.integer(name).map { UInt64($0) } }
    /// Prints the report, as JSON if that is requested. Returns `.failed` if a history broke a promise.
    func printReport(_ report: SimulateReport) -> ProgramExit {
      say(invocation.flag("json") ? report.json : report.text)
      return report.failed == nil ? .done : .failed
    }
    if let seed = number("seed") {
      let (statistics, violation) = runHistory(seed, invocation.flag("trace") ? { say($0 + "\n") } : nil)
      return printReport(report(statistics, violation.map { FailedHistory(seed: seed, violation: $0) }, nil))
    }
    guard !invocation.flag("trace") else {
      throw .usage(
        words.say(
          "--trace requires one history: give its --seed.",
          "--trace는 한 번만 시뮬레이션할 때 씁니다. --seed로 지정하세요."))
    }
    let pool = HistoryPool<Counted>(
      from: number("from") ?? 1, count: number("seeds") ?? 200, scenario: scenario
    ) { runHistory($0, nil) }
    let jobs = number("jobs").map { Int($0) } ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let (progress, seconds) = simulate(pool, jobs: jobs)
    return printReport(report(progress.statistics, progress.failed, seconds))
  }

  /// Runs all histories of a pool, and prints the progress if standard error is a terminal.
  private static func simulate<Counted>(
    _ pool: HistoryPool<Counted>, jobs: Int
  ) -> (HistoryPool<Counted>.Progress, seconds: Double) {
    let isTerminal = Terminal.isTerminal(StandardStreams.Stream.error.fd)
    let began = SystemClock.monotonic()
    var toldAt = began
    let progress = pool.run(jobs: jobs) { progress in
      let now = SystemClock.monotonic()
      guard isTerminal, now.since(toldAt) >= .milliseconds(200) else { return }
      toldAt = now
      let faults = progress.statistics.totalFaults
      printError("\r\(progress.statistics.histories) of \(pool.count) histories, \(faults) faults\u{1B}[K")
    }
    if isTerminal { printError("\r\u{1B}[K") }
    return (progress, SystemClock.monotonic().since(began).inSeconds)
  }

  /// Prints text. Errors, such as a closed output, are ignored.
  private static func say(_ words: String) { _ = try? StandardStreams.write(words, to: .output) }
  /// Writes text to standard error, as `say` does to standard output.
  private static func printError(_ words: String) { _ = try? StandardStreams.write(words, to: .error) }
}

extension SimulateProgram {
  private static let anySeed = ValueKind.integer(0...Int64.max)

  static let table = CommandTable(
    program: "bank-simulate",
    only: CommandSpec(
      summary: Text(
        "Run simulated histories of the bank and check every guarantee.",
        "은행을 시뮬레이션하며 모든 보장을 확인합니다."),
      examples: [
        Example("bank-simulate --seeds 2000", Text("Run two thousand histories.", "이천 번 시뮬레이션")),
        Example(
          "bank-simulate --seed 42 --trace",
          Text("Run one history and print every event and effect.", "한 번을 모든 이벤트와 효과까지 출력")),
      ],
      options: [
        OptionSpec(
          "seeds", .integer(1...1_000_000_000), default: "200",
          summary: Text("Number of histories.", "시뮬레이션 횟수입니다.")),
        OptionSpec(
          "from", anySeed, value: "SEED", default: "1",
          summary: Text("Seed of the first history.", "첫 시드입니다.")),
        OptionSpec(
          "jobs", .integer(1...256), default: Text("one per processor", "프로세서마다 하나"),
          summary: Text("Number of histories run in parallel.", "동시에 실행하는 수입니다.")),
        OptionSpec(
          "seed", anySeed, value: "SEED",
          summary: Text("Run only the history of this seed.", "이 시드만 시뮬레이션합니다.")),
        OptionSpec(
          "trace",
          summary: Text("Print every event; requires --seed.", "모든 이벤트를 출력합니다. --seed가 필요합니다.")),
        OptionSpec(
          "branches",
          summary: Text(
            "Simulate several branches of one bank.", "한 은행의 여러 지점을 시뮬레이션합니다.")),
        OptionSpec(
          "scenario", .choice(Scenario.allCases.map { Choice($0.name) }), value: "NAME",
          summary: Text(
            "Run histories in which certain faults coincide often.", "특정 장애가 자주 겹치는 시나리오만 시뮬레이션합니다.")),
        OptionSpec(
          "bug",
          .choice(
            (PlantedBug.allCases.map(\.name) + PlantedBranchBug.allCases.map(\.name)).map { Choice($0) }),
          value: "NAME",
          summary: Text(
            "Plant a bug, which the checker must find.", "심어 둔 버그와 함께 실행합니다. 검사기가 찾아내야 합니다.")),
      ]), globalOptions: [BankctlTable.json], exitCodes: BankctlTable.commonExitCodes)
}
