// Services of commands and workers during a chaos run: keeps the outside workers running, cancels customers,
// and looks for processes that run too long.
import BankModel
import Posix
import Time
import Wire

final class ChaosWork {
  let services: ChaosServices
  let cancels: ChaosCancellations
  let leakDetector: ChaosLeakDetector

  init(_ services: ChaosServices, _ cancels: ChaosCancellations, _ leakDetector: ChaosLeakDetector) {
    (self.services, self.cancels, self.leakDetector) = (services, cancels, leakDetector)
    cancels.onConfirmed = { leakDetector.ended($0) }
  }

  /// Runs the outside workers, the cancellations and the search for leaked processes.
  func runIteration(_ now: MonotonicTime, _ snapshot: StatusReport?, wantsMore: Bool) {
    services.runIteration(now)
    cancels.runIteration(now, snapshot, wantsMore: wantsMore)
    leakDetector.runIteration(now)
  }

  /// Ends the cancellations, and starts missing outside workers. Call after the last kill.
  func settle() {
    cancels.disconnect()
    services.settle()
  }

  /// Ends the outside workers, and returns the observations of the run.
  func evidence(closedAt: MonotonicTime) throws(SystemError) -> ChaosCheckResult.Work {
    services.end()
    var work = ChaosCheckResult.Work()
    work.leftoverProcesses = leakDetector.leftoverProcesses(since: closedAt)
    (work.lines, work.unreadable) = try services.workLog.read()
    (work.cancelsAsked, work.cancelsConfirmed) = (cancels.asked, cancels.confirmed)
    work.leaked = leakDetector.leaked
    return work
  }
}
