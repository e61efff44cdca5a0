// Relay between branches and a server on its own thread, because these tests wait for programs and run no event loop.
// Invariant: the relay lives and ends on its thread; other threads only read its directory and set `isSilent`.
import Foundation
import Posix
import PostgresFixture
import Synchronization
import Time

final class RelayThread: Sendable {
  private struct State {
    var directory: String?
    var failure: String?
    var isSilent = false
    var isOver = false
  }

  private let state = Mutex(State())

  /// Directory of its socket, as `host=`; the port is the server's.
  var directory: String { state.withLock { $0.directory ?? "" } }

  /// True if nothing is forwarded, in either direction.
  var isSilent: Bool {
    get { state.withLock { $0.isSilent } }
    set { state.withLock { $0.isSilent = newValue } }
  }

  init(to cluster: PostgresCluster) throws {
    Thread { [self] in run(cluster) }.start()
    while state.withLock({ $0.directory == nil && $0.failure == nil }) { Polling.pause(milliseconds: 1) }
    if let failure = state.withLock({ $0.failure }) { throw TestFailure("the relay: \(failure)") }
  }

  func end() { state.withLock { $0.isOver = true } }

  private func run(_ cluster: PostgresCluster) {
    do {
      let loop = try EventLoop()
      let relay = try PostgresRelay(to: cluster, loop: loop)
      state.withLock { $0.directory = relay.directory }
      while !state.withLock({ $0.isOver }) {
        relay.isSilent = isSilent
        // Unread data wakes the loop at once.
        if relay.isSilent { Polling.pause(milliseconds: 5) }
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
      }
    } catch { state.withLock { $0.failure = "\(error)" } }
  }
}
