// `wait`: returns when no customer waits, is delayed or is served, also after a restart of the coordinator. With
// `--leave-delayed` it does not wait for delayed customers.
// Invariant: with a timeout, the wait over an open connection ends in time even if the coordinator hangs.
import Posix
import Time
import Wire

/// Implementation of `bankctl wait`.
enum WaitCommand {
  /// Waits until the bank is idle, and prints the status.
  static func run(_ session: Session) throws(CommandError) {
    let deadline = session.invocation.duration("timeout").map { SystemClock.monotonic() + $0 }
    let report = try awaitIdle(session, deadline)
    try session.show(.status(report), or: session.picture(report).lines)
  }

  /// Waits until the bank is idle, and returns the status; throws `timed_out` at the deadline.
  private static func awaitIdle(
    _ session: Session, _ deadline: MonotonicTime?
  ) throws(CommandError) -> StatusReport {
    let progress = WaitProgress(
      session.messages, endsWhenPaused: session.invocation.flag("unless-paused"),
      FreeOptions(of: session.invocation))
    let leavesDelayed = session.invocation.flag("leave-delayed")
    defer { progress.meter.finish() }
    var coordinator = try CoordinatorClient.open(session)
    while true {
      do throws(CommandError) {
        guard
          let answer = try coordinator.awaitAnswer(
            to: .awaitIdle, until: deadline, crowd: nil, progress, leavesDelayed: leavesDelayed)
        else { throw timeIsUp(session, progress) }
        return try answer.status
      } catch {
        guard error.isLoss else { throw error }
        let reconnectTimeout = SystemClock.monotonic() + CoordinatorClient.reconnectTimeout
        let limit = deadline.map { min($0, reconnectTimeout) } ?? reconnectTimeout
        do throws(CommandError) { coordinator = try CoordinatorClient.reopen(session, until: limit) } catch {
          throw limit == deadline ? timeIsUp(session, progress) : error
        }
      }
    }
  }

  /// Error for a wait that has reached its deadline.
  private static func timeIsUp(_ session: Session, _ progress: WaitProgress) -> CommandError {
    .commandFailure(.timedOut, session.messages.stillBusy(progress.report))
  }
}
