// Signals: their names, and their delivery through the loop. Invariant: signals are sent to the test's own
// thread only, and unblocked again.
import Glibc
import Posix
import Testing

@Suite struct SignalTests {
  @Test("every signal has a name of its own")
  func names() {
    #expect(Signals.name(9) == "SIGKILL")
    #expect(Signals.name(SIGTERM) == "SIGTERM")
    #expect(Signals.name(SIGSEGV) == "SIGSEGV")
    #expect(Signals.name(64) == "SIGRTMIN+30")
    #expect(Signals.name(0) == "signal 0")
    #expect(Signals.name(99) == "signal 99")
    #expect(Set((1...31).map { Signals.name($0) }).count == 31)
  }

  @Test("signals arrive through the loop, several of one kind once, and with their sender")
  func delivery() throws {
    let loop = try EventLoop()
    var reports: [SignalReport] = []
    let source = try SignalSource([SIGWINCH, SIGURG], on: loop) { reports.append($0) }
    raise(SIGWINCH)
    raise(SIGWINCH)
    raise(SIGURG)
    #expect(try run(loop) { reports.count >= 2 })
    #expect(Set(reports.map(\.signal)) == [SIGWINCH, SIGURG])
    #expect(reports.count == 2)
    #expect(reports.allSatisfy { $0.senderPid == getpid() && $0.senderUid == getuid() })
    withExtendedLifetime(source) {}
    try Signals.unblock([SIGWINCH, SIGURG])
  }

  @Test("a paused source reports nothing, and afterwards the signals that came meanwhile, once")
  func pause() throws {
    let loop = try EventLoop()
    var count = 0
    let source = try SignalSource([SIGWINCH], on: loop) { _ in count += 1 }
    source.pause()
    #expect(loop.count == 0)
    raise(SIGWINCH)
    raise(SIGWINCH)
    #expect(try loop.runOnce(until: SystemClock.monotonic()) == 0)
    #expect(count == 0)
    try source.resume()
    try source.resume()
    #expect(loop.count == 1)
    #expect(try run(loop) { count > 0 })
    #expect(count == 1)
    try Signals.unblock([SIGWINCH])
  }

  @Test("a source that its own handler drops reports nothing more")
  func dropped() throws {
    let loop = try EventLoop()
    var source: SignalSource?
    var count = 0
    source = try SignalSource([SIGWINCH, SIGURG], on: loop) { _ in
      count += 1
      source = nil
    }
    #expect(loop.count == 1)
    raise(SIGWINCH)
    raise(SIGURG)
    #expect(try run(loop) { count > 0 })
    #expect(count == 1)
    #expect(loop.count == 0)
    #expect(source == nil)
    // Both are ignored by default, so what is still pending may come.
    try Signals.unblock([SIGWINCH, SIGURG])
  }

  @Test("a process can reset every signal to its default")
  func reset() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      signal(SIGTERM, SIG_IGN)
      let loop = try EventLoop()
      let source = try SignalSource([SIGTERM], on: loop) { _ in }
      raise(SIGTERM)
      Signals.resetForChild()
      raise(SIGTERM)
      withExtendedLifetime(source) {}
    }
  }
}
