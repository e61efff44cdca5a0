// Owns what was asked for: the scratch directory, the measurements by name, and how often each is repeated.
// It must not know how anything is measured. Invariant: measurements run in one order, whatever the order of the
// words, and the raw limits of the machine come first because others are compared with them.
// Failure: nil for words that are not understood; BenchFailure from the first measurement that could not be made.

import Posix

/// How thoroughly is measured.
struct Thoroughness {
  var rounds: Int
  /// How long one round of a measurement by time takes.
  var span: Duration
  /// Customers who are served in one round.
  var served: Int64
  /// Customers of one large command.
  var crowd: Int64 = 1_000_000
  /// Customers who wait while memory and starts are measured.
  var waiting: Int64
  var tellerKills: Int
  var coordinatorKills: Int

  static let full = Thoroughness(
    rounds: 5, span: .seconds(1), served: 300_000, waiting: 10_000_000, tellerKills: 50, coordinatorKills: 10)
  static let quick = Thoroughness(
    rounds: 2, span: .milliseconds(500), served: 200_000, waiting: 1_000_000, tellerKills: 10,
    coordinatorKills: 3)
}

/// One call of the load driver: `bank-bench SCRATCH [--quick] [--json] [NAME …]`.
struct BenchOrder {
  /// The measurements, by the words they are asked for with, in the order in which they run.
  private enum Measurement: String, CaseIterable {
    case limits, enqueue, bulk, serve, crowd, idle, recovery, latency, commands, stock, juice

    func run(_ bench: Bench) throws(BenchFailure) {
      switch self {
      case .limits: try bench.measureLimits()
      case .enqueue: try bench.measureEnqueue()
      case .bulk: try bench.measureBulk()
      case .serve: try bench.measureServing()
      case .crowd: try bench.measureCrowd()
      case .idle: try bench.measureIdle()
      case .recovery: try bench.measureRecovery()
      case .latency: try bench.measureLatency()
      case .commands: try bench.measureCommands()
      case .stock: try bench.measureStock()
      case .juice: try bench.measureJuice()
      }
    }
  }

  let scratch: String
  var asJSON = false
  private var thoroughness = Thoroughness.full
  private var wanted: Set<Measurement> = []

  init?(_ words: [String]) {
    guard let scratch = words.first, scratch.hasPrefix("/") else { return nil }
    self.scratch = scratch
    for word in words.dropFirst() {
      switch word {
      case "--quick": thoroughness = .quick
      case "--json": asJSON = true
      default:
        guard let measurement = Measurement(rawValue: word) else { return nil }
        wanted.insert(measurement)
      }
    }
  }

  /// Measures everything that was asked for.
  func carryOut() throws(BenchFailure) -> Report {
    let bench = try Bench(scratch: scratch, thoroughness: thoroughness)
    for measurement in Measurement.allCases
    where wanted.isEmpty || wanted.contains(measurement) || measurement == .limits {
      bench.say(measurement.rawValue)
      try measurement.run(bench)
    }
    return bench.report
  }
}
