// Owns a relay between branches and a server on a thread of its own, because the tests here wait for programs and turn no loop.
// Invariant: the relay lives and ends on its thread; everybody else only reads where it is and says whether it is silent.
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

  /// Where it listens, as `host=`; the port is the server's.
  var directory: String { state.withLock { $0.directory ?? "" } }

  /// Whether nothing is handed on any more, in either direction.
  var isSilent: Bool {
    get { state.withLock { $0.isSilent } }
    set { state.withLock { $0.isSilent = newValue } }
  }

  init(to cluster: PostgresCluster) throws {
    Thread { [self] in run(cluster) }.start()
    while state.withLock({ $0.directory == nil && $0.failure == nil }) { Moment.pass(milliseconds: 1) }
    if let failure = state.withLock({ $0.failure }) { throw Trouble("the relay: \(failure)") }
  }

  func end() { state.withLock { $0.isOver = true } }

  private func run(_ cluster: PostgresCluster) {
    do {
      let loop = try EventLoop()
      let relay = try PostgresRelay(to: cluster, loop: loop)
      state.withLock { $0.directory = relay.directory }
      while !state.withLock({ $0.isOver }) {
        relay.isSilent = isSilent
        // What is not read wakes the loop at once.
        if relay.isSilent { Moment.pass(milliseconds: 5) }
        try loop.runOnce(until: SystemClock.monotonic() + .milliseconds(5))
      }
    } catch { state.withLock { $0.failure = "\(error)" } }
  }
}
