// The bank under attack: its coordinator as a child of this process, normal requests to it, and the checks
// that it is unharmed.
// Invariant: the coordinator ends with this process.
// Errors: FuzzFailure, or the error of the system or the client library.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// A bank in a scratch directory, whose coordinator is attacked.
final class FuzzBank {
  let home: BankHome
  /// The coordinator, with a connection from before the attacks, which must survive them.
  private let launched: LaunchedBank
  /// Number of open descriptors of the coordinator before the attacks.
  private var descriptors = 0
  private static let windows = [
    ServiceWindows(service: .deposit, count: 2), ServiceWindows(service: .loan, count: 1),
    ServiceWindows(service: .juice, count: 1),
  ]
  private static let timeout = TimeSpan.seconds(60)

  /// Opens a bank below a directory.
  init(in directory: String) throws {
    let configuration = Paths.join(directory, "fuzz.json")
    // A small queue is often full.
    let text =
      #"{"max_waiting": \#(RequestFilter.maxWaiting), "lease": "30s", "log": {"customer_events": false}}"#
    try FileDescriptor.open(configuration, [.writeOnly, .create]).writeAll(Array(text.utf8))
    home = BankHome(path: Paths.join(directory, "home"))
    var order = LaunchSettings(.open, home: home, configuration: configuration, speed: "max")
    order.endsWithLauncher = true
    launched = try BankLauncher.find().launch(order, standardError: .inherit)
    guard case .status = try ask(.awaitOpen) else { throw FuzzFailure.harmed("it did not open") }
  }

  /// Stores how many descriptors the coordinator has open before the attacks.
  func recordBaseline() { descriptors = openDescriptors }
  var pid: pid_t { launched.process.pid }

  /// Throws if the coordinator has exited, or has written to standard error.
  func requireAlive() throws(FuzzFailure) {
    if let status = launched.process.reap() {
      throw FuzzFailure.coordinatorEnded("\(status)\(standardError)")
    }
    guard standardError.isEmpty else {
      throw FuzzFailure.harmed("it wrote to standard error\(standardError)")
    }
  }

  /// Sends a request on the connection from before the attacks, and returns the answer.
  @discardableResult
  func ask(_ command: ControlCommand) throws -> ControlAnswer {
    try Self.ask(command, on: launched.connection)
  }

  /// Sends a request, and returns its answer. Throws if none arrives in time.
  static func ask(_ command: ControlCommand, on connection: ControlConnection) throws -> ControlAnswer {
    let deadline = SystemClock.monotonic() + timeout
    let number = try connection.send(command)
    while let reply = try connection.next(until: deadline) {
      if reply.number == number, !reply.more { return reply.answer }
    }
    throw FuzzFailure.requestNotServed("no answer to \(command) within \(timeout)")
  }

  /// Checks after the attacks that the coordinator serves all customers and that an audit finds nothing.
  func checkAudit(acknowledged: Int64) throws -> AuditReport {
    // The attackers' requests are still read after they have left, and one of them may pause a service.
    try awaitBaseline()
    try require(.resume(nil))
    try require(.scale(Self.windows))
    try require(.awaitIdle)
    guard case .status(let report) = try ask(.status) else { throw FuzzFailure.harmed("no status was sent") }
    guard report.pid == pid else {
      throw FuzzFailure.harmed("its process is \(report.pid) now, not \(pid)")
    }
    guard case .audit(let audit) = try ask(.audit) else { throw FuzzFailure.harmed("no audit was sent") }
    guard audit.problems.isEmpty, audit.lost == 0, audit.duplicated == 0, audit.ledgerDifference == 0 else {
      throw FuzzFailure.harmed("the audit is not clean: \(audit)")
    }
    guard audit.issued >= acknowledged else {
      throw FuzzFailure.harmed(
        "\(audit.issued) tickets were issued, but the normal client alone got \(acknowledged)")
    }
    try awaitBaseline()
    try requireAlive()
    return audit
  }

  /// Stops the bank, and checks that its coordinator exits successfully.
  func close() throws {
    guard case .stopped = try ask(.stop(StopParameters(now: true, timeoutMilliseconds: nil))) else {
      throw FuzzFailure.harmed("it did not close")
    }
    let status = launched.awaitExit(until: SystemClock.monotonic() + Self.timeout)
    guard let status, status.isSuccess else { throw FuzzFailure.harmed("it did not exit successfully") }
  }

  /// Sends a request that must not fail; if it does, the run has failed.
  private func require(_ command: ControlCommand) throws {
    if case .failure(let failure) = try ask(command) {
      throw FuzzFailure.harmed("\(command) failed: \(failure)")
    }
  }

  /// Waits until the coordinator has closed the descriptors of the attackers. One more descriptor is allowed: the
  /// connection to the stock service, which may be opened during the attacks, and is kept.
  private func awaitBaseline() throws {
    let deadline = SystemClock.monotonic() + Self.timeout
    while openDescriptors > descriptors + 1 {
      guard SystemClock.monotonic() < deadline else {
        throw FuzzFailure.harmed("it has \(openDescriptors) open descriptors, \(descriptors) before")
      }
      // The attackers may also have opened windows, each with a process and a connection.
      try require(.scale(Self.windows))
      _ = poll(nil, 0, 10)
    }
  }

  /// Number of descriptors that the coordinator has open now.
  private var openDescriptors: Int { (try? Directory.entries(of: "/proc/\(pid)/fd"))?.count ?? 0 }

  /// What the coordinator has written to standard error, such as a failed precondition; empty in normal operation.
  private var standardError: String {
    let path = Paths.join(home.path, "logs", "bankd.stderr")
    guard let file = try? FileDescriptor.open(path, .readOnly), let bytes = try? file.readAll(),
      !bytes.isEmpty
    else { return "" }
    return ":\n" + String(decoding: bytes, as: UTF8.self)
  }
}

/// A valid client that enqueues customers between the attacks. It must be served as if there were no attackers, except
/// that the queue may be full.
/// Invariant: a customer counts only after the coordinator has answered that it is on disk.
/// Errors: FuzzFailure if an answer is wrong or missing.
final class NormalClient {
  private let connection: ControlConnection
  private var chance: SeededGenerator
  /// Number of requests that were answered, of customers that were added, and of refusals by a full queue.
  private(set) var commands = 0
  private(set) var customers: Int64 = 0
  private(set) var refusals = 0

  init(_ bank: FuzzBank, seed: UInt64) throws {
    connection = try bank.home.connect()
    chance = SeededGenerator(seed: ~seed)
  }

  /// Adds a few customers, unless the queue is full.
  func enqueue() throws {
    let count = chance.draw(1...5)
    let order = EnqueueParameters(
      count: count, service: nil, priority: .regular, amount: nil, account: nil, seed: chance.next(), key: nil
    )
    let answer = try FuzzBank.ask(.enqueue(order), on: connection)
    commands += 1
    switch answer {
    case .enqueued(let report) where report.count == count && report.last - report.first + 1 == count:
      customers += count
    case .failure(let failure) where failure.code == .queueFull: refusals += 1
    default: throw FuzzFailure.requestNotServed("\(count) customers were answered with \(answer)")
    }
  }

  /// Resumes all services, because an attack may have paused one.
  func resume() throws {
    guard case .status = try FuzzBank.ask(.resume(nil), on: connection) else {
      throw FuzzFailure.requestNotServed("the services were not resumed")
    }
    commands += 1
  }
}
