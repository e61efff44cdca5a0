// Run against the server of the web page: attacks on its socket in the home, normal requests in between, and
// the verdict.
// Invariant: the attacks depend on the seed; only their number depends on the machine.
// Errors: FuzzFailure if the server has exited, leaks descriptors, or does not serve a valid request.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Attacks the web server of a bank for the requested time.
final class WebFuzzRun {
  private let options: FuzzOptions
  private var requests = 0
  private var connections: UInt64 = 0
  private var served = 0
  /// Number of attacks between two normal requests.
  private static let attacksPerRequest: UInt64 = 16
  private static let timeout = TimeSpan.seconds(30)

  init(_ options: FuzzOptions) { self.options = options }

  /// Opens a bank with a web server, attacks the server, checks it, and returns the report.
  func run() throws -> String {
    let bank = try FuzzBank(in: options.scratch)
    try bank.ask(.web(WebServerSettings(port: 0)))
    let socket = Paths.join(bank.home.path, "run", "web.sock")
    let pid = try awaitServer(bank, socket)
    let port = Self.port(bank.home) ?? 8_700
    let baseline = Self.descriptors(of: pid)
    let attackers = Attackers(path: socket)
    var chance = SeededGenerator(seed: options.seed)
    let start = SystemClock.monotonic()
    while SystemClock.monotonic() < start + options.span {
      connections += 1
      let attack = WebAttackGenerator.attack(seed: options.seed, number: connections, port: port)
      try attackers.run(attack, &chance)
      requests += attack.messages
      guard connections % Self.attacksPerRequest == 0 else { continue }
      try ask(socket, "GET /api/v1/status")
      served += 1
    }
    attackers.disconnect()
    try checkAudit(bank, pid, baseline, socket)
    let seconds = SystemClock.monotonic().since(start).inSeconds
    try bank.close()
    return """
      \(Int(seconds)) s with seed \(options.seed): \(requests) requests on \(connections) connections, \
      \(Int(Double(requests) / seconds)) requests a second.
      A normal client was served \(served) times. The web server was process \(pid) throughout.
      """
  }

  /// Waits for the server's first answer. Returns its pid.
  private func awaitServer(_ bank: FuzzBank, _ socket: String) throws -> Int32 {
    let deadline = SystemClock.monotonic() + Self.timeout
    while true {
      if let pid = try Self.pid(bank), (try? ask(socket, "GET /api/v1/status")) != nil { return pid }
      guard SystemClock.monotonic() < deadline else {
        throw FuzzFailure.harmed("there is no web server")
      }
      _ = poll(nil, 0, 20)
    }
  }

  /// Checks after the attacks that the server `pid` still runs and answers, and has no more open descriptors than
  /// `baseline`, but for a few.
  private func checkAudit(_ bank: FuzzBank, _ pid: Int32, _ baseline: Int, _ socket: String) throws {
    guard try Self.pid(bank) == pid else {
      throw FuzzFailure.coordinatorEnded("the web server is no longer process \(pid)")
    }
    // Slow requests reach their timeout, and then their connections are closed.
    let deadline = SystemClock.monotonic() + .seconds(100)
    while Self.descriptors(of: pid) > baseline + 4 {
      guard SystemClock.monotonic() < deadline else {
        throw FuzzFailure.harmed(
          "the web server has \(Self.descriptors(of: pid)) open descriptors, \(baseline) before")
      }
      _ = poll(nil, 0, 100)
    }
    try ask(socket, "GET /api/v1/status")
    try ask(socket, "GET /")
    try bank.requireAlive()
    guard case .audit(let audit) = try bank.ask(.audit), audit.problems.isEmpty else {
      throw FuzzFailure.harmed("the audit is not clean")
    }
  }

  /// Process id of the web server; nil while it does not run.
  private static func pid(_ bank: FuzzBank) throws -> Int32? {
    guard case .status(let report) = try bank.ask(.status) else { return nil }
    return report.workers.first { $0.role == .web && $0.pid > 0 }?.pid
  }

  /// The port of the web server, from the file `run/web.port`; nil if there is none.
  private static func port(_ home: BankHome) -> Int64? {
    guard let file = try? FileDescriptor.open(Paths.join(home.path, "run", "web.port"), .readOnly),
      let bytes = try? file.readAll(limit: 64)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(separator: " ").last.flatMap { Int64($0) }
  }

  /// Number of descriptors that a process has open.
  private static func descriptors(of pid: Int32) -> Int {
    (try? Directory.entries(of: "/proc/\(pid)/fd"))?.count ?? 0
  }

  /// Sends one valid request, which must be answered with 200.
  private func ask(_ socket: String, _ line: String) throws {
    guard case .connected(let connection) = try UnixSocket.connect(path: socket) else {
      throw FuzzFailure.requestNotServed("no process is listening on \(socket)")
    }
    let request = Array("\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    _ = try request.withUnsafeBytes { try connection.send($0) }
    var item = pollfd(fd: connection.rawValue, events: Int16(POLLIN), revents: 0)
    var answer = [UInt8](repeating: 0, count: 64)
    guard poll(&item, 1, CInt(clamping: Self.timeout.milliseconds)) > 0,
      case .bytes(let count) = try answer.withUnsafeMutableBytes({ try connection.receive(into: $0) }),
      String(decoding: answer[..<count], as: UTF8.self).hasPrefix("HTTP/1.1 200")
    else { throw FuzzFailure.requestNotServed("\(line) was not answered with 200") }
  }
}
