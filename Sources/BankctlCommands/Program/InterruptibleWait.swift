// Waits during which terminating signals are only recorded, so that a request can be cancelled first; and short pauses
// between two tries.
// Invariant: from creation to `end()` or `release()` the signals do not end the program, and the first one is stored.
// Errors: `CommandError`; `lost` if the connection was lost. A signal that is not blocked shortens a pause.
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// Wait for answers during which signals are recorded and do not end the program.
final class InterruptibleWait {
  /// The first recorded signal; nil before.
  var signal: CInt? { signalRecord.signal }
  /// Number of recorded signals.
  var count: Int { signalRecord.count }

  /// The recorded signals, shared with the handler of the loop.
  private final class SignalRecord {
    var signal: CInt?
    var count = 0
  }

  let loop: EventLoop
  private let signals: [CInt]
  private let signalRecord = SignalRecord()
  private var source: SignalSource?
  /// SIGCHLD of orphans, if this program is process 1 of a container.
  private var orphans: SignalSource?

  /// Starts to record signals.
  init(_ signals: [CInt] = [SIGINT, SIGTERM, SIGHUP]) throws(CommandError) {
    self.signals = signals
    let loop = try fromSystem(EventLoop())
    self.loop = loop
    source = try fromSystem(
      SignalSource(signals, on: loop) { [signalRecord] report in
        signalRecord.count += 1
        if signalRecord.signal == nil { signalRecord.signal = report.signal }
      })
    guard CurrentProcess.pid == 1 else { return }
    orphans = try fromSystem(SignalSource([SIGCHLD], on: loop) { _ in Subreaper.reapOrphans() })
  }

  /// Returns the next answer; nil at the deadline, or if more than `known` signals were received.
  /// - Parameter known: Number of signals that the caller has already handled.
  func next(
    at coordinator: CoordinatorClient, until deadline: MonotonicTime?, evenAfter known: Int = 0
  ) throws(CommandError) -> ControlReply? {
    let registration = try loop.listen(to: coordinator.connection)
    defer { loop.deregister(registration) }
    while true {
      if let reply = try coordinator.next(until: MonotonicTime(nanoseconds: 0)) { return reply }
      if count > known { return nil }
      if let deadline, SystemClock.monotonic() >= deadline { return nil }
      try loop.runIteration(until: deadline)
    }
  }

  /// Records the signals that have arrived, without waiting for more.
  func checkSignals() throws(CommandError) { try loop.runIteration(until: MonotonicTime(nanoseconds: 0)) }

  /// Ends this program by the recorded signal, if there is one. Otherwise unblocks the signals.
  func end() {
    if let signal {
      source = nil
      return Signals.end(by: signal)
    }
    release()
  }

  /// Unblocks the signals without ending this program by a recorded one.
  func release() {
    source = nil
    // `unblock` fails only for invalid signal numbers.
    try? Signals.unblock(signals)
  }
}

extension EventLoop {
  /// Runs one iteration of the loop, which waits at most until the deadline.
  func runIteration(until deadline: MonotonicTime?) throws(CommandError) {
    _ = try fromSystem(runOnce(until: deadline))
  }

  /// Registers a connection to a coordinator, so that its messages end a wait of the loop. The caller checks the
  /// connection after every iteration, so the handler is empty.
  func listen(to connection: ControlConnection) throws(CommandError) -> Registration {
    try fromSystem(register(fd: connection.fd, interest: .read) { _ in })
  }
}

/// Pauses between two tries, during which this program does nothing else.
package enum Pause {
  static func briefly() { _ = poll(nil, 0, 50) }
  static func ofASecond() { _ = poll(nil, 0, 1_000) }
  /// Waits a few milliseconds.
  package static func momentarily() { _ = poll(nil, 0, 5) }
}
