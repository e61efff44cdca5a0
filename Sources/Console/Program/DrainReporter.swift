// Owns what a person is told of a drain, and which step a Ctrl-C asks for.
// Invariant: in the first second nothing is said, as of all progress; after it each step is one line, whatever the bar
// on a terminal shows in between. A Ctrl-C never asks for a step twice.
import BankModel
import Posix
import Wire

final class DrainReporter {
  private let words: MessageCatalog
  private let meter: ProgressMeter
  private let now: () -> MonotonicInstant
  /// The furthest step that is known to have begun, or was asked for.
  private var furthest = DrainStep.closeDoor
  private var told: DrainStep?

  init(
    _ words: MessageCatalog, _ meter: ProgressMeter? = nil,
    now: @escaping () -> MonotonicInstant = SystemClock.monotonic
  ) {
    self.words = words
    self.meter = meter ?? ProgressMeter(words: words)
    self.now = now
  }

  func hear(_ report: ProgressReport) {
    if let drain = report.drain {
      furthest = max(furthest, drain.step)
      if told != drain.step, now() >= meter.isDue {
        told = drain.step
        meter.say(words.drain(drain))
      }
      // There is nothing to count while the tellers go.
      if drain.step == .kill || drain.step == .closeDoor { return }
    }
    meter.update(words.phase(report.phase), done: report.done, total: report.total)
  }

  /// Somebody has pressed Ctrl-C: the step to ask for, which the person is told; nil where there is no further one.
  func goFurther() -> DrainStep? {
    // The door is closed in a moment, so that is no step to wait for.
    guard let step = max(furthest, .serveWaiting).next else { return nil }
    furthest = step
    meter.say(words.hurried(to: step))
    return step
  }

  func finish() { meter.finish() }
}
