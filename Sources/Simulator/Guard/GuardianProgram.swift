// The guardian's process in the simulated world: the
// production guardian on the simulated host.

import Guardian
import Posix

/// A guardian on a simulated host.
final class GuardianProgram: SimulatedProgram {
  /// Paths of the guardian's program and of the coordinator's program.
  static let path = "/bank/bin/bank-guardian"
  static let coordinator = "/bank/bin/bankd"

  let guardian: Guardian
  /// Process id of the coordinator that the guardian has taken over; nil if it has started one.
  let adopted: Int32?
  /// Outcome of the guardian's work; nil while it runs.
  private(set) var end: GuardianOutcome?

  /// Starts the guardian's work: it takes over the coordinator that its arguments name, or starts one.
  ///
  /// - Returns: nil if the guardian was to take over a coordinator and cannot take the home with it.
  init?(_ words: [String], in process: SimulatedProcess) throws {
    let options = try GuardianOptions(words)
    adopted = options.coordinator?.pid
    guardian = try Guardian(
      Guardian.Order(home: options.home, program: Self.coordinator, words: options.words),
      lock: process.inherited(4), of: options.coordinator)
    if let coordinator = options.coordinator {
      guard guardian.hasHome else { return nil }
      guardian.adopt(coordinator)
    } else {
      guardian.begin(channel: nil)
    }
  }

  func runIteration() throws(SystemError) -> Int32? {
    end = try guardian.runIteration()
    return end?.exitCode
  }

  func handle(signal: Int32) { guardian.handle(signal: signal) }
}
