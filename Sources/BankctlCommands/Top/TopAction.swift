// Action of a dashboard key on the selected row: the request to the bank, or the reason why there is no
// request.
// Invariant: actions that kill a process or cancel a customer need a confirmation.
import BankModel
import Wire

enum TopAction: Sendable, Equatable {
  case timeline, pause, openWindow, closeWindow, requeue, cancel, kill

  enum Outcome: Sendable, Equatable {
    case ask(ControlCommand)
    case confirm(TopQuestion)
    /// Show the history of this customer.
    case timeline(Int64)
    case refuse(String)
  }

  /// - Parameter isChaos: True if the user has allowed killing processes from the dashboard.
  init?(_ key: Key, isChaos: Bool) {
    switch key {
    case .enter: self = .timeline
    // The second character is the same key with a Korean keyboard layout, or without Shift.
    case .character("p"), .character("ㅔ"): self = .pause
    case .character("+"), .character("="): self = .openWindow
    case .character("-"), .character("_"), .character("\u{2212}"): self = .closeWindow
    case .character("r"), .character("ㄱ"): self = .requeue
    case .character("x"), .character("ㅌ"): self = .cancel
    case .character("K") where isChaos: self = .kill
    default: return nil
    }
  }

  /// - Parameter pending: Requested numbers of windows whose requests are not answered yet.
  func outcome(
    at row: TopRow?, in tab: TopTab, _ frame: BoardFrame, pending: [ServiceName: Int64],
    _ messages: MessageCatalog
  ) -> Outcome {
    switch self {
    case .timeline: return row?.ticket.map { .timeline($0) } ?? .refuse(messages.noCustomerSelected)
    case .cancel:
      guard let ticket = row?.ticket else { return .refuse(messages.noCustomerSelected) }
      return .confirm(.cancel(ticket: ticket, day: frame.day))
    case .requeue:
      guard tab == .dead, let ticket = row?.ticket else { return .refuse(messages.noLetterSelected) }
      return .ask(.requeue(ticket, day: frame.day))
    case .pause:
      guard let service = Self.service(of: row, frame) else { return .refuse(messages.noServiceSelected) }
      return .ask(service.paused ? .resume(service.service) : .pause(service.service))
    case .openWindow: return scale(by: 1, row, frame, pending, messages)
    case .closeWindow: return scale(by: -1, row, frame, pending, messages)
    case .kill:
      guard tab == .windows, let window = row?.window else { return .refuse(messages.noWindowSelected) }
      guard let pid = window.pid else { return .refuse(messages.noProcessAt(window.window)) }
      return .confirm(.kill(window, pid: pid))
    }
  }

  private func scale(
    by step: Int64, _ row: TopRow?, _ frame: BoardFrame, _ pending: [ServiceName: Int64],
    _ messages: MessageCatalog
  ) -> Outcome {
    guard let service = Self.service(of: row, frame) else { return .refuse(messages.noServiceSelected) }
    let count = (pending[service.service] ?? Int64(service.windows)) &+ step
    guard 0...Limits.windowsPerService ~= count else { return .refuse(messages.noSuchWindows) }
    return .ask(.scale([ServiceWindows(service: service.service, count: count)]))
  }

  private static func service(of row: TopRow?, _ frame: BoardFrame) -> BoardService? {
    frame.services.first { $0.service == row?.service }
  }
}
