// Messages about a drain, and the step that the next Ctrl-C requests.
// Invariant: nothing is printed in the first second, except the reply to a Ctrl-C. A Ctrl-C does not request a step
// twice.
import BankModel
import Posix
import Time
import Wire

/// Prints the steps of a drain, and decides which step a Ctrl-C requests.
final class DrainReporter {
  private let messages: MessageCatalog
  /// Options that the messages may recommend.
  private let free: FreeOptions
  private let meter: ProgressMeter
  private let now: () -> MonotonicTime
  /// The latest step of the drain that has started or was requested.
  private var furthest = DrainStep.stopAccepting
  /// Step whose sentence was printed last; nil before the first one.
  private var reportedStep: DrainStep?

  init(
    _ messages: MessageCatalog, _ free: FreeOptions, _ meter: ProgressMeter? = nil,
    now: @escaping () -> MonotonicTime = SystemClock.monotonic
  ) {
    (self.messages, self.free) = (messages, free)
    self.meter = meter ?? ProgressMeter(messages: messages)
    self.now = now
  }

  /// Shows a progress report of the coordinator: a sentence for a new step, and the counts.
  func handle(_ report: ProgressReport) {
    if let drain = report.drain {
      furthest = max(furthest, drain.step)
      if reportedStep != drain.step, now() >= meter.isDue {
        reportedStep = drain.step
        meter.say(messages.drain(drain, free))
      }
      // There is nothing to count before customers are served and while the tellers exit.
      if drain.step == .kill || drain.step == .stopAccepting { return }
    }
    meter.update(messages.phase(report.phase), done: report.done, total: report.total)
  }

  /// Handles a Ctrl-C: prints and returns the step to request; nil if the drain is at its last step.
  func goFurther() -> DrainStep? {
    // The step `stopAccepting` takes an instant. A Ctrl-C during this step skips `serveWaiting`, the next one.
    guard let step = max(furthest, .serveWaiting).next else { return nil }
    furthest = step
    meter.say(messages.advanced(to: step))
    return step
  }

  func finish() { meter.finish() }
}
