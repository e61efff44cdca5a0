// Owns one window as the simulated coordinator sees it, the cousin of the coordinator's own `WindowPost`.
// It must not know customers. Invariant: `teller` and `link` are of the present generation. There is nothing that can
// fail.

import BankModel
import Supervision

/// One window and the teller behind it.
final class SimulatedPost {
  /// How far the present teller is.
  enum Phase {
    case empty
    case starting
    case welcomed
    case ready
    case leaving
  }

  let window: Window
  var phase = Phase.empty
  var generation: Generation = 0
  /// The process; nil while there is none.
  var teller: Int?
  /// The connection; nil where there is none, or it has ended.
  var link: Int?
  var isWanted = true
  var restartAt: MonotonicTime?
  var readyBy: MonotonicTime?
  var killAt: MonotonicTime?
  var ended: ProcessEnd?
  var drainBy: MonotonicTime?
  var history: RestartHistory
  var isGivenUp = false

  init(window: Window, history: RestartHistory) {
    self.window = window
    self.history = history
  }
}
