// The limits of a service's socket: who is accepted, how long a stranger may be silent, and that a client
// that does not read is not read either. The test has both ends on one loop and waits for events.

import Glibc
import Posix
import PosixFixture
import Testing
import Time
import Wire

@testable import Transport

@Suite("The socket of a service") struct ServiceSocketTests {
  private typealias Client = MessageChannel<StockServiceMessage, StockMessage>

  private final class Counter {
    let loop: EventLoop
    let socket: ServiceSocket<StockRequest, StockResult>
    let path: String
    private let directory: String
    var heard = 0
    /// Bytes of each answer.
    var length = 200
    var left = 0

    init(_ limits: ServiceLimits = ServiceLimits()) throws {
      var template = Array("/tmp/bank-socket-XXXXXX".utf8CString)
      directory = template.withUnsafeMutableBufferPointer {
        mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? ""
      }
      path = directory + "/s"
      loop = try EventLoop()
      socket = ServiceSocket(loop: loop, limits: limits, build: "test")
      socket.onRequest = { [unowned self] session, request in
        heard += 1
        let words = String(repeating: "x", count: length)
        socket.answer(session, request.number, .failure(StockFailure(.crowded, detail: words)))
      }
      socket.onEnd = { [unowned self] _ in left += 1 }
      try socket.listen(at: path)
    }

    deinit {
      socket.stopListening()
      rmdir(directory)
    }

    func connect() throws -> Client? {
      guard case .connected(let socket) = try UnixSocket.connect(path: path, nonBlocking: true) else {
        return nil
      }
      return try Client(
        descriptor: socket, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: 1 << 24)
    }

    func wait(until condition: () throws -> Bool) throws {
      let deadline = SystemClock.monotonic() + .seconds(120)
      while try !condition() {
        let now = SystemClock.monotonic()
        try #require(now < deadline, "it did not happen")
        try loop.runOnce(until: min(now + .milliseconds(20), socket.nextDeadline ?? deadline))
        socket.runTimers(SystemClock.monotonic())
        socket.flush()
      }
    }
  }

  private func refusal(of client: Client, at counter: Counter) throws -> Refusal.Reason? {
    var (reason, hasEnded) = (Refusal.Reason?.none, false)
    client.onMessage = { if case .refused(let refusal) = $0 { reason = refusal.reason } }
    client.onEnd = { _ in hasEnded = true }
    try counter.wait { hasEnded }
    return reason
  }

  @Test("disconnects a client that sends nothing, and one that stops in the middle of a frame") func silence()
    throws
  {
    var limits = ServiceLimits()
    (limits.hello, limits.midFrame, limits.check) = (.milliseconds(60), .milliseconds(60), .milliseconds(10))
    let counter = try Counter(limits)
    let mute = try #require(try counter.connect())
    #expect(try refusal(of: mute, at: counter) == .hello)
    let client = try #require(try counter.connect())
    client.send(.hello(Hello(build: "b", role: .client)))
    client.flush()
    try counter.wait { counter.socket.sessions.values.contains { $0.isGreeted } }
    guard case .connected(let torn) = try UnixSocket.connect(path: counter.path) else { return }
    var bytes: [UInt8] = []
    try FrameEncoder().append(
      StockMessage.hello(Hello(build: "b", role: .client)), to: &bytes, limit: FrameLimits.control)
    _ = try (bytes + [0, 0]).withUnsafeBytes { try torn.send($0) }
    try counter.wait { counter.left == 2 }
    #expect(counter.socket.sessions.count == 1)
  }

  @Test("has no timer while all clients are quiet between messages, and one for half a message")
  func quiet() throws {
    var limits = ServiceLimits()
    (limits.midFrame, limits.check) = (.milliseconds(60), .milliseconds(10))
    let counter = try Counter(limits)
    guard case .connected(let client) = try UnixSocket.connect(path: counter.path) else { return }
    var bytes: [UInt8] = []
    try FrameEncoder().append(
      StockMessage.hello(Hello(build: "b", role: .client)), to: &bytes, limit: FrameLimits.control)
    _ = try bytes.withUnsafeBytes { try client.send($0) }
    try counter.wait {
      counter.socket.sessions.values.contains { $0.isGreeted } && counter.socket.nextDeadline == nil
    }
    _ = try [UInt8](repeating: 0, count: 2).withUnsafeBytes { try client.send($0) }
    try counter.wait { counter.socket.nextDeadline != nil }
    try counter.wait { counter.left == 1 }
  }

  @Test("time in which no client was read counts against none") func unattended() throws {
    var limits = ServiceLimits()
    limits.check = .milliseconds(1)
    let counter = try Counter(limits)
    let client = try #require(try counter.connect())
    try counter.wait { counter.socket.sessions.count == 1 }
    // As if this process had been stopped for an hour.
    counter.socket.runTimers(SystemClock.monotonic() + .seconds(3_600))
    client.send(.hello(Hello(build: "b", role: .client)))
    client.flush()
    try counter.wait { counter.left == 1 || counter.socket.sessions.values.contains { $0.isGreeted } }
    #expect(counter.left == 0)
  }

  @Test("has room for a limited number of clients, and again when one has left") func crowd() throws {
    var limits = ServiceLimits()
    limits.sessions = 2
    let counter = try Counter(limits)
    var clients = try (0..<2).map { _ in try #require(try counter.connect()) }
    for client in clients {
      client.send(.hello(Hello(build: "b", role: .client)))
      client.flush()
    }
    try counter.wait { counter.socket.sessions.values.count { $0.isGreeted } == 2 }
    let third = try #require(try counter.connect())
    #expect(try refusal(of: third, at: counter) == .crowded)
    clients.removeLast()
    try counter.wait { counter.socket.sessions.count == 1 }
    let fourth = try #require(try counter.connect())
    fourth.send(.hello(Hello(build: "b", role: .client)))
    fourth.flush()
    try counter.wait { counter.socket.sessions.values.count { $0.isGreeted } == 2 }
  }

  @Test("does not read a client that does not read, and handles everything once it does") func deaf() throws {
    let counter = try Counter()
    let client = try #require(try counter.connect())
    let count = 20_000
    client.send(.hello(Hello(build: "b", role: .client)))
    for number in 1...count {
      client.send(.request(StockRequest(number: UInt32(number), command: .querySnapshot)))
    }
    client.pauseReading()
    client.flush()
    // One read brings some of the questions, and their answers are more than the kernel keeps for a client.
    try counter.wait {
      counter.heard == count || counter.socket.sessions.values.contains { $0.channel.isReadingPaused }
    }
    #expect(counter.heard < count)
    let most = counter.socket.sessions.values.map { $0.channel.backlog }.max() ?? 0
    #expect(most < 4 << 20)
    var answers = 0
    client.onMessage = { if case .reply = $0 { answers += 1 } }
    client.resumeReading()
    try counter.wait { answers == count }
    #expect(counter.heard == count)
  }

  @Test("keeps no more for 150 clients that do not read than in all, and answers the others")
  func deafCrowd() throws {
    let counter = try Counter()
    counter.length = 20_000
    let clients = try (0..<150).map { _ in try #require(try counter.connect()) }
    for client in clients {
      client.pauseReading()
      client.send(.hello(Hello(build: "b", role: .client)))
      for number in 1...1_000 {
        client.send(.request(StockRequest(number: UInt32(number), command: .querySnapshot)))
      }
      client.flush()
    }
    var most = 0
    try counter.wait {
      most = max(most, counter.socket.sessions.values.reduce(0) { $0 + $1.channel.backlog })
      try #require(most < 36 << 20, "\(most) bytes wait for clients who do not read")
      return counter.socket.sessions.values.count { $0.channel.isReadingPaused } == 150
    }
    let reader = try #require(try counter.connect())
    var answers = 0
    reader.onMessage = { if case .reply = $0 { answers += 1 } }
    reader.send(.hello(Hello(build: "b", role: .client)))
    for number in 1...500 {
      reader.send(.request(StockRequest(number: UInt32(number), command: .querySnapshot)))
    }
    reader.flush()
    try counter.wait { answers == 500 }
    withExtendedLifetime(clients) {}
  }

  @Test("disconnects the clients that read least if answers in flight exceed the room")
  func tooMuchInAll() throws {
    var limits = ServiceLimits()
    limits.totalBacklogLimit = 4 << 20
    let counter = try Counter(limits)
    var asked: [(ServiceSession<StockRequest, StockResult>, UInt32)] = []
    counter.socket.onRequest = { asked.append(($0, $1.number)) }
    let clients = try (0..<4).map { _ in try #require(try counter.connect()) }
    for client in clients {
      client.pauseReading()
      client.send(.hello(Hello(build: "b", role: .client)))
      for number in 1...100 {
        client.send(.request(StockRequest(number: UInt32(number), command: .querySnapshot)))
      }
      client.flush()
    }
    try counter.wait {
      asked.count > 4 * 64
        || asked.count == 4 * 64 && counter.socket.sessions.values.allSatisfy(\.channel.isReadingPaused)
    }
    try #require(asked.count == 4 * 64, "no more of each is handled than may be unanswered")
    let words = String(repeating: "x", count: 50_000)
    for (session, number) in asked {
      counter.socket.answer(session, number, .failure(StockFailure(.crowded, detail: words)))
    }
    counter.socket.flush()
    #expect(counter.socket.sessions.values.reduce(0) { $0 + $1.channel.backlog } <= 4 << 20)
    #expect((1..<4).contains(counter.left))
    withExtendedLifetime(clients) {}
  }

  @Test(
    "accepts its owner and root, and others only if configured, whatever its file permits",
    .enabled(if: geteuid() == 0), arguments: [false, true])
  func strangers(acceptsOtherUsers: Bool) async {
    // A process of its own: it changes its user for a moment.
    await #expect(processExitsWith: .success) { [acceptsOtherUsers = acceptsOtherUsers as Bool] in
      var limits = ServiceLimits()
      limits.acceptsOtherUsers = acceptsOtherUsers
      let counter = try Counter(limits)
      chmod(String(counter.path.dropLast(2)), 0o755)
      chmod(counter.path, 0o777)
      try #require(seteuid(65_534) == 0)
      let connected = try counter.connect()
      try #require(seteuid(0) == 0)
      let stranger = try #require(connected)
      var (isWelcome, hasEnded) = (false, false)
      stranger.onMessage = { if case .welcome = $0 { isWelcome = true } }
      stranger.onEnd = { _ in hasEnded = true }
      stranger.send(.hello(Hello(build: "b", role: .client)))
      stranger.flush()
      try counter.wait { isWelcome || hasEnded }
      #expect(isWelcome == acceptsOtherUsers)
      stranger.close()
    }
  }

  @Test("leaves no socket file, and replaces a stale one") func files() throws {
    let counter = try Counter()
    #expect(try FileMetadata.inspect(counter.path)?.mode == 0o600)
    counter.socket.stopListening()
    #expect(try FileMetadata.inspect(counter.path) == nil)
    do {
      let stale = try UnixSocket.listen(path: counter.path)
      _ = consume stale
    }
    let isStale = try eventually {
      if case .refused = try UnixSocket.connect(path: counter.path, nonBlocking: true) { true } else { false }
    }
    #expect(isStale)
    try counter.socket.listen(at: counter.path)
    #expect(try counter.connect() != nil)
  }
}
