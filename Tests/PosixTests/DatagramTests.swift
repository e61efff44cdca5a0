// Datagrams, and the messages of a service to its manager. Invariant: every socket of a test is in a
// directory of its own, or has an abstract name of its own.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite struct DatagramTests {
  @Test("a datagram sent to a path is received there, one at a time")
  func sending() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("news.sock")
    let socket = try Datagrams.bind(path: path)
    #expect(try FileMetadata.inspect(path)?.mode == 0o600)
    #expect(try Datagrams.receive(from: socket) == nil)
    #expect(try Datagrams.send([1, 2, 3], to: path) == .sent)
    #expect(try Datagrams.send([4], to: path) == .sent)
    #expect(try Datagrams.receive(from: socket) == [1, 2, 3])
    #expect(try Datagrams.receive(from: socket, limit: 1) == [4])
    #expect(try Datagrams.receive(from: socket) == nil)
  }

  @Test("a path that is too long for an address works")
  func longPath() throws {
    let directory = try TemporaryDirectory()
    let path = Paths.join(try directory.longDirectory(), "news.sock")
    let socket = try Datagrams.bind(path: path)
    #expect(try Datagrams.send([7], to: path) == .sent)
    #expect(try Datagrams.receive(from: socket) == [7])
    #expect(Datagrams.hasReceiver(at: path) == true)
  }

  @Test("a receiver is found only while it is open; the check leaves no trace")
  func presence() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("news.sock")
    #expect(Datagrams.hasReceiver(at: path) == false)
    #expect(try Datagrams.send([1], to: path) == .noReceiver)
    do {
      let socket = try Datagrams.bind(path: path)
      #expect(Datagrams.hasReceiver(at: path) == true)
      #expect(try Datagrams.receive(from: socket) == nil)
    }
    // Another test's child may hold a copy until it has become its program.
    #expect(try eventually { Datagrams.hasReceiver(at: path) == false })
    #expect(try Datagrams.send([1], to: path) == .noReceiver)
    _ = try Datagrams.bind(path: path)
  }

  @Test("a receiver that does not read fills up, and its sender does not wait")
  func full() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("news.sock")
    let socket = try Datagrams.bind(path: path)
    var count = 0
    while try Datagrams.send([UInt8](repeating: 0, count: 512), to: path) == .sent {
      count += 1
      guard count < 1_000_000 else { break }
    }
    #expect(try Datagrams.send([1], to: path) == .full)
    #expect(try Datagrams.receive(from: socket)?.count == 512)
    #expect(try Datagrams.send([1], to: path) == .sent)
  }

  @Test("without a free descriptor a process still reports its state, and takes no peer for gone")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let path = directory.file("news.sock")
      let socket = try Datagrams.bind(path: path)
      #expect(try Datagrams.send([1], to: path) == .sent)
      // All open descriptors stay open, and no more can be opened.
      var files = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
      let before = files
      files.rlim_cur = 0
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
      let sent = try? Datagrams.send([2], to: path)
      let isReceived = Datagrams.hasReceiver(at: path)
      files = before
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
      #expect(sent == .sent && isReceived == nil)
      #expect(try Datagrams.receive(from: socket) == [1])
      #expect(try Datagrams.receive(from: socket) == [2])
    }
  }

  @Test("a manager at an abstract address receives as well")
  func abstract() throws {
    let name = "bank-test-\(getpid())-\(RandomSeed.fromSystem())"
    let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let receiver = FileDescriptor(owning: number)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
    }
    try #require(bound == 0)
    ServiceNotifier(address: "@" + name).tell(.ready(status: "open"))
    #expect(try Datagrams.receive(from: receiver) == Array("READY=1\nSTATUS=open".utf8))
  }
}

@Suite struct ServiceMessageTests {
  @Test("a message is lines of NAME=value, and parsing it gives the same")
  func roundTrip() {
    let message = ServiceMessage.ready(status: "two\nlines = one").with("MAINPID", "42").with("X_OWN", "")
    #expect(
      String(decoding: message.bytes, as: UTF8.self) == "READY=1\nSTATUS=two lines = one\nMAINPID=42\nX_OWN=")
    let read = ServiceMessage(message.bytes)
    #expect(read == message)
    #expect(read.isReady && !read.isStopping && read["WATCHDOG"] == nil && read.mainPid == 42)
    #expect(read.without("MAINPID")["MAINPID"] == nil)
    #expect(ServiceMessage.stopping.isStopping && ServiceMessage.watchdog["WATCHDOG"] == "1")
  }

  @Test("any bytes can be parsed, and lines that are not fields are skipped")
  func anything() {
    let seed = RandomSeed.fromSystem()
    var state = seed
    func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    let alphabet = Array("READY=1\n\n==X\u{0}MAINPID=99999999999999999999\n".utf8)
    for _ in 0..<2_000 {
      let bytes = (0..<Int(next())).map { _ in next() < 128 ? next() : alphabet[Int(next()) % alphabet.count]
      }
      for field in ServiceMessage(bytes).fields {
        #expect(!field.name.isEmpty && !field.value.contains("\n"), "seed \(seed)")
      }
    }
    #expect(ServiceMessage(Array("=x\nREADY\n\n".utf8)).fields.isEmpty)
    #expect(ServiceMessage(Array("MAINPID=99999999999".utf8)).mainPid == nil)
  }

  @Test("the manager is the one named in the environment, and its watchdog is for one process")
  func environment() {
    let variables: EnvironmentVariables = [
      "NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7", "A": "b",
    ]
    #expect(ServiceNotifier(environment: [:]) == nil)
    for odd in ["", "/", "relative", "vsock:2:1"] {
      #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": odd]) == nil)
    }
    #expect(ServiceNotifier(environment: variables, pid: 7)?.watchdog == .seconds(2))
    #expect(ServiceNotifier(environment: variables, pid: 8)?.watchdog == nil)
    #expect(ServiceNotifier(environment: variables, pid: 8)?.address == "/run/x")
    for odd in ["", "0", "-5", "soon", "99999999999999999999"] {
      let odd: EnvironmentVariables = ["NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": odd]
      #expect(ServiceNotifier(environment: odd)?.watchdog == nil)
    }
    #expect(ServiceNotifier.strip(variables) == ["A": "b"])
  }
}

@Suite struct ProcessHandleTests {
  @Test("the end of another user's process is noticed, and signals reach it until then")
  func ending() throws {
    let child = try ChildProcess.spawn(executable: "/bin/sleep", arguments: ["600"], environment: [:])
    let other = try #require(try ProcessHandle(pid: child.pid))
    let loop = try EventLoop()
    var hasEnded = false
    _ = try loop.register(fd: other.fd, interest: .read) { _ in hasEnded = true }
    #expect(try loop.runOnce(until: SystemClock.monotonic()) == 0)
    #expect(other.kill(SIGTERM))
    #expect(try run(loop) { hasEnded })
    #expect(child.wait().ending == .signal(SIGTERM, coreDumped: false))
    #expect(!other.kill(SIGTERM))
    #expect(try ProcessHandle(pid: child.pid) == nil)
    #expect(try ProcessHandle(pid: 0) == nil)
  }
}
