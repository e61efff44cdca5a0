// Owns one process behind the windows as the coordinator sees it: the stock, or the vending machine.

import BankModel
import Posix
import Supervision
import Wire

package final class SupervisedService: SupervisedProcess<WorkerMessage, SupervisorMessage> {
  package struct Specification {
    /// The worker's name in reports and logs: `stock`.
    package var name: String
    var peerRole: PeerRole
    var workerRole: WorkerRole
    var program: String
    var arguments: [String]
  }

  package var specification: Specification
  /// Since a process was asked for a sign of life that it has not given; nil while it has given all.
  var silence: Standstill?
  var checkAt: MonotonicTime?
  /// The number of the check that was not answered yet.
  var unanswered: Int64?
  var checks: Int64 = 0
  /// What the present process was told when it came; nil before.
  var told: WorkerOrders?
  /// Whether the present process was told to go because another one shall take its place.
  var isReplaced = false
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

  init(_ specification: Specification, history: RestartHistory) {
    self.specification = specification
    super.init(history: history)
  }

  override var nextDeadline: MonotonicTime? { .earlier(super.nextDeadline, checkAt) }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, silence?.lookAt) }

  override func expectNothing() {
    super.expectNothing()
    endChecks()
  }

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

  func endChecks() { (checkAt, silence, unanswered) = (nil, nil, nil) }
}
