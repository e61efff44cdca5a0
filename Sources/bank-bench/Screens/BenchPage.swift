// The web page of a bank under measurement: its process, and its viewers.
// Invariant: `pid` is the process that `findProcess` found last.
// Errors: BenchFailure if the bank has no such process in time.
import Glibc
import HeadlessBrowser
import Posix
import Time

final class BenchPage {
  private(set) var pid: pid_t = 0
  private let bench: Bench
  private let bank: BenchBank
  private let socket: String

  init(_ bench: Bench, of bank: BenchBank) throws {
    (self.bench, self.bank) = (bench, bank)
    socket = Paths.join(Paths.join(bank.home.path, "run"), "web.sock")
    _ = try bench.command(["web", "--no-open"], at: bank.home)
    try findProcess(otherThan: 0)
  }

  /// Waits for a process of the page other than the former one, and stores its pid.
  func findProcess(otherThan former: pid_t) throws {
    let end = SystemClock.monotonic() + .seconds(10)
    while SystemClock.monotonic() < end {
      let found = ProcessFacts.processes(of: bank.home.path, coordinator: bank.pid).first {
        $0 != former && ProcessTable.name(of: $0) == "bank-web"
      }
      if let found {
        pid = found
        return
      }
      try bench.rest(.milliseconds(1))
    }
    throw BenchFailure("the bank at \(bank.home.path) has no web interface")
  }

  /// A login link for a browser, valid once.
  func link() throws -> String {
    let path = Paths.join(bank.home.path, "link.json")
    let process = try ChildProcess.spawn(
      executable: Paths.join(bench.programs, "bankctl"),
      arguments: ["--home", bank.home.path, "web", "--no-open", "--json"], environment: Environment.all(),
      standardOutput: .append(path: path), standardError: .null)
    let status = process.wait()
    guard status.isSuccess,
      let said = try? JSONValue(parsing: FileDescriptor.open(path, .readOnly).readAll()),
      let link = said["url"].text
    else { throw BenchFailure("bankctl web ended with \(status) and no link") }
    return link
  }

  /// Starts a process with viewers of the page, and returns when each has received an event.
  func viewers(_ count: Int) throws -> LoadProcess {
    try LoadProcess(
      program: Paths.join(bench.programs, "bank-bench"), [WebViewers.modeArgument, socket, "\(count)"])
  }

  /// Time from `begin` until a viewer that reconnects at intervals has received an event.
  func awaitViewer(since begin: MonotonicTime) throws -> TimeSpan {
    let end = begin + .seconds(10)
    while SystemClock.monotonic() < end {
      try bench.rest(.milliseconds(300))
      if let viewer = try? viewers(1) {
        let time = SystemClock.monotonic().since(begin)
        try viewer.stop()
        return time
      }
    }
    throw BenchFailure("the web interface of the bank at \(bank.home.path) did not recover")
  }
}
