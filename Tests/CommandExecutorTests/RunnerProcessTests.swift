// The built executable, of whose commands no process outlives it. A sub-reaper is a whole process, so this is
// tested here and not with the provider. The test plays the coordinator; all processes it has started are
// ended with the fixture.
import BankModel
import CommandRunner
import Glibc
import Logging
import Posix
import PosixFixture
import Teller
import Testing
import Time
import Transport
import Wire

@Suite(.serialized) struct RunnerProcessTests {
  /// Traps SIGTERM, forks twice, and one of them is in a session of its own, without a parent.
  private static let stubborn = """
    trap '' TERM
    (trap '' TERM; setsid sh -c 'trap "" TERM; echo up; while :; do sleep 600; done' &) &
    sh -c 'echo up; while :; do sleep 600; done' &
    echo up
    while :; do sleep 600; done
    """

  /// A runner with such a command, all of whose processes run.
  private func atWork(timeout: Int64? = nil, grace: Int64 = 100) throws -> SpawnedRunner {
    let runner = try SpawnedRunner()
    let directory = runner.directory
    try runner.welcome(
      settings(Self.stubborn, timeout: timeout, grace: grace) {
        ($0.outputBytes, $0.outputDirectory) = (1_000, Paths.join(directory, "output"))
      })
    runner.assign()
    try runner.wait { (try? contents(of: directory + "/output/3/7.out")) == "up\nup\nup\n" }
    #expect(runner.working.count >= 3)
    return runner
  }

  @Test("it sends hello as a runner, serves, and logs its work")
  func serves() throws {
    let runner = try SpawnedRunner()
    let log = runner.directory + "/thumbs-1.log"
    var settings = settings("cat; env | cut -d= -f1 | sort | tr '\\n' ' '; pwd")
    settings.logPath = log
    settings.command?.environment = []
    try runner.welcome(settings)
    #expect(runner.heard.first == .hello(Hello(build: BuildIdentity.current, role: .runner)))
    runner.assign(payload: bytes("hello "))
    runner.assign(8, payload: bytes("again "))
    try runner.wait { runner.heard.count == 4 }
    guard case .worked(let lease, let result) = runner.heard[2] else {
      return _ = Issue.record("\(runner.heard)")
    }
    #expect(lease == assignment().lease)
    #expect(
      CommandExecutorTests.text(result.output)
        == "hello BANK_ATTEMPT BANK_DAY BANK_KEY BANK_SERVICE BANK_TICKET PATH PWD \(runner.directory)\n")
    #expect(runner.heard[3].description(of: 8) == "again")
    runner.say(.close)
    #expect(try runner.ending() == .code(0))
    let text = try FileDescriptor.open(log, .readOnly).readAll()
    let lines = try text.split(separator: UInt8(ascii: "\n")).map { try #require(LogLine.parse($0)) }
    #expect(lines.map { $0["event"] } == ["ready", "started", "completed", "started", "completed", "exit"])
    #expect(lines[2]["exit_code"] == "0" && lines[2]["output_bytes"] == "\(result.output.length)")
    #expect(lines[2]["msg"] == "customer 7: thumbs completed")
  }

  @Test(
    "a job that traps SIGTERM, forks twice and calls setsid ends by its timeout, with nothing left")
  func timeout() throws {
    let runner = try atWork(timeout: 1_000)
    try runner.wait { runner.answer != nil }
    guard case .failed(_, let failure) = runner.answer else { return _ = Issue.record("\(runner.heard)") }
    #expect(failure.words.hasPrefix("took longer than 1s"))
    #expect(failure.processEnd == .signal(SIGKILL))
    #expect(runner.working.isEmpty)
    #expect(ProcessTable.children(of: runner.child.pid).isEmpty)
  }

  @Test("a customer recalled during its work is returned when no process is left")
  func recall() throws {
    let runner = try atWork()
    runner.say(.recall(assignment().lease))
    try runner.wait { runner.answer != nil }
    #expect(runner.answer == .returned(assignment().lease))
    #expect(runner.working.isEmpty)
    runner.say(.close)
    #expect(try runner.ending() == .code(0))
  }

  @Test("when the coordinator hangs up no process of a command is left, whatever its grace")
  func hungUp() throws {
    let runner = try atWork(grace: 600_000)
    let start = SystemClock.monotonic()
    runner.hangUp()
    #expect(try runner.ending() == .code(0))
    #expect(runner.working.isEmpty)
    print(
      "a runner without a coordinator: gone after \(SystemClock.monotonic().since(start).inSeconds * 1000) ms"
    )
  }

  @Test("after an invalid message of the coordinator no process of a command is left")
  func misunderstood() throws {
    let runner = try atWork(grace: 600_000)
    runner.say(.welcome(settings()))
    #expect(try runner.ending() == .code(65))
    #expect(runner.working.isEmpty)
    #expect(try runner.complaints().contains("a welcome out of turn"))
  }

  @Test("a command being ended has no grace if the coordinator hangs up meanwhile")
  func hungUpMeanwhile() throws {
    let runner = try atWork(grace: 600_000)
    runner.say(.recall(assignment().lease))
    runner.hangUp()
    #expect(try runner.ending() == .code(0))
    #expect(runner.working.isEmpty)
  }

  @Test("SIGTERM waits for the command, and so does the closing of the window", arguments: [true, false])
  func closing(bySignal: Bool) throws {
    let runner = try SpawnedRunner()
    let go = runner.directory + "/go"
    try runner.welcome(
      settings("echo up >up; while ! [ -e \(go) ]; do sleep 0.01; done; echo done"))
    runner.assign()
    try runner.wait { (try? contents(of: runner.directory + "/up")) == "up\n" }
    if bySignal { runner.child.kill(SIGTERM) } else { runner.say(.close) }
    #expect(runner.child.reap() == nil)
    try FileDescriptor.open(go, [.writeOnly, .create]).writeAll([])
    #expect(try runner.ending() == .code(0))
    guard case .worked = runner.answer else { return _ = Issue.record("\(runner.heard)") }
  }

  @Test("background processes of a command end with it, and those that end before are reaped")
  func background() throws {
    let runner = try SpawnedRunner()
    let go = runner.directory + "/go"
    try runner.welcome(
      settings(
        "i=0; while [ $i -lt 20 ]; do (true &); i=$((i+1)); done; (setsid sleep 600 >/dev/null 2>&1 &); echo up >up; "
          + "while ! [ -e \(go) ]; do sleep 0.01; done"))
    runner.assign()
    try runner.wait { (try? contents(of: runner.directory + "/up")) == "up\n" }
    // The shell, and the sleep in a session of its own.
    try runner.wait { ProcessTable.children(of: runner.child.pid).count == 2 }
    try FileDescriptor.open(go, [.writeOnly, .create]).writeAll([])
    try runner.wait { runner.answer != nil }
    guard case .worked = runner.answer else { return _ = Issue.record("\(runner.heard)") }
    #expect(runner.working.isEmpty)
    #expect(ProcessTable.children(of: runner.child.pid).isEmpty)
  }

  @Test("the command itself dies with a killed runner, and the others are found by their key")
  func killed() throws {
    let runner = try atWork()
    runner.child.kill(SIGKILL)
    #expect(try runner.ending() == .signal(SIGKILL, coreDumped: false))
    let loop = try EventLoop()
    let orphans = Orphans(OrphanTraces(key: runner.key), on: loop)
    orphans.end(grace: .zero, at: SystemClock.monotonic())
    let end = SystemClock.monotonic() + patience
    while !orphans.areGone, SystemClock.monotonic() < end {
      try loop.runOnce(until: .earlier(orphans.deadline, end))
      orphans.runIteration(at: SystemClock.monotonic())
    }
    #expect(runner.working.isEmpty)
  }

  @Test("100 MB of output do not grow its memory")
  func memory() throws {
    let runner = try SpawnedRunner()
    let directory = runner.directory
    try runner.welcome(
      settings("head -c 100000000 /dev/zero") {
        ($0.outputBytes, $0.outputDirectory) = (1_000_000, Paths.join(directory, "output"))
      })
    let before = ProcessMemory.residentBytes(pid: runner.child.pid) ?? 0
    let share = ProcessMemory.proportionalBytes(pid: runner.child.pid) ?? 0
    runner.assign()
    try runner.wait { runner.answer != nil }
    guard case .worked(_, let result) = runner.answer else { return _ = Issue.record("\(runner.heard)") }
    #expect(result.output.length == 100_000_000 && result.output.filed == 1_000_000)
    let after = ProcessMemory.residentBytes(pid: runner.child.pid) ?? 0
    print("a runner: \(share) bytes by itself; resident \(before) before and \(after) after 100 MB of output")
    #expect(after - before < 4 << 20)
  }
}

extension TellerMessage {
  /// The first word of the command's output for a ticket.
  fileprivate func description(of ticket: Int64) -> String? {
    guard case .worked(let lease, let result) = self, lease.ticket == ticket else { return nil }
    return text(result.output).split(separator: " ").first.map { String($0) }
  }
}
