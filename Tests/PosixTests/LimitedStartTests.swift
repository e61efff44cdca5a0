// A program that is started under limits: what it starts with, and which step has failed if it does not
// start. Invariant: every child a test starts is reaped before the test ends.
import Glibc
import Posix
import PosixFixture
import Testing

@Suite struct LimitedStartTests {
  private func start(_ program: ChildProcess.Program) throws -> (child: ChildProcess, said: String) {
    let output = try DescriptorPair.pipe()
    let child = try ChildProcess.start(
      program, input: try FileDescriptor.open("/dev/null", .readOnly), output: output.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    return (child, String(decoding: try output.first.readAll(), as: UTF8.self))
  }

  private func shell(_ script: String) -> ChildProcess.Program {
    ChildProcess.Program(
      path: "/bin/sh", words: ["sh", "-c", script].map { Array($0.utf8) },
      environment: ["PATH": "/usr/bin:/bin"])
  }

  private func failure(_ program: ChildProcess.Program) throws -> SystemError? {
    #expect(throws: SystemError.self) { _ = try start(program).child.wait() }
  }

  @Test("it leads a session, with three descriptors, and its end is reported by its pidfd")
  func begins() throws {
    let (child, said) = try start(shell("ls /proc/self/fd; cut -d' ' -f5,6 /proc/$$/stat; exit 7"))
    #expect(said == "0\n1\n2\n3\n\(child.pid) \(child.pid)\n")
    let loop = try EventLoop()
    var status: Posix.ExitStatus?
    _ = try loop.register(fd: child.fd, interest: .read) { _ in status = child.reap() }
    #expect(try run(loop) { status != nil })
    #expect(status?.ending == .code(7))
  }

  @Test("arguments and variables arrive unchanged, with any bytes")
  func words() throws {
    var program = shell("printf '%s|' \"$0\" \"$@\" \"$V\"")
    program.words += [[0xff, 0xfe], [], Array("a b\n".utf8)]
    program.environment["V"] = "x=y"
    let output = try DescriptorPair.pipe()
    let child = try ChildProcess.start(
      program, input: try FileDescriptor.open("/dev/null", .readOnly), output: output.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    #expect(try output.first.readAll() == [0xff, 0xfe, 124, 124] + Array("a b\n|x=y|".utf8))
    #expect(child.wait().isSuccess)
  }

  @Test("the step that has failed is named, and no child is left")
  func steps() throws {
    var program = shell("exit")
    program.directory = "/no/such/place"
    #expect(
      try failure(program) == SystemError(call: "chdir", subject: "/no/such/place", code: ENOENT))
    program = shell("exit")
    program.path = "/no/such/program"
    #expect(try failure(program) == SystemError(call: "execve", subject: "/no/such/program", code: ENOENT))
    program.path = "/etc/passwd"
    #expect(try failure(program)?.code == EACCES)
  }

  @Test("invalid arguments are refused before anything is started")
  func unspeakable() throws {
    var program = shell("exit")
    program.words[2].append(0)
    #expect(try failure(program)?.code == EINVAL)
    for name in ["", "A=B", "A\0B"] {
      program = shell("exit")
      program.environment[name] = "x"
      #expect(try failure(program)?.code == EINVAL)
    }
    program = shell("exit")
    program.path = "/bin/sh\0x"
    #expect(try failure(program)?.code == EINVAL)
    program = shell("exit")
    program.words = []
    #expect(try failure(program)?.code == EINVAL)
  }

  @Test("limits hold from the first instruction on")
  func limits() throws {
    var program = shell("ulimit -n; ulimit -Hn; ulimit -t; ulimit -Ht")
    program.limits = [ResourceLimit(.openFiles, 30, hard: 35), ResourceLimit(.processorSeconds, 5, hard: 6)]
    let (child, said) = try start(program)
    #expect(child.wait().isSuccess)
    #expect(said == "30\n35\n5\n6\n")
  }

  @Test("it is killed when the process that started it is killed")
  func endsWithParent() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.file("pid")
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      let output = try FileDescriptor.open(file, [.writeOnly, .create])
      _ = try ChildProcess.start(
        ChildProcess.Program(
          path: "/bin/sh",
          words: ["sh", "-c", "echo $$; kill -KILL $PPID; exec sleep 600"].map {
            Array($0.utf8)
          },
          environment: ["PATH": "/usr/bin:/bin"]),
        input: try FileDescriptor.open("/dev/null", .readOnly), output: output,
        errors: try FileDescriptor.open("/dev/null", .writeOnly)
      ).wait()
    }
    let pid = try #require(pid_t(try contents(of: file).dropLast()))
    defer { kill(pid, SIGKILL) }
    #expect(try eventually { !ProcessTable.alive(pid) })
  }
}
