// Owns one process behind the windows as the coordinator sees it: the stock, later the vending machine. It knows
// nothing of what that process is for. Invariant: `channel` and `child` are of the same generation.

import BankModel
import Posix
import Supervision
import Transport
import Wire

typealias HouseChannel = MessageChannel<WorkerMessage, SupervisorMessage>

/// One process behind the windows.
package final class HousePost {
  /// How far the present process is.
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

  /// What is to be started, and how it is told apart.
  package struct Trade {
    /// The worker's name in reports and logs: `stock`.
    package var name: String
    /// What it says that it is.
    var peerRole: PeerRole
    /// What it is in a report.
    var workerRole: WorkerRole
    /// The program, as a path.
    var program: String
    /// Its arguments.
    var arguments: [String]

    /// What is to be started.
    package init(
      name: String, peerRole: PeerRole, workerRole: WorkerRole, program: String, arguments: [String]
    ) {
      self.name = name
      self.peerRole = peerRole
      self.workerRole = workerRole
      self.program = program
      self.arguments = arguments
    }
  }

  package var trade: Trade
  var phase = Phase.empty
  package var generation: Generation = 0
  var child: ChildProcess?
  var childRegistration: Registration?
  var channel: HouseChannel?
  /// Whether it shall run.
  var isWanted = true
  /// When the successor starts; nil while there is a process or none shall come.
  var restartAt: MonotonicTime?
  /// Until when the present process must be ready. This and the next are moments of the time that was attended.
  var readyBy: MonotonicTime?
  /// When it gets SIGKILL.
  var killAt: MonotonicTime?
  /// How the process has ended, while what it said last is still being read, and until when.
  var exitStatus: ExitStatus?
  var drainBy: MonotonicTime?
  /// Since a process was asked for a sign of life that it has not given; nil while it has given all.
  var silence: Standstill?
  /// When it is asked for a sign of life next.
  var checkAt: MonotonicTime?
  /// The number of the check that was not answered yet.
  var unanswered: Int64?
  var checks: Int64 = 0
  var startedAt: MonotonicTime?
  var history: RestartHistory
  var restarts: Int64 = 0
  /// Given up after too many deaths in a row.
  var isGivenUp = false
  /// What the present process was told when it came; nil before.
  var told: WorkerOrders?
  /// Whether the present process was told to go because another one shall take its place.
  var isReplaced = false
  /// Why the last process ended, or could not begin.
  var lastEnd: Remark?
  /// What the last process said of it itself; nil where it said nothing, or its successor works.
  var failure: Failure?
  /// Whether there is a database with which a process has worked since the bank was opened: its successors make no new one
  /// in its place.
  var hasDatabase = false
  /// What is wrong between its database and the bank's; nil where nothing is, or the operator goes on with it.
  var mismatch: DatabaseMismatch?
  /// Whether the operator goes on with the database that is there.
  var isAccepted = false
  /// Whether the present process has said itself why it cannot begin.
  var hasExplained = false

  init(_ trade: Trade, history: RestartHistory) {
    self.trade = trade
    self.history = history
  }

  var pid: Int32 { child.map { $0.isReaped ? 0 : $0.pid } ?? 0 }

  /// When something has to be done by itself next.
  var nextDeadline: MonotonicTime? { [restartAt, checkAt].compactMap(\.self).min() }

  /// When it is judged by what it has said, in the time that was attended.
  var nextJudgement: MonotonicTime? {
    [readyBy, killAt, drainBy, silence?.lookAt].compactMap(\.self).min()
  }

  /// What the process is seen doing.
  var sight: Standstill.Sight {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    return switch activity.state {
    case .stopped: .stopped
    case .sleeping: .asleep(processorTicks: activity.processorTicks)
    case .running: .running(processorTicks: activity.processorTicks)
    // A slow disk, or a debugger, cannot be helped by ending it.
    case .waitingForDisk, .traced, .ended: .excused
    }
  }

  /// Nothing is asked of it any more.
  func endChecks() { (checkAt, silence, unanswered) = (nil, nil, nil) }
}
