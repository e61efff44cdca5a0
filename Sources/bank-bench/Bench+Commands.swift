// Duration of `bankctl` as a command, as a user or a script experiences it.
// Errors: BenchFailure if a command fails.
import ControlClient
import Posix
import Time

extension Bench {
  /// Measures how long some commands take.
  func measureCommands() throws {
    let bank = try BenchBank(self)
    for arguments in [["--version"], ["status"], ["enqueue", "1"]] {
      var figures: [Double] = []
      for _ in 0..<20 * scale.rounds {
        figures.append(try command(arguments, at: bank.home).inMilliseconds)
      }
      add("commands", "bankctl \(arguments.joined(separator: " "))", "ms", Samples(figures))
    }
    try bank.discard()
  }

  /// Runs `bankctl` on a home and waits for its exit. Returns the time from before its start until after its
  /// exit.
  func command(_ arguments: [String], at home: BankHome) throws -> TimeSpan {
    let begin = SystemClock.monotonic()
    let process = try ChildProcess.spawn(
      executable: Paths.join(programs, "bankctl"), arguments: ["--home", home.path] + arguments,
      environment: Environment.all(), standardOutput: .null, standardError: .null)
    let status = process.wait()
    let time = SystemClock.monotonic().since(begin)
    guard status.isSuccess else {
      throw BenchFailure("bankctl \(arguments.joined(separator: " ")) ended with \(status)")
    }
    return time
  }
}
