// Owns what the simulator's executable does: reads its words, simulates, and tells what came of it.
// It must not know a promise: what is broken is told in the words of the checker. Invariant: data on standard output,
// everything for a person who waits on standard error. Failure: 1 for a broken promise, 2 for words that mean nothing.

import Glibc
import Posix
import Simulator

/// The program `bank-simulate`.
enum SimulateProgram {
  private static let usage = """
    usage: scripts/simulate [--seeds N] [--from SEED] [--jobs N] [--json]
           scripts/simulate --seed SEED [--trace] [--json]
           either with --bug NAME: a planted bug, which the checker must find

    """

  static func run(_ words: [String]) -> Int32 {
    ProcessStart.prepare(as: .command)
    let options: SimulateOptions
    do throws(SimulateOptions.Misuse) { options = try SimulateOptions(words) } catch {
      complain("simulate: \(error.words)\n\(usage)")
      return 2
    }
    return if let seed = options.seed { replay(seed, options) } else { simulate(options) }
  }

  private static func replay(_ seed: UInt64, _ options: SimulateOptions) -> Int32 {
    let outcome = Simulation.run(
      seed: seed, bug: options.bug, trace: options.isTraced ? { say($0 + "\n") } : nil)
    let report = SimulateReport(
      statistics: outcome.statistics, failed: outcome.violation == nil ? nil : outcome, bug: options.bug,
      seconds: nil)
    say(options.isJSON ? report.json : report.text)
    return outcome.violation == nil ? 0 : 1
  }

  private static func simulate(_ options: SimulateOptions) -> Int32 {
    let jobs = options.jobs > 0 ? options.jobs : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let crew = SimulationCrew(from: options.from, count: options.seeds, bug: options.bug)
    let isTerminal = Terminal.isTerminal(StandardStreams.Stream.error.fd)
    let began = SystemClock.monotonic()
    var toldAt = began
    let progress = crew.run(jobs: jobs) { progress in
      let now = SystemClock.monotonic()
      guard isTerminal, now - toldAt >= .milliseconds(200) else { return }
      toldAt = now
      let faults = progress.statistics.faultsInAll
      complain("\r\(progress.statistics.histories) of \(options.seeds) histories, \(faults) faults\u{1B}[K")
    }
    if isTerminal { complain("\r\u{1B}[K") }
    let took = SystemClock.monotonic() - began
    let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
    let report = SimulateReport(
      statistics: progress.statistics, failed: progress.failed, bug: options.bug, seconds: seconds)
    say(options.isJSON ? report.json : report.text)
    return progress.failed == nil ? 0 : 1
  }

  /// Where nobody reads there is nobody to tell.
  private static func say(_ words: String) { _ = try? StandardStreams.write(words, to: .output) }
  private static func complain(_ words: String) { _ = try? StandardStreams.write(words, to: .error) }
}
