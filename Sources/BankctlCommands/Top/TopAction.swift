// Action of a dashboard key on the selected row: the request to the bank, or the reason why there is no
// request.
// Invariant: actions that kill a process or cancel a customer need a confirmation.
import BankModel
import Wire

/// An action that a key of the dashboard requests for the selected row, such as to pause its service.
enum TopAction: Sendable, Equatable {
  case timeline, pause, openWindow, closeWindow, requeue, cancel, kill

  /// What the dashboard does for an action.
  enum Outcome: Sendable, Equatable {
    case ask(ControlCommand)
    case confirm(TopQuestion)
    /// Show the events of this customer.
    case timeline(Int64)
    case refuse(String)
  }

  /// The action of a key; nil if the key has none.
  /// - Parameter isChaos: True if the user has allowed killing processes from the dashboard.
  init?(_ key: Key, isChaos: Bool) {
    switch key {
    case .enter: self = .timeline
    // Further characters of a case are the same key with a Korean layout or another Shift state, or the minus sign.
    case .character("p"), .character("ㅔ"): self = .pause
    case .character("+"), .character("="): self = .openWindow
    case .character("-"), .character("_"), .character("\u{2212}"): self = .closeWindow
    case .character("r"), .character("ㄱ"): self = .requeue
    case .character("x"), .character("ㅌ"): self = .cancel
    case .character("K") where isChaos: self = .kill
    default: return nil
    }
  }

  /// What the dashboard does for the action on the selected row. `pending`: numbers of windows requested and not
  /// answered yet.
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

  /// The request for one window more or fewer of the service of the row.
  private func scale(
    by step: Int64, _ row: TopRow?, _ frame: BoardFrame, _ pending: [ServiceName: Int64],
    _ messages: MessageCatalog
  ) -> Outcome {
    guard let service = Self.service(of: row, frame) else { return .refuse(messages.noServiceSelected) }
    let count = (pending[service.service] ?? Int64(service.windows)) &+ step
    guard 0...Limits.windowsPerService ~= count else { return .refuse(messages.noSuchWindows) }
    return .ask(.scale([ServiceWindows(service: service.service, count: count)]))
  }

  /// The service of a row; nil if no row is selected or the row has none.
  private static func service(of row: TopRow?, _ frame: BoardFrame) -> BoardService? {
    frame.services.first { $0.service == row?.service }
  }
}
