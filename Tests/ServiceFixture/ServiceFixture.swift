// A home of its own with a service's built program in it, which a test can kill and start again, alone or as
// its coordinator. All started processes are ended with the fixture, also when the test fails. It waits for
// events, within a generous bound, and never for a time.

import Glibc
import Posix
import Time
import Transport
import Wire

/// The common part of the tests of every service's process; each adds its requests.
open class ServiceFixture {
  /// Longer than any event takes that a test waits for.
  public static let patience = TimeSpan.seconds(120)

  /// The directory of the service.
  public final let home: String
  public final let loop: EventLoop
  /// The service, also when it has ended; nil before its start.
  public private(set) final var process: ChildProcess?
  /// Messages of the service to its coordinator.
  public private(set) final var heard: [ServiceProcessMessage] = []
  public private(set) final var link: MessageChannel<ServiceProcessMessage, SupervisorMessage>?
  public private(set) final var linkEnd: CloseReason?
  private final let name: String
  private final let program: String
  private final let scratch: String

  /// A home without a service.
  ///
  /// - Parameters:
  ///   - name: The name of the service: `stock`.
  ///   - program: The name of its program: `bank-stockd`.
  ///   - homeName: The last part of the home's path.
  public init(_ name: String, program: String, homeName: String = "home") throws {
    var template = Array("/tmp/bank-\(name)-XXXXXX".utf8CString)
    scratch = template.withUnsafeMutableBufferPointer {
      mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
    }
    precondition(!scratch.isEmpty, "no directory could be made for a test")
    (self.name, self.program) = (name, program)
    home = Paths.join(scratch, homeName)
    loop = try EventLoop()
  }

  deinit {
    // Its end would be reported to a fixture that is gone.
    link?.onEnd = nil
    link?.close()
    kill(process)
    Self.remove(scratch)
  }

  private static func remove(_ path: String) {
    for name in (try? Directory.entries(of: path)) ?? [] {
      let inner = Paths.join(path, name)
      if let facts = try? FileMetadata.inspect(inner, followLinks: false), facts.isDirectory {
        remove(inner)
      } else {
        unlink(inner)
      }
    }
    rmdir(path)
  }

  // MARK: Files

  public final var database: String { Paths.join(home, "\(name).db") }

  /// Output of the service on standard error.
  public final var complaints: String { (try? Self.text(of: errors)) ?? "" }
  public final var errors: String { Paths.join(scratch, "stderr") }

  public final var log: String { (try? Self.text(of: logPath)) ?? "" }
  private final var logPath: String { Paths.join(home, "logs", "\(name).log") }

  public static func text(of path: String) throws -> String {
    String(decoding: try bytes(of: path), as: UTF8.self)
  }

  public static func bytes(of path: String) throws -> [UInt8] {
    try FileDescriptor.open(path, .readOnly).readAll(limit: 1 << 26)
  }

  public final func write(_ bytes: [UInt8], to path: String) throws {
    try Directory.create(path: Paths.directory(of: path))
    let file = try FileDescriptor.open(path, [.writeOnly, .create, .truncate], mode: 0o600)
    var written = 0
    while written < bytes.count {
      let result = try bytes[written...].withUnsafeBytes { try file.write($0) }
      guard case .bytes(let count) = result else { break }
      written += count
    }
  }

  // MARK: The service

  /// The path of a built program of the bank.
  public static func program(_ name: String) throws -> String {
    let named = Environment.value("BANK_BINARIES") ?? ""
    let directory = named.isEmpty ? Paths.directory(of: try Paths.executable()) : named
    return Paths.join(directory, name)
  }

  /// Starts the service alone, without a coordinator.
  public final func startAlone(_ more: [String] = [], environment: EnvironmentVariables = [:]) throws {
    try spawn(more, environment, nil)
  }

  /// Starts the service with this test as its coordinator. The orders follow its hello.
  public final func startSupervised(_ more: [String] = []) throws {
    let pair = try UnixSocket.pair()
    let far = pair.second
    let channel = try MessageChannel<ServiceProcessMessage, SupervisorMessage>(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    (heard, linkEnd) = ([], nil)
    channel.onMessage = { [weak self] in self?.heard.append($0) }
    channel.onEnd = { [weak self] in self?.linkEnd = $0 }
    link = channel
    try spawn(more, [:], far)
    try wait(for: "its hello") { !heard.isEmpty }
  }

  private final func spawn(
    _ more: [String], _ environment: EnvironmentVariables, _ channel: consuming FileDescriptor?
  ) throws {
    precondition(process.map { $0.isReaped } ?? true, "one service at a time")
    process = try ChildProcess.spawn(
      executable: try Self.program(program), arguments: ["--home", home] + more, environment: environment,
      channel: channel.take(), standardOutput: .null, standardError: .append(path: errors))
  }

  public final func say(_ message: SupervisorMessage) {
    link?.send(message)
    link?.flush()
  }

  public final func orders(_ generation: Int32 = 1) -> ServiceProcessSettings {
    ServiceProcessSettings(
      name: name, generation: generation, language: .korean, logPath: logPath, logLimit: 1 << 20, logKeep: 2)
  }

  /// Hangs up, as a coordinator that died.
  public final func hangUp() {
    link?.close()
    link = nil
  }

  /// Kills a process and waits until it is gone.
  public final func kill(_ process: ChildProcess?) {
    process?.kill(SIGKILL)
    _ = process?.wait()
  }

  /// Waits until the service has ended without a signal of the test.
  public final func end(of signal: CInt? = nil) throws -> Posix.ExitStatus.Termination? {
    if let signal { process?.kill(signal) }
    try wait(for: "its end") { process?.reap() != nil }
    return process?.exitStatus?.ending
  }

  // MARK: Waiting

  /// Runs the loop until a condition holds.
  public final func wait(for what: String = "it", until condition: () throws -> Bool) throws {
    let deadline = SystemClock.monotonic() + Self.patience
    while try !condition() {
      let now = SystemClock.monotonic()
      guard now < deadline else { throw WaitTimeout(what: what, complaints: complaints) }
      try loop.runOnce(until: min(deadline, now + .milliseconds(20)))
    }
  }

  struct WaitTimeout: Error, CustomStringConvertible {
    let what: String
    let complaints: String
    var description: String { "\(what) did not happen; standard error: \(complaints)" }
  }
}
