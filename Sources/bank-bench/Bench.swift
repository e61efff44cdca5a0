// Owns what the measurements share: where they may write, how often they repeat, and where results go.
// It must not know any single measurement; each stands in an extension of its own.
// Invariant: every bank has a home of its own under the scratch directory, and ends with its measurement.

import ControlClient
import Posix
import Time

/// One run of the load driver.
final class Bench {
  let scratch: String
  let thoroughness: Thoroughness
  /// The directory with this build's programs.
  let programs: String
  let launcher: BankLauncher
  private(set) var report: Report
  private var homes = 0

  init(scratch: String, thoroughness: Thoroughness) throws(BenchFailure) {
    self.scratch = scratch
    self.thoroughness = thoroughness
    programs = Paths.directory(
      of: try BenchFailure.system { () throws(SystemError) in try Paths.executable() })
    launcher = try BenchFailure.control { () throws(ControlError) in try BankLauncher.find() }
    report = Report(machine: Machine.inspect(scratch: scratch))
  }

  /// A home where nobody was before.
  func newHome() -> BankHome {
    homes += 1
    return BankHome(path: Paths.join(scratch, "home-\(homes)"))
  }

  /// A file under the scratch directory; its path.
  func file(_ name: String, _ text: String) throws(BenchFailure) -> String {
    let path = Paths.join(scratch, name)
    try BenchFailure.system { () throws(SystemError) in
      try FileDescriptor.open(path, [.writeOnly, .create, .truncate]).writeAll(Array(text.utf8))
    }
    return path
  }

  /// Takes a row into the report.
  func add(
    _ group: String, _ name: String, _ unit: String, _ samples: Samples, target: Target? = nil,
    note: String = ""
  ) {
    report.add(Row(group: group, name: name, unit: unit, samples: samples, target: target, note: note))
  }

  /// Takes a chart into the report.
  func chart(_ name: String, _ bars: [(name: String, figure: Double)]) {
    report.charts.append(Chart(name: name, bars: bars))
  }

  /// One figure a round.
  func rounds(_ body: () throws(BenchFailure) -> Double) throws(BenchFailure) -> Samples {
    var figures: [Double] = []
    for _ in 0..<thoroughness.rounds { figures.append(try body()) }
    return Samples(figures)
  }

  /// One figure a round, and its ratio to a raw limit that is measured anew beside each.
  func rounds(
    beside limit: () throws(BenchFailure) -> Double, _ body: () throws(BenchFailure) -> Double
  ) throws(BenchFailure) -> (figures: Samples, ratios: Samples) {
    var figures: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<thoroughness.rounds {
      let before = try limit()
      let figure = try body()
      figures.append(figure)
      ratios.append(figure / ((before + (try limit())) / 2))
    }
    return (Samples(figures), Samples(ratios))
  }

  /// Progress, for whoever waits.
  func say(_ words: String) { _ = try? StandardStreams.write("bench: \(words)\n", to: .error) }

  /// The time that something takes.
  static func time(_ body: () throws(BenchFailure) -> Void) throws(BenchFailure) -> TimeSpan {
    let begin = SystemClock.monotonic()
    try body()
    return SystemClock.monotonic().since(begin)
  }
}
