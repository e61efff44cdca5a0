// One beanstalkd under measurement, which is a baseline for the bank.
// Invariant: the server listens on a Unix socket in its own directory and is killed by `discard()`.
import Glibc
import Posix
import Time

/// Durability of the jobs of a beanstalkd.
enum BeanstalkDurability: String, CaseIterable {
  /// A log with an fsync for every write: `-b DIR -f0`.
  case everyWrite = "beanstalkd -f0"
  /// No log: the jobs are lost when the process exits.
  case none = "beanstalkd, no log"
}

final class BeanstalkServer {
  /// Path of the program, set by `scripts/bench`; nil if the script has not found it.
  private static var program: String? {
    Environment.all()["BANK_BEANSTALKD"].flatMap { $0.isEmpty ? nil : $0 }
  }

  static var isInstalled: Bool { program != nil }
  let socket: String
  private let directory: String
  private let process: ChildProcess

  init(_ bench: Bench, _ durability: BeanstalkDurability) throws {
    guard let program = Self.program else { throw BenchFailure("beanstalkd is not installed") }
    directory = bench.newHome().path
    mkdir(directory, 0o700)
    socket = Paths.join(directory, "socket")
    var arguments = ["-l", "unix:\(socket)"]
    if durability == .everyWrite {
      let log = Paths.join(directory, "log")
      mkdir(log, 0o700)
      arguments += ["-b", log, "-f0"]
    }
    process = try ChildProcess.spawn(
      executable: program, arguments: arguments, environment: [:], standardOutput: .null, standardError: .null
    )
  }

  /// Connects as soon as the server listens.
  func connect() throws -> BeanstalkClient {
    let end = SystemClock.monotonic() + .seconds(10)
    while true {
      do { return try BeanstalkClient(socket: socket) } catch {
        if SystemClock.monotonic() >= end { throw error }
        sched_yield()
      }
    }
  }

  /// Kills the server, and removes its directory.
  func discard() {
    process.kill(SIGKILL)
    _ = process.wait()
    Directory.removeTree(directory)
  }
}

/// Worker processes of a beanstalkd under measurement. Each worker has one job in flight, and sends its completion and
/// the request for the next job in one write.
/// Invariant: a worker requests jobs after its owner has written to the worker's channel. It exits when no job is left,
/// or when its owner ends it.
final class BeanstalkWorkers {
  /// First argument that makes this program a worker. The second argument is the path of the socket.
  static let workerArgument = "--beanstalk-worker"
  private var workers: [(process: ChildProcess, channel: CInt)] = []

  init(_ count: Int, of server: BeanstalkServer, program: String) throws {
    for _ in 0..<count { try add(server, program) }
  }

  deinit {
    for worker in workers {
      close(worker.channel)
      worker.process.kill(SIGKILL)
      _ = worker.process.wait()
    }
  }

  private func add(_ server: BeanstalkServer, _ program: String) throws(SystemError) {
    let pair = try UnixSocket.pair()
    let process = try ChildProcess.spawn(
      executable: program, arguments: [Self.workerArgument, server.socket], environment: [:],
      channel: pair.second
    )
    workers.append((process, pair.first.take()))
  }

  /// Lets all workers begin, and waits until no job is left.
  func work() throws {
    var byte: UInt8 = 0
    // Each worker reports when it is connected, so that the start of the workers is not counted.
    for worker in workers {
      guard read(worker.channel, &byte, 1) == 1 else { throw BenchFailure("a worker did not start") }
    }
    for worker in workers { send(worker.channel, &byte, 1, CInt(MSG_NOSIGNAL)) }
    for worker in workers {
      guard read(worker.channel, &byte, 1) == 1 else { throw BenchFailure("a worker did not finish") }
    }
  }

  /// Main function of a worker process: takes and completes jobs over the server's socket until none is left.
  static func serve(_ socket: String) throws {
    let client = try BeanstalkClient(socket: socket)
    var byte: UInt8 = 1
    guard send(3, &byte, 1, CInt(MSG_NOSIGNAL)) == 1, read(3, &byte, 1) == 1 else { return }
    client.reserve(waits: false)
    try client.flush()
    while case .reserved(let id) = try client.next() {
      client.delete(id)
      client.reserve(waits: false)
      try client.flush()
      guard case .deleted = try client.next() else { throw BenchFailure("a job was not deleted") }
    }
    send(3, &byte, 1, CInt(MSG_NOSIGNAL))
  }
}
