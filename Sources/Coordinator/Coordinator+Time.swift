// Owns when the coordinator has something to do by itself: the earliest moment that one of its parts names. It does nothing.
// Invariant: whatever a part waits for is asked for here, or the loop would sleep over it; and whoever is judged by what was
// heard is judged in the time that was attended.

import BankModel
import Posix

extension Coordinator {
  /// Whether a moment of the steady clock has come.
  func isDue(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= context.now.monotonic } ?? false }
  /// Whether a moment of the time that was attended has come.
  func isJudged(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= context.now.attended } ?? false }

  /// When somebody is judged next by what was heard, in the time that was attended.
  private var nextJudgement: MonotonicTime? {
    var earliest = MonotonicTime.earlier(queue.nextLeaseEnd, tellerSupervisor.nextJudgement)
    earliest = .earlier(earliest, serviceSupervisor.nextJudgement)
    earliest = .earlier(earliest, server.nextJudgement)
    return .earlier(earliest, context.bindings.guardianship?.nextJudgement)
  }

  /// A drain that takes customers from their windows judges, too.
  var isJudgementDue: Bool { isJudged(nextJudgement) || isDue(ending.nextStep) }

  /// Whether there is something to do for which nobody has to speak.
  var hasOwnWork: Bool {
    // While something is staged nothing can be read, and the commit that comes wakes whoever waits for it.
    let canRead = queue.engine.isKept && (streams.isDue || audits.canGoOn)
    return intake.hasWorkNow || long.hasWork || canRead || router.canHearCrowded
  }

  /// When the loop has to wake up by itself.
  var nextDeadline: MonotonicInstant? {
    if hasOwnWork { return MonotonicInstant(context.now.monotonic) }
    var earliest = queue.nextDeadline
    func consider(_ moment: MonotonicTime?) { earliest = .earlier(earliest, moment) }
    consider(nextJudgement.map { context.loop.wake(for: $0) })
    consider(queue.commitDue(isHurried: intake.isShared))
    consider(intake.nextDeadline)
    consider(streams.nextDeadline)
    consider(followers.nextDeadline(isTimerRunning: queue.machine.isTimerRunning))
    consider(server.nextDeadline)
    consider(tellerSupervisor.nextDeadline)
    consider(serviceSupervisor.nextDeadline)
    consider(services.nextDeadline)
    consider(opening.nextDeadline)
    consider(ending.nextDeadline)
    consider(audits.nextDeadline)
    consider(home.nextDeadline)
    consider(context.bindings.guardianship?.nextDeadline)
    let deadline = earliest.map { MonotonicInstant($0) }
    guard let flush = context.log.nextFlush else { return deadline }
    return min(deadline ?? flush, flush)
  }
}
