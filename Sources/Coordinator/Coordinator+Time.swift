// Deadlines of the coordinator's loop, and the clock for each of them.
// Invariant: `nextDeadline` considers the deadlines of all parts, because the loop would sleep past any other.

import Posix
import QueueCore
import Time

/// Timeouts for silent processes use listening time, which does not pass while this process cannot listen; see
/// `ListeningClock`.
extension Coordinator {
  /// True if a time of the monotonic clock has passed.
  func isDue(_ moment: MonotonicTime?) -> Bool { moment.map { $0 <= context.now.monotonic } ?? false }
  /// True if a point in listening time (see `ListeningClock`) has passed.
  func isSilenceTimeoutDue(_ moment: MonotonicTime?) -> Bool {
    moment.map { $0 <= context.now.listeningTime } ?? false
  }

  /// Next timeout for a silent process, in listening time (see `ListeningClock`).
  private var nextJudgement: MonotonicTime? {
    var earliest = MonotonicTime.earlier(queue.nextLeaseEnd, tellerSupervisor.nextJudgement)
    earliest = .earlier(earliest, serviceSupervisor.nextJudgement)
    earliest = .earlier(earliest, server.nextJudgement)
    earliest = .earlier(earliest, outside.nextJudgement)
    return .earlier(earliest, context.bindings.guardianSupervisor?.nextJudgement)
  }

  /// True if a timeout for a silent process, or the time limit of a drain step, has passed.
  var isSilenceCheckDue: Bool { isSilenceTimeoutDue(nextJudgement) || isDue(shutdownController.nextStep) }

  /// True if there is work that no message will trigger.
  var hasOwnWork: Bool {
    // While changes are staged or in flight the store cannot be read for answers; the parts that wait continue
    // after the commit.
    let canRead = queue.engine.isDurable && (streams.isDue || audits.canContinue)
    return enqueueHandler.hasWorkNow || incrementalCommands.hasWork || selections.hasWork || canRead
      || router.canReadThrottled
  }

  /// Time at which the loop has to wake up without a message.
  var nextDeadline: MonotonicTime? {
    if hasOwnWork { return context.now.monotonic }
    var earliest = queue.nextDeadline
    func consider(_ moment: MonotonicTime?) { earliest = .earlier(earliest, moment) }
    consider(nextJudgement.map { context.loop.wakeTime(for: $0) })
    consider(queue.commitDue(isImmediate: enqueueHandler.isShared))
    consider(enqueueHandler.nextDeadline)
    consider(streams.nextDeadline)
    consider(board.nextDeadline)
    consider(subscriptions.nextDeadline(isTimerRunning: queue.machine.isTimerRunning))
    consider(server.nextDeadline)
    consider(outside.nextDeadline)
    consider(tellerSupervisor.nextDeadline)
    consider(serviceSupervisor.nextDeadline)
    consider(services.nextDeadline)
    consider(opening.nextDeadline)
    consider(shutdownController.nextDeadline)
    consider(audits.nextDeadline)
    consider(home.nextDeadline)
    if sharesStore {
      consider(reader?.nextDeadline)
      consider(router.waits?.nextDeadline)
    }
    consider(output.nextDeadline)
    consider(context.bindings.guardianSupervisor?.nextDeadline)
    consider(context.log.nextFlush)
    consider(queue.workerLog.nextFlush)
    return earliest
  }
}
