// Text display of a bank's status: day,
// numbers, services, workers.
import Arguments
import Posix
import Time
import Wire

/// Makes the text lines of a status report.
struct StatusRenderer {
  let report: StatusReport
  let messages: MessageCatalog
  let palette: Palette
  var columns: Int?

  var lines: [String] { headline + numbers + branch + [""] + services + [""] + workers }

  /// The status in one line, after the present time.
  var line: String {
    let now = Timestamp.utc(milliseconds: SystemClock.wall().milliseconds)
    let timer = messages.businessTime(milliseconds: report.businessMilliseconds)
    return
      "\(now)  \(messages.state(report.state))  \(messages.day(report.day))  \(sum(report.wholeQueue))  \(timer)"
  }

  private var headline: [String] {
    let state = messages.state(report.state)
    let role: Palette.Role = report.state == .open ? .waiting : .alarm
    let since = Timestamp.utc(milliseconds: report.since)
    let day =
      " · \(messages.day(report.day)) · " + messages.businessTime(milliseconds: report.businessMilliseconds)
    let process =
      "(pid \(report.pid), " + messages.generation(report.generation) + ", " + messages.since(since) + ")"
    if columns.map({ DisplayWidth.of(state + day + "  " + process) <= $0 }) ?? true {
      return [palette.paint(state, role) + day + palette.paint("  " + process, .quiet)]
    }
    return Screen.hints(state + day, columns: columns).enumerated().map {
      $0 == 0 ? palette.paint($1, role) : $1
    } + Screen.sentence(process, columns: columns).map { palette.paint($0, .quiet) }
  }

  private var numbers: [String] {
    let queue = report.wholeQueue
    let oldest = queue.oldestWaitMilliseconds
    let first = "· " + messages.oldest(messages.span(milliseconds: oldest))
    return Screen.flow(
      Self.terms(queue, messages) + (queue.waiting > 0 ? [first] : []), separator: " ",
      columns: columns)
  }

  /// The branch of this home and its part of the numbers, in a bank with several branches.
  private var branch: [String] {
    guard let branch = report.branch else { return [] }
    let own = report.bank == nil ? [] : [sum(report.queue)]
    return Screen.flow([messages.thisBranch(branch)] + own, separator: " · ", columns: columns)
      .map { palette.paint($0, .quiet) }
  }

  /// The numbers of a queue in one line.
  private func sum(_ queue: QueueReport) -> String { Self.terms(queue, messages).joined(separator: " ") }

  /// The numbers of a queue as terms of an equation: `issued 10`, `= waiting 3`, `+ serving 3` and so on.
  static func terms(_ queue: QueueReport, _ messages: MessageCatalog) -> [String] {
    let parts: [(String, Int64)] = [
      (messages.column(.waiting), queue.waiting), (messages.column(.serving), queue.serving),
      (messages.column(.served), queue.served), (messages.column(.delayed), queue.delayed),
      (messages.column(.dead), queue.dead), (messages.column(.cancelled), queue.cancelled),
    ]
    // The first three are always shown, the others only if they are not zero.
    let shown = parts.prefix(3) + parts.dropFirst(3).filter { $0.1 > 0 }
    return ["\(messages.column(.issued)) \(MessageCatalog.grouped(queue.issued))"]
      + shown.enumerated().map { place, part in
        "\(place == 0 ? "=" : "+") \(part.0) \(MessageCatalog.grouped(part.1))"
      }
  }

  private var services: [String] {
    var table = TextTable([.left, .right, .right, .right, .right, .left])
    table.addHeadings([.service, .windows, .waiting, .serving, .served].map(messages.column) + [""])
    for service in report.wholeServices {
      table.add([
        .init(messages.phrases.service(service.service), service.service == .loan ? .loan : nil),
        .init(service.windows), .init(MessageCatalog.grouped(service.waiting)), .init(service.serving),
        .init(MessageCatalog.grouped(service.served)), .init(service.paused ? messages.paused : "", .alarm),
      ])
    }
    let reasons = report.wholeServices.compactMap { service in
      service.pauseReason.map { messages.hasPaused(service.service, because: $0) }
    }
    return table.lines(palette, within: columns)
      + reasons.flatMap { Screen.sentence($0, columns: columns) }.map { palette.paint($0, .alarm) }
  }

  private var workers: [String] {
    guard !report.workers.isEmpty else { return [messages.noWindows] }
    var table = TextTable([.left, .right, .right, .left, .right, .right, .right, .right])
    table.addHeadings(
      [.window, .pid, .generation, .state, .ticket, .served, .restarts, .memory].map(messages.column))
    for worker in report.workers {
      table.add([
        .init(worker.name, worker.service == .loan ? .loan : nil),
        .init(worker.pid == 0 ? "-" : String(worker.pid)), .init(worker.generation),
        worker.isFailed == true
          ? .init(messages.failed, .alarm)
          : .init(messages.state(worker.state), worker.state == .backoff ? .alarm : nil),
        .init(ticket(of: worker)), .init(MessageCatalog.grouped(worker.served)),
        .init(worker.restarts), .init(Self.memory(worker.residentKilobytes)),
      ])
    }
    return table.lines(palette, within: columns) + failures
  }

  /// Ticket of a worker's customer, and the progress: `7 · 40%`.
  private func ticket(of worker: WorkerReport) -> String {
    guard let ticket = worker.ticket else { return "-" }
    return worker.progress?.percent.map { "\(ticket) · \($0)%" } ?? String(ticket)
  }

  /// Sentences about windows and services that do not work.
  private var failures: [String] {
    let failed = report.workers.filter { $0.isFailed == true && $0.window != nil }
    let sentences =
      failed.map { messages.failed($0.name, $0.lastExit.map(exit) ?? "") }
      + report.workers.compactMap { messages.notWorking($0) }
    guard !sentences.isEmpty else { return [] }
    return [""]
      + sentences.flatMap { Screen.sentence($0, columns: columns) }.map { palette.paint($0, .alarm) }
  }

  /// The end of a process as text: signal, exit code or reason.
  private func exit(_ exit: ExitReport) -> String {
    if let signal = exit.signal { return Signals.name(signal) }
    return exit.code.map { messages.exitCode($0) } ?? exit.trouble ?? ""
  }

  /// A number of kilobytes in megabytes, such as `13.5 MB`; `-` for 0.
  static func memory(_ kilobytes: Int64) -> String {
    kilobytes == 0 ? "-" : "\(kilobytes / 1024).\(kilobytes % 1024 * 10 / 1024) MB"
  }
}
