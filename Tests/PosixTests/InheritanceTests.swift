// Inheritance of a process: its arguments, its variables, its mask of new files and its limits. Each test
// that changes the whole process runs in a process of its own.
import ByteText
import Glibc
import PosixFixture
import Testing

@testable import Posix

@Suite("Inheritance of a process") struct InheritanceTests {
  @Test("the arguments are those of execve, also if setenv has moved the environment")
  func arguments() async {
    let count = CurrentProcess.arguments.count
    #expect(count > 0 && CurrentProcess.arguments[0].contains("/"))
    await #expect(processExitsWith: .success) {
      for number in 0..<200 { setenv("MOVED_\(number)", String(repeating: "x", count: 100), 1) }
      #expect(CurrentProcess.arguments.first?.contains("/") == true)
    }
  }

  @Test("names of variables are compared by their bytes, and values are passed byte by byte")
  func variables() throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let foreign = ByteText.text(of: [0x61, 0xe9])
    var variables: EnvironmentVariables = ["A": foreign, "": "none"]
    variables[composed] = "1"
    variables[decomposed] = "2"
    #expect(variables.count == 4 && variables[composed] == "1" && variables[decomposed] == "2")
    #expect(variables.inOrder.map(\.key) == ["", "A", decomposed, composed])
    #expect(EnvironmentVariables.parts(of: "A==b")?.value == "=b")
    #expect(EnvironmentVariables.parts(of: "A=\u{301}")?.name == "A", "a combining mark belongs to the value")
    #expect(EnvironmentVariables.parts(of: "=b") == nil && EnvironmentVariables.parts(of: "A") == nil)
    variables[""] = nil
    let output = try DescriptorPair.pipe()
    let child = try ChildProcess.start(
      ChildProcess.Program(
        path: "/usr/bin/env", words: [Array("env".utf8), Array("-0".utf8)], environment: variables),
      input: try FileDescriptor.open("/dev/null", .readOnly), output: output.second,
      errors: try FileDescriptor.open("/dev/null", .writeOnly))
    let said = try output.first.readAll().split(separator: 0).map { Array($0) }
    #expect(child.wait().isSuccess)
    #expect(
      Set(said) == [[0x41, 0x3d, 0x61, 0xe9], [0xc3, 0xa9, 0x3d, 0x31], [0x65, 0xcc, 0x81, 0x3d, 0x32]])
  }

  @Test("the environment of this process is read byte by byte")
  func environment() async {
    await #expect(processExitsWith: .success) {
      let value: [CChar] = [-23, 0]
      setenv("BY", value, 1)
      #expect(Environment.value("BY").map(ByteText.bytes) == [0xe9])
      #expect(Environment.all()["BY"].map(ByteText.bytes) == [0xe9])
    }
  }

  @Test("a path of any bytes leads to that file and no other")
  func paths() throws {
    let directory = try TemporaryDirectory()
    let name = ByteText.text(of: [0x66, 0xe9])
    let path = directory.file(name)
    try Directory.create(path: path)
    try FileDescriptor.open(Paths.join(path, "inside"), [.writeOnly, .create]).writeAll([1])
    #expect(try Directory.entries(of: Paths.directory(of: path)).map(ByteText.bytes) == [[0x66, 0xe9]])
    #expect(Paths.lastPart(of: path).hasSameBytes(as: name))
    #expect(try FileMetadata.inspect(Paths.join(path, "inside"))?.size == 1)
    #expect("\(SystemError(call: "open", subject: name, code: ENOENT))".contains(#"open("f\xE9")"#))
    Directory.removeTree(path)
    #expect(try FileMetadata.inspect(path) == nil)
  }

  @Test("a child gets the mask and open-file limit with which this process was started, not its own")
  func handedOn() async {
    await #expect(processExitsWith: .success) {
      umask(0o024)
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      limit.rlim_cur = min(200, limit.rlim_max)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      ProcessStart.prepare(as: .service)
      #expect(InheritedLimits.inherited.mask == 0o024)
      let files = InheritedLimits.inherited.limits.first { $0.resource == .openFiles }
      #expect(files?.soft == UInt64(limit.rlim_cur))
      let directory = try TemporaryDirectory()
      let said = directory.file("said")
      let script = "umask; ulimit -Sn"
      let spawned = try ChildProcess.spawn(
        executable: "/bin/sh", arguments: ["-c", script], environment: [:],
        standardOutput: .append(path: said))
      #expect(spawned.wait().isSuccess)
      func start(_ mask: UInt32?, _ limits: [ResourceLimit]) throws {
        let child = try ChildProcess.start(
          ChildProcess.Program(
            path: "/bin/sh", words: ["sh", "-c", script].map { Array($0.utf8) }, environment: [:],
            limits: limits, mask: mask),
          input: try FileDescriptor.open("/dev/null", .readOnly),
          output: try FileDescriptor.open(said, [.writeOnly, .append]),
          errors: try FileDescriptor.open("/dev/null", .writeOnly))
        #expect(child.wait().isSuccess)
      }
      try start(nil, [])
      try start(0o007, [ResourceLimit(.openFiles, 50, hard: 60)])
      let text = String(decoding: try FileDescriptor.open(said, .readOnly).readAll(), as: UTF8.self)
      let usual = "0024\n\(limit.rlim_cur)\n"
      #expect(text == usual + usual + "0007\n50\n")
      // This process has its own again.
      #expect(umask(0) == 0o077)
      #expect(try ResourceLimits.openFiles() >= UInt64(limit.rlim_cur))
    }
  }

  @Test("of several limits of one resource the lower ones apply")
  func lowest() {
    let lowest = ResourceLimit.lowest(of: [
      ResourceLimit(.openFiles, 256, hard: 4096), ResourceLimit(.core, 0), ResourceLimit(.openFiles, 1024),
    ])
    #expect(lowest == [ResourceLimit(.openFiles, 256, hard: 1024), ResourceLimit(.core, 0)])
    #expect(
      ResourceLimit.lowest(of: [ResourceLimit(.data, 9, hard: .max), ResourceLimit(.data, 5)])
        == [ResourceLimit(.data, 5)])
  }

  @Test(
    "a mask of new files is three or four digits of base eight",
    arguments: [("022", 0o022), ("0077", 0o077), ("000", 0)])
  func masks(text: String, mask: Int) {
    #expect(FileMask.mask(text) == UInt32(mask))
    #expect(FileMask.mask(FileMask.text(UInt32(mask))) == UInt32(mask))
    for other in ["", "22", "08", "1000", "+22", "00022", "0x1"] { #expect(FileMask.mask(other) == nil) }
  }
}
