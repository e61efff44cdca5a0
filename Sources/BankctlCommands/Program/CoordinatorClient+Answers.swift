// Functions that wait for an answer, print progress during the wait, and convert the answer to the expected
// type.
// Invariant: the client subscribes to the status only when progress output is due, or if a paused service
// ends the wait.
// Errors: `CommandError`. A passed deadline is a result, not an error. An answer of another kind is an error
// that contains its name.
import BankModel
import Posix
import Time
import Wire

extension CoordinatorClient {
  /// Sends a request and returns its answer, with progress output until then; nil at the deadline, or if a signal was
  /// received first.
  /// - Parameter crowd: Number of customers for the progress display; nil for all customers that wait, are delayed or
  ///   are served.
  /// - Parameter leavesDelayed: True if the request does not wait for delayed customers.
  func awaitAnswer(
    to command: ControlCommand, until deadline: MonotonicTime?, crowd: Int64?, _ progress: WaitProgress,
    _ wait: InterruptibleWait? = nil, leavesDelayed: Bool = false
  ) throws(CommandError) -> ControlAnswer? {
    let number = try send(command, leavesDelayed: leavesDelayed ? true : nil)
    // Watch from the start, not only when progress is due, so that a pause ends the wait soon.
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

/// Progress output of a command that waits for customers.
final class WaitProgress {
  let meter: ProgressMeter
  private let messages: MessageCatalog
  let endsWhenPaused: Bool
  /// Options that the messages may recommend.
  private let free: FreeOptions
  /// The service to wait for; nil for all services.
  private let service: ServiceName?
  /// Reasons for a long wait that were already printed; each is printed once.
  private var reported: Set<String> = []
  /// Day, and number of ended or dead customers, from which progress is counted: those of the first status report, or
  /// of the first one after the day changed or the number fell.
  private var begin: (day: Int64, ended: Int64)?
  /// The last status report; nil before the first one.
  private(set) var report: StatusReport?

  init(
    _ messages: MessageCatalog, _ meter: ProgressMeter? = nil, endsWhenPaused: Bool = false,
    for service: ServiceName? = nil, _ free: FreeOptions = .none
  ) {
    (self.messages, self.endsWhenPaused, self.service, self.free) = (messages, endsWhenPaused, service, free)
    self.meter = meter ?? ProgressMeter(messages: messages)
  }

  /// Shows the progress in a status report, and prints reasons for a long wait. `crowd` is the number of customers to
  /// wait for; nil for all.
  /// - Throws: `paused` if `endsWhenPaused` and customers wait for a paused service.
  func show(_ report: StatusReport, crowd: Int64?) throws(CommandError) {
    self.report = report
    try reportDelays(report)
    let busy = report.queue.waiting + report.queue.serving + report.queue.delayed
    if let crowd {
      let left = min(busy, crowd)
      return meter.update(messages.phase(.serving), done: crowd - left, total: crowd)
    }
    let ended = report.queue.issued - busy
    // A new day restarts the numbers at zero.
    if begin == nil || begin?.day != report.day || ended < begin?.ended ?? 0 { begin = (report.day, ended) }
    let done = ended - (begin?.ended ?? 0)
    meter.update(messages.phase(.serving), done: done, total: done + busy)
  }
}

extension WaitProgress {
  /// Prints each reason for a long wait once: a paused service, or the due time of delayed customers.
  private func reportDelays(_ report: StatusReport) throws(CommandError) {
    for paused in report.wholeServices
    where paused.paused && paused.waiting > 0 && (service == nil || service == paused.service) {
      // The error ends the wait, so the message recommends no options.
      if endsWhenPaused { throw .commandFailure(.paused, messages.waitsForPaused(paused, .none)) }
      printOnce(messages.waitsForPaused(paused, free), once: paused.service.text + (paused.pauseReason ?? ""))
    }
    let queue = report.wholeQueue
    let wait = queue.delayedUntil.map {
      $0.subtractingReportingOverflow(SystemClock.wall().milliseconds).partialValue
    }
    if queue.delayed > 0, queue.waiting + queue.serving == 0, wait ?? .max >= Self.longRetry {
      printOnce(messages.waitsForDelayed(queue.delayed, until: queue.delayedUntil, free), once: "")
    }
  }

  /// Minimum wait for a delayed customer that is reported, in milliseconds.
  private static let longRetry: Int64 = 2_000

  /// Prints a sentence about a long wait if its cause was not reported before and progress output is due.
  private func printOnce(_ sentence: String, once cause: String) {
    guard meter.isDue <= SystemClock.monotonic(), reported.insert(cause).inserted else { return }
    meter.say(sentence)
  }
}

extension ControlAnswer {
  /// The status report in the answer; throws if the answer is of another kind.
  var status: StatusReport {
    get throws(CommandError) { if case .status(let report) = self { report } else { throw unexpected } }
  }

  /// The tickets in the answer; throws if the answer is of another kind.
  var tickets: [TicketReport] {
    get throws(CommandError) { if case .tickets(let page) = self { page } else { throw unexpected } }
  }

  /// The ticket in the answer; throws if the answer is of another kind.
  var ticket: TicketReport {
    get throws(CommandError) { if case .ticket(let report) = self { report } else { throw unexpected } }
  }

  /// The receipts in the answer; throws if the answer is of another kind.
  package var receipts: [ReceiptReport] {
    get throws(CommandError) { if case .receipts(let page) = self { page } else { throw unexpected } }
  }

  /// Error that says which kind of answer was received instead of the expected one.
  var unexpected: CommandError {
    // `Mirror` finds the name of a case with an associated value.
    let name = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return .control(.unexpected(detail: MessageDetail(.unexpectedReplyText, name)))
  }
}

/// Progress output for a slow request: the coordinator's progress reports if it sends them, otherwise the
/// elapsed time.
package final class TaskProgress {
  /// What the command waits for; decides the label of the progress output.
  enum Task: Sendable, CaseIterable {
    case audit, ledger, receipts, tickets, ticket, scale, reload, opening, reset, requeue, cancel,
      sendControl, move
  }

  let meter: ProgressMeter
  /// True if the request asks the coordinator for progress reports; nil omits the field.
  let requestsProgress: Bool?
  private let messages: MessageCatalog
  private let task: Task
  /// True after the first progress report; the elapsed time is not shown then.
  private var isHeard = false

  init(_ task: Task, _ messages: MessageCatalog, withProgress: Bool = false, _ meter: ProgressMeter? = nil) {
    self.task = task
    self.messages = messages
    requestsProgress = withProgress ? true : nil
    self.meter = meter ?? ProgressMeter(messages: messages)
  }

  /// Time of the next output; nil after the coordinator has sent a progress report.
  var nextDue: MonotonicTime? { isHeard ? nil : meter.nextDue }
  /// Shows the elapsed time.
  func pass() { meter.pass(messages.doing(task)) }
  /// Shows the number of rows received so far.
  func count(_ rows: Int64) { meter.update(messages.doing(task), done: rows, total: 0) }

  /// Shows a progress report of the coordinator.
  func handle(_ report: ProgressReport) {
    isHeard = true
    meter.update(messages.phase(report.phase), done: report.done, total: report.total)
  }
}
