// Paths, directories, the environment, terminals, streams, limits and seeds. Invariant: the working directory
// and the environment of the test process stay unchanged.
import Glibc
import Testing

@testable import Posix
import PosixFixture

@Suite struct PathTests {
  @Test("paths are joined with one separator")
  func join() {
    #expect(Paths.join("/a", "b", "c") == "/a/b/c")
    #expect(Paths.join("/a/", "b") == "/a/b")
    #expect(Paths.join("/", "b") == "/b")
    #expect(Paths.join("", "b") == "b")
    #expect(Paths.join("/a", "/b") == "/b")
    #expect(Paths.join("/a", "") == "/a")
  }

  @Test(
    "a path is split as by the C library's dirname and basename",
    arguments: [
      ("/a/b/c", "/a/b", "c"), ("/a/b/", "/a", "b"), ("/a", "/", "a"), ("a", ".", "a"), ("a/b", "a", "b"),
      ("/", "/", "/"), ("//a//b//", "//a", "b"), ("", ".", "."), ("a/", ".", "a"), ("/은행/창구", "/은행", "창구"),
    ])
  func parts(path: String, directory: String, last: String) {
    #expect(Paths.directory(of: path) == directory)
    #expect(Paths.lastPart(of: path) == last)
  }

  @Test("a relative path becomes absolute from the working directory")
  func absolute() throws {
    #expect(try Paths.absolute("/x/y") == "/x/y")
    let here = try Paths.absolute("x")
    #expect(here.hasPrefix("/"))
    #expect(here.hasSuffix("/x"))
    #expect(try FileMetadata.inspect(Paths.directory(of: here))?.isDirectory == true)
  }

  @Test("the executable of this process is a file")
  func executable() throws {
    #expect(try FileMetadata.inspect(Paths.executable())?.isFile == true)
  }
}

@Suite struct DirectoryTests {
  @Test("a tree is removed with its contents, a link alone, and a missing one is not an error")
  func removeTree() throws {
    let place = try TemporaryDirectory()
    let (tree, beside) = (place.file("tree"), place.file("beside"))
    try Directory.create(path: Paths.join(tree, "deeper", "still"))
    try Directory.create(path: beside)
    for path in [Paths.join(tree, "deeper", "still", "file"), Paths.join(beside, "kept")] {
      _ = try FileDescriptor.open(path, [.writeOnly, .create], mode: 0o600)
    }
    try #require(symlink(beside, Paths.join(tree, "link")) == 0)
    Directory.removeTree(tree)
    Directory.removeTree(tree)
    #expect(try Directory.entries(of: place.path) == ["beside"])
    #expect(try Directory.entries(of: beside) == ["kept"])
    Directory.removeTree(Paths.join(beside, "kept"))
    #expect(try Directory.entries(of: beside) == [])
  }

  @Test("directories are created with their parents, private, and creating them again is harmless")
  func create() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a/b/c")
    #expect(try FileMetadata.inspect(path) == nil)
    try Directory.create(path: path)
    for part in ["a", "a/b", "a/b/c"] {
      let facts = try #require(try FileMetadata.inspect(directory.file(part)))
      #expect(facts.isDirectory)
      #expect(facts.mode == 0o700)
      #expect(facts.owner == geteuid())
    }
    try Directory.create(path: path + "/", mode: 0o777)
    #expect(try FileMetadata.inspect(path)?.mode == 0o700)
    try Directory.sync(path)
  }

  @Test("a missing parent is an error if parents are not requested")
  func notRecursive() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("a/b")
    let error = #expect(throws: SystemError.self) { try Directory.create(path: path, recursive: false) }
    #expect(error == SystemError(call: "mkdir", subject: path, code: ENOENT))
  }

  @Test("a file in the way is an error that names it")
  func fileInTheWay() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("file")
    try FileDescriptor.open(path, [.writeOnly, .create]).close()
    #expect(throws: SystemError(call: "mkdir", subject: path, code: EEXIST)) {
      try Directory.create(path: path)
    }
    let below = path + "/x"
    #expect(throws: SystemError(call: "mkdir", subject: below, code: ENOTDIR)) {
      try Directory.create(path: below)
    }
  }

  @Test("the names in a directory are listed without itself and its parent")
  func entries() throws {
    let directory = try TemporaryDirectory()
    #expect(try Directory.entries(of: directory.path).isEmpty)
    let names = (0..<100).map { "고객-\($0)" }
    for name in names { try FileDescriptor.open(directory.file(name), [.writeOnly, .create]).close() }
    #expect(Set(try Directory.entries(of: directory.path)) == Set(names))
    #expect(throws: SystemError.self) { try Directory.entries(of: directory.file("nothing")) }
  }
}

@Suite struct SurroundingsTests {
  @Test("environment variables are read one by one and all together")
  func environment() throws {
    #expect(Environment.value("A_VARIABLE_THAT_IS_NOT_SET") == nil)
    #expect(Environment.value("") == nil)
    let all = Environment.all()
    #expect(all["PATH"] == Environment.value("PATH"))
    #expect(all.allSatisfy { Environment.value($0.key) == $0.value })
  }

  @Test("a file is not a terminal and has no size")
  func terminal() throws {
    let file = try FileDescriptor.open("/dev/null", .readWrite)
    #expect(!Terminal.isTerminal(file.rawValue))
    #expect(Terminal.size(of: file.rawValue) == nil)
  }

  @Test("a terminal is one, and reports the size it was given")
  func realTerminal() throws {
    let primary = try FileDescriptor.open("/dev/ptmx", [.readWrite, OpenOptions(rawValue: O_NOCTTY)])
    #expect(Terminal.isTerminal(primary.rawValue))
    #expect(Terminal.size(of: primary.rawValue) == nil, "a size of zero is none")
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    #expect(ioctl(primary.rawValue, UInt(TIOCSWINSZ), &size) == 0)
    #expect(Terminal.size(of: primary.rawValue) == Terminal.Size(columns: 80, rows: 24))
  }

  @Test("a stream that would block is waited for, and a reader that leaves is an outcome")
  func streams() throws {
    Signals.ignorePipe()
    let pipe = try DescriptorPair.pipe()
    let directory = try TemporaryDirectory()
    let copy = directory.file("copy")
    try pipe.second.setNonBlocking(true)
    let reader = try ChildProcess.spawn(
      executable: "/bin/cat", arguments: ["/proc/self/fd/3"], environment: [:], channel: pipe.first,
      standardOutput: .append(path: copy))
    let bytes = [UInt8](repeating: 66, count: 400_000)
    #expect(try StandardStreams.write(bytes, toDescriptor: pipe.second.rawValue) == .written)
    try pipe.second.close()
    #expect(reader.wait().isSuccess)
    #expect(try FileMetadata.inspect(copy)?.size == 400_000)
    let closed = SocketPair()
    closed.closeFar()
    #expect(
      try eventually {
        try StandardStreams.write([1], toDescriptor: closed.near.rawValue) == .readerGone
      })
    #expect(try StandardStreams.write([], to: .output) == .written)
  }

  @Test("the limit of open files is raised at most to the ceiling and never lowered")
  func limits() throws {
    let raised = try ResourceLimits.raiseOpenFiles()
    #expect(raised >= 256)
    #expect(try ResourceLimits.raiseOpenFiles(ceiling: 10) == raised)
  }

  @Test("two seeds are not the same")
  func seeds() {
    #expect(RandomSeed.fromSystem() != RandomSeed.fromSystem())
  }

  @Test("a number without a process is not alive and has no facts")
  func noProcess() {
    #expect(!ProcessTable.alive(0))
    #expect(!ProcessTable.alive(-1))
    #expect(ProcessTable.startTime(.max) == nil)
    #expect(ProcessTable.children(of: .max).isEmpty)
    #expect(ProcessMemory.residentBytes(pid: .max) == nil)
    #expect(ProcessMemory.proportionalBytes(pid: .max) == nil)
    #expect(ProcessMemory.residentBytes(pid: getpid()) ?? 0 > 1_000_000)
  }
}
