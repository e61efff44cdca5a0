// Owns the way of a customer through the bank within one process, for counting the instructions that it takes: the
// coordinator itself with its store on disk, a client at its socket and tellers at its windows, all of them those of a bank
// that is open. Only processes are missing, which a customer does not pay for and valgrind cannot follow: the tellers live
// here, and behind the windows there is nobody. Invariant: the same order to do the same work executes the same
// instructions but for what the C library does by chance. So they take turns, and only where there is something to hear;
// the coordinator's are so far apart that each does what is done once in a while; and no commit follows from time, but from
// a client who waits for it. Failure: whatever of it could not be done ends it; what the bank refuses is a BenchFailure.
import BankModel
import Configuration
import Coordinator
import Glibc
import Logbook
import Posix
import QueueCore
import Storage
import Teller
import Time
import Transport
import Wire

final class WorkPath {
  /// What is done, each including what stands before it.
  enum Work: String {
    case open
    /// Lets customers come one at a time, each committed alone.
    case enqueue
    /// Lets them come in one go.
    case fill
    /// And serves them.
    case serve
    /// The same with 16 customers in the hands of each teller.
    case serveAhead = "serve-ahead"
  }

  /// With this, a work, a number and a directory this program does that work.
  static let word = "--path"
  private static let tellers: Int32 = 3
  private static let ahead = 16
  /// How often receipts are waited for, and so committed: of 2,000 customers 125 share a commit, as in a busy bank.
  private static let commits = 16
  /// Between two turns of the coordinator: longer than logs gather their lines, and than it leaves out its rounds.
  private static let pause = TimeSpan.milliseconds(5)
  private static let past = MonotonicTime(nanoseconds: 0)
  /// Neither a commit nor another try of what could not be started follows from time.
  private static let never = TimeSpan.seconds(86_400)
  private let coordinator: Coordinator
  private var crew: [TellerProcess] = []
  private let clientLoop: EventLoop
  private let silence: EventLoop
  private var client: MessageChannel<BankMessage, ClientMessage>?
  private var lastNumber: UInt32 = 0
  /// Answers to the client that have not come yet.
  private var owed = 0
  private var refusal: Failure?

  init(in home: String, for work: Work) throws {
    for name in ["run", "logs"] { try Directory.create(path: Paths.join(home, name)) }
    var configuration = BankConfiguration()
    configuration.windows = ByService(deposit: Self.tellers, loan: 0, juice: 0)
    configuration.work[.deposit] = .zero
    configuration.language = .english
    configuration.gather = Self.never
    (configuration.restartFirst, configuration.restartLimit) = (Self.never, Self.never)
    var policy = QueuePolicy()
    if work == .serveAhead { policy.common.prefetch = Self.ahead }
    let now = SystemClock.moment()
    let loop = try EventLoop()
    clientLoop = try EventLoop()
    silence = try EventLoop()
    let store = try SQLiteStore(path: Paths.join(home, "bank.db"))
    let contents = try store.load(now: now.wall)
    let log = try LogFile(
      path: Paths.join(home, "logs/coordinator.log"), worker: "coordinator", generation: 1,
      limit: configuration.log.rotateBytes, keep: configuration.log.keep)
    coordinator = try Coordinator(
      home: home, configurationFile: Paths.join(home, "bank.json"), configuration: configuration,
      policy: policy, limits: CoordinatorLimits(), loop: loop,
      server: ControlServer(loop: loop, build: BuildIdentity.current), log: log, store: store,
      contents: contents, incarnation: try store.beginIncarnation(at: now.wall),
      programs: try WorkerPrograms(), now: now)
    coordinator.begin { [unowned self] program, _ throws(SystemError) in
      guard Paths.lastPart(of: program) == "bank-teller" else {
        throw SystemError(call: "posix_spawn", subject: program, code: ENOENT)
      }
      let pair = try UnixSocket.pair()
      crew.append(try TellerProcess(descriptor: pair.second, loop: try EventLoop(), complain: { _ in }))
      return pair.first
    }
    try coordinator.open()
    try enter(Coordinator.socket(inHome: home))
    say(.awaitOpen)
    try self.work()
  }

  private func enter(_ socket: String) throws {
    guard case .connected(let descriptor) = try UnixSocket.connect(path: socket) else {
      throw BenchFailure("nobody listens at \(socket)")
    }
    let client = try MessageChannel<BankMessage, ClientMessage>(
      descriptor: descriptor, loop: clientLoop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 20)
    client.onMessage = { [unowned self] message in
      guard case .reply(let reply) = message, !reply.more else { return }
      owed -= 1
      if case .failure(let failure) = reply.answer { refusal = failure }
    }
    client.send(.hello(Hello(build: BuildIdentity.current, role: .client)))
    self.client = client
  }

  private func say(_ command: ControlCommand) {
    lastNumber += 1
    owed += 1
    client?.send(.request(ControlRequest(number: lastNumber, command: command)))
  }

  private func ask(_ command: ControlCommand) throws {
    say(command)
    while owed > 0 { try turn() }
  }

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
      say(.awaitTickets(day: coordinator.machine.books.day, first: ticket, last: ticket))
    }
    say(.resume(.deposit))
    try self.work()
  }

  private static func order(_ count: Int) -> EnqueueOrder {
    BenchBank.order(Int64(count), .deposit, article: Bench.payload)
  }

  private func work() throws {
    while owed > 0 {
      try turn()
      for teller in crew { try teller.turn(until: Self.past) }
    }
  }

  /// Client and coordinator say what there is to say, and hear it.
  private func turn() throws {
    client?.flush()
    try silence.runOnce(until: SystemClock.monotonic() + Self.pause)
    try coordinator.turn()
    try clientLoop.runOnce(until: Self.past)
    if let refusal { throw BenchFailure("\(refusal.code.rawValue) \(refusal.detail)") }
  }
}
