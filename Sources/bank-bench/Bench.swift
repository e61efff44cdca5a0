// Common part of all measurements: the scratch directory, the number of rounds, and the results.
// Invariant: a bank has its own home under the scratch directory.
import ControlClient
import Posix
import Time

/// One run of the benchmark, and its report.
final class Bench {
  let scratch: String
  let scale: BenchScale
  /// The directory with this build's programs.
  let programs: String
  let launcher: BankLauncher
  private(set) var report: Report
  /// Number of homes that were named.
  private var homes = 0

  init(scratch: String, scale: BenchScale) throws {
    (self.scratch, self.scale) = (scratch, scale)
    programs = Paths.directory(of: try Paths.executable())
    launcher = try BankLauncher.find()
    report = Report(machine: MachineInfo.inspect(scratch: scratch))
  }

  /// Returns a home that no other measurement uses. Does not create its directory.
  func newHome() -> BankHome {
    homes += 1
    return BankHome(path: Paths.join(scratch, "home-\(homes)"))
  }

  /// Writes a file under the scratch directory. Returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let path = Paths.join(scratch, name)
    try FileDescriptor.open(path, [.writeOnly, .create, .truncate]).writeAll(Array(text.utf8))
    return path
  }

  /// Adds a row to the report. `group` is the measurement's word on the command line.
  func add(
    _ group: String, _ name: String, _ unit: String, _ samples: Samples, target: Target? = nil,
    note: String = ""
  ) { report.add(Row(group: group, name: name, unit: unit, samples: samples, target: target, note: note)) }

  /// Adds a bar chart to the report.
  func chart(_ name: String, _ bars: [(name: String, figure: Double)]) {
    report.charts.append(Chart(name: name, bars: bars))
  }

  /// Measures one figure in each round.
  func rounds(_ body: () throws -> Double) throws -> Samples {
    var figures: [Double] = []
    for _ in 0..<scale.rounds { figures.append(try body()) }
    return Samples(figures)
  }

  /// Measures one figure per round, and its ratio to a raw limit, which is measured before and after each figure.
  func rounds(
    beside limit: () throws -> Double, _ body: () throws -> Double
  ) throws -> (figures: Samples, ratios: Samples) {
    var figures: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<scale.rounds {
      let before = try limit()
      let figure = try body()
      figures.append(figure)
      ratios.append(figure / ((before + (try limit())) / 2))
    }
    return (Samples(figures), Samples(ratios))
  }

  func printProgress(_ words: String) { _ = try? StandardStreams.write("bench: \(words)\n", to: .error) }

  /// Number of items per second, from the duration of the work on `count` items.
  static func perSecond(_ count: Int64, _ work: () throws -> Void) throws -> Double {
    let begin = SystemClock.monotonic()
    try work()
    return Double(count) / SystemClock.monotonic().since(begin).inSeconds
  }

  /// Number of items per second in one timed round, from a count that the iterations increase.
  func perSecond(_ count: () -> Int, _ runIteration: (_ end: MonotonicTime) throws -> Void) throws -> Double {
    let begin = SystemClock.monotonic()
    let end = begin + scale.span
    while SystemClock.monotonic() < end { try runIteration(end) }
    return Double(count()) / SystemClock.monotonic().since(begin).inSeconds
  }
}

/// Reason why something could not be measured, such as a wrong answer. A figure below its target is not a failure.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
