// The supervisor of the services: a process is started, watched, replaced after any end, given up, and asked
// to go. The test advances the clock instead of waiting.

import BankModel
import Glibc
import Logbook
import Posix
import Supervision
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("The supervisor of the services", .serialized)
struct ServiceSupervisorTests {
  /// A keeper of a stock service, in the place of a coordinator.
  private final class Keeper {
    let fixture: StockFixture
    let supervisor: ServiceSupervisor
    var post: SupervisedService { supervisor.posts[0] }
    private(set) var changes = 0
    /// The offset of the clock that the supervisor sees.
    private(set) var ahead = TimeSpan.zero

    init(_ policy: RestartPolicy = RestartPolicy()) throws {
      // An aborted process must not start a backtrace program, which would outlive it and hold the output of
      // these tests.
      setenv("SWIFT_BACKTRACE", "enable=no", 1)
      fixture = try StockFixture()
      try Directory.create(path: fixture.home + "/logs")
      let log = try LogFile(
        path: fixture.home + "/logs/coordinator.log", worker: "coordinator", generation: 1, limit: 1 << 20,
        keep: 1)
      supervisor = ServiceSupervisor(loop: fixture.loop, log: log, policy: policy, seed: 1)
      let orders = fixture.orders()
      supervisor.orders = { post in
        var orders = orders
        orders.generation = post.generation
        return orders
      }
      supervisor.onChange = { [unowned self] in changes += 1 }
    }

    deinit {
      supervisor.killAll()
      for post in supervisor.posts { _ = post.child?.wait() }
    }

    var now: Moment {
      var now = fixture.loop.moment()
      now.monotonic = now.monotonic + ahead
      now.attended = now.attended + ahead
      return now
    }

    func open(program: String? = nil, arguments: [String]? = nil, role: PeerRole = .stock) throws {
      supervisor.open(
        SupervisedService.Specification(
          name: "stock", peerRole: role, workerRole: .stock, program: try program ?? StockFixture.program(),
          arguments: arguments ?? ["--home", fixture.home]), at: now)
    }

    func wait(_ what: Comment, until condition: () -> Bool) throws {
      let deadline = SystemClock.monotonic() + StockFixture.patience
      while !condition() {
        try #require(SystemClock.monotonic() < deadline, what)
        try fixture.loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
        supervisor.keepTime(now)
      }
    }

    /// Advances the clock.
    func pass(_ span: TimeSpan) {
      ahead = ahead + span
      supervisor.keepTime(now)
    }

    func isReady() throws { try wait("it is ready") { post.phase == .ready } }

    /// Stops the process, as a user at a terminal would, and waits until it is stopped.
    func stop() throws {
      kill(post.pid, SIGSTOP)
      try wait("it stands") { post.sight == .stopped }
    }

    func log() throws -> String {
      supervisor.log.flush()
      return try StockFixture.text(of: fixture.home + "/logs/coordinator.log")
    }
  }

  @Test("a process is welcomed and ready; killed at work, it is replaced at once, any number of times")
  func kills() throws {
    let keeper = try Keeper()
    try keeper.open()
    #expect(keeper.post.generation == 1 && !keeper.supervisor.isSettled)
    try keeper.isReady()
    #expect(keeper.supervisor.isSettled && keeper.post.told?.generation == 1)
    for generation in 2...6 as ClosedRange<Generation> {
      let pid = keeper.post.pid
      kill(pid, SIGKILL)
      try keeper.wait("a successor") { keeper.post.generation == generation && keeper.post.phase == .ready }
      #expect(keeper.post.pid != pid && keeper.post.restartAt == nil && keeper.post.lastEnd == nil)
    }
    #expect(keeper.post.restarts == 5 && keeper.supervisor.count == 1 && keeper.changes >= 10)
    #expect(try keeper.fixture.quantities() == [10, 10, 10, 10, 10])
  }

  @Test("one killed right after its work is never slowed down, and never given up")
  func killedAfterWork() throws {
    let keeper = try Keeper()
    try keeper.open()
    for round in 1...16 as ClosedRange<Generation> {
      try keeper.wait("the \(round)th is ready") {
        keeper.post.generation == round && keeper.post.phase == .ready
      }
      #expect(keeper.post.restartAt == nil)
      let brought = try keeper.fixture.call(.change(ItemAmount(ItemID("banana"), 1), nil))
      #expect(brought.rows?.map(\.present) == [10 + Quantity(round)])
      kill(keeper.post.pid, SIGKILL)
    }
    #expect(try !keeper.log().contains("event=backoff"))
  }

  @Test("one that dies repeatedly when it only answered questions is slowed down")
  func killedAfterLook() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.wait("it is slowed down") {
      // A follower of the stock reads it as soon as it is there.
      if keeper.post.phase == .ready, (try? keeper.fixture.quantities()) != nil {
        kill(keeper.post.pid, SIGKILL)
      }
      return keeper.post.restartAt != nil
    }
    #expect(try keeper.log().contains("event=backoff"))
  }

  @Test("asked to go, it goes, and has no successor")
  func closing() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    keeper.supervisor.closeAll(at: keeper.now)
    #expect(keeper.post.phase == .leaving)
    try keeper.wait("it is gone") { keeper.supervisor.count == 0 }
    #expect(keeper.post.phase == .empty && keeper.supervisor.nextDeadline == nil)
    keeper.pass(.seconds(120))
    #expect(keeper.supervisor.count == 0)
  }

  @Test("one that does not go is killed when its time is up")
  func closingStuck() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    kill(keeper.post.pid, SIGSTOP)
    keeper.supervisor.closeAll(at: keeper.now)
    keeper.pass(ServiceSupervisor.leaveGrace)
    try keeper.wait("it is gone") { keeper.supervisor.count == 0 }
  }

  @Test(
    "one that dies before ready is retried ever slower, then given up until the next request")
  func givenUp() throws {
    var policy = RestartPolicy()
    policy.patience = 4
    let keeper = try Keeper(policy)
    try keeper.open(program: "/bin/sh", arguments: ["-c", "exit 7"])
    try keeper.wait("its restart is postponed") { keeper.post.restartAt != nil }
    #expect(keeper.supervisor.isSettled, "none is waited for")
    // With so much time gone no pause is long enough to be waited for.
    keeper.pass(.seconds(120))
    try keeper.wait("it is given up") { keeper.post.isGivenUp }
    #expect(keeper.post.generation == 4 && keeper.post.lastEnd == Remark(.processCode, 7))
    #expect(try keeper.log().contains("event=restarts_stopped"))
    keeper.pass(.seconds(3_600))
    #expect(keeper.post.generation == 4)
    keeper.post.specification.program = try StockFixture.program()
    keeper.post.specification.arguments = ["--home", keeper.fixture.home]
    keeper.supervisor.retryFailing(at: keeper.now)
    try keeper.isReady()
    #expect(keeper.post.lastEnd == nil)
  }

  @Test("a missing program is reported, and retried like one that dies")
  func noProgram() throws {
    let keeper = try Keeper()
    try keeper.open(program: "/nonexistent/bank-stockd")
    #expect(
      keeper.post.restartAt != nil
        && keeper.post.lastEnd?.description.contains("/nonexistent/bank-stockd") == true)
    #expect(keeper.supervisor.isSettled)
  }

  @Test("the reason why a process cannot start is its own message, and not its exit code")
  func explained() throws {
    let keeper = try Keeper()
    try keeper.fixture.write(Array("this is not a database".utf8), to: keeper.fixture.database)
    try keeper.open()
    // Damage does not heal: no process is started repeatedly for it.
    try keeper.wait("it is given up") { keeper.post.isGivenUp }
    #expect(keeper.post.restartAt == nil && keeper.post.generation == 1)
    #expect(keeper.post.lastEnd?.description.contains("stock.db") == true)
    #expect(keeper.post.failure?.code == .damaged && keeper.post.failure?.subject == keeper.fixture.database)
    #expect(try keeper.log().contains("code=database_damaged"))
  }

  @Test("one that never sends hello is ended when its time is up")
  func mute() throws {
    let keeper = try Keeper()
    try keeper.open(program: "/bin/sleep", arguments: ["1000"])
    keeper.pass(ServiceSupervisor.patience)
    #expect(keeper.post.phase == .leaving)
    try keeper.wait("the next one is tried") { keeper.post.generation == 2 }
    #expect(try keeper.log().contains("was not ready in time"))
  }

  @Test("one with another identity in its hello is refused")
  func otherRole() throws {
    let keeper = try Keeper()
    try keeper.open(role: .teller)
    try keeper.wait("it is refused") { keeper.post.restartAt != nil }
    #expect(keeper.post.generation == 1 && keeper.supervisor.count == 0)
  }

  @Test(
    "one that does not answer two questions is replaced; one that answers is left alone"
  )
  func stuck() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    for _ in 0..<3 {
      keeper.pass(Standstill.patience)
      #expect(keeper.post.unanswered != nil)
      try keeper.wait("it has answered") { keeper.post.unanswered == nil }
    }
    #expect(keeper.post.generation == 1)
    try keeper.stop()
    keeper.pass(Standstill.patience)
    keeper.pass(Standstill.patience)
    #expect(keeper.post.phase == .leaving)
    keeper.pass(ServiceSupervisor.limits.abort)
    try keeper.wait("a successor") { keeper.post.generation == 2 && keeper.post.phase == .ready }
    #expect(try keeper.log().contains("is stuck"))
  }

  @Test("one that reports progress of long work is waited for; without reports it is stuck")
  func longWork() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    // It answers nothing, as one that counts every row; the test sends the reports of such work in its place.
    try keeper.stop()
    keeper.pass(Standstill.patience)
    for _ in 0..<30 {
      keeper.pass(.seconds(9))
      #expect(keeper.post.phase == .ready)
      keeper.post.silence = Standstill(at: MonotonicTime(nanoseconds: 0))
      keeper.post.channel?.onMessage?(.beat(WorkerMessage.progress))
      let until = try #require(keeper.post.silence?.lookAt)
      #expect(until.since(keeper.fixture.loop.moment().attended) > .seconds(9))
      // The supervisor's own clock is not ahead.
      keeper.post.silence = Standstill(at: keeper.now.attended)
    }
    keeper.pass(Standstill.patience)
    #expect(keeper.post.phase == .leaving)
  }

  @Test("time in which the coordinator did not read counts against no process")
  func unattended() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    try keeper.stop()
    keeper.pass(Standstill.patience)
    #expect(keeper.post.unanswered != nil)
    var now = keeper.now
    now.monotonic = now.monotonic + .seconds(3_600)
    keeper.supervisor.keepTime(now)
    #expect(keeper.post.phase == .ready)
    keeper.pass(Standstill.patience)
    #expect(keeper.post.phase == .leaving)
  }

  @Test(
    "one with a new configuration leaves, its requests answered, and its successor comes at once"
  )
  func replaced() throws {
    let keeper = try Keeper()
    try keeper.open()
    try keeper.isReady()
    #expect(try keeper.fixture.take([("kiwi", 3)], as: "a").rows?.count == 1)
    keeper.supervisor.replace(keeper.post, at: keeper.now)
    keeper.supervisor.replace(keeper.post, at: keeper.now)
    #expect(!keeper.supervisor.isSettled)
    try keeper.wait("its successor") { keeper.supervisor.isSettled }
    #expect(keeper.post.generation == 2 && keeper.post.phase == .ready)
    #expect(try keeper.fixture.take([("kiwi", 3)], as: "a").rows?.count == 1)
    #expect(try keeper.fixture.quantities()[3] == 7)
    kill(keeper.post.pid, SIGSTOP)
    keeper.supervisor.replace(keeper.post, at: keeper.now)
    keeper.pass(ServiceSupervisor.leaveGrace)
    try keeper.wait("the next one") { keeper.post.generation == 3 && keeper.post.phase == .ready }
  }

  @Test("one given up, or between two attempts, starts at once with a new configuration")
  func replacedWhileAway() throws {
    var policy = RestartPolicy()
    policy.patience = 2
    let keeper = try Keeper(policy)
    try keeper.open(program: "/bin/sh", arguments: ["-c", "exit 7"])
    try keeper.wait("its restart is postponed") { keeper.post.restartAt != nil }
    keeper.pass(.seconds(31))
    try keeper.wait("it is given up") { keeper.post.isGivenUp }
    keeper.post.specification.program = try StockFixture.program()
    keeper.post.specification.arguments = ["--home", keeper.fixture.home]
    keeper.supervisor.replace(keeper.post, at: keeper.now)
    #expect(!keeper.post.isGivenUp && !keeper.supervisor.isSettled)
    try keeper.isReady()
  }
}
