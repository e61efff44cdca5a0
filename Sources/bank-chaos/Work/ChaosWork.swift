// Owns what a chaos run does with the services of commands and workers while it goes on: those who come by themselves are
// there, somebody takes customers out, and somebody looks for processes that live too long.
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

  /// Nobody is killed or taken out any more.
  func settle() {
    cancels.leave()
    services.settle()
  }

  /// What was seen, a second after the end of the bank.
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
