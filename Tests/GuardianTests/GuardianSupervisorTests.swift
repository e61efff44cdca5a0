// The coordinator's side of being guarded: guardians that die early, one after the other, and guardians that
// do not receive yet. The guardian is a program that ends at once, or one that never does and receives
// nothing; the test advances the clock over the pauses between two of them.
import Glibc
import Logging
import Posix
import Testing
import Time

@testable import Coordinator

@Suite("The tie to the guardian", .serialized)
struct GuardianSupervisorTests {
  /// A coordinator's tie in a home that is removed with it.
  private final class GuardianSupervisorFixture {
    let supervisor: GuardianSupervisor
    private let home: BankHome
    private let loop: EventLoop
    private let logFile: LogFile
    private var passed = TimeSpan.zero

    /// The socket at which the guardian receives the state of the bank.
    var address: String { Paths.join(home.run, "told.sock") }

    /// - Parameter program: the guardian's; nil for one that never ends.
    init(guardian program: String? = nil) throws {
      var template = Array("/tmp/bank-tie-XXXXXX".utf8CString)
      home = BankHome(
        template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } ?? "" }
      )
      try #require(home.path != "", "no directory could be created")
      try home.prepare()
      loop = try EventLoop()
      logFile = try LogFile(
        path: home.log(of: "coordinator"), worker: "coordinator", generation: 1, limit: 1 << 20, keep: 1)
      // The process that is named here is not the parent of this one, so that the tie starts without a
      // guardian.
      let options = try CoordinatorOptions(["--home", home.path, "--guardian", "\(getpid())"])
      supervisor = GuardianSupervisor(
        home, options, lock: try HomeLock(home), loop: loop, log: logFile,
        heartbeat: Heartbeat(home, nil, isGuarded: false, patience: .seconds(10), loop: loop),
        executable: try program ?? Self.stayingProgram(in: home.path),
        environment: [ServiceNotifier.addressVariable: Paths.join(home.run, "told.sock")])
    }

    deinit {
      if let pid = supervisor.pid { kill(pid, SIGKILL) }
      Directory.removeTree(home.path)
    }

    private static func stayingProgram(in directory: String) throws -> String {
      let path = Paths.join(directory, "guardian")
      let file = try FileDescriptor.open(path, [.writeOnly, .create], mode: 0o700)
      try Array("#!/bin/sh\necho \"$@\" >$0.new; mv $0.new $0.words\nexec sleep 600\n".utf8).withUnsafeBytes {
        try file.writeAll($0)
      }
      return path
    }

    /// Advances the clock of the tie, and nothing else happens.
    func pass(_ span: TimeSpan) {
      passed += span
      var moment = loop.moment()
      moment.monotonic += passed
      supervisor.runTimers(moment)
    }

    /// Starts without a guardian, and starts one.
    func beginWithGuardian() throws {
      supervisor.begin()
      let deadline = SystemClock.monotonic() + .seconds(120)
      while supervisor.pid == nil, SystemClock.monotonic() < deadline { _ = try runIteration() }
      try #require(supervisor.pid != nil)
    }

    /// The arguments of the guardian that never ends.
    func words() throws -> String {
      let path = Paths.join(home.path, "guardian.words")
      let deadline = SystemClock.monotonic() + .seconds(120)
      while SystemClock.monotonic() < deadline {
        if let file = try? FileDescriptor.open(path, .readOnly) {
          return String(decoding: try file.readAll(), as: UTF8.self)
        }
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(1))
      }
      throw SystemError(call: "open", subject: path, code: ENOENT)
    }

    /// Asks the guardian to end, and returns the signal that ended it: that one, or SIGKILL if it was sent
    /// before.
    func signalOfEnd() throws -> CInt {
      let pid = try #require(supervisor.pid)
      kill(pid, SIGTERM)
      var end = siginfo_t()
      try #require(waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT) == 0)
      return end._sifields._sigchld.si_status
    }

    /// The events of this name in the log.
    func count(_ event: String) throws -> Int {
      logFile.flush()
      let file = try FileDescriptor.open(home.log(of: "coordinator"), .readOnly)
      return String(decoding: try file.readAll(), as: UTF8.self).split(separator: "\n").count {
        $0.contains("event=\(event) ") || $0.hasSuffix("event=\(event)")
      }
    }

    /// Handles the end of a guardian, or lets the pause before the next one pass.
    ///
    /// - Returns: the length of the pause; nil while there is a guardian.
    func runIteration() throws -> TimeSpan? {
      guard supervisor.pid == nil else {
        try loop.runOnce(until: SystemClock.monotonic() + .seconds(1))
        return nil
      }
      let due = try #require(supervisor.nextDeadline, "no successor is due")
      var moment = loop.moment()
      let pause = due.since(moment.monotonic)
      moment.monotonic = max(moment.monotonic, due)
      supervisor.runTimers(moment)
      return pause
    }
  }

  @Test(
    "however many guardians die early, another one follows a bounded pause, and it is logged",
    arguments: ["/bin/false", "/missing/program"])
  func dieYoung(program: String) throws {
    let fixture = try GuardianSupervisorFixture(guardian: program)
    fixture.supervisor.begin()
    var pauses: [TimeSpan] = []
    let deadline = SystemClock.monotonic() + .seconds(120)
    while pauses.count < 30 {
      if let pause = try fixture.runIteration() { pauses.append(pause) }
      try #require(SystemClock.monotonic() < deadline, "\(pauses.count) have died")
    }
    #expect(pauses.allSatisfy { $0 <= .seconds(1) }, "\(pauses)")
    #expect(pauses.suffix(10).allSatisfy { $0 > .milliseconds(400) }, "they are slowed down: \(pauses)")
    #expect(try fixture.count("guardian_exited") >= 30)
    #expect(try fixture.count("guardian_backoff") >= 20, "from the tenth on it is logged as an error")
  }

  @Test(
    "a message that a new guardian could not receive is sent again when it can, and then not again"
  )
  func toldAgain() throws {
    let fixture = try GuardianSupervisorFixture()
    try fixture.beginWithGuardian()
    fixture.supervisor.opened(windows: 3, day: 1)
    let due = try #require(fixture.supervisor.nextDeadline)
    #expect(due <= SystemClock.monotonic() + .milliseconds(50))
    fixture.pass(.milliseconds(60))
    let socket = try Datagrams.bind(path: fixture.address)
    fixture.pass(.milliseconds(60))
    let told = ServiceMessage(try #require(try Datagrams.receive(from: socket)))
    #expect(told.isReady && told.mainPid == getpid())
    fixture.pass(.milliseconds(60))
    #expect(try Datagrams.receive(from: socket) == nil)
  }

  @Test("a repeated message contains the present state of the bank")
  func toldTheLatest() throws {
    let fixture = try GuardianSupervisorFixture()
    try fixture.beginWithGuardian()
    fixture.supervisor.opened(windows: 3, day: 1)
    fixture.supervisor.stopping()
    let socket = try Datagrams.bind(path: fixture.address)
    fixture.pass(.milliseconds(60))
    #expect(ServiceMessage(try #require(try Datagrams.receive(from: socket))).isStopping)
    fixture.pass(.milliseconds(60))
    #expect(try Datagrams.receive(from: socket) == nil)
  }

  @Test(
    "a guardian that cannot receive the end is ended, since it would reopen the bank; others are not"
  )
  func toldOfTheEnd() throws {
    let deaf = try GuardianSupervisorFixture()
    try deaf.beginWithGuardian()
    deaf.supervisor.closed()
    #expect(try deaf.signalOfEnd() == SIGKILL)

    let hearing = try GuardianSupervisorFixture()
    let socket = try Datagrams.bind(path: hearing.address)
    try hearing.beginWithGuardian()
    hearing.supervisor.closed()
    let told = ServiceMessage(try #require(try Datagrams.receive(from: socket)))
    #expect(told["X_BANK_CLOSED"] == "1")
    #expect(try hearing.signalOfEnd() == SIGTERM)
  }

  @Test(
    "a guardian that starts before the bank is open reopens it in any case"
  )
  func isNotifiedBefore() throws {
    let fixture = try GuardianSupervisorFixture()
    try fixture.beginWithGuardian()
    #expect(try fixture.words().contains("--phase opening") && fixture.words().contains("--opened"))
  }
}
