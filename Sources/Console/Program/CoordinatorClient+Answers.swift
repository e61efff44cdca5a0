// Owns waiting for an answer, showing how busy the bank is meanwhile, and taking it for what was asked for.
// Invariant: the bank is only watched where the wait is long enough to be shown.
// Failure: CommandError; a deadline is a result, and an answer of another kind is an error with its name.
import BankModel
import Posix
import Time
import Wire

extension CoordinatorClient {
  /// Waits for the answer to a question.
  /// - Parameter crowd: Of how many the progress is shown; nil for everyone who waits or is served.
  /// - Parameter leavesDelayed: Delayed customers are not waited for.
  /// - Returns: nil where it has not come by the deadline, or a signal came before it.
  func awaitAnswer(
    to command: ControlCommand, until deadline: MonotonicTime?, crowd: Int64?, _ progress: WaitProgress,
    _ wait: InterruptibleWait? = nil, leavesDelayed: Bool = false
  ) throws(CommandError) -> ControlAnswer? {
    let number = try send(command, leavesDelayed: leavesDelayed ? true : nil)
    // A pause that ends the wait is looked for at once.
    var watch = progress.endsWhenPaused ? try send(.watch) : nil
    while true {
      let due = watch == nil ? progress.meter.isDue : nil
      let limit = MonotonicTime.earlier(deadline, due)
      let reply: ControlReply?
      if let wait { reply = try wait.next(at: self, until: limit) } else { reply = try next(until: limit) }
      if let reply {
        if reply.number == number { return reply.answer }
        if case .status(let report) = reply.answer { try progress.show(report, crowd: crowd) }
      } else if wait?.signal != nil {
        return nil
      } else if let deadline, SystemClock.monotonic() >= deadline {
        return nil
      } else if watch == nil {
        watch = try send(.watch)
      }
    }
  }
}

final class WaitProgress {
  let meter: ProgressMeter
  private let words: MessageCatalog
  /// A paused service ends the wait.
  let endsWhenPaused: Bool
  /// The service for which is waited; nil for all.
  private let service: ServiceName?
  /// What a person was told of hindrances, each once.
  private var told: Set<String> = []
  /// Customers whose business had ended when the first picture came, and on which day that was.
  private var begin: (day: Int64, ended: Int64)?
  private(set) var report: StatusReport?

  init(
    _ words: MessageCatalog, _ meter: ProgressMeter? = nil, endsWhenPaused: Bool = false,
    for service: ServiceName? = nil
  ) {
    (self.words, self.endsWhenPaused, self.service) = (words, endsWhenPaused, service)
    self.meter = meter ?? ProgressMeter(words: words)
  }

  /// - Throws: a complaint where a service is paused for which customers wait, and that is to end the wait.
  func show(_ report: StatusReport, crowd: Int64?) throws(CommandError) {
    self.report = report
    try tellHindrances(report)
    let busy = report.queue.waiting + report.queue.serving + report.queue.delayed
    if let crowd {
      let left = min(busy, crowd)
      return meter.update(words.phase(.serving), done: crowd - left, total: crowd)
    }
    let ended = report.queue.issued - busy
    // Another day counts anew.
    if begin == nil || begin?.day != report.day || ended < begin?.ended ?? 0 { begin = (report.day, ended) }
    let done = ended - (begin?.ended ?? 0)
    meter.update(words.phase(.serving), done: done, total: done + busy)
  }
}

extension WaitProgress {
  /// Says once what keeps customers waiting, however long is waited: a paused service, or a moment for which they have
  /// ordered.
  private func tellHindrances(_ report: StatusReport) throws(CommandError) {
    for paused in report.wholeServices
    where paused.paused && paused.waiting > 0 && (service == nil || service == paused.service) {
      let words = words.waitsForPaused(paused)
      if endsWhenPaused { throw .complaint(.paused, words) }
      tell(words, once: paused.service.text + (paused.pausedBecause ?? ""))
    }
    let queue = report.wholeQueue
    if queue.delayed > 0, queue.waiting + queue.serving == 0 {
      tell(words.waitsForDelayed(queue.delayed, until: queue.delayedUntil), once: "")
    }
  }

  private func tell(_ sentence: String, once hindrance: String) {
    guard meter.isDue <= SystemClock.monotonic(), told.insert(hindrance).inserted else { return }
    meter.say(sentence)
  }
}

extension ControlAnswer {
  var status: StatusReport {
    get throws(CommandError) { if case .status(let report) = self { report } else { throw unexpected } }
  }

  var tickets: [TicketReport] {
    get throws(CommandError) { if case .tickets(let page) = self { page } else { throw unexpected } }
  }

  var ticket: TicketReport {
    get throws(CommandError) { if case .ticket(let report) = self { report } else { throw unexpected } }
  }

  package var receipts: [ReceiptReport] {
    get throws(CommandError) { if case .receipts(let page) = self { page } else { throw unexpected } }
  }

  var unexpected: CommandError {
    // Every answer is a case that carries something, so it has a name.
    let name = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return .control(.unexpected(detail: Remark(.otherAnswer, name)))
  }
}

/// What a person sees while a question that takes its time is answered: how far it has come where the coordinator says so,
/// and otherwise how long it lasts.
package final class TaskProgress {
  enum Task: Sendable, CaseIterable {
    case audit, ledger, receipts, tickets, ticket, scale, reload, opening, reset, requeue, cancel, steer, move
  }

  let meter: ProgressMeter
  /// Whether the coordinator is to say how far it has come.
  let isToldHowFar: Bool?
  private let words: MessageCatalog
  private let task: Task
  /// Said once by the coordinator, and then no more how long it lasts.
  private var isHeard = false

  init(_ task: Task, _ words: MessageCatalog, asksHowFar: Bool = false, _ meter: ProgressMeter? = nil) {
    self.task = task
    self.words = words
    isToldHowFar = asksHowFar ? true : nil
    self.meter = meter ?? ProgressMeter(words: words)
  }

  /// When there is something to show; nil where the coordinator says when.
  var nextDue: MonotonicTime? { isHeard ? nil : meter.nextDue }
  func pass() { meter.pass(words.doing(task)) }
  func count(_ rows: Int64) { meter.update(words.doing(task), done: rows, total: 0) }

  func hear(_ report: ProgressReport) {
    isHeard = true
    meter.update(words.phase(report.phase), done: report.done, total: report.total)
  }
}
