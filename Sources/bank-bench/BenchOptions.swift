// Arguments of a run: the scratch directory, the measurements by name, and the number of rounds. Users run
// `scripts/bench`.
// Invariant: measurements run in a fixed order, independent of the order of the arguments, and the raw limits of the
// machine are measured first.
// Errors: the error of the first measurement that could not be made, such as a BenchFailure.
import Arguments
import BankctlCommands
import Time

/// Size of the measurements, full or with `--quick`: rounds, durations, customers and kills.
struct BenchScale {
  /// Number of rounds of each measurement.
  var rounds: Int
  /// Duration of one round of a timed measurement.
  var span: TimeSpan
  /// Number of customers served in one round.
  var served: Int64
  /// Number of customers of one large command.
  var bulkCustomers: Int64 = 1_000_000
  /// Number of waiting customers while memory and starts are measured.
  var waiting: Int64
  /// Number of tellers that are killed, and of coordinators.
  var tellerKills: Int
  var coordinatorKills: Int

  /// The values of a run without and with `--quick`.
  static let full = BenchScale(
    rounds: 5, span: .seconds(1), served: 300_000, waiting: 10_000_000, tellerKills: 50, coordinatorKills: 10)
  static let quick = BenchScale(
    rounds: 2, span: .milliseconds(500), served: 200_000, waiting: 1_000_000, tellerKills: 10,
    coordinatorKills: 3)
}

struct BenchOptions {
  /// All measurements by the word on the command line, in their order.
  private static var measurements: [(word: String, run: (Bench) -> () throws -> Void)] {
    [
      ("limits", Bench.measureLimits), ("enqueue", Bench.measureEnqueue), ("bulk", Bench.measureBulk),
      ("serve", Bench.measureServing), ("crowd", Bench.measureLargeQueue), ("idle", Bench.measureIdle),
      ("recovery", Bench.measureRecovery), ("latency", Bench.measureLatency),
      ("commands", Bench.measureCommands), ("stock", Bench.measureStock), ("juice", Bench.measureJuice),
      ("work", Bench.measureWork), ("screens", Bench.measureScreens), ("postgres", Bench.measurePostgres),
    ]
  }

  let asJSON: Bool
  private let scratch: String
  private let scale: BenchScale
  /// Words of the measurements to run; empty for all.
  private let wanted: [String]

  static let table = CommandTable(
    program: "bank-bench",
    only: CommandSpec(
      summary: Text(
        "Measure the bank and print each figure beside its target.", "은행을 측정해 수치마다 목표와 나란히 보여 줍니다."),
      examples: [
        Example(
          "bank-bench /tmp/scratch --quick serve idle",
          Text("Two measurements, fewer rounds.", "두 항목을 적은 횟수로 측정합니다."))
      ],
      operands: [
        ScratchDirectory.operand,
        OperandSpec(
          "MEASUREMENT", .choice(measurements.map { Choice($0.word) }), .repeating,
          summary: Text("Measurements to run; default: all.", "측정할 항목입니다. 없으면 모두 측정합니다.")),
      ],
      options: [
        OptionSpec("quick", summary: Text("Fewer and shorter rounds.", "더 적고 짧게 측정합니다."))
      ]), globalOptions: [BankctlTable.json], exitCodes: BankctlTable.commonExitCodes)

  init(_ invocation: Invocation, _ catalog: MessageCatalog) throws(CommandError) {
    scratch = try ScratchDirectory.path(invocation, catalog)
    asJSON = invocation.flag("json")
    scale = invocation.flag("quick") ? .quick : .full
    wanted = invocation.operands.texts("MEASUREMENT")
  }

  /// Runs the measurements. Returns the report.
  func run() throws -> Report {
    let bench = try Bench(scratch: scratch, scale: scale)
    for (word, run) in Self.measurements where wanted.isEmpty || (wanted + ["limits"]).contains(word) {
      bench.printProgress(word)
      try run(bench)()
    }
    return bench.report
  }
}
