// Owns what is known of one connection beside what the library knows: where it comes from, and how much time it has.
// Invariant: ending it only shuts it down; the library closes the descriptor, and says so.
import Glibc
import Posix
import Time

final class HTTPConnection {
  /// Where it comes from.
  let origin: Gate.Origin
  /// Until when it shall have come further; nil for whoever is not waited for.
  var deadline: MonotonicTime?
  /// The request that is being answered on it.
  weak var exchange: HTTPExchange?
  /// When it began, or was answered last.
  var since = SystemClock.monotonic()
  /// True after it was shut down.
  private(set) var isEnding = false
  private let descriptor: CInt

  init(_ descriptor: CInt, _ origin: Gate.Origin) { (self.descriptor, self.origin) = (descriptor, origin) }

  /// A second descriptor of the same connection; nil if there is none left.
  func duplicate() -> CInt? {
    let own = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 3) : -1
    return own >= 0 ? own : nil
  }

  /// Writes what has room, around the library; false if nothing has. Only before the library has written for this request.
  func say(_ bytes: [UInt8]) -> Bool {
    descriptor >= 0
      && bytes.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
      } > 0
  }

  /// Nothing is read from it any more, and nothing written. `shutdown(2)`
  func end() {
    isEnding = true
    exchange?.abandon()
    if descriptor >= 0 { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
  }
}
