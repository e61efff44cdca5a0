// Owns when the coordinator's loop wakes up by itself, and by which of its times somebody is judged. It remembers nothing.
// Invariant: whatever a part waits for is asked for here.

import Posix
import QueueCore
import Time

/// Whatever a part waits for is asked for here, or the loop would sleep over it; and whoever is judged by what was heard is
/// judged in the time that was attended.
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
    earliest = .earlier(earliest, outside.nextJudgement)
    return .earlier(earliest, context.bindings.guardianship?.nextJudgement)
  }

  /// A drain that takes customers from their windows judges, too.
  var isJudgementDue: Bool { isJudged(nextJudgement) || isDue(ending.nextStep) }

  /// Whether there is something to do for which nobody has to speak.
  var hasOwnWork: Bool {
    // While something is staged nothing can be read, and the commit that comes wakes whoever waits for it.
    let canRead = queue.engine.isKept && (streams.isDue || audits.canGoOn)
    return intake.hasWorkNow || long.hasWork || selections.hasWork || canRead || router.canHearCrowded
  }

  /// When the loop has to wake up by itself.
  var nextDeadline: MonotonicTime? {
    if hasOwnWork { return context.now.monotonic }
    var earliest = queue.nextDeadline
    func consider(_ moment: MonotonicTime?) { earliest = .earlier(earliest, moment) }
    consider(nextJudgement.map { context.loop.wake(for: $0) })
    consider(queue.commitDue(isHurried: intake.isShared))
    consider(intake.nextDeadline)
    consider(streams.nextDeadline)
    consider(board.nextDeadline)
    consider(followers.nextDeadline(isTimerRunning: queue.machine.isTimerRunning))
    consider(server.nextDeadline)
    consider(outside.nextDeadline)
    consider(tellerSupervisor.nextDeadline)
    consider(serviceSupervisor.nextDeadline)
    consider(services.nextDeadline)
    consider(opening.nextDeadline)
    consider(ending.nextDeadline)
    consider(audits.nextDeadline)
    consider(home.nextDeadline)
    if sharesBooks {
      consider(reader?.nextDeadline)
      consider(router.waits?.nextDeadline)
    }
    consider(output.nextDeadline)
    consider(context.bindings.guardianship?.nextDeadline)
    consider(context.log.nextFlush)
    consider(queue.journal.nextFlush)
    return earliest
  }
}
