// Owns one process as its supervisor sees it: the process, the channel on its descriptor 3, and its deaths. It must not
// know what the process is for. Invariant: `channel` and `child` are of the same generation.

import BankModel
import Posix
import Supervision
import Time
import Transport
import Wire

/// How far a supervised process is.
enum ProcessPhase: Equatable {
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

/// A place for a process, and the process that is there.
package class SupervisedProcess<Incoming: FrameMessage, Outgoing: FrameMessage> {
  typealias Channel = MessageChannel<Incoming, Outgoing>

  final var phase = ProcessPhase.empty
  package final var generation: Generation = 0
  final var child: ChildProcess?
  final var childRegistration: Registration?
  final var channel: Channel?
  /// Whether a process shall be here.
  final var isWanted = true
  /// When the successor starts; nil while there is a process or none shall come.
  final var restartAt: MonotonicTime?
  /// Until when the present process must be ready. This and the next two are moments of the time that was attended.
  final var readyBy: MonotonicTime?
  /// When it gets SIGKILL.
  final var killAt: MonotonicTime?
  /// Until when a process that has ended is read.
  final var drainBy: MonotonicTime?
  /// How the process has ended, while its channel is still being read.
  final var exitStatus: ExitStatus?
  final var startedAt: MonotonicTime?
  final var history: RestartHistory
  final var restarts: Int64 = 0
  /// Given up after too many deaths in a row.
  final var isGivenUp = false
  /// How the last process here ended, or why none could be started or could begin.
  final var lastEnd: Remark?

  init(history: RestartHistory) { self.history = history }

  final var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }

  /// When something has to be done by itself next.
  var nextDeadline: MonotonicTime? { restartAt }

  /// When it is judged by what it has said, in the time that was attended.
  var nextJudgement: MonotonicTime? {
    var earliest = readyBy
    for moment in [killAt, drainBy] {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
    return earliest
  }

  /// Nothing is expected of it any more: it has ended.
  func expectNothing() { (readyBy, killAt) = (nil, nil) }
}
