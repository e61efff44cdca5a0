// Services of commands and workers during a chaos run: keeps the outside workers running, cancels customers,
// and looks for processes that run too long.
import BankModel
import Posix
import Time
import Wire

final class ChaosWork {
  let services: ChaosServices
  let cancels: ChaosCancels
  let lookout: ChaosLookout

  init(_ services: ChaosServices, _ cancels: ChaosCancels, _ lookout: ChaosLookout) {
    (self.services, self.cancels, self.lookout) = (services, cancels, lookout)
    cancels.onConfirmed = { lookout.ended($0) }
  }

  func turn(_ now: MonotonicTime, _ picture: StatusReport?, wantsMore: Bool) {
    services.turn(now)
    cancels.turn(now, picture, wantsMore: wantsMore)
    lookout.turn(now)
  }

  /// Ends the cancellations, and starts missing outside workers. Called after the last kill.
  func settle() {
    cancels.leave()
    services.settle()
  }

  /// The observations, a second after the bank has closed.
  func evidence(closedAt: MonotonicTime) throws(SystemError) -> ChaosAccount.Work {
    services.end()
    var work = ChaosAccount.Work()
    work.left = lookout.left(since: closedAt)
    (work.lines, work.unreadable) = try services.witness.read()
    (work.cancelsAsked, work.cancelsConfirmed) = (cancels.asked, cancels.confirmed)
    work.outliving = lookout.outliving
    return work
  }
}
