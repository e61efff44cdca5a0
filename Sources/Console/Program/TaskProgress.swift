// Owns what a person sees while a question that takes its time is answered: how far it has come where the coordinator
// says so, and otherwise how long it lasts. It must not know what is asked.
// Invariant: as with all progress, nothing within the first second, and nothing on standard output.
import Posix
import Wire

package final class TaskProgress {
  enum Task: Sendable, CaseIterable {
    case audit, ledger, receipts, tickets, ticket, scale, reload, opening, reset, requeue, cancel, steer
  }

  let meter: ProgressMeter
  /// Whether the coordinator is to say how far it has come.
  let isToldHowFar: Bool?
  private let words: MessageCatalog
  private let task: Task
  /// Said once by the coordinator, and then no more how long it lasts.
  private var isHeard = false

  /// - Parameter asksHowFar: Whether the coordinator can say how far it has come.
  init(_ task: Task, _ words: MessageCatalog, asksHowFar: Bool = false, _ meter: ProgressMeter? = nil) {
    self.task = task
    self.words = words
    isToldHowFar = asksHowFar ? true : nil
    self.meter = meter ?? ProgressMeter(words: words)
  }

  /// When there is something to show; nil where the coordinator says when.
  var nextDue: MonotonicInstant? { isHeard ? nil : meter.nextDue }
  func pass() { meter.pass(words.doing(task)) }
  func count(_ rows: Int64) { meter.update(words.doing(task), done: rows, total: 0) }

  func hear(_ report: ProgressReport) {
    isHeard = true
    meter.update(words.phase(report.phase), done: report.done, total: report.total)
  }
}
