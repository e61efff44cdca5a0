// The supervisor of the services: a process is started, watched, replaced after any end, given up, and asked
// to go. The test advances the clock instead of waiting.

import BankModel
import Glibc
import Logging
import Posix
import Supervision
import Testing
import Time
import Wire

@testable import Coordinator

@Suite("The supervisor of the services", .serialized)
struct ServiceSupervisorTests {
  /// A keeper of a stock service, in the place of a coordinator.
  private final class SupervisorFixture {
    let fixture: StockFixture
    let supervisor: ServiceSupervisor
    var slot: SupervisedService { supervisor.slots[0] }
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
      supervisor.orders = { slot in
        var orders = orders
        orders.generation = slot.generation
        return orders
      }
      supervisor.onChange = { [unowned self] in changes += 1 }
    }

    deinit {
      supervisor.killAll()
      for slot in supervisor.slots { _ = slot.child?.wait() }
    }

    var now: Moment {
      var now = fixture.loop.moment()
      now.monotonic = now.monotonic + ahead
      now.listeningTime = now.listeningTime + ahead
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
        supervisor.runTimers(now)
      }
    }

    /// Advances the clock.
    func pass(_ span: TimeSpan) {
      ahead = ahead + span
      supervisor.runTimers(now)
    }

    func isReady() throws { try wait("it is ready") { slot.phase == .ready } }

    /// Stops the process, as a user at a terminal would, and waits until it is stopped.
    func stop() throws {
      kill(slot.pid, SIGSTOP)
      try wait("it stands") { slot.observation == .stopped }
    }

    func log() throws -> String {
      supervisor.log.flush()
      return try StockFixture.text(of: fixture.home + "/logs/coordinator.log")
    }
  }

  @Test("a process is welcomed and ready; killed at work, it is replaced at once, any number of times")
  func kills() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    #expect(keeper.slot.generation == 1 && !keeper.supervisor.isSettled)
    try keeper.isReady()
    #expect(keeper.supervisor.isSettled && keeper.slot.sentOrders?.generation == 1)
    for generation in 2...6 as ClosedRange<Generation> {
      let pid = keeper.slot.pid
      kill(pid, SIGKILL)
      try keeper.wait("a successor") { keeper.slot.generation == generation && keeper.slot.phase == .ready }
      #expect(keeper.slot.pid != pid && keeper.slot.restartAt == nil && keeper.slot.lastExitReason == nil)
    }
    #expect(keeper.slot.restarts == 5 && keeper.supervisor.count == 1 && keeper.changes >= 10)
    #expect(try keeper.fixture.quantities() == [10, 10, 10, 10, 10])
  }

  @Test("one killed right after its work is never slowed down, and never given up")
  func killedAfterWork() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    for round in 1...16 as ClosedRange<Generation> {
      try keeper.wait("the \(round)th is ready") {
        keeper.slot.generation == round && keeper.slot.phase == .ready
      }
      #expect(keeper.slot.restartAt == nil)
      let brought = try keeper.fixture.call(.change(ItemAmount(ItemID("banana"), 1), nil))
      #expect(brought.rows?.map(\.present) == [10 + Quantity(round)])
      kill(keeper.slot.pid, SIGKILL)
    }
    #expect(try !keeper.log().contains("event=backoff"))
  }

  @Test("one that dies repeatedly when it only answered questions is slowed down")
  func killedAfterLook() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.wait("it is slowed down") {
      // A follower of the stock reads it as soon as it is there.
      if keeper.slot.phase == .ready, (try? keeper.fixture.quantities()) != nil {
        kill(keeper.slot.pid, SIGKILL)
      }
      return keeper.slot.restartAt != nil
    }
    #expect(try keeper.log().contains("event=backoff"))
  }

  @Test("asked to go, it goes, and has no successor")
  func closing() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    keeper.supervisor.closeAll(at: keeper.now)
    #expect(keeper.slot.phase == .leaving)
    try keeper.wait("it is gone") { keeper.supervisor.count == 0 }
    #expect(keeper.slot.phase == .empty && keeper.supervisor.nextDeadline == nil)
    keeper.pass(.seconds(120))
    #expect(keeper.supervisor.count == 0)
  }

  @Test("one that does not go is killed when its time is up")
  func closingStuck() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    kill(keeper.slot.pid, SIGSTOP)
    keeper.supervisor.closeAll(at: keeper.now)
    keeper.pass(ServiceSupervisor.exitGrace)
    try keeper.wait("it is gone") { keeper.supervisor.count == 0 }
  }

  @Test(
    "one that dies before ready is retried ever slower, then given up until the next request")
  func givenUp() throws {
    var policy = RestartPolicy()
    policy.patience = 4
    let keeper = try SupervisorFixture(policy)
    try keeper.open(program: "/bin/sh", arguments: ["-c", "exit 7"])
    try keeper.wait("its restart is postponed") { keeper.slot.restartAt != nil }
    #expect(keeper.supervisor.isSettled, "none is waited for")
    // With so much time gone no pause is long enough to be waited for.
    keeper.pass(.seconds(120))
    try keeper.wait("it is given up") { keeper.slot.isGivenUp }
    #expect(keeper.slot.generation == 4 && keeper.slot.lastExitReason == MessageDetail(.processCode, 7))
    #expect(try keeper.log().contains("event=restarts_stopped"))
    keeper.pass(.seconds(3_600))
    #expect(keeper.slot.generation == 4)
    keeper.slot.specification.program = try StockFixture.program()
    keeper.slot.specification.arguments = ["--home", keeper.fixture.home]
    keeper.supervisor.retryFailing(at: keeper.now)
    try keeper.isReady()
    #expect(keeper.slot.lastExitReason == nil)
  }

  @Test("a missing program is reported, and retried like one that dies")
  func noProgram() throws {
    let keeper = try SupervisorFixture()
    try keeper.open(program: "/nonexistent/bank-stockd")
    #expect(
      keeper.slot.restartAt != nil
        && keeper.slot.lastExitReason?.description.contains("/nonexistent/bank-stockd") == true)
    #expect(keeper.supervisor.isSettled)
  }

  @Test("the reason why a process cannot start is its own message, and not its exit code")
  func explained() throws {
    let keeper = try SupervisorFixture()
    try keeper.fixture.write(Array("this is not a database".utf8), to: keeper.fixture.database)
    try keeper.open()
    // Damage does not heal: no process is started repeatedly for it.
    try keeper.wait("it is given up") { keeper.slot.isGivenUp }
    #expect(keeper.slot.restartAt == nil && keeper.slot.generation == 1)
    #expect(keeper.slot.lastExitReason?.description.contains("stock.db") == true)
    #expect(keeper.slot.failure?.code == .damaged && keeper.slot.failure?.subject == keeper.fixture.database)
    #expect(try keeper.log().contains("code=database_damaged"))
  }

  @Test("one that never sends hello is ended when its time is up")
  func mute() throws {
    let keeper = try SupervisorFixture()
    try keeper.open(program: "/bin/sleep", arguments: ["1000"])
    keeper.pass(ServiceSupervisor.patience)
    #expect(keeper.slot.phase == .leaving)
    try keeper.wait("the next one is tried") { keeper.slot.generation == 2 }
    #expect(try keeper.log().contains("was not ready in time"))
  }

  @Test("one with another identity in its hello is refused")
  func otherRole() throws {
    let keeper = try SupervisorFixture()
    try keeper.open(role: .teller)
    try keeper.wait("it is refused") { keeper.slot.restartAt != nil }
    #expect(keeper.slot.generation == 1 && keeper.supervisor.count == 0)
  }

  @Test(
    "one that does not answer two questions is replaced; one that answers is left alone"
  )
  func stuck() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    for _ in 0..<3 {
      keeper.pass(StallDetector.patience)
      #expect(keeper.slot.unanswered != nil)
      try keeper.wait("it has answered") { keeper.slot.unanswered == nil }
    }
    #expect(keeper.slot.generation == 1)
    try keeper.stop()
    keeper.pass(StallDetector.patience)
    keeper.pass(StallDetector.patience)
    #expect(keeper.slot.phase == .leaving)
    keeper.pass(ServiceSupervisor.limits.abort)
    try keeper.wait("a successor") { keeper.slot.generation == 2 && keeper.slot.phase == .ready }
    #expect(try keeper.log().contains("is stuck"))
  }

  @Test("one that reports progress of long work is waited for; without reports it is stuck")
  func longWork() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    // It answers nothing, as one that counts every row; the test sends the reports of such work in its place.
    try keeper.stop()
    keeper.pass(StallDetector.patience)
    for _ in 0..<30 {
      keeper.pass(.seconds(9))
      #expect(keeper.slot.phase == .ready)
      keeper.slot.stallDetector = StallDetector(at: MonotonicTime(nanoseconds: 0))
      keeper.slot.channel?.onMessage?(.beat(ServiceProcessMessage.progress))
      let until = try #require(keeper.slot.stallDetector?.nextCheckAt)
      #expect(until.since(keeper.fixture.loop.moment().listeningTime) > .seconds(9))
      // The supervisor's own clock is not ahead.
      keeper.slot.stallDetector = StallDetector(at: keeper.now.listeningTime)
    }
    keeper.pass(StallDetector.patience)
    #expect(keeper.slot.phase == .leaving)
  }

  @Test("time in which the coordinator did not read counts against no process")
  func unattended() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    try keeper.stop()
    keeper.pass(StallDetector.patience)
    #expect(keeper.slot.unanswered != nil)
    var now = keeper.now
    now.monotonic = now.monotonic + .seconds(3_600)
    keeper.supervisor.runTimers(now)
    #expect(keeper.slot.phase == .ready)
    keeper.pass(StallDetector.patience)
    #expect(keeper.slot.phase == .leaving)
  }

  @Test(
    "one with a new configuration leaves, its requests answered, and its successor comes at once"
  )
  func replaced() throws {
    let keeper = try SupervisorFixture()
    try keeper.open()
    try keeper.isReady()
    #expect(try keeper.fixture.take([("kiwi", 3)], as: "a").rows?.count == 1)
    keeper.supervisor.replace(keeper.slot, at: keeper.now)
    keeper.supervisor.replace(keeper.slot, at: keeper.now)
    #expect(!keeper.supervisor.isSettled)
    try keeper.wait("its successor") { keeper.supervisor.isSettled }
    #expect(keeper.slot.generation == 2 && keeper.slot.phase == .ready)
    #expect(try keeper.fixture.take([("kiwi", 3)], as: "a").rows?.count == 1)
    #expect(try keeper.fixture.quantities()[3] == 7)
    kill(keeper.slot.pid, SIGSTOP)
    keeper.supervisor.replace(keeper.slot, at: keeper.now)
    keeper.pass(ServiceSupervisor.exitGrace)
    try keeper.wait("the next one") { keeper.slot.generation == 3 && keeper.slot.phase == .ready }
  }

  @Test("one given up, or between two attempts, starts at once with a new configuration")
  func replacedWhileAway() throws {
    var policy = RestartPolicy()
    policy.patience = 2
    let keeper = try SupervisorFixture(policy)
    try keeper.open(program: "/bin/sh", arguments: ["-c", "exit 7"])
    try keeper.wait("its restart is postponed") { keeper.slot.restartAt != nil }
    keeper.pass(.seconds(31))
    try keeper.wait("it is given up") { keeper.slot.isGivenUp }
    keeper.slot.specification.program = try StockFixture.program()
    keeper.slot.specification.arguments = ["--home", keeper.fixture.home]
    keeper.supervisor.replace(keeper.slot, at: keeper.now)
    #expect(!keeper.slot.isGivenUp && !keeper.supervisor.isSettled)
    try keeper.isReady()
  }
}
