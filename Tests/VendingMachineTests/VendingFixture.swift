// A home of its own with the built `bank-stockd` and `bank-vending` in it, which a test can kill and start again. Whatever
// was started is ended with the house, also when the test fails. It waits for what happens, within a generous bound, and
// never for a time.

import BankModel
import Glibc
import Posix
import StockClient
import Testing
import Transport
import VendingClient
import Wire

final class VendingFixture {
  let home: String
  let loop: EventLoop
  private let scratch: String
  private(set) var machine: ChildProcess?
  private(set) var stock: ChildProcess?
  private(set) var link: MessageChannel<WorkerMessage, SupervisorMessage>?
  private(set) var heard: [WorkerMessage] = []
  private(set) var linkEnd: ChannelEnd?

  static let patience = Duration.seconds(30)

  init(homeName: String = "home") throws {
    var template = Array("/tmp/bank-vending-XXXXXX".utf8CString)
    scratch = template.withUnsafeMutableBufferPointer {
      mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
    }
    precondition(!scratch.isEmpty, "no directory could be made for a test")
    home = Paths.join(scratch, homeName)
    loop = try EventLoop()
  }

  deinit {
    link?.close()
    for process in [machine, stock] {
      process?.kill(SIGKILL)
      _ = process?.wait()
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

  var database: String { Paths.join(home, "vending.db") }
  private var errors: String { Paths.join(scratch, "stderr") }

  /// What the machine has said on standard error.
  var complaints: String { (try? Self.text(of: errors)) ?? "" }

  var log: String { (try? Self.text(of: Paths.join(home, "logs", "vending.log"))) ?? "" }

  static func text(of path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }

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

  // MARK: The processes

  static func program(_ name: String) throws -> String {
    let named = Environment.value("BANK_BINARIES") ?? ""
    let directory = named.isEmpty ? Paths.directory(of: try Paths.executable()) : named
    return Paths.join(directory, name)
  }

  /// Starts both, as nobody's child workers.
  func start() throws {
    try startStock()
    try startMachine()
  }

  func startStock() throws {
    stock = try ChildProcess.spawn(
      executable: try Self.program("bank-stockd"), arguments: ["--home", home], environment: [:],
      standardOutput: .null, standardError: .append(path: errors + "-stock"))
  }

  func startMachine(_ more: [String] = [], environment: [String: String] = [:]) throws {
    try spawn(more, environment, nil)
  }

  /// Starts the machine with this test as its coordinator. The orders follow its hello.
  func startSupervised(_ more: [String] = []) throws {
    let pair = try UnixSocket.pair()
    let far = pair.second
    let channel = try MessageChannel<WorkerMessage, SupervisorMessage>(
      descriptor: pair.first, loop: loop, incomingLimit: FrameLimits.teller, backlogLimit: 1 << 20)
    (heard, linkEnd) = ([], nil)
    channel.onMessage = { [weak self] in self?.heard.append($0) }
    channel.onEnd = { [weak self] in self?.linkEnd = $0 }
    link = channel
    try spawn(more, [:], far)
    try wait { !heard.isEmpty }
  }

  private func spawn(
    _ more: [String], _ environment: [String: String], _ channel: consuming FileDescriptor?
  ) throws {
    precondition(machine.map { $0.isReaped } ?? true, "one machine at a time")
    machine = try ChildProcess.spawn(
      executable: try Self.program("bank-vending"), arguments: ["--home", home] + more,
      environment: environment, channel: channel.take(), standardOutput: .null,
      standardError: .append(path: errors))
  }

  func say(_ message: SupervisorMessage) {
    link?.send(message)
    link?.flush()
  }

  func orders(_ generation: Int32 = 1) -> WorkerOrders {
    WorkerOrders(
      name: "vending", generation: generation, language: .korean,
      logPath: Paths.join(home, "logs", "vending.log"), logLimit: 1 << 20, logKeep: 2)
  }

  /// Hangs up, as a coordinator that died.
  func hangUp() {
    link?.close()
    link = nil
  }

  /// Kills a process and waits until it is gone.
  func kill(_ process: ChildProcess?) {
    process?.kill(SIGKILL)
    _ = process?.wait()
  }

  /// Waits until the machine has ended by itself.
  func end(of signal: CInt? = nil) throws -> Posix.ExitStatus.Ending? {
    if let signal { machine?.kill(signal) }
    try wait { machine?.reap() != nil }
    return machine?.exitStatus?.ending
  }

  // MARK: Waiting and asking

  func wait(until condition: () throws -> Bool) throws {
    let deadline = SystemClock.monotonic() + Self.patience
    while try !condition() {
      let now = SystemClock.monotonic()
      try #require(now < deadline, "it did not happen; standard error: \(complaints)")
      try loop.runOnce(until: min(deadline, now + .milliseconds(20)))
    }
  }

  func customer() -> VendingClient {
    VendingClient(socket: VendingClient.customersSocket(inHome: home), loop: loop)
  }

  func manager() -> VendingClient {
    VendingClient(socket: VendingClient.managersSocket(inHome: home), loop: loop)
  }

  /// Asks on the socket of whoever may.
  func call(_ command: VendingCommand, as order: String? = nil) throws -> VendingResult {
    let client = command.side == .manager ? manager() : customer()
    return try client.call(command, as: order.map { OrderID($0) }, within: Self.patience)
  }

  func picture() throws -> VendingPicture {
    guard case .picture(let picture) = try call(.look) else { throw ServiceTrouble.noPicture }
    return picture
  }

  func add(_ product: String, _ count: Quantity, made: DayNumber? = nil, expires: DayNumber? = nil) throws
    -> VendingResult
  {
    try call(
      .add(AddedDrinks(product: ItemID(product), quantity: count, made: made, expires: expires)))
  }

  func audit() throws -> VendingAuditReport? {
    if case .audit(let report) = try call(.audit) { report } else { nil }
  }

  func history() throws -> [MoneyChange] {
    var (all, last) = ([MoneyChange](), Int64(0))
    while case .history(let page) = try call(.history(PurchasePage(after: last, limit: 500))),
      let end = page.last?.sequence
    {
      all += page
      last = end
    }
    return all
  }
}

enum ServiceTrouble: Error {
  case noPicture
}

extension VendingResult {
  var change: MoneyChange? { if case .done(let change) = self { change } else { nil } }
  var failure: VendingFailure? { if case .failure(let failure) = self { failure } else { nil } }
  var stocked: [StockChange]? { if case .stocked(let changes) = self { changes } else { nil } }
}

extension VendingPicture {
  func stock(_ product: String) -> Quantity? { products.first { $0.id.name == product }?.stock }
}
