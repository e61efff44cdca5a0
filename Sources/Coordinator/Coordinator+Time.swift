// Owns when the coordinator has something to do by itself: the earliest moment that one of its parts names. It does nothing.
// Invariant: whatever a part waits for is asked for here, or the loop would sleep over it; and whoever is judged by what was
// heard is judged in the time that was attended.

import Logbook
import Posix
import QueueCore
import Time

extension Coordinator {
  /// Whether a moment of the steady clock has come.
  func isDue(_ moment: MonotonicTime?) -> Bool {
    moment.map { $0 <= context.now.monotonic } ?? false
  }

  /// Whether a moment of the time that was attended has come.
  func isJudged(_ moment: MonotonicTime?) -> Bool {
    moment.map { $0 <= context.now.attended } ?? false
  }

  /// When somebody is judged next by what was heard, in the time that was attended.
  private var nextJudgement: MonotonicTime? {
    var earliest = queue.nextLeaseEnd
    for moment in [
      tellerSupervisor.nextJudgement, serviceSupervisor.nextJudgement, server.nextJudgement,
      context.bindings.guardianship?.nextJudgement,
    ] {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
    return earliest
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
  var nextDeadline: MonotonicTime? {
    if hasOwnWork { return context.now.monotonic }
    var earliest = queue.nextDeadline
    func consider(_ moment: MonotonicTime?) {
      if let moment { earliest = min(earliest ?? moment, moment) }
    }
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
    consider(context.log.nextFlush)
    return earliest
  }
}
