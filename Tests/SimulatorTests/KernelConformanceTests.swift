// The same requests to Linux and to the simulated kernel, through the same code, with the same answers. A
// difference would mean that the simulation is not what runs.

import BankModel
import Glibc
import Logging
import Posix
import Testing
import Time

@testable import Simulator

@Suite("The simulated kernel answers as Linux does")
struct KernelConformanceTests {
  enum Machine: CaseIterable { case linux, simulated }

  /// Runs a closure as a process: a directory of its own for names, and a way to let sent bytes arrive.
  private func asProcess(
    on machine: Machine, openFiles: Int = 64, _ body: (_ names: String, _ arrive: () -> Void) throws -> Void
  ) throws {
    guard machine == .simulated else {
      var template = Array("/tmp/kernel-XXXXXX".utf8CString)
      let made = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
      let directory = String(cString: try #require(made))
      defer {
        for name in ["d/a", "a", "b"] { unlink("\(directory)/\(name)") }
        rmdir("\(directory)/d")
        rmdir(directory)
      }
      return try body(directory, {})
    }
    let host = SimulatedHost(seed: 1)
    host.program = { path, _ in path == "/bin/sleep" ? { _ in IdleProgram() } : nil }
    host.files.makeDirectories("/names")
    let process = host.start(openFiles: openFiles) { _ in nil }
    let outcome = process.call { Result { try body("/names", { process.spend(.milliseconds(1)) }) } }
    host.shutDown()
    try outcome.get()
  }

  private func read(_ socket: borrowing FileDescriptor, atMost limit: Int = 64) throws -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit)
    switch try receive(socket, &bytes) {
    case .bytes(let count): return Array(bytes.prefix(count))
    case .wouldBlock: return nil
    case .endOfFile: return []
    }
  }

  private func receive(_ socket: borrowing FileDescriptor, _ bytes: inout [UInt8]) throws -> ReadResult {
    // The closure of the standard library cannot borrow a descriptor that it does not own.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { buffer.deallocate() }
    let result = try socket.receive(into: buffer)
    if case .bytes(let count) = result { for place in 0..<count { bytes[place] = buffer[place] } }
    return result
  }

  @Test("bytes arrive in order, then nothing, then the end", arguments: Machine.allCases)
  func bytes(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      let pair = try UnixSocket.pair(nonBlocking: true)
      #expect(try read(pair.second) == nil)
      #expect(try pair.first.write([1, 2, 3]) == .bytes(3))
      #expect(try pair.first.write([4]) == .bytes(1))
      arrive()
      #expect(try read(pair.second, atMost: 2) == [1, 2])
      #expect(try read(pair.second) == [3, 4])
      #expect(try read(pair.second) == nil)
      try UnixSocket.shutdownWriting(pair.first)
      arrive()
      #expect(try read(pair.second) == [])
      #expect(try pair.second.write([5]) == .bytes(1))
      arrive()
      #expect(try read(pair.first) == [5])
    }
  }

  @Test("a socket shut for reading has read all that was sent before", arguments: Machine.allCases)
  func hearingNothingMore(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      let pair = try UnixSocket.pair(nonBlocking: true)
      #expect(try pair.first.write([7, 8]) == .bytes(2))
      try UnixSocket.shutdownReading(pair.second)
      let words = UnsafeMutableRawBufferPointer.allocate(byteCount: 2, alignment: 1)
      defer { words.deallocate() }
      #expect(try pair.first.send(UnsafeRawBufferPointer(words)) == .peerClosed)
      #expect(try read(pair.second) == [7, 8])
      #expect(try read(pair.second) == [])
      #expect(try pair.second.write([9]) == .bytes(1), "and can still send")
      arrive()
      #expect(try read(pair.first) == [9])
    }
  }

  @Test(
    "a writer without a reader gets an error; a reader gets what was sent before",
    arguments: Machine.allCases)
  func ends(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      let pair = try UnixSocket.pair(nonBlocking: true)
      #expect(try pair.first.write([7]) == .bytes(1))
      let mine = pair.second
      try pair.first.close()
      arrive()
      let words = UnsafeMutableRawBufferPointer.allocate(byteCount: 2, alignment: 1)
      defer { words.deallocate() }
      #expect(try mine.send(UnsafeRawBufferPointer(words)) == .peerClosed)
      #expect(try read(mine) == [7])
      #expect(try read(mine) == [])
    }
  }

  @Test(
    "a socket that is not read takes a limited number of bytes, and more when it was read",
    arguments: Machine.allCases)
  func backpressure(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      let pair = try UnixSocket.pair(nonBlocking: true)
      let block = [UInt8](repeating: 1, count: 64 << 10)
      var taken = 0
      loop: for _ in 0..<64 {
        switch try pair.first.write(block) {
        case .bytes(let count): taken += count
        case .wouldBlock: break loop
        case .peerClosed: Issue.record("it was not closed"); break loop
        }
      }
      #expect((64 << 10...1 << 20).contains(taken))
      #expect(try pair.first.write([1]) == .wouldBlock)
      arrive()
      var read = 0
      while let bytes = try self.read(pair.second, atMost: 64 << 10) { read += bytes.count }
      #expect(read == taken)
      #expect(try pair.first.write([1]) == .bytes(1))
    }
  }

  @Test("a name is there, refused, or not there; a leftover is removed", arguments: Machine.allCases)
  func names(_ machine: Machine) throws {
    try asProcess(on: machine) { names, arrive in
      let path = names + "/a"
      #expect(outcome(try UnixSocket.connect(path: path, nonBlocking: true)) == "notThere")
      #expect(try UnixSocket.removeStaleSocket(path: path) == .noSuchFile)
      do {
        let listener = try UnixSocket.listen(path: path)
        #expect(throws: SystemError.self) { _ = try UnixSocket.listen(path: path) }
        #expect(try UnixSocket.removeStaleSocket(path: path) == .inUse)
        arrive()
        // The client that checked for a listener has gone again.
        if let looker = try UnixSocket.accept(listener) { _ = try looker.close() }
        guard case .connected(let client) = try UnixSocket.connect(path: path, nonBlocking: true) else {
          Issue.record("there is no listener")
          return
        }
        arrive()
        guard let server = try UnixSocket.accept(listener) else {
          Issue.record("no client has come")
          return
        }
        #expect(try UnixSocket.accept(listener) == nil)
        #expect(try UnixSocket.peer(of: server).uid == CurrentProcess.uid)
        #expect(try client.write([9]) == .bytes(1))
        arrive()
        #expect(try read(server) == [9])
      }
      #expect(outcome(try UnixSocket.connect(path: path, nonBlocking: true)) == "refused")
      #expect(try UnixSocket.removeStaleSocket(path: path) == .removed)
      #expect(outcome(try UnixSocket.connect(path: path, nonBlocking: true)) == "notThere")
    }
  }

  private func outcome(_ outcome: consuming UnixSocket.ConnectOutcome) -> String {
    switch outcome {
    case .connected: "connected"
    case .noSuchFile: "notThere"
    case .refused: "refused"
    case .permissionDenied: "permissionDenied"
    case .busy: "busy"
    }
  }

  @Test(
    "the loop reports ready descriptors, again and again, until they are read", arguments: Machine.allCases)
  func readiness(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      let loop = try EventLoop()
      let pair = try UnixSocket.pair(nonBlocking: true)
      var heard: [Readiness] = []
      let registration = try loop.register(fd: pair.second.rawValue, interest: .read) { heard.append($0) }
      #expect(throws: SystemError.self) {
        _ = try loop.register(fd: pair.second.rawValue, interest: .read) { _ in }
      }
      #expect(try pair.first.write([1]) == .bytes(1))
      arrive()
      let now = SystemClock.monotonic()
      try loop.runOnce(until: now)
      try loop.runOnce(until: now)
      #expect(heard == [.read, .read])
      #expect(try read(pair.second) == [1])
      try loop.runOnce(until: SystemClock.monotonic())
      #expect(heard.count == 2)
      try loop.modify(registration, interest: .write)
      try loop.runOnce(until: SystemClock.monotonic())
      #expect(heard.last == .write)
      try loop.modify(registration, interest: .read)
      let mine = pair.second
      try pair.first.close()
      arrive()
      try loop.runOnce(until: SystemClock.monotonic())
      #expect(heard.last == [.read, .hangUp])
      loop.deregister(registration)
      try loop.runOnce(until: SystemClock.monotonic())
      #expect(heard.count == 4 && mine.rawValue >= 0)
    }
  }

  /// A program that does nothing until it is ended.
  private final class IdleProgram: SimulatedProgram {
    private let loop = try? EventLoop()

    func runIteration() throws(SystemError) -> Int32? {
      try loop?.runOnce(until: nil)
      return nil
    }

    func handle(signal: Int32) {}
  }

  @Test(
    "a child that is killed is reported by its descriptor and reaped with its signal, once",
    arguments: Machine.allCases)
  func children(_ machine: Machine) throws {
    try asProcess(on: machine) { _, arrive in
      #expect(throws: SystemError.self) {
        _ = try ChildProcess.spawn(executable: "/nowhere/program", environment: [:])
      }
      let loop = try EventLoop()
      let child = try ChildProcess.spawn(executable: "/bin/sleep", arguments: ["60"], environment: [:])
      defer { child.kill(SIGKILL) }
      #expect(child.reap() == nil)
      var heard = 0
      let registration = try loop.register(fd: child.fd, interest: .read) { _ in heard += 1 }
      try loop.runOnce(until: SystemClock.monotonic())
      #expect(heard == 0)
      #expect(child.kill(SIGKILL))
      arrive()
      try loop.runOnce(until: SystemClock.monotonic() + .seconds(120))
      #expect(heard == 1)
      #expect(child.reap()?.ending == .signal(SIGKILL, coreDumped: false))
      loop.deregister(registration)
      #expect(!child.kill(SIGKILL))
    }
  }

  // MARK: - Files

  /// The error number of a failing call; nil if it succeeds.
  private func code(_ body: () throws -> Void) -> CInt? {
    do { try body() } catch { return (error as? SystemError)?.code ?? -1 }
    return nil
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try FileDescriptor.open(path, .readOnly).readAll(), as: UTF8.self)
  }

  private func write(_ text: String, to path: String, _ options: OpenOptions) throws {
    try FileDescriptor.open(path, options.union(.writeOnly)).writeAll(Array(text.utf8))
  }

  @Test("a file is created, written to, appended to, cut and read at any place", arguments: Machine.allCases)
  func files(_ machine: Machine) throws {
    try asProcess(on: machine) { names, _ in
      let path = names + "/a"
      #expect(code { _ = try FileDescriptor.open(path, .readOnly) } == ENOENT)
      #expect(code { _ = try FileDescriptor.open(names + "/d/a", [.writeOnly, .create]) } == ENOENT)
      try write("one two", to: path, [.create, .exclusive])
      #expect(code { try write("", to: path, [.create, .exclusive]) } == EEXIST)
      try write("ONE", to: path, [])
      try write(" three", to: path, .append)
      #expect(try text(path) == "ONE two three")
      let file = try FileDescriptor.open(path, .readWrite)
      let copy = try file.duplicate()
      try file.writeAll(Array("1".utf8))
      try copy.writeAll(Array("2".utf8))
      Array("!".utf8).withUnsafeBytes { bytes in try? file.write(bytes, at: 15) }
      #expect(try text(path) == "12E two three\0\0!", "copies share a position, and a gap is zeros")
      try file.truncate(to: 5)
      try file.truncate(to: 7)
      try file.sync()
      #expect(try text(path) == "12E t\0\0")
      #expect(try file.size() == 7)
      let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
      defer { bytes.deallocate() }
      #expect(try file.read(into: bytes, at: 4) == 3 && bytes[0] == UInt8(ascii: "t"))
      #expect(try file.read(into: bytes, at: 9) == 0)
      try write("new", to: path, .truncate)
      #expect(try text(path) == "new")
      #expect(code { try FileDescriptor.open(path, .readOnly).writeAll([1]) } == EBADF)
      #expect(code { _ = try FileDescriptor.open(path, .writeOnly).readAll() } == EBADF)
      let pair = try UnixSocket.pair()
      #expect(code { _ = try pair.first.read(into: bytes, at: 0) } == ESPIPE)
      #expect(code { try pair.second.sync() } == EINVAL)
    }
  }

  @Test("names are added, removed and listed, and a file outlives its name", arguments: Machine.allCases)
  func fileNames(_ machine: Machine) throws {
    try asProcess(on: machine) { names, _ in
      let (a, b, d) = (names + "/a", names + "/b", names + "/d")
      #expect(code { try Directory.unlink(a) } == ENOENT)
      #expect(code { try Directory.rename(a, to: b) } == ENOENT)
      #expect(code { _ = try Directory.entries(of: d) } == ENOENT)
      try Directory.create(path: d)
      try Directory.create(path: d)
      #expect(code { try Directory.unlink(d) } == EISDIR)
      #expect(code { try write("", to: d, []) } == EISDIR)
      try write("first", to: a, .create)
      try write("second", to: b, .create)
      #expect(code { _ = try FileDescriptor.open(a, [.readOnly, .directory]) } == ENOTDIR)
      #expect(code { _ = try FileDescriptor.open(a + "/x", .readOnly) } == ENOTDIR)
      #expect(code { _ = try UnixSocket.listen(path: a) } == EADDRINUSE)
      #expect(code { _ = try UnixSocket.listen(path: d + "/x/y") } == ENOENT)
      #expect(code { _ = try Directory.entries(of: a) } == ENOTDIR)
      #expect(code { try Directory.rename(a, to: d) } == EISDIR)
      let open = try FileDescriptor.open(b, .readOnly)
      let inode = try #require(try FileMetadata.inspect(a)).inode
      try Directory.rename(a, to: b)
      #expect(try FileMetadata.inspect(a) == nil)
      #expect(try FileMetadata.inspect(b)?.inode == inode)
      #expect(try open.metadata().inode != inode)
      #expect(try String(decoding: open.readAll(), as: UTF8.self) == "second")
      #expect(try text(b) == "first")
      try Directory.rename(b, to: d + "/a")
      let facts = try #require(try FileMetadata.inspect(d + "/a"))
      #expect(facts.isFile && facts.size == 5 && facts.mode == 0o600 && facts.owner == CurrentProcess.uid)
      #expect(try FileMetadata.inspect(d)?.isDirectory == true)
      try write("", to: a, .create)
      #expect(try Set(Directory.entries(of: names)) == ["a", "d"])
      #expect(try Directory.entries(of: d) == ["a"])
    }
  }

  @Test("a file is always ready, so it cannot be waited for", arguments: Machine.allCases)
  func waitingForFiles(_ machine: Machine) throws {
    try asProcess(on: machine) { names, _ in
      let file = try FileDescriptor.open(names + "/a", [.readWrite, .create])
      let loop = try EventLoop()
      #expect(code { _ = try loop.register(fd: file.rawValue, interest: .read) { _ in } } == EPERM)
    }
  }

  @Test(
    "a log is written and rotated, and continues in a new file when it is removed",
    arguments: Machine.allCases)
  func logs(_ machine: Machine) throws {
    try asProcess(on: machine) { names, _ in
      let path = names + "/a"
      let log = try LogFile(path: path, worker: "w", generation: 1, limit: 300, keep: 0)
      for number in 1...9 { log.write(event: "event") { $0.field("number", number) } }
      log.flush()
      let kept = try text(path).split(separator: "\n")
      #expect((1...8).contains(kept.count))
      #expect(kept.last?.hasSuffix("number=9") == true)
      try Directory.unlink(path)
      log.restore()
      log.write(event: "again")
      log.flush()
      #expect(try text(path).split(separator: "\n").map { $0.hasSuffix("event=again") } == [true])
      #expect(try Directory.entries(of: names) == ["a"])
    }
  }

  @Test("a process without descriptors is refused every new one, and gets them again")
  func exhaustion() throws {
    // On Linux the limit is that of the whole test process: real processes try the same there.
    try asProcess(on: .simulated, openFiles: 4) { names, arrive in
      let listener = try UnixSocket.listen(path: names + "/a")
      let pair = try UnixSocket.pair(nonBlocking: true)
      do {
        let last = try FileDescriptor.open("/dev/null", .readOnly)
        #expect(throws: SystemError.self) { _ = try UnixSocket.accept(listener) }
        #expect(throws: SystemError.self) { _ = try UnixSocket.pair() }
        #expect(last.rawValue >= 0 && pair.first.rawValue >= 0)
      }
      #expect(try UnixSocket.accept(listener) == nil)
    }
  }
}
