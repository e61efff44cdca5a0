// Owns waiting while a signal that would end this program is only noted, so that what was begun can be taken
// back first; and the short rest between two attempts to reach a coordinator that is coming back.
// Invariant: from its beginning to its end the signals end nothing; the first one that came is remembered.
// Failure: CommandError; a coordinator that is gone is `lost`. An interrupted rest is a shorter one.
import ControlClient
import Glibc
import Posix
import Time
import Wire

final class InterruptibleWait {
  var signal: CInt? { bell.signal }
  var count: Int { bell.count }

  private final class Bell {
    var signal: CInt?
    var count = 0
  }

  let loop: EventLoop
  private let signals: [CInt]
  private let bell = Bell()
  private var source: SignalSource?
  /// Of process 1 of a container, to which all orphans there fall.
  private var orphans: SignalSource?

  /// Begins to note signals; all of those by which somebody says that this program shall end, unless it says otherwise.
  init(_ signals: [CInt] = [SIGINT, SIGTERM, SIGHUP]) throws(CommandError) {
    self.signals = signals
    let loop = try fromSystem(EventLoop())
    self.loop = loop
    source = try fromSystem(
      SignalSource(signals, on: loop) { [bell] report in
        bell.count += 1
        if bell.signal == nil { bell.signal = report.signal }
      })
    guard CurrentProcess.pid == 1 else { return }
    orphans = try fromSystem(SignalSource([SIGCHLD], on: loop) { _ in Subreaper.collectOthers() })
  }

  /// The next answer; nil at the deadline, or where a signal has come since those that are known.
  /// - Parameter known: How many had come when this was asked.
  func next(
    at coordinator: CoordinatorClient, until deadline: MonotonicTime?, evenAfter known: Int = 0
  ) throws(CommandError) -> ControlReply? {
    let registration = try loop.listen(to: coordinator.connection)
    defer { loop.deregister(registration) }
    while true {
      if let reply = try coordinator.next(until: MonotonicTime(nanoseconds: 0)) { return reply }
      if count > known { return nil }
      if let deadline, SystemClock.monotonic() >= deadline { return nil }
      try loop.turn(until: deadline)
    }
  }

  /// Looks whether a signal has come, without waiting.
  func look() throws(CommandError) { try loop.turn(until: MonotonicTime(nanoseconds: 0)) }

  /// Ends this program by the signal that has come, if one has; else signals mean again what they used to.
  func end() {
    if let signal {
      source = nil
      return Signals.end(by: signal)
    }
    release()
  }

  func release() {
    source = nil
    // It fails for what is no signal, and these are signals.
    try? Signals.unblock(signals)
  }
}

extension EventLoop {
  func turn(until deadline: MonotonicTime?) throws(CommandError) {
    _ = try fromSystem(runOnce(until: deadline))
  }

  /// Wakes for what comes. It is looked for after every turn of the loop; the handler only has to wake it.
  func listen(to connection: ControlConnection) throws(CommandError) -> Registration {
    try fromSystem(register(fd: connection.fd, interest: .read) { _ in })
  }
}

package enum Pause {
  /// 50 ms.
  static func briefly() { _ = poll(nil, 0, 50) }
  /// Between two questions of somebody who looks on.
  static func ofASecond() { _ = poll(nil, 0, 1_000) }
  /// 5 ms, for what takes a few of them.
  package static func momentarily() { _ = poll(nil, 0, 5) }
}
