// A home of its own with the built `bank-stockd` in it, which a test can kill and start again. Whatever was started is
// ended with the fixture, also when the test fails. It waits for what happens, within a generous bound, and never for a time.

import BankModel
import Glibc
import Posix
import StockClient
import Testing
import Transport
import Wire

final class StockFixture {
  let home: String
  let loop: EventLoop
  private let scratch: String
  private(set) var process: ChildProcess?
  private(set) var link: MessageChannel<WorkerMessage, SupervisorMessage>?
  private(set) var heard: [WorkerMessage] = []
  private(set) var linkEnd: ChannelEnd?

  static let patience = Duration.seconds(30)

  init(homeName: String = "home") throws {
    var template = Array("/tmp/bank-stock-XXXXXX".utf8CString)
    scratch = template.withUnsafeMutableBufferPointer {
      mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
    }
    precondition(!scratch.isEmpty, "no directory could be made for a test")
    home = Paths.join(scratch, homeName)
    loop = try EventLoop()
  }

  deinit {
    // The end of the link would be told to a fixture that is gone.
    link?.onEnd = nil
    link?.close()
    if let process {
      process.kill(SIGKILL)
      _ = process.wait()
    }
    Self.remove(scratch)
  }

  private static func remove(_ path: String) {
    for name in (try? Directory.entries(of: path)) ?? [] {
      let inner = Paths.join(path, name)
      if let facts = try? FileFacts.inspect(inner, followLinks: false), facts.isDirectory {
        remove(inner)
      } else {
        unlink(inner)
      }
    }
    rmdir(path)
  }

  var database: String { Paths.join(home, "stock.db") }
  var socket: String { StockClient.socket(inHome: home) }
  private var errors: String { Paths.join(scratch, "stderr") }

  /// What the service has said on standard error.
  var complaints: String { (try? Self.text(of: errors)) ?? "" }

  var log: String { (try? Self.text(of: Paths.join(home, "logs", "stock.log"))) ?? "" }

  static func text(of path: String) throws -> String {
    String(decoding: try bytes(of: path), as: UTF8.self)
  }

  static func bytes(of path: String) throws -> [UInt8] {
    try FileDescriptor.open(path, .readOnly).readAll(limit: 1 << 26)
  }

  func write(_ bytes: [UInt8], to path: String) throws {
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

  static func program() throws -> String {
    let named = Environment.value("BANK_BINARIES") ?? ""
    let directory = named.isEmpty ? Paths.directory(of: try Paths.executable()) : named
    return Paths.join(directory, "bank-stockd")
  }

  /// Starts the service alone, as nobody's child worker.
  func start(_ more: [String] = []) throws { try spawn(more, nil) }

  /// Starts the service with this test as its coordinator. The orders follow its hello.
  func startSupervised(_ more: [String] = []) throws {
    let pair = try UnixSocket.pair()
    let far = pair.second
    let channel = try MessageChannel<WorkerMessage, SupervisorMessage>(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    (heard, linkEnd) = ([], nil)
    channel.onMessage = { [unowned self] in heard.append($0) }
    channel.onEnd = { [unowned self] in linkEnd = $0 }
    link = channel
    try spawn(more, far)
    try wait { !heard.isEmpty }
  }

  private func spawn(_ more: [String], _ channel: consuming FileDescriptor?) throws {
    precondition(process.map { $0.isReaped } ?? true, "one service at a time")
    process = try ChildProcess.spawn(
      executable: try Self.program(), arguments: ["--home", home] + more, environment: [:],
      channel: channel.take(),
      standardOutput: .null, standardError: .append(path: errors))
  }

  func say(_ message: SupervisorMessage) {
    link?.send(message)
    link?.flush()
  }

  func orders(_ generation: Int32 = 1) -> WorkerOrders {
    WorkerOrders(
      name: "stock", generation: generation, language: .korean,
      logPath: Paths.join(home, "logs", "stock.log"),
      logLimit: 1 << 20, logKeep: 2)
  }

  /// Hangs up, as a coordinator that died.
  func hangUp() {
    link?.close()
    link = nil
  }

  /// Kills the service and waits until it is gone.
  func kill() {
    process?.kill(SIGKILL)
    _ = process?.wait()
  }

  /// Waits until the service has ended by itself.
  func end(of signal: CInt? = nil) throws -> Posix.ExitStatus.Ending? {
    if let signal { process?.kill(signal) }
    try wait { process?.reap() != nil }
    return process?.exitStatus?.ending
  }

  // MARK: Waiting and asking

  func wait(for what: String = "it", until condition: () throws -> Bool) throws {
    let deadline = SystemClock.monotonic() + Self.patience
    while try !condition() {
      let now = SystemClock.monotonic()
      try #require(now < deadline, "\(what) did not happen; standard error: \(complaints)")
      try loop.runOnce(until: min(deadline, now + .milliseconds(20)))
    }
  }

  func client() -> StockClient { StockClient(socket: socket, loop: loop) }

  func call(
    _ command: StockCommand, as order: String? = nil, _ client: StockClient? = nil
  ) throws -> StockResult {
    let client = client ?? self.client()
    return try client.call(command, as: order.map { OrderID($0) }, within: Self.patience)
  }

  func take(_ amounts: [(String, Quantity)], as order: String) throws -> StockResult {
    try call(.take(amounts.map { ItemAmount(ItemID($0.0), $0.1) }, today: nil), as: order)
  }

  func quantities() throws -> [Quantity] {
    guard case .picture(let picture) = try call(.look) else { return [] }
    return picture.items.map(\.quantity)
  }

  func audit() throws -> StockAuditReport? {
    if case .audit(let report) = try call(.audit) { report } else { nil }
  }
}

extension StockResult {
  var rows: [StockChange]? { if case .done(let rows) = self { rows } else { nil } }
  var failure: StockFailure? { if case .failure(let failure) = self { failure } else { nil } }
}
