// The start of a process from the worst state that can be inherited. Each test is a process of its own,
// because it changes the whole process.
import Glibc
import Posix
import PosixFixture
import Testing

@Suite("The start of a process") struct ProcessStartTests {
  private static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// The state after a careless parent: everything ignored and blocked, no standard descriptors, files
  /// readable by all.
  private static func neglect() {
    for number: CInt in 1...31 where number != SIGKILL && number != SIGSTOP { signal(number, SIG_IGN) }
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, nil)
    umask(0)
  }

  @Test("a service handles every signal but two, whatever was ignored or blocked; its files are private")
  func service() async {
    await #expect(processExitsWith: .success) {
      Self.neglect()
      ProcessStart.prepare(as: .service)
      for number: CInt in 1...31 where number != SIGKILL && number != SIGSTOP {
        #expect(Self.isIgnored(number) == [SIGPIPE, SIGXFSZ].contains(number), "\(Signals.name(number))")
      }
      var mask = sigset_t()
      pthread_sigmask(SIG_SETMASK, nil, &mask)
      for number: CInt in 1...31 { #expect(sigismember(&mask, number) == 0, "\(Signals.name(number))") }
      #expect(umask(0) == 0o077)
    }
  }

  @Test(
    "a command keeps what nohup and a shell have ignored on purpose, and a source does not undo it"
  )
  func command() async {
    await #expect(processExitsWith: .success) {
      Self.neglect()
      ProcessStart.prepare(as: .command)
      for number in [SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU] { #expect(Self.isIgnored(number)) }
      for number in [SIGCHLD, SIGTERM, SIGUSR1, SIGALRM] { #expect(!Self.isIgnored(number)) }
      let loop = try EventLoop()
      var heard: [CInt] = []
      let source = try SignalSource([SIGHUP, SIGTERM], on: loop) { heard.append($0.signal) }
      raise(SIGHUP)
      raise(SIGTERM)
      #expect(try run(loop) { !heard.isEmpty })
      #expect(heard == [SIGTERM])
      withExtendedLifetime(source) {}
    }
  }

  @Test("closed standard descriptors lead to the null device before others can take their numbers")
  func descriptors() async {
    await #expect(processExitsWith: .success) {
      close(STDIN_FILENO)
      close(STDOUT_FILENO)
      ProcessStart.prepare(as: .service)
      let next = try FileDescriptor.open("/dev/null", .readOnly)
      #expect(next.rawValue > STDERR_FILENO)
    }
  }

  @Test("a file that may not grow is an error of the write and not the end of the process")
  func fileSize() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let file = try FileDescriptor.open(directory.file("small"), [.writeOnly, .create], mode: 0o600)
      signal(SIGXFSZ, SIG_DFL)
      ProcessStart.prepare(as: .service)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      limit.rlim_cur = 10
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      #expect(try file.write([UInt8](repeating: 1, count: 20)) == .bytes(10))
      let error = #expect(throws: SystemError.self) { try file.write([1]) }
      #expect(error?.code == EFBIG)
    }
  }

  @Test("a child whose end was not announced has still ended, and is not signalled any more")
  func unknown() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let loop = try EventLoop()
      for isAwaited in [false, true] {
        let pair = try UnixSocket.pair()
        let child = try ChildProcess.spawn(
          executable: "/bin/sh", arguments: ["-c", "read line <&3"], environment: [:], channel: pair.second)
        // It lives until it has read its line, so that its end comes after its start was seen.
        try pair.first.writeAll(Array("\n".utf8))
        if !isAwaited {
          var status: Posix.ExitStatus?
          let registration = try loop.register(fd: child.fd, interest: .read) { _ in status = child.reap() }
          #expect(try run(loop) { status != nil })
          loop.deregister(registration)
        }
        #expect(child.wait().ending == .unknown)
        #expect(!child.kill(SIGKILL))
      }
    }
  }
}
