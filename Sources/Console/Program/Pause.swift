// Owns the short rest between two attempts to reach a coordinator that is coming back.
// Invariant: nothing that can be waited for is waited for in this way.
import Glibc

package enum Pause {
  /// 50 ms.
  static func briefly() { _ = poll(nil, 0, 50) }
  /// 5 ms, for what takes a few of them.
  package static func momentarily() { _ = poll(nil, 0, 5) }
}
