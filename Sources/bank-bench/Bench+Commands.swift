// Owns how long `bankctl` takes as a command: what a person waits for who types it, or a script that runs it.
// It must not know what a command does. Failure: BenchFailure where a command fails.
import ControlClient
import Posix
import Time

extension Bench {
  func measureCommands() throws {
    let bank = try BenchBank(self)
    for words in [["--version"], ["status"], ["enqueue", "1"]] {
      var figures: [Double] = []
      for _ in 0..<20 * thoroughness.rounds {
        figures.append(try command(words, at: bank.home).inMilliseconds)
      }
      add("commands", "bankctl \(words.joined(separator: " "))", "ms", Samples(figures))
    }
    try bank.discard()
  }

  /// Runs `bankctl` on a home and waits for its end; the time from before its start until after its end.
  func command(_ words: [String], at home: BankHome) throws -> TimeSpan {
    let begin = SystemClock.monotonic()
    let process = try ChildProcess.spawn(
      executable: Paths.join(programs, "bankctl"), arguments: ["--home", home.path] + words,
      environment: Environment.all(), standardOutput: .null, standardError: .null)
    let status = process.wait()
    let time = SystemClock.monotonic().since(begin)
    guard status.isSuccess else {
      throw BenchFailure("bankctl \(words.joined(separator: " ")) ended with \(status)")
    }
    return time
  }
}
