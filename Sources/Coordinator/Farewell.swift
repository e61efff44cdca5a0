// Owns the last words of a bank that has ended, on their way to clients that read slowly. It knows no request.
// Invariant: nothing is begun any more, and nobody is waited for longer than a second, which is enough for any that reads.

import Posix
import Time

/// The end of a control socket.
package final class Farewell {
  private static let patience = TimeSpan.seconds(1)

  private let server: ControlServer
  private let loop: EventLoop
  private let until: MonotonicTime

  /// Ends every conversation; see ``ControlServer/close(saying:)``.
  package init(_ server: ControlServer, _ loop: EventLoop) {
    self.server = server
    self.loop = loop
    until = SystemClock.monotonic() + Self.patience
    server.close()
  }

  /// Waits until somebody has read something.
  ///
  /// - Returns: whether everything was said, or nobody is waited for any more.
  package func turn() throws(SystemError) -> Bool {
    guard !server.sessions.isEmpty, SystemClock.monotonic() < until else { return true }
    try loop.runOnce(until: until)
    return false
  }
}
