// Owns one window as the supervisor of tellers sees it: the teller behind it, and what is counted about it. It knows no
// customer.

import BankModel
import Supervision
import Time
import Wire

/// One window and the teller process behind it.
final class SupervisedTeller: SupervisedProcess<TellerMessage, WindowMessage> {
  let window: Window
  /// Whether something is to be written to the teller at the end of the turn.
  var isUnflushed = false
  /// Reports of progress, and since when they are counted.
  var beats = 0
  var beatsSince = MonotonicTime(nanoseconds: 0)
  /// The present teller was told orders that have changed since.
  var isOutdated = false
  /// How the last process ended; nil where none could be started.
  var lastExit: ProcessEnd?
  /// Customers that the present teller has had.
  var customers: Int64 = 0
  /// The generation that is to go because it has worked long enough.
  var recycledGeneration: Generation = 0
  /// The memory of the present teller, and when it was looked at; the moment outlives the teller.
  var residentBytes: Int64?
  var measuredAt = MonotonicTime(nanoseconds: 0)

  init(window: Window, history: RestartHistory) {
    self.window = window
    super.init(history: history)
  }
}
