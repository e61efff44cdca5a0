// Owns waiting for two things at once: an answer of the coordinator, and a Ctrl-C at this program.
// Invariant: from its beginning to its end a SIGINT ends nothing; afterwards it means what it used to.
// Failure: CommandError; a coordinator that is gone is `lost`.
import ControlClient
import Glibc
import Posix
import Time
import Wire

/// A conversation that a Ctrl-C does not cut off.
final class InterruptibleLine {
  /// What can happen.
  enum Happening {
    /// The coordinator answered.
    case reply(ControlReply)
    /// Somebody has pressed Ctrl-C.
    case interrupted
  }

  private final class Bell { var rings = 0 }

  private let coordinator: CoordinatorClient
  private let loop: EventLoop
  private let bell = Bell()
  private var source: SignalSource?
  private let registration: Registration

  /// Begins to wait.
  init(_ coordinator: CoordinatorClient) throws(CommandError) {
    self.coordinator = coordinator
    do throws(SystemError) {
      loop = try EventLoop()
      // What has come is looked for after every turn of the loop; the handler only has to wake it.
      registration = try loop.register(fd: coordinator.connection.fd, interest: .read) { _ in }
      source = try SignalSource([SIGINT], on: loop) { [bell] _ in bell.rings += 1 }
    } catch {
      throw .system(error)
    }
  }

  /// What happens next.
  func next() throws(CommandError) -> Happening {
    while true {
      if bell.rings > 0 {
        bell.rings -= 1
        return .interrupted
      }
      if let reply = try coordinator.next(until: MonotonicTime(nanoseconds: 0)) { return .reply(reply) }
      do throws(SystemError) { try loop.runOnce(until: nil) } catch { throw .system(error) }
    }
  }

  /// Ends the waiting.
  func end() {
    source = nil
    loop.deregister(registration)
    // It fails for what is no signal, and this is one.
    try? Signals.unblock([SIGINT])
  }
}
