// One customer's work from the assignment to the answer, with real commands.
import BankModel
import CommandRunner
import Glibc
import Posix
import PosixFixture
import Teller
import Testing
import Time
import Wire

@testable import CommandExecutor

@Suite struct CommandProviderTests {
  @Test("the result is the exit code, the time, and the command's output")
  func served() throws {
    let result = try CommandExecutorTests.served(
      "cat; echo oops >&2; echo $BANK_TICKET", payload: bytes("in "))
    #expect(result.ending == .code(0))
    #expect(result.duration > .zero)
    #expect(text(result.output) == "in 7\n" && text(result.errors) == "oops\n")
    #expect(!result.output.isCut && result.output.filed == 0)
  }

  @Test(
    "an exit code has its consequence, and the last lines give the reason",
    arguments: [
      (1, .again), (3, .again), (64, .never), (65, .never), (75, .later), (126, .pause), (127, .pause),
    ]
      as [(Int32, WorkFailure.Consequence)])
  func codes(code: Int32, consequence: WorkFailure.Consequence) throws {
    let failure = try refused("echo out; echo why >&2; exit \(code)")
    #expect(failure == WorkFailure("exit code \(code)\nwhy", consequence, processEnd: .code(code)))
  }

  @Test("after a brief command the next starts at once, and is attended to only if it is not brief")
  func brief() throws {
    let window = try ProviderFixture(settings("[ $BANK_TICKET -lt 9 ] || head -c 200000 /dev/zero"))
    // A busy machine may need several until one is brief.
    var ticket: Int64 = 1
    let end = SystemClock.monotonic() + patience
    while !window.provider.isWorkShort {
      try #require(SystemClock.monotonic() < end, "no command is over within three milliseconds here")
      _ = try window.answer(min(ticket, 8))
      ticket += 1
    }
    guard case .worked(let result) = try window.answer(9) else {
      Issue.record("there was no result")
      return
    }
    #expect(result.output.length == 200_000, "more than a pipe holds")
    #expect(!window.provider.isWorkShort, "it has printed too much")
  }

  @Test("a signal is a crash")
  func signal() throws {
    let failure = try refused("kill -KILL $$")
    #expect(failure == WorkFailure("killed by SIGKILL", .crash, processEnd: .signal(SIGKILL)))
  }

  @Test("a missing program pauses the service; one that the customer names makes a dead letter")
  func missing() throws {
    #expect(try refused("") { $0.words = ["no-such-program-anywhere"] }.consequence == .pause)
    #expect(try refused("") { $0.directory = "/no/such/place" }.consequence == .pause)
    let payload = bytes(#"{"command":["true"],"directory":"/no/such/place","environment":{}}"#)
    let failure = try refused("", payload: payload) { $0.words = [] }
    #expect(
      failure.consequence == .never && failure.words.hasPrefix("the directory \"/no/such/place\" cannot"))
    #expect(try refused("", payload: bytes("{}")) { $0.words = [] }.consequence == .never)
  }

  @Test("a command line from a customer runs unchanged, with nothing on standard input")
  func commandLine() throws {
    let payload = bytes(
      #"{"command":["sh","-c","cat; echo $A; pwd; env | grep -c ^BANK_; exit ${B:-0}"],"directory":"/tmp","#
        + #""environment":{"PATH":"/bin:/usr/bin","A":"a b"}}"#)
    #expect(
      text(try CommandExecutorTests.served("", payload: payload) { $0.words = [] }.output) == "a b\n/tmp\n5\n"
    )
  }

  @Test(
    "exit code 75 of a command line is final if a client waits for it, and else is retried later",
    arguments: [
      ("", WorkFailure.Consequence.later), (#","waited":false"#, .later), (#","waited":true"#, .never),
    ])
  func waitedLater(member: String, consequence: WorkFailure.Consequence) throws {
    let payload = bytes(#"{"command":["sh","-c","echo why >&2; exit 75"]\#(member)}"#)
    let failure = try refused("", payload: payload) { $0.words = [] }
    #expect(failure == WorkFailure("exit code 75\nwhy", consequence, processEnd: .code(75)))
  }

  @Test("the payload is an argument if the template has it, and only as a whole")
  func argument() throws {
    let result = try CommandExecutorTests.served("", payload: bytes("a b; $(c)")) {
      $0.words = ["sh", "-c", "printf '%s|' \"$@\"", "sh", "{payload}", "x{payload}"]
    }
    #expect(text(result.output) == "a b; $(c)|x{payload}|")
  }

  @Test("a command that does not read a payload of 1 MiB is not to blame for it")
  func unread() throws {
    let payload = [UInt8](repeating: 1, count: 1 << 20)
    #expect(try CommandExecutorTests.served("exit 0", payload: payload).ending == .code(0))
    #expect(text(try CommandExecutorTests.served("wc -c", payload: payload).output).contains("1048576"))
  }

  @Test("a command that takes too long is ended, and the message names its time limit")
  func timeout() throws {
    let window = try ProviderFixture(settings("echo begun; while :; do sleep 0.01; done", timeout: 200))
    let failure = try window.failure()
    #expect(failure.words == "took longer than 200ms\nbegun")
    #expect(failure.consequence == .again && failure.processEnd == .signal(SIGTERM))
  }

  @Test("a grandchild that keeps the pipes open delays nothing")
  func grandchild() throws {
    let window = try ProviderFixture(settings("sleep 600 & echo done"))
    #expect(text(try window.result().output) == "done\n")
  }

  @Test("a recalled customer is returned when its command has ended, and the next one is served")
  func abandoned() throws {
    let directory = try TemporaryDirectory("command-window")
    let marker = directory.file("ready")
    let script =
      "if [ $BANK_TICKET = 8 ]; then exit 0; fi; trap 'echo bye >>\(marker); exit 0' TERM; "
      + "echo up >\(marker); while :; do sleep 0.01; done"
    let window = try ProviderFixture(settings(script))
    window.provide()
    try window.wait { (try? contents(of: marker)) == "up\n" }
    window.provider.abandon()
    window.provider.abandon()
    #expect(window.answers.isEmpty)
    try window.wait { !window.answers.isEmpty }
    #expect(window.answers == [.returned])
    #expect(try contents(of: marker) == "up\nbye\n")
    guard case .worked = try window.answer(8) else { return _ = Issue.record("\(window.answers)") }
  }

  @Test("a customer recalled before the start is returned, and not one whose work is done")
  func abandonedEarly() throws {
    let window = try ProviderFixture(settings("exit 0") { $0.words = ["no-such-program-anywhere"] })
    window.provide()
    window.provider.finishIteration()
    window.provider.abandon()
    try window.wait { !window.answers.isEmpty }
    guard case .failed = window.answers[0] else { return _ = Issue.record("a decided outcome stays") }
    window.answers = []
    window.provider.provide(assignment())
    window.provider.abandon()
    try window.wait { !window.answers.isEmpty }
    #expect(window.answers == [.returned])
  }

  @Test("when the process ends the command is killed, and no answer is sent")
  func end() throws {
    let window = try ProviderFixture(settings("trap '' TERM; while :; do sleep 600; done"))
    window.provide()
    try window.wait { !working(key: window.key).isEmpty }
    #expect(window.provider.hasEnded)
    window.provider.end()
    #expect(!window.provider.hasEnded)
    try window.wait { window.provider.hasEnded }
    #expect(window.answers.isEmpty && window.provider.nextDeadline == nil)
    // On a busy machine the last one is not waited for, and yet all are killed.
    try window.wait { working(key: window.key).isEmpty }
    window.provider.end()
    #expect(window.provider.hasEnded)
  }

  @Test("without descriptors the customer waits, and is served when there are some again")
  func shortage() async {
    // A limit applies to the whole process.
    await #expect(processExitsWith: .success) {
      let window = try ProviderFixture(settings("exit 0"))
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let before = limit.rlim_cur
      limit.rlim_cur = 5
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      guard case .later(let reason) = try window.answer() else {
        return _ = Issue.record("\(window.answers)")
      }
      #expect(reason.hasPrefix("the command cannot be started now: open(\"/dev/null\")"), "\(reason)")
      limit.rlim_cur = before
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #expect(try window.result().ending == .code(0))
    }
  }

  @Test("orders without a command pause the service")
  func noCommand() throws {
    var settings = settings()
    settings.command = nil
    #expect(try ProviderFixture(settings).failure().consequence == .pause)
  }

  // MARK: Output

  @Test("of 100 MB of output the first and last 32 KiB and the true length are kept, in bounded memory")
  func muchOutput() throws {
    let window = try ProviderFixture(settings("echo begin; head -c 100000000 /dev/zero; echo end"))
    let before = ProcessMemory.residentBytes(pid: CurrentProcess.pid) ?? 0
    let output = try window.result().output
    let after = ProcessMemory.residentBytes(pid: CurrentProcess.pid) ?? 0
    #expect(output.length == 100_000_010)
    #expect(
      output.first.count == TruncatedOutput.longestEnd && output.last.count == TruncatedOutput.longestEnd)
    #expect(output.first.starts(with: bytes("begin\n")) && output.last.suffix(4) == bytes("end\n")[...])
    #expect(output.filed == 0)
    // Other tests run in this process meanwhile.
    #expect(after - before < 50_000_000)
  }

  private func withFiles(_ bound: Int64, in directory: String) -> (inout CommandSettings) -> Void {
    { settings in
      (settings.resultBytes, settings.outputBytes, settings.outputDirectory) = (100, bound, directory)
    }
  }

  @Test("output longer than the result is in a file, up to its bound")
  func files() throws {
    let place = try TemporaryDirectory("command-window")
    let directory = place.file("output")
    let script = "i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done; echo short >&2"
    let result = try CommandExecutorTests.served(script, change: withFiles(1_000_000, in: directory))
    let all = (0..<100).map { "line \($0)\n" }.joined()
    #expect(try contents(of: directory + "/3/7.out") == all)
    #expect(result.output.filed == Int64(all.utf8.count) && result.output.length == result.output.filed)
    #expect(text(result.errors) == "short\n" && result.errors.filed == 0)
    #expect(try Directory.entries(of: directory + "/3") == ["7.out"], "output that fits needs no file")
    let bounded = try CommandExecutorTests.served(script, change: withFiles(300, in: directory))
    #expect(bounded.output.filed == 300 && bounded.output.length == Int64(all.utf8.count))
    #expect(try contents(of: directory + "/3/7.out") == String(all.prefix(300)), "created again")
  }

  @Test("the file grows while the command runs, and stays if there is no result")
  func following() throws {
    let place = try TemporaryDirectory("command-window")
    let directory = place.file("output")
    let script = "echo first; while ! [ -e \(place.file("go")) ]; do sleep 0.01; done; echo second; exit 3"
    let window = try ProviderFixture(settings(script, change: withFiles(1_000, in: directory)))
    window.provide()
    try window.wait { (try? contents(of: directory + "/3/7.out")) == "first\n" }
    try FileDescriptor.open(place.file("go"), [.writeOnly, .create]).writeAll([])
    try window.wait { !window.answers.isEmpty }
    #expect(window.answers == [.failed(WorkFailure("exit code 3\nfirst\nsecond", processEnd: .code(3)))])
    #expect(try contents(of: directory + "/3/7.out") == "first\nsecond\n")
  }

  @Test("a file that cannot be written costs no customer its result, and is reported once")
  func noFiles() throws {
    let place = try TemporaryDirectory("command-window")
    let window = try ProviderFixture(
      settings("echo x", change: withFiles(1_000, in: place.file("no/such/place"))))
    for _ in 1...2 { #expect(text(try window.result().output) == "x\n") }
    #expect(window.complaints.count == 1)
    #expect(
      window.complaints.first?.hasPrefix("the output of commands is not written to files: mkdir(") == true)
  }
}
