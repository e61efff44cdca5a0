// The capture of a pipe's output: in memory, in a file, and counted.
import CommandRunner
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite struct OutputCaptureTests {
  @Test("both streams are kept apart, whole if they are short")
  func short() throws {
    let outcome = try run("echo out; echo err >&2; echo more")
    #expect(outcome.output.text == "out\nmore\n")
    #expect(outcome.errors.text == "err\n")
    #expect(outcome.output.length == 9)
    #expect(outcome.output.omitted == 0)
  }

  @Test("of long output both ends are kept, all of it is counted, and the file has its bound")
  func much() throws {
    let directory = try TemporaryDirectory("command-tests")
    let file = directory.file("out")
    let outcome = try run("seq 1 100000") {
      $0.output = OutputCapture.Bounds(first: 10, last: 7, file: file, fileLength: 20)
    }
    #expect(String(decoding: outcome.output.first, as: UTF8.self) == "1\n2\n3\n4\n5\n")
    #expect(String(decoding: outcome.output.last, as: UTF8.self) == "100000\n")
    #expect(outcome.output.length == 588_895)
    #expect(outcome.output.omitted == 588_878)
    #expect(outcome.output.fileLength == 20)
    #expect(try contents(of: file) == "1\n2\n3\n4\n5\n6\n7\n8\n9\n10")
    #expect(outcome.ending == .code(0))
  }

  @Test("the file has the output of this attempt alone, and without output there is none")
  func files() throws {
    let directory = try TemporaryDirectory("command-tests")
    let (out, err) = (directory.file("out"), directory.file("err"))
    for script in ["echo first try; echo oops >&2", "echo ok"] {
      let outcome = try run(script) {
        $0.output.file = out
        $0.errors.file = err
      }
      #expect(outcome.output.fileLength == outcome.output.length)
    }
    #expect(try contents(of: out) == "ok\n")
    #expect(try FileMetadata.inspect(err) == nil)
    #expect(try FileMetadata.inspect(out)?.mode == 0o600)
  }

  @Test("a file that cannot be written is reported, and the command continues")
  func noFile() throws {
    let outcome = try run("echo hello") { $0.output.file = "/nowhere/at/all/out" }
    #expect(outcome.output.text == "hello\n")
    #expect(outcome.output.fileFailure?.code == ENOENT)
    #expect(outcome.output.fileLength == 0)
    #expect(outcome.ending == .code(0))
  }

  @Test("the directory of the file is created with it, and not without")
  func directory() throws {
    let directory = try TemporaryDirectory("command-tests")
    let day = directory.file("day")
    for script in ["exit 0", "echo hello"] {
      #expect(try FileMetadata.inspect(day) == nil)
      _ = try run(script) { $0.output.file = Paths.join(day, "out") }
    }
    #expect(try contents(of: Paths.join(day, "out")) == "hello\n")
    #expect(try FileMetadata.inspect(day)?.mode == 0o700)
  }

  @Test("a link in the place of the file is not followed")
  func link() throws {
    let directory = try TemporaryDirectory("command-tests")
    let (file, other) = (directory.file("out"), directory.file("other"))
    try write("precious", to: other, mode: 0o600)
    #expect(symlink(other, file) == 0)
    _ = try run("echo hello") { $0.output.file = file }
    #expect(try contents(of: other) == "precious")
    #expect(try contents(of: file) == "hello\n")
  }

  @Test("64 MiB of output do not grow the memory")
  func memory() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      func speak(_ bytes: Int64) throws -> CommandOutcome {
        try run("head -c \(bytes) /dev/zero")
      }
      // Memory for the first one stays: buffers, pages of code.
      _ = try speak(1 << 20)
      let before = try #require(ProcessMemory.residentBytes(pid: getpid()))
      let outcome = try speak(64 << 20)
      let after = try #require(ProcessMemory.residentBytes(pid: getpid()))
      #expect(outcome.output.length == 64 << 20)
      #expect(outcome.output.first.count == 32 << 10 && outcome.output.last.count == 32 << 10)
      print("64 MiB of output: resident memory grew by \((after - before) >> 10) KiB")
      #expect(after - before < 2 << 20)
    }
    tell(result)
  }

  @Test("a grandchild that keeps the pipes open delays nothing")
  func lingering() throws {
    var order = shell("sleep 600 & echo $!")
    order.linger = .milliseconds(50)
    let run = try Run(order)
    let outcome = try run.outcome()
    let pid = try #require(pid_t(outcome.output.text.dropLast()))
    // Not a child of this process, which does not adopt it.
    defer { kill(pid, SIGKILL) }
    #expect(ProcessTable.alive(pid))
    #expect(outcome.ending == .code(0))
    #expect(outcome.duration < .seconds(10))
  }

  @Test("output of a grandchild that comes in time is captured")
  func late() throws {
    let directory = try TemporaryDirectory("command-tests")
    let fifo = directory.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    var order = shell("(read line <\(fifo); echo late) & echo early")
    order.linger = .seconds(15)
    let run = try Run(order)
    try run.hears("early")
    let writer = try FileDescriptor.open(fifo, .readWrite)
    try writer.writeAll(Array("go\n".utf8))
    #expect(try run.outcome().output.text == "early\nlate\n")
  }
}
