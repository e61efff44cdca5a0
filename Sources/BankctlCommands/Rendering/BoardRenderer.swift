// Text display of a snapshot: state and day, numbers with rates, branches, services, windows, first waiting
// customers, recent events.
import Arguments
import BankModel
import Posix
import Wire

/// Makes the text lines of a snapshot of the bank.
struct BoardRenderer {
  let frame: BoardFrame
  let messages: MessageCatalog
  let palette: Palette
  var columns: Int?

  var lines: [String] {
    [headline] + Screen.flow(numbers, separator: " · ", columns: columns) + branches + [""] + services + [""]
      + windows
      + section(messages.header(.waiting), .waiting, waiting) + section(messages.lastEvents, .quiet, events)
  }

  /// The snapshot in one line: time, state, day and numbers.
  var line: String {
    ([Timestamp.utc(milliseconds: frame.time), messages.state(frame.state), messages.day(frame.day)] + numbers)
      .joined(separator: "  ")
  }

  private var headline: String {
    let timer = messages.businessTime(milliseconds: frame.businessTime.milliseconds)
    let state = palette.paint(messages.state(frame.state), frame.state == .open ? .waiting : .alarm)
    return "\(state) · \(messages.day(frame.day)) · \(timer)"
  }

  private var branches: [String] {
    (frame.branches ?? []).isEmpty
      ? [] : Screen.flow(messages.eachBranch(frame.branches ?? []), separator: " · ", columns: columns)
  }

  /// Numbers of the whole bank if it has several branches.
  private var numbers: [String] {
    let counts = frame.bank ?? frame.counts
    let parts: [(MessageCatalog.Column, Int64, isAlways: Bool)] = [
      (.issued, counts.issued, true), (.waiting, counts.waiting, true), (.serving, counts.serving, true),
      (.served, counts.served, true), (.delayed, counts.delayed, false), (.dead, counts.dead, false),
      (.cancelled, counts.cancelled, false),
    ]
    let shown = parts.filter { $0.isAlways || $0.1 > 0 }
      .map { "\(messages.column($0.0)) \(MessageCatalog.grouped($0.1))" }
    return shown
      + [
        messages.boardRates(
          frame.rates.servedSecond, frame.rates.servedTenSeconds, frame.rates.servedTenMinutes)
      ]
  }

  private var services: [String] {
    var table = TextTable([.left, .right, .right, .right, .right, .right, .left])
    table.addHeadings(
      [.service, .windows, .waiting, .serving, .delayed, .dead].map(messages.column) + [""])
    for service in frame.services {
      let grades = service.waiting.filter { $0.priority != .regular }.map { grade in
        "\(grade.priority.map(messages.grade) ?? messages.others) \(MessageCatalog.grouped(grade.count))"
      }
      let note = service.paused ? messages.paused : grades.joined(separator: ", ")
      table.add([
        .init(messages.phrases.service(service.service), service.service == .loan ? .loan : nil),
        .init(service.windows), .init(MessageCatalog.grouped(service.waitingTotal)), .init(service.serving),
        .init(service.delayed), .init(service.dead), .init(note, service.paused ? .alarm : .quiet),
      ])
    }
    return table.lines(palette, within: columns)
  }

  private var windows: [String] {
    guard !frame.windows.isEmpty else { return [messages.noWindows] }
    var table = TextTable([.left, .right, .right, .left, .right, .right, .right, .right])
    table.addHeadings(
      [.window, .pid, .generation, .state, .ticket, .served, .restarts, .memory].map(messages.column))
    for window in frame.windows {
      let others = window.tickets.count > 1 ? " +\(window.tickets.count - 1)" : ""
      table.add([
        .init(window.window, window.service == .loan ? .loan : nil),
        .init(window.pid.map(String.init) ?? "-"), .init(window.generation),
        window.isFailed == true
          ? .init(messages.failed, .alarm)
          : .init(messages.state(window.state), window.state == .backoff ? .alarm : nil),
        .init(window.tickets.first.map { "\($0)\(others)" } ?? "-"),
        .init(MessageCatalog.grouped(window.served)), .init(window.restarts),
        .init(window.memoryBytes.map(memory) ?? "-"),
      ])
    }
    return table.lines(palette, within: columns)
  }

  /// A number of bytes in megabytes, such as `13.5 MB`.
  private func memory(_ bytes: Int64) -> String {
    let kilobytes = bytes / 1_024
    return "\(kilobytes / 1_024).\(kilobytes % 1_024 * 10 / 1_024) MB"
  }

  /// A title and its lines; empty without lines.
  private func section(_ title: String, _ role: Palette.Role, _ lines: [String]) -> [String] {
    lines.isEmpty ? [] : ["", palette.paint(title, role)] + lines
  }

  private var waiting: [String] {
    let shown = frame.waiting.prefix(20).map { customer -> String in
      let label = "\(customer.ticket) - \(messages.phrases.service(customer.service))"
      let grade = messages.phrases.grade(customer.priority).map { " \($0)" } ?? ""
      return "  " + palette.paint(label, of: customer.service) + grade
    }
    let left = frame.counts.waiting - Int64(shown.count)
    return shown + (left > 0 ? ["  " + messages.moreCustomers(left)] : [])
  }

  private var events: [String] {
    frame.events.suffix(10).map { event in
      palette.paint(Timestamp.utc(milliseconds: event.time), .quiet) + "  " + messages.boardEvent(event)
    }
  }
}
