// List of windows in the dashboard: customer, elapsed time, rate.
// The elapsed time and the plot of the rate advance with the clock, also without a new snapshot.
import BankModel
import Wire

/// Makes the list of windows.
struct WindowRows {
  let topFrame: TopFrame
  /// Milliseconds since 1970 by the coordinator's clock.
  let wall: Int64
  let messages: MessageCatalog

  var list: TopList {
    var progress: [String: Int] = [:]
    for customer in topFrame.frame.serving {
      if let percent = customer.progress?.percent { progress[customer.window] = Int(percent) }
    }
    return TopList(columns: columns, rows: topFrame.frame.windows.map { row($0, progress[$0.window]) })
  }

  private var columns: [TopList.Column] {
    [
      .init(title: messages.column(.window), shortening: .middle),
      .init(title: messages.column(.service), dispensability: 9, shortening: .middle),
      .init(title: messages.column(.pid), alignment: .right, dispensability: 4),
      .init(title: messages.column(.generation), alignment: .right, dispensability: 6),
      .init(title: messages.column(.state)),
      .init(title: messages.column(.ticket), alignment: .right, width: 6),
      .init(title: "ms", alignment: .right, dispensability: 1, width: 6, isDescending: true),
      .init(title: messages.column(.served), alignment: .right, dispensability: 3, isDescending: true),
      .init(title: messages.column(.restarts), alignment: .right, dispensability: 7, isDescending: true),
      .init(title: messages.column(.memory), alignment: .right, dispensability: 8, isDescending: true),
      .init(title: messages.lastSeconds(5), dispensability: 5, isDescending: true),
    ]
  }

  /// The row of a window; `percent` is the progress of its customer.
  private func row(_ window: BoardWindow, _ percent: Int?) -> TopRow {
    let history = topFrame.windows[window.window]?.seconds(by: wall) ?? []
    let since = window.since.map { wall > $0 ? wall &- $0 : 0 }
    var row = TopRow(
      key: window.window, window: window, service: window.service, ticket: window.tickets.first)
    row.add(
      .init(messages.safe(window.window, atMost: TopList.longestName), window.service == .loan ? .loan : nil),
      .text(window.window))
    row.add(.init(messages.phrases.service(window.service)), .text(window.service.text))
    row.add(.init(window.pid.map { String($0) } ?? "-"), .number(Int64(window.pid ?? 0)))
    row.add(.init(window.generation), .number(window.generation))
    row.add(state(window), .number(Int64(window.state.rawValue)))
    row.add(.init(ticket(window, percent)), .number(window.tickets.first ?? 0))
    row.add(.init(since.map { MessageCatalog.grouped($0) } ?? "-"), .number(since ?? -1))
    row.add(.init(MessageCatalog.grouped(window.served)), .number(window.served))
    row.add(.init(MessageCatalog.grouped(window.restarts)), .number(window.restarts))
    row.add(
      .init(StatusRenderer.memory((window.memoryBytes ?? 0) / 1024)), .number(window.memoryBytes ?? 0))
    let sum = history.reduce(Int64(0)) { $0 &+ $1 }
    row.add(.init(Sparkline.text(history), .waiting), .number(sum))
    return row
  }

  private func state(_ window: BoardWindow) -> TextTable.Cell {
    if window.isFailed == true { return .init(messages.failed, .alarm) }
    let role: Palette.Role? =
      switch window.state {
      case .serving: .serving
      case .backoff, .stopped: .alarm
      case .starting, .idle: nil
      }
    return .init(messages.state(window.state), role)
  }

  /// First ticket of a window, number of further ones, and progress: `7 +3 · 40%`.
  private func ticket(_ window: BoardWindow, _ percent: Int?) -> String {
    guard let first = window.tickets.first else { return "-" }
    let more = window.tickets.count > 1 ? " +\(window.tickets.count - 1)" : ""
    return String(first) + more + (percent.map { " · \($0)%" } ?? "")
  }
}
