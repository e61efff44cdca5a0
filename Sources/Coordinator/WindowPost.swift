// Owns one window as the coordinator's staff sees it: the process behind it, the channel to it, and its deaths.
// It knows no customer. Invariant: `channel` and `child` are of the same generation.

import BankModel
import Posix
import Supervision
import Transport
import Wire

typealias TellerChannel = MessageChannel<TellerMessage, WindowMessage>

/// One window and the teller process behind it.
final class WindowPost {
  /// How far the present teller is.
  enum Phase: Equatable {
    /// There is none.
    case empty
    /// Started, and has not said hello.
    case starting
    /// Has said hello, and not that it is ready.
    case welcomed
    /// At work.
    case ready
    /// It has been told to go, or is being ended.
    case leaving
  }

  let window: Window
  var phase = Phase.empty
  var generation: Generation = 0
  var child: ChildProcess?
  var childRegistration: Registration?
  var channel: TellerChannel?
  /// Whether something is to be written to the teller at the end of the turn.
  var isUnflushed = false
  /// Whether a teller shall be here.
  var isWanted = true
  /// When the successor starts; nil while there is a teller or none shall come.
  var restartAt: MonotonicTime?
  /// Until when the present teller must be ready. This and the next are moments of the time that was attended.
  var readyBy: MonotonicTime?
  /// When a teller that was sent SIGABRT gets SIGKILL.
  var killAt: MonotonicTime?
  /// How the present teller has ended, while its channel is still being read.
  var exitStatus: ExitStatus?
  /// Until when it is read.
  var drainBy: MonotonicTime?
  var startedAt: MonotonicTime?
  /// Reports of progress, and since when they are counted.
  var beats = 0
  var beatsSince = MonotonicTime(nanoseconds: 0)
  /// The present teller was told orders that have changed since.
  var isOutdated = false
  var history: RestartHistory
  var restarts: Int64 = 0
  /// Given up after too many deaths in a row.
  var isGivenUp = false
  /// How the last teller here ended, or why none could be started.
  var lastEnd: Remark?
  /// How its process ended; nil where none could be started.
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
    self.history = history
  }

  var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }

  /// Whether something has to be done by itself now: the successor starts, or somebody is judged.
  func isDue(at now: Moment) -> Bool {
    func has(_ moment: MonotonicTime?, comeBy now: MonotonicTime) -> Bool {
      moment.map { $0 <= now } ?? false
    }
    return has(restartAt, comeBy: now.monotonic) || has(readyBy, comeBy: now.attended)
      || has(killAt, comeBy: now.attended) || has(drainBy, comeBy: now.attended)
  }
}
