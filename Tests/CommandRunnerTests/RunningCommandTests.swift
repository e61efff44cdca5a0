// One command: its start, its input, its own end and a forced one.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@testable import CommandRunner

@Suite struct RunningCommandTests {
  @Test("a command ends with its code or by a signal")
  func endings() throws {
    #expect(try run("exit 0").ending == .code(0))
    #expect(try run("exit 75").ending == .code(75))
    #expect(try run("kill -SEGV $$").ending == .signal(SIGSEGV, coreDumped: false) || isCoreKept)
    let outcome = try run("exit 3")
    #expect(outcome.interruption == nil)
    #expect(outcome.leftBehind.isEmpty)
    #expect(outcome.duration > .zero)
  }

  private var isCoreKept: Bool {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    return limit.rlim_cur > 0
  }

  @Test("it reads its payload and then the end", arguments: [0, 1, 65_536, 65_537, 1 << 20])
  func payload(size: Int) throws {
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let directory = try TemporaryDirectory("command-tests")
    let file = directory.file("copy")
    let outcome = try run("exec cat") {
      $0.payload = payload
      $0.output.file = file
    }
    #expect(outcome.ending == .code(0))
    #expect(outcome.output.length == Int64(size))
    if size > 0 { #expect(try FileDescriptor.open(file, .readOnly).readAll() == payload) }
  }

  @Test(
    "its payload is there before it starts, and outlives the process that started it",
    arguments: [1, 65_536, 65_537, 1 << 20])
  func payloadBeforehand(size: Int) throws {
    let loop = try EventLoop()
    let pipe = try DescriptorPair.pipe()
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    // No process reads, and the loop does not run.
    let feed = try PayloadWriter(payload, into: pipe.second, on: loop)
    #expect(feed.isDone)
    #expect(try pipe.first.readAll() == payload)
    let directory = try TemporaryDirectory("command-tests")
    let file = directory.file("count")
    let order = shell("wc -c > \(file).new; mv \(file).new \(file)", payload: payload)
    let command = try RunningCommand.start(order, on: loop, at: SystemClock.monotonic()) { _ in false }.get()
    // It is reaped when it is dropped.
    defer { withExtendedLifetime(command) {} }
    #expect(try eventually { try FileMetadata.inspect(file) != nil })
    #expect(try contents(of: file) == "\(size)\n")
  }

  @Test(
    "a command that does not read the payload is not to blame for it",
    arguments: ["exit 0", "exec <&-; echo x"])
  func unread(script: String) throws {
    #expect(try run(script) { $0.payload = [UInt8](repeating: 1, count: 1 << 20) }.ending == .code(0))
  }

  @Test("it starts with descriptors 0, 1 and 2 and no other")
  func descriptors() throws {
    let careless = dup(STDERR_FILENO)
    defer { close(careless) }
    // The last number is the directory that ls itself reads.
    #expect(try run("exec ls /proc/self/fd").output.text == "0\n1\n2\n3\n")
    let look = "readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2"
    let kinds = try run(look) { $0.payload = [1] }.output.text.split(separator: "\n")
    #expect(kinds.count == 3 && kinds.allSatisfy { $0.hasPrefix("pipe:") })
    #expect(try run(look).output.text.hasPrefix("/dev/null\npipe:"), "there is no payload")
  }

  @Test("one that is not attended to loses no output, and only its end wakes the loop")
  func unattended() throws {
    let brief = try Run(shell("echo out; echo err >&2"), readDelay: .seconds(3_600))
    #expect(brief.command.isReadingDelayed)
    #expect(brief.loop.count == 1, "only its end is waited for")
    let outcome = try brief.outcome()
    #expect(outcome.ending == .code(0))
    #expect(outcome.output.text == "out\n" && outcome.errors.text == "err\n")
  }

  @Test("one that prints more than its pipe holds is attended to after a while, and continues")
  func unattendedForAWhile() throws {
    let run = try Run(shell("head -c 300000 /dev/zero"), readDelay: .milliseconds(3))
    let outcome = try run.outcome()
    #expect(outcome.ending == .code(0) && outcome.output.length == 300_000)
  }

  @Test("descendants of one that is not attended to may still write for as long as others")
  func unattendedLinger() throws {
    // A background job of a shell reads from the null device by default. It writes when the shell is gone.
    let shell = CommandRunnerTests.shell(
      "exec 3<&0; p=$$; (while kill -0 $p 2>/dev/null && [ $(ps -o stat= $p | cut -c1) != Z ]; do :; done; "
        + "read -r line <&3; echo $line late) & echo early", payload: Array("word\n".utf8))
    var order = shell
    order.linger = .seconds(20)
    let outcome = try Run(order, readDelay: .seconds(3_600)).outcome()
    #expect(outcome.output.text == "early\nword late\n")
  }

  @Test("it leads a session, ignores and blocks no signal")
  func session() async {
    await #expect(processExitsWith: .success) {
      signal(SIGHUP, SIG_IGN)
      signal(SIGUSR1, SIG_IGN)
      var mask = sigset_t()
      sigfillset(&mask)
      pthread_sigmask(SIG_BLOCK, &mask, nil)
      let run = try Run(shell("grep -E '^Sig(Blk|Ign)' /proc/self/status; cut -d' ' -f5-7 /proc/$$/stat"))
      let outcome = try run.outcome()
      #expect(
        outcome.output.text
          == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n\(run.command.pid) \(run.command.pid) 0\n"
      )
    }
  }

  @Test("its environment and its directory are the given ones, and nothing else")
  func surroundings() throws {
    let directory = try TemporaryDirectory("command-tests")
    let outcome = try run("/usr/bin/env; pwd") {
      $0.program.environment = ["BANK_KEY": "k 1", "EMPTY": ""]
      $0.program.directory = directory.path
    }
    let lines = Set(outcome.output.text.split(separator: "\n").map { String($0) })
    #expect(lines == ["BANK_KEY=k 1", "EMPTY=", "PWD=\(directory.path)", directory.path])
  }

  @Test("its limits apply from its first instruction on")
  func limits() throws {
    let limits = CommandLimits(memory: 1 << 30, processorSeconds: 7, openFiles: 40, fileSize: 1 << 20)
    let script = "cat /proc/self/limits"
    let text = try run(script) { $0.program.limits = limits.all }.output.text
    func row(_ name: String) -> [Substring] {
      let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
      return Array((line?.dropFirst(name.count).split(separator: " ") ?? []).prefix(2))
    }
    #expect(row("Max address space") == ["1073741824", "1073741824"])
    #expect(row("Max cpu time") == ["7", "8"])
    #expect(row("Max open files") == ["40", "40"])
    #expect(row("Max file size") == ["1048576", "1048576"])
  }

  @Test("a limit that is reached ends the command, or fails its call")
  func beyondLimits() throws {
    let directory = try TemporaryDirectory("command-tests")
    let big = try run("exec head -c 100000 /dev/zero >\(directory.file("big"))") {
      $0.program.limits = CommandLimits(fileSize: 50_000).all
    }
    #expect(isSignal(big.ending, SIGXFSZ))
    let greedy = try run("x=$(head -c 50000000 /dev/zero | tr '\\0' x); echo ${#x}") {
      $0.program.limits = CommandLimits(memory: 20_000_000).all
    }
    #expect(greedy.ending != .code(0))
    let busy = try run("while :; do :; done") {
      $0.program.limits = CommandLimits(processorSeconds: 1).all
    }
    #expect(isSignal(busy.ending, SIGXCPU))
  }

  private func isSignal(_ ending: Posix.ExitStatus.Termination, _ signal: CInt) -> Bool {
    if case .signal(signal, _) = ending { true } else { false }
  }

  @Test("a limit is never raised")
  func neverRaised() throws {
    let outcome = try run("ulimit -n") { $0.program.limits = CommandLimits(openFiles: .max).all }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #expect(outcome.output.text == "\(limit.rlim_max)\n")
  }

  @Test("a command that takes too long is asked to end, and that end is not a success")
  func timeout() throws {
    let order = shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done")
    let run = try Run(order)
    try run.hears("ready")
    run.command.cancel(at: SystemClock.monotonic())
    let cancelled = try run.outcome()
    #expect(cancelled.ending == .code(0))
    #expect(cancelled.output.text == "ready\nbye\n")
    #expect(cancelled.interruption == .cancel)
    var limited = order
    limited.timeout = .milliseconds(200)
    let late = try Run(limited).outcome()
    #expect(late.isTimedOut)
    #expect(late.duration >= .milliseconds(200))
    #expect(ExitTable.standard.verdict(of: late) == .failed)
  }

  @Test("a command that ignores SIGTERM is killed after the grace")
  func grace() throws {
    var order = shell("trap '' TERM; echo ready; while :; do sleep 600; done")
    order.grace = .milliseconds(50)
    let run = try Run(order)
    try run.hears("ready")
    run.command.cancel(at: SystemClock.monotonic())
    run.command.cancel(at: SystemClock.monotonic())
    let outcome = try run.outcome()
    #expect(outcome.ending == .signal(SIGKILL, coreDumped: false))
    #expect(outcome.duration >= .milliseconds(50))
  }

  @Test("a command that has ended is not ended again")
  func tooLate() throws {
    let run = try Run(shell("exit 7"))
    #expect(try eventually { !ProcessTable.alive(run.command.pid) })
    run.command.cancel(at: SystemClock.monotonic())
    let outcome = try run.outcome()
    #expect(outcome.ending == .code(7))
    #expect(outcome.interruption == nil)
    #expect(run.command.deadline == nil)
    #expect(run.command.runIteration(at: SystemClock.monotonic()) == outcome)
  }

  @Test("one that is dropped is killed")
  func dropped() throws {
    var run: Run? = try Run(shell("sleep 600 & echo ready; wait"))
    try run?.hears("ready")
    let pid = try #require(run?.command.pid)
    run = nil
    #expect(try eventually { kill(-pid, 0) == -1 || !ProcessTable.alive(pid) })
  }

  @Test("a command that cannot start is refused, with the reason")
  func refusals() throws {
    let directory = try TemporaryDirectory("command-tests")
    try write("echo hello\n", to: directory.file("text"), mode: 0o700)
    try write("#!/no/such/interpreter\n", to: directory.file("script"), mode: 0o700)
    try write("#!/bin/sh\n", to: directory.file("locked"), mode: 0o600)
    func start(_ path: String, in place: String? = nil, words: [[UInt8]] = [[97]]) throws
      -> CommandStartError?
    {
      let order = CommandInvocation(
        ChildProcess.Program(path: path, words: words, environment: [:], directory: place))
      let loop = try EventLoop()
      let started = try RunningCommand.start(
        order, on: loop, at: SystemClock.monotonic(), adopts: { _ in false })
      guard case .failure(let refusal) = started else { return nil }
      return refusal
    }
    #expect(try start("/no/such/program") == .programMissing("/no/such/program", searched: nil))
    #expect(try start(directory.file("text"))?.exitCode == 126)
    #expect(
      try start(directory.file("script"))
        == .notExecutable(
          directory.file("script"),
          reason: "its first line names the interpreter \"/no/such/interpreter\", which is missing"))
    #expect(try start(directory.file("locked"))?.exitCode == 126)
    #expect(try start("/bin") ?? .zeroByteInArgument == .notExecutable("/bin", reason: "Permission denied"))
    #expect(
      try start("/bin/true", in: "/no/such/place")
        == .directoryUnusable("/no/such/place", reason: "No such file or directory"))
    let long = [UInt8](repeating: 97, count: CommandTemplate.longestArgument + 1)
    #expect(try start("/bin/true", words: [[97], long]) == .argumentTooLong(bytes: long.count))
    #expect(try start("/bin/true", words: [[97, 0]])?.exitCode == 126)
    #expect(try start("/bin/true", words: [])?.exitCode == 126)
    #expect(try start("/bin/true", words: [[97], Array(long.dropLast())]) == nil)
  }

  @Test("a program found for a command is the one that is run")
  func search() throws {
    let directory = try TemporaryDirectory("command-tests")
    try Directory.create(path: directory.file("bin"))
    try write("#!/bin/sh\nprintf '%s|' \"$@\"\n", to: directory.file("bin/tool"), mode: 0o700)
    let template = try #require(CommandTemplate(["tool", "-x", "{payload}", "{key}"]))
    let found = try ProgramSearch.find(template.program, path: "bin", directory: directory.path).get()
    let words = try template.argv(payload: Array("a b".utf8), key: "k").get()
    let order = CommandInvocation(
      ChildProcess.Program(path: found, words: words, environment: [:], directory: directory.path))
    // A program that was just written may still be open in a child that another test is starting.
    var outcome: CommandOutcome?
    #expect(
      try eventually {
        do { outcome = try Run(order).outcome() } catch let error as SystemError where error.code == ETXTBSY {
        }
        return outcome != nil
      })
    #expect(outcome?.output.text == "-x|a b|k|")
  }
}
