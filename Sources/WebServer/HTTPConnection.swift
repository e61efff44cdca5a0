// State of one connection that libmicrohttpd does not store: origin and deadline.
// Invariant: `end()` does not close the descriptor. The library closes it.
import Glibc
import Posix
import Time

/// A connection whose requests the HTTP library (libmicrohttpd) reads, with its origin and its deadline.
final class HTTPConnection {
  let origin: PendingConnections.Origin
  /// Deadline of the current step; nil if the wait is not bounded.
  var deadline: MonotonicTime?
  /// The request in progress.
  weak var exchange: HTTPExchange?
  /// Time of the start of the connection, or of the end of its last response.
  var since = SystemClock.monotonic()
  /// True after the shutdown.
  private(set) var isEnding = false
  private let descriptor: CInt

  init(_ descriptor: CInt, _ origin: PendingConnections.Origin) {
    (self.descriptor, self.origin) = (descriptor, origin)
  }

  /// A duplicate of the descriptor; nil if the process has no descriptor left.
  func duplicate() -> CInt? {
    let own = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1
    return own >= 0 ? own : nil
  }

  /// Sends as many bytes as fit the socket buffer, bypassing the library; false if none were sent. Allowed only before
  /// the library has written a response to the request.
  func sendDirectly(_ bytes: [UInt8]) -> Bool {
    descriptor >= 0
      && bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      } > 0
  }

  /// Cancels the request in progress, and shuts down both directions with `shutdown(2)`.
  func end() {
    isEnding = true
    exchange?.abandon()
    if descriptor >= 0 { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
  }
}
