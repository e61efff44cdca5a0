// Owns what is known of one connection beside what the library knows: where it comes from, and how much time it has.
// Invariant: ending it only shuts it down; the library closes the descriptor, and says so.
import Glibc
import Posix
import Time

final class HTTPConnection {
  /// Whether it came over the socket in the home.
  let isLocal: Bool
  /// Until when it shall have come further; nil for whoever is not waited for.
  var deadline: MonotonicTime?
  /// The request that is being answered on it.
  weak var exchange: HTTPExchange?
  private let descriptor: CInt

  init(_ descriptor: CInt, isLocal: Bool) { (self.descriptor, self.isLocal) = (descriptor, isLocal) }

  /// Nothing is read from it any more, and nothing written. `shutdown(2)`
  func end() {
    exchange?.abandon()
    if descriptor >= 0 { _ = shutdown(descriptor, CInt(SHUT_RDWR)) }
  }
}
