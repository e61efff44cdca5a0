// The path of a customer through the bank in one process, for counting its instructions. It consists of the
// coordinator with its store on disk, a client at its socket and tellers at its windows, all as in an open bank. The
// tellers run in this process, so that their instructions are counted together with the others, and the start of a
// process is not.
// Invariant: the same work executes the same instructions, except for randomness in the C library. So client,
// coordinator and tellers run one after the other. The coordinator's iterations are so far apart that each one includes
// the periodic work. No timer causes a commit; commits are caused by a client that waits for them.
// Errors: any error ends the work. A refusal of the bank is a BenchFailure.
import BankModel
import Configuration
import Coordinator
import Glibc
import Logging
import Posix
import QueueCore
import Storage
import Teller
import Time
import Transport
import Wire

final class WorkPath {
  /// Kind of work whose instructions are counted.
  enum Work: String {
    /// Opens the bank, and does nothing else.
    case open
    /// Enqueues customers one at a time, each with a commit.
    case enqueue
    /// Enqueues all customers with one request.
    case fill
    /// Enqueues all customers with one request and serves them.
    case serve
    /// Enqueues all customers with one request and serves them, with several in flight at each teller.
    case serveAhead = "serve-ahead"
  }

  /// First argument for this mode. The kind of work, the number of customers and a directory follow.
  static let modeArgument = "--path"
  private static let tellers: Int32 = 3
  private static let prefetchCount = 16
  /// Number of waits for receipts, and thus of commits while customers are served.
  private static let commits = 16
  /// Pause between two iterations of the coordinator, longer than the delay of periodic work.
  private static let pause = TimeSpan.milliseconds(5)
  /// A time in the past: a loop with this deadline does not wait.
  private static let past = MonotonicTime(nanoseconds: 0)
  /// Longer than any measurement, so that no timer causes a commit or retries a failed start.
  private static let never = TimeSpan.seconds(86_400)
  private let coordinator: Coordinator
  private var tellerProcesses: [TellerProcess] = []
  private let clientLoop: EventLoop
  private let idleLoop: EventLoop
  private var client: MessageChannel<BankMessage, ClientMessage>?
  private var lastNumber: UInt32 = 0
  /// Number of outstanding answers to the client.
  private var outstandingAnswers = 0
  private var refusal: Failure?

  /// Opens a bank in a new home, and waits until its tellers are ready.
  init(in home: String, for work: Work) throws {
    for name in ["run", "logs"] { try Directory.create(path: Paths.join(home, name)) }
    var configuration = BankConfiguration()
    configuration.windows = PerService(deposit: Self.tellers, loan: 0, juice: 0)
    configuration.work[.deposit] = .zero
    configuration.language = .english
    configuration.gather = Self.never
    (configuration.restartInitialDelay, configuration.restartMaxDelay) = (Self.never, Self.never)
    var policy = QueuePolicy()
    if work == .serveAhead { policy.common.prefetch = Self.prefetchCount }
    let now = SystemClock.moment()
    let loop = try EventLoop()
    clientLoop = try EventLoop()
    idleLoop = try EventLoop()
    let store = try SQLiteStore(path: Paths.join(home, "bank.db"))
    let contents = try store.load(now: now.wall)
    let log = try LogFile(
      path: Paths.join(home, "logs/coordinator.log"), worker: "coordinator", generation: 1,
      limit: configuration.log.rotateBytes, keep: configuration.log.keep)
    coordinator = try Coordinator(
      home: home, configurationFile: Paths.join(home, "bank.json"), configuration: configuration,
      policy: policy, limits: CoordinatorLimits(), loop: loop,
      server: ControlServer(loop: loop, build: BuildIdentity.current), log: log, store: store,
      contents: contents, incarnation: try store.recordStart(at: now.wall),
      programs: try ProgramPaths(), now: now)
    coordinator.begin { [unowned self] program, _ throws(SystemError) in
      guard Paths.lastPart(of: program) == "bank-teller" else {
        throw SystemError(call: "posix_spawn", subject: program, code: ENOENT)
      }
      let pair = try UnixSocket.pair()
      tellerProcesses.append(
        try TellerProcess(descriptor: pair.second, loop: try EventLoop(), reportError: { _ in }))
      return pair.first
    }
    try coordinator.open()
    try connect(Coordinator.socket(inHome: home))
    send(.awaitOpen)
    try self.work()
  }

  /// Connects the client to the coordinator.
  private func connect(_ socket: String) throws {
    guard case .connected(let descriptor) = try UnixSocket.connect(path: socket) else {
      throw BenchFailure("no process is listening on \(socket)")
    }
    let client = try MessageChannel<BankMessage, ClientMessage>(
      descriptor: descriptor, loop: clientLoop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 20)
    client.onMessage = { [unowned self] message in
      guard case .reply(let reply) = message, !reply.more else { return }
      outstandingAnswers -= 1
      if case .failure(let failure) = reply.answer { refusal = failure }
    }
    client.send(.hello(Hello(build: BuildIdentity.current, role: .client)))
    self.client = client
  }

  /// Sends a request without waiting for its answer.
  private func send(_ command: ControlCommand) {
    lastNumber += 1
    outstandingAnswers += 1
    client?.send(.request(ControlRequest(number: lastNumber, command: command)))
  }

  /// Sends a request, and runs client and coordinator until no answer is outstanding.
  private func ask(_ command: ControlCommand) throws {
    send(command)
    while outstandingAnswers > 0 { try runIteration() }
  }

  /// Does one kind of work with a number of customers.
  func perform(_ work: Work, _ count: Int) throws {
    guard work != .open else { return }
    try ask(.pause(.deposit))
    guard work != .enqueue else {
      for _ in 0..<count { try ask(.enqueue(Self.order(1))) }
      return
    }
    try ask(.enqueue(Self.order(count)))
    guard work != .fill else { return }
    for part in 1...Self.commits {
      let ticket = Int64(count * part / Self.commits)
      send(.awaitTickets(day: coordinator.machine.dayCounters.day, first: ticket, last: ticket))
    }
    send(.resume(.deposit))
    try self.work()
  }

  /// A request for customers with a payload.
  private static func order(_ count: Int) -> EnqueueParameters {
    BenchBank.order(Int64(count), .deposit, itemName: Bench.payload)
  }

  /// Runs client, coordinator and tellers until all requests of the client are answered.
  private func work() throws {
    while outstandingAnswers > 0 {
      try runIteration()
      for teller in tellerProcesses { try teller.runIteration(until: Self.past) }
    }
  }

  /// One iteration: client and coordinator send and receive the messages that are pending.
  private func runIteration() throws {
    client?.flush()
    try idleLoop.runOnce(until: SystemClock.monotonic() + Self.pause)
    try coordinator.runIteration()
    try clientLoop.runOnce(until: Self.past)
    if let refusal { throw BenchFailure("\(refusal.code.name) \(refusal.detail)") }
  }
}
