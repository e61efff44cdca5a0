// Owns waiting for answers while a signal that would end this program is only noted, so that what was begun can be
// taken back first. It must not know what is waited for, nor what is taken back.
// Invariant: from its beginning to its end the signals end nothing; the first one that came is remembered.
// Failure: CommandError; a coordinator that is gone is `lost`.
import ControlClient
import Glibc
import Posix
import Wire

final class InterruptibleWait {
  /// The first signal that came; nil while there is none.
  var signal: CInt? { bell.signal }

  var count: Int { bell.count }

  private final class Bell {
    var signal: CInt?
    var count = 0
  }

  private static let signals = [SIGINT, SIGTERM, SIGHUP]
  private let loop: EventLoop
  private let bell = Bell()
  private var source: SignalSource?

  /// Begins to note signals.
  init() throws(CommandError) {
    do throws(SystemError) {
      loop = try EventLoop()
      source = try SignalSource(Self.signals, on: loop) { [bell] report in
        bell.count += 1
        if bell.signal == nil { bell.signal = report.signal }
      }
    } catch {
      throw .system(error)
    }
  }

  /// The next answer; nil at the deadline, or where a signal has come since those that are known.
  ///
  /// - Parameter known: How many had come when this was asked.
  func next(
    at coordinator: CoordinatorClient, until deadline: MonotonicInstant?, evenAfter known: Int = 0
  ) throws(CommandError) -> ControlReply? {
    let registration: Registration
    do throws(SystemError) {
      // What has come is looked for after every turn of the loop; the handler only has to wake it.
      registration = try loop.register(fd: coordinator.connection.fd, interest: .read) { _ in }
    } catch {
      throw .system(error)
    }
    defer { loop.deregister(registration) }
    while true {
      if let reply = try coordinator.next(until: MonotonicInstant(nanoseconds: 0)) { return reply }
      if count > known { return nil }
      if let deadline, SystemClock.monotonic() >= deadline { return nil }
      do throws(SystemError) { try loop.runOnce(until: deadline) } catch { throw .system(error) }
    }
  }

  /// Looks whether a signal has come, without waiting.
  func look() throws(CommandError) {
    do throws(SystemError) { try loop.runOnce(until: MonotonicInstant(nanoseconds: 0)) } catch {
      throw .system(error)
    }
  }

  /// Ends this program by the signal that has come, if one has; else signals mean again what they used to.
  func end() {
    source = nil
    if let signal { return Signals.end(by: signal) }
    // It fails for what is no signal, and these are signals.
    try? Signals.unblock(Self.signals)
  }
}
