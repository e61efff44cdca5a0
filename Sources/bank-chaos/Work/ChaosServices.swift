// Further services of a chaos run's scratch bank: commands, workers at windows, and outside workers, all of which run
// this program. The run starts and restarts the outside workers.
// Invariant: each outside worker is reaped before it is replaced, and none is left at the end.
// Errors: SystemError if the home cannot be prepared; a worker that cannot be started now is started later.
import BankModel
import ControlClient
import Posix
import Time

final class ChaosServices {
  /// Names of the services.
  static let command = name("command")
  static let worker = name("worker")
  static let outside = name("outside")
  static let all = [command, worker, outside]
  /// Maximum number of stored bytes of a command's output; some commands write more.
  static let commandResult = 16 << 10
  /// Maximum number of customers in flight at all outside workers together.
  static let maxOutsideInFlight: Int64 = Int64(encodings.count) * 4
  private static let encodings: [WorkEncoding] = [.lines, .frames]
  private static let pollInterval = TimeSpan.milliseconds(20)

  let workLog: WorkLog
  private let home: BankHome
  private let mark: String
  private let program: String
  /// The outside worker of each encoding; nil if it does not run.
  private var outsideWorkers: [ChildProcess?] = encodings.map { _ in nil }
  private var nextStart = MonotonicTime(nanoseconds: 0)

  init(_ home: BankHome, mark: String) throws(SystemError) {
    (self.home, self.mark) = (home, mark)
    program = try Paths.executable()
    workLog = WorkLog(Paths.join(home.path, "chaos"))
    try workLog.create()
  }

  /// A service name; the text must be valid.
  private static func name(_ text: String) -> ServiceName {
    guard let name = ServiceName(text) else { preconditionFailure("\(text) is a name") }
    return name
  }

  /// The configuration of the bank.
  ///
  /// - Parameter prefetch: maximum number of customers in flight at a teller.
  func configuration(prefetch: Int64) -> String {
    /// The command that starts this program in a mode, as JSON.
    func words(_ mode: WorkMode) -> String {
      "[\([program, mode.rawValue, mark, workLog.directory].map(Self.quoted).joined(separator: ", "))]"
    }
    let retries = #""retries": {"initial_delay": "5ms", "max_delay": "50ms", "jitter": 0.5}"#
    return """
      {
        "prefetch": \(prefetch),
        "services": {
          "\(Self.command)": {"run": \(words(.command)), "windows": 2, "timeout": "1s", "grace": "50ms",
            "max_result_bytes": \(Self.commandResult), "ledger": {"debit": "customer", "credit": "cash"}, \(retries)},
          "\(Self.worker)": {"worker": \(words(.window)), "windows": 2, "lease": "1s", "grace": "100ms", \(retries)},
          "\(Self.outside)": {"outside": true, "lease": "1s", "prefetch": 4, \(retries)}
        }
      }

      """
  }

  /// Encodes a text as a string of JSON.
  private static func quoted(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  /// Reaps outside workers that have exited, and starts the missing ones.
  func runIteration(_ now: MonotonicTime) {
    for place in outsideWorkers.indices where outsideWorkers[place]?.reap() != nil {
      outsideWorkers[place] = nil
    }
    guard outsideWorkers.contains(where: { $0 == nil }), now >= nextStart else { return }
    nextStart = now + Self.pollInterval
    for place in outsideWorkers.indices where outsideWorkers[place] == nil {
      outsideWorkers[place] = try? start(place)
    }
  }

  /// Starts the outside worker that uses the encoding with this index.
  private func start(_ place: Int) throws(SystemError) -> ChildProcess {
    try ChildProcess.spawn(
      executable: program,
      arguments: [
        WorkMode.outside.rawValue, mark, workLog.directory, Self.encodings[place].rawValue,
        Paths.join(home.path, "run", "worker.sock"), Self.outside.text, String(CurrentProcess.pid),
      ], environment: Environment.all())
  }

  /// Restarts missing outside workers for a short time. Call after the last kill.
  func settle() {
    let end = SystemClock.monotonic() + .milliseconds(200)
    while SystemClock.monotonic() < end {
      runIteration(SystemClock.monotonic())
      WorkMode.pause(10)
    }
  }

  func end() {
    for child in outsideWorkers { child?.end() }
    outsideWorkers = outsideWorkers.map { _ in nil }
  }
}
