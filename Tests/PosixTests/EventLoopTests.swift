// The event loop: which handlers are called, when, and above all which are not; observed through handlers and
// the clock. Invariant: real descriptors, no fixed sleeps.
import Glibc
import Posix
import PosixFixture
import Testing
import Time

@Suite struct EventLoopTests {
  @Test("a loop without events returns at the deadline, not before")
  func deadline() throws {
    let loop = try EventLoop()
    let start = SystemClock.monotonic()
    #expect(try loop.runOnce(until: start + .microseconds(1500)) == 0)
    #expect(SystemClock.monotonic().since(start) >= .microseconds(1500))
  }

  @Test("a deadline in the past does not wait and still reports what is ready")
  func pastDeadline() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    try pair.far.writeAll([1])
    var heard: [Readiness] = []
    let registration = try loop.register(fd: pair.near.rawValue, interest: .read) { heard.append($0) }
    #expect(try loop.runOnce(until: MonotonicTime(nanoseconds: 0)) == 1)
    #expect(heard == [.read])
    #expect(loop.contains(registration))
  }

  @Test("a loop that stays awake reports ready events, or returns when its time is over")
  func awake() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    var heard = 0
    var woken = 0
    loop.onWake = { woken += 1 }
    _ = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in heard += 1 }
    let start = SystemClock.monotonic()
    #expect(try loop.spin(for: .microseconds(200)) == 0)
    #expect(SystemClock.monotonic().since(start) >= .microseconds(200))
    #expect(loop.wokeAt >= start && heard == 0 && woken == 0)
    try pair.far.writeAll([1])
    #expect(try loop.spin(for: .zero) == 1, "a ready event is reported, however short the time is")
    #expect(heard == 1 && woken == 1)
  }

  @Test("staying awake without events is done less often, until one comes in that time")
  func vain() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    _ = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in
      var byte: UInt8 = 0
      _ = read(pair.near.rawValue, &byte, 1)
    }
    let span = TimeSpan.milliseconds(100)
    func waits() throws -> Bool {
      let start = SystemClock.monotonic()
      #expect(try loop.spin(for: span) == 0)
      return SystemClock.monotonic().since(start) >= span
    }
    #expect(try (0..<6).map { _ in try waits() } == [true, false, true, false, false, false])
    #expect(try loop.spin(for: .zero) == 0)
    #expect(try waits())
    try pair.far.writeAll([1])
    #expect(try loop.spin(for: span) == 1)
    #expect(try waits(), "a handled descriptor is waited for again")
  }

  @Test(
    "a question is answered at once while the process stays awake, other events after that time"
  )
  func asking() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    var heard = 0
    _ = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in heard += 1 }
    try pair.far.writeAll([1])
    var asked = 0
    let start = SystemClock.monotonic()
    let answers = try loop.spin(for: .seconds(3600)) {
      asked += 1
      return asked == 3
    }
    #expect(answers == 1 && asked == 3 && heard == 0)
    #expect(loop.wokeAt >= start, "the moment of the answer is known before it is handled")
    #expect(try loop.spin(for: .microseconds(200)) { false } == 1)
    #expect(heard == 1)
  }

  @Test("without a deadline the loop waits for the event itself")
  func noDeadline() throws {
    let loop = try EventLoop()
    let child = try ChildProcess.spawn(executable: "/bin/true", environment: [:])
    var ended = false
    _ = try loop.register(fd: child.fd, interest: .read) { _ in ended = true }
    #expect(try loop.runOnce(until: nil) == 1)
    #expect(ended)
    #expect(child.reap()?.ending == .code(0))
  }

  @Test("an event for a descriptor that was replaced in the same batch is dropped")
  func reuseInOneBatch() throws {
    for deregisters in [true, false] {
      let loop = try EventLoop()
      let pairs = [SocketPair(), SocketPair()]
      let stranger = SocketPair()
      var registrations: [Registration] = []
      var firstCalled: Int?
      var strangerHeard: [Readiness] = []
      for index in 0...1 {
        let handler: (Readiness) -> Void = { _ in
          #expect(firstCalled == nil, "both of the first handlers were called")
          firstCalled = index
          let other = 1 - index
          let number = pairs[other].near.rawValue
          if deregisters { loop.deregister(registrations[other]) }
          // Closes the other's socket and puts the stranger's in its place in one step, so that no concurrent
          // test can take the number.
          #expect(dup2(stranger.near.rawValue, number) == number)
          #expect(throws: Never.self) {
            _ = try loop.register(fd: number, interest: .read) { strangerHeard.append($0) }
          }
        }
        registrations.append(
          try loop.register(fd: pairs[index].near.rawValue, interest: .read, handler: handler))
      }
      for pair in pairs { try pair.far.writeAll([1]) }
      #expect(try loop.runOnce(until: SystemClock.monotonic() + .seconds(120)) == 2)
      let first = try #require(firstCalled)
      #expect(strangerHeard.isEmpty)
      #expect(loop.count == 2)
      // An old ticket removes no other registration.
      loop.deregister(registrations[1 - first])
      loop.deregister(registrations[first])
      #expect(loop.count == 1)
      // The messages of the new descriptor do arrive.
      try stranger.far.writeAll([2])
      #expect(try run(loop) { !strangerHeard.isEmpty })
      #expect(strangerHeard == [.read])
    }
  }

  @Test("a handler that is removed by another in the same batch is not called")
  func deregisteredInBatch() throws {
    let loop = try EventLoop()
    let pairs = [SocketPair(), SocketPair()]
    var registrations: [Registration] = []
    var calls = 0
    for pair in pairs {
      registrations.append(
        try loop.register(fd: pair.near.rawValue, interest: .read) { _ in
          calls += 1
          for registration in registrations { loop.deregister(registration) }
        })
      try pair.far.writeAll([1])
    }
    #expect(try loop.runOnce(until: SystemClock.monotonic() + .seconds(120)) == 2)
    #expect(calls == 1)
    #expect(loop.count == 0)
    #expect(try loop.runOnce(until: SystemClock.monotonic()) == 0)
  }

  @Test("the interest can be changed, and no interest means no events")
  func interest() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    var heard: [Readiness] = []
    let registration = try loop.register(fd: pair.near.rawValue, interest: .write) { heard.append($0) }
    try pair.far.writeAll([1])
    try loop.runOnce(until: SystemClock.monotonic() + .seconds(120))
    #expect(heard == [.write])
    try loop.modify(registration, interest: [.read, .write])
    try loop.runOnce(until: SystemClock.monotonic() + .seconds(120))
    #expect(heard == [.write, [.read, .write]])
    try loop.modify(registration, interest: [])
    #expect(try loop.runOnce(until: SystemClock.monotonic()) == 0)
  }

  @Test("the end of the peer is reported as readable, hung up, and peer closed if requested")
  func peerEnds() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    var heard: Readiness = []
    _ = try loop.register(fd: pair.near.rawValue, interest: [.read, .peerClosed]) { heard = $0 }
    pair.closeFar()
    #expect(try run(loop) { heard == [.read, .peerClosed, .hangUp] })
    #expect(try readOnce(pair.near) == .endOfFile)
  }

  @Test("registering a descriptor twice is refused and the first registration stays")
  func twice() throws {
    let loop = try EventLoop()
    let pair = SocketPair()
    let first = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in }
    let fd = pair.near.rawValue
    #expect(throws: SystemError(call: "epoll_ctl", subject: "descriptor \(fd)", code: EEXIST)) {
      _ = try loop.register(fd: fd, interest: .read) { _ in }
    }
    #expect(loop.contains(first))
    #expect(loop.count == 1)
  }

  @Test("an ordinary file cannot be waited for, and is refused")
  func ordinaryFile() throws {
    let directory = try TemporaryDirectory()
    let file = try FileDescriptor.open(directory.file("file"), [.readWrite, .create])
    let loop = try EventLoop()
    let fd = file.rawValue
    #expect(throws: SystemError(call: "epoll_ctl", subject: "descriptor \(fd)", code: EPERM)) {
      _ = try loop.register(fd: fd, interest: .read) { _ in }
    }
    #expect(loop.count == 0)
  }

  @Test("more descriptors than one batch holds are all reported within two iterations")
  func manyDescriptors() throws {
    let loop = try EventLoop()
    let pairs = (0..<300).map { _ in SocketPair() }
    var heard: Set<Int> = []
    for (index, pair) in pairs.enumerated() {
      _ = try loop.register(fd: pair.near.rawValue, interest: .read) { _ in heard.insert(index) }
      try pair.far.writeAll([1])
    }
    #expect(try loop.runOnce(until: SystemClock.monotonic() + .seconds(120)) == 256)
    try loop.runOnce(until: SystemClock.monotonic() + .seconds(120))
    #expect(heard.count == 300)
  }

  @Test("a signal that interrupts the wait does not end it early")
  func interruption() throws {
    let loop = try EventLoop()
    let interruption = try Interruption()
    defer { interruption.stop() }
    while interruption.sent < 5 {
      let deadline = SystemClock.monotonic() + .milliseconds(5)
      #expect(try loop.runOnce(until: deadline) == 0)
      #expect(SystemClock.monotonic() >= deadline)
    }
  }
}
