// Child processes: how they start, what they start with, and how their end is reported, with /bin/sh and
// /bin/true alone. Invariant: every child a test starts is reaped before the test ends.
import Glibc
import Posix
import PosixFixture
import Testing

@Suite struct ChildProcessTests {
  private static let path: EnvironmentVariables = ["PATH": "/usr/bin:/bin"]

  private func shell(
    _ script: String, channel: consuming FileDescriptor? = nil, output: ChildProcess.Output = .null,
    error: ChildProcess.Output = .null, newSession: Bool = false, workingDirectory: String? = nil
  ) throws -> ChildProcess {
    try ChildProcess.spawn(
      executable: "/bin/sh", arguments: ["-c", script], environment: Self.path, channel: channel,
      standardOutput: output, standardError: error, newSession: newSession,
      workingDirectory: workingDirectory)
  }

  @Test("a program that ends by itself reports its code")
  func codes() throws {
    let done = try ChildProcess.spawn(executable: "/bin/true", environment: [:])
    #expect(done.wait().ending == .code(0))
    let failed = try shell("exit 7")
    let status = failed.wait()
    #expect(status.ending == .code(7))
    #expect(status.description == "code 7")
    #expect(!status.isSuccess)
    #expect(status.maxResidentBytes > 0)
  }

  @Test("a killed child is reported by its pidfd on the loop, with the signal")
  func killed() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    let child = try shell("echo ready >&3; exec sleep 600", channel: try pair.far.duplicate())
    pair.closeFar()
    var status: Posix.ExitStatus?
    var heard: String?
    _ = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in
      if heard == nil { heard = try? readText(pair.near) }
      child.kill(SIGKILL)
    }
    let registration = try loop.register(fd: child.fd, interest: .read) { _ in status = child.reap() }
    #expect(child.reap() == nil)
    #expect(try run(loop) { status != nil })
    loop.deregister(registration)
    #expect(heard == "ready\n")
    #expect(status?.ending == .signal(9, coreDumped: false))
    #expect(status?.description == "SIGKILL")
    #expect(child.reap() == status)
    #expect(child.wait() == status)
  }

  @Test("a child that was reaped is never signalled again")
  func reaped() throws {
    let child = try shell("exit 0")
    #expect(child.wait().isSuccess)
    #expect(child.isReaped)
    #expect(!child.kill(SIGKILL))
  }

  @Test("a child starts with descriptors 0 to 3 and no other")
  func descriptors() throws {
    let directory = try TemporaryDirectory()
    let leak = try FileDescriptor.open("/dev/null", .readOnly)
    // A descriptor without close-on-exec, as a careless library would leave it.
    let careless = dup(leak.rawValue)
    defer { close(careless) }
    let pair = try UnixSocket.pair()
    let out = directory.file("out")
    // The last number is the directory that ls itself reads.
    let child = try shell("ls /proc/self/fd", channel: pair.second, output: .append(path: out))
    #expect(child.wait().isSuccess)
    let listed = try contents(of: out)
    #expect(listed == "0\n1\n2\n3\n4\n")
    let without = directory.file("without")
    let second = try shell("ls /proc/self/fd", output: .append(path: without))
    #expect(second.wait().isSuccess)
    let listedWithout = try contents(of: without)
    #expect(listedWithout == "0\n1\n2\n3\n")
  }

  @Test("a secondDescriptor is descriptor 4, also without a channel")
  func secondDescriptor() throws {
    let directory = try TemporaryDirectory()
    let out = directory.file("out")
    let gift = try FileDescriptor.open(directory.file("gift"), [.readWrite, .create])
    try gift.writeAll(Array("a gift".utf8))
    let child = try ChildProcess.spawn(
      executable: "/bin/sh", arguments: ["-c", "ls /proc/self/fd; ls -l /proc/self/fd/4"],
      environment: Environment.all(), secondDescriptor: gift, standardOutput: .append(path: out))
    #expect(child.wait().isSuccess)
    let listed = try contents(of: out)
    #expect(listed.hasPrefix("0\n1\n2\n3\n4\n"), "3 is the directory that ls itself reads: \(listed)")
    #expect(listed.contains("/gift"))
  }

  @Test("the channel is descriptor 3, and both ends see the other's end")
  func channel() throws {
    let pair = try UnixSocket.pair()
    let child = try shell("read line <&3; echo \"got $line\" >&3", channel: pair.second)
    try pair.first.writeAll(Array("a customer\n".utf8))
    #expect(try readText(pair.first) == "got a customer\n")
    #expect(child.wait().isSuccess)
    #expect(try readOnce(pair.first) == .endOfFile)
  }

  @Test("signals are at their default and none is blocked, whatever the parent does")
  func signals() throws {
    Signals.ignorePipe()
    let loop = try EventLoop()
    let source = try SignalSource([SIGTERM], on: loop) { _ in }
    defer {
      withExtendedLifetime(source) {}
      #expect(throws: Never.self) { try Signals.unblock([SIGTERM]) }
    }
    let directory = try TemporaryDirectory()
    let out = directory.file("out")
    let child = try shell("grep -E '^Sig(Blk|Ign):' /proc/self/status", output: .append(path: out))
    #expect(child.wait().isSuccess)
    let masks = try contents(of: out).split(separator: "\n").map { line in
      UInt64(line.drop { $0 != "\t" }.dropFirst(), radix: 16)
    }
    // Signals 32 and 33 belong to the C library; its posix_spawn passes them on ignored.
    let ours = ~(1 << 31 | 1 << 32) as UInt64
    #expect(masks.map { $0.map { $0 & ours } } == [0, 0])
  }

  @Test("output is appended to a private file; input is at its end")
  func output() throws {
    let directory = try TemporaryDirectory()
    let log = directory.file("log")
    for word in ["one", "two"] {
      let child = try shell(
        "cat; echo \(word); echo \(word)! >&2", output: .append(path: log), error: .append(path: log))
      #expect(child.wait().isSuccess)
    }
    #expect(try contents(of: log) == "one\none!\ntwo\ntwo!\n")
    #expect(try FileMetadata.inspect(log)?.mode == 0o600)
  }

  @Test("the environment is exactly the given one, and the name of the program comes first")
  func environment() throws {
    let directory = try TemporaryDirectory()
    let out = directory.file("out")
    let child = try ChildProcess.spawn(
      executable: "/usr/bin/env", environment: ["BANK_HOME": "/tmp/은행 1"], standardOutput: .append(path: out))
    #expect(child.wait().isSuccess)
    #expect(try contents(of: out) == "BANK_HOME=/tmp/은행 1\n")
  }

  @Test("a new session makes the child its leader, and the working directory is the given one")
  func session() throws {
    let directory = try TemporaryDirectory()
    let out = directory.file("out")
    let child = try shell(
      "pwd; cut -d' ' -f6 /proc/$$/stat; echo $$", output: .append(path: out), newSession: true,
      workingDirectory: directory.path)
    #expect(child.wait().isSuccess)
    #expect(try contents(of: out) == "\(directory.path)\n\(child.pid)\n\(child.pid)\n")
  }

  @Test("a failed start is an error with the path, and its channel is closed all the same")
  func notStarted() throws {
    let pair = try UnixSocket.pair()
    let end = SocketPair()
    let channel = try end.far.duplicate()
    end.closeFar()
    let error = startFailure(of: "/nowhere/teller", channel: channel)
    #expect(error?.description == "posix_spawn(\"/nowhere/teller\"): No such file or directory (ENOENT)")
    #expect(try eventually { try readOnce(end.near) == .endOfFile })
    #expect(startFailure(of: "/tmp", channel: nil)?.code == EACCES)
    #expect(startFailure(of: "/bin/true\0", channel: pair.second)?.code == EINVAL)
  }

  private func startFailure(of executable: String, channel: consuming FileDescriptor?) -> SystemError? {
    do throws(SystemError) {
      let child = try ChildProcess.spawn(executable: executable, environment: [:], channel: channel)
      _ = child.wait()
      return nil
    } catch {
      return error
    }
  }

  @Test("a child that follows its parent dies with it")
  func parentDeath() async {
    // In a process of its own, because the tie is to the thread that started it.
    await #expect(processExitsWith: .exitCode(3)) {
      if ParentDeath.dieWithParent(expectedParent: getppid()) && !ParentDeath.dieWithParent(expectedParent: 1)
      {
        exit(3)
      }
    }
  }

  @Test("/proc gives a child's parent, age, memory and end")
  func processTable() throws {
    let pair = try UnixSocket.pair()
    let child = try shell("echo ready >&3; read line <&3", channel: pair.second)
    #expect(try readText(pair.first) == "ready\n")
    #expect(ProcessTable.alive(child.pid))
    #expect(ProcessTable.children(of: getpid()).contains(child.pid))
    #expect(ProcessTable.parent(of: child.pid) == getpid())
    #expect(ProcessTable.name(of: child.pid) == "sh")
    #expect(ProcessTable.all().contains(child.pid))
    #expect(ProcessTable.arguments(of: child.pid).first?.hasSuffix("sh") == true)
    let started = try #require(ProcessTable.startTime(child.pid))
    #expect(started >= ProcessTable.startTime(getpid()) ?? .max)
    let resident = try #require(ProcessMemory.residentBytes(pid: child.pid))
    #expect((100_000..<100_000_000).contains(resident))
    let proportional = try #require(ProcessMemory.proportionalBytes(pid: child.pid))
    #expect((10_000...resident).contains(proportional))
    child.kill(SIGSTOP)
    var report = siginfo_t()
    // The kernel reports when it has stopped; this reaps nothing.
    #expect(waitid(P_PID, id_t(child.pid), &report, WSTOPPED | WNOWAIT) == 0)
    #expect(ProcessTable.activity(of: child.pid)?.state == .stopped)
    child.kill(SIGCONT)
    try pair.first.writeAll([UInt8(ascii: "\n")])
    let loop = try EventLoop()
    var ended = false
    let registration = try loop.register(fd: child.fd, interest: .read) { _ in ended = true }
    #expect(try run(loop) { ended })
    loop.deregister(registration)
    #expect(!ProcessTable.alive(child.pid), "a zombie is not alive")
    #expect(child.wait().isSuccess)
    #expect(ProcessTable.startTime(child.pid) != started)
  }
}
