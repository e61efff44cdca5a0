// Owns one beanstalkd under measurement: another work queue, well kept and fast, beside which this one is measured.
// It must not know what is measured. Invariant: it listens on a Unix socket in a directory of its own, ends with its
// owner, and is never the one of the machine.
// Where the program is not installed there is no contest, and `isInstalled` says so.

import Glibc
import Posix

/// How careful a beanstalkd is with what it was given.
enum BeanstalkCare: String, CaseIterable {
  /// A log with an fsync before every answer: `-b DIR -f0`.
  case everyWrite = "beanstalkd -f0"
  /// No log: what it holds is gone with the process.
  case none = "beanstalkd, no log"
}

final class BeanstalkServer {
  /// Where `scripts/bench` has found the program; nil where it has found none.
  private static var program: String? {
    Environment.all()["BANK_BEANSTALKD"].flatMap { $0.isEmpty ? nil : $0 }
  }

  static var isInstalled: Bool { program != nil }

  let socket: String
  private let directory: String
  private let process: ChildProcess

  init(_ bench: Bench, _ care: BeanstalkCare) throws {
    guard let program = Self.program else { throw BenchFailure("beanstalkd is not installed") }
    directory = bench.newHome().path
    mkdir(directory, 0o700)
    socket = Paths.join(directory, "socket")
    var arguments = ["-l", "unix:\(socket)"]
    if care == .everyWrite {
      let log = Paths.join(directory, "log")
      mkdir(log, 0o700)
      arguments += ["-b", log, "-f0"]
    }
    process = try ChildProcess.spawn(
      executable: program, arguments: arguments, environment: [:], standardOutput: .null, standardError: .null)
  }

  /// A new conversation; the first waits until the server listens.
  func connect() throws -> BeanstalkClient {
    let end = SystemClock.monotonic() + .seconds(10)
    while true {
      do { return try BeanstalkClient(socket: socket) } catch {
        if SystemClock.monotonic() >= end { throw error }
        sched_yield()
      }
    }
  }

  func discard() {
    process.kill(SIGKILL)
    _ = process.wait()
    Scratch.remove(directory)
  }
}
