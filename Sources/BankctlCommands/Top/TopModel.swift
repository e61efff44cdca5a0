// State of the terminal dashboard, and the meaning of keys: tab, row, request.
// Invariant: a request identifies its object by ticket number, by window, generation and pid, or by service, so a key
// on an outdated display cannot affect another object. Killing a process and cancelling a customer need a
// confirmation.
import BankModel
import JSONOutput
import StockClient
import Time
import VendingClient
import Wire

/// A tab of the dashboard; the raw value is its digit key.
enum TopTab: Int, CaseIterable, Sendable {
  case windows = 1
  case lines, dead, stock, vending, log
}

/// A question whether to execute an action that the user must confirm.
enum TopQuestion: Sendable, Equatable {
  case cancel(ticket: Int64, day: Int64)
  case kill(BoardWindow, pid: Int32)
}

/// State of the dashboard.
struct TopModel {
  /// What a key requests.
  enum UserCommand: Sendable, Equatable {
    case leave
    case ask(ControlCommand)
  }

  /// What the keys apply to: the tab, its filter, a question, the help or the events of a customer.
  enum Mode: Sendable, Equatable {
    case list
    /// The user types a filter.
    case filtering
    case asking(TopQuestion)
    case help
    case timeline(TicketTimelineView)
  }

  /// What the user has set for the lists of one tab: selected row, sorted column, filter.
  struct ListView: Sendable, Equatable {
    var cursor = RowCursor()
    var sorted = 0
    var filter = ""
  }

  let messages: MessageCatalog
  let isChaos: Bool
  /// The branch of a shared bank to show; nil for all.
  let branch: Int64?
  private let home: String
  private(set) var tab = TopTab.windows
  private(set) var mode = Mode.list
  /// The latest data of the bank; nil before the first snapshot.
  private(set) var live: TopFrame?
  /// Data shown while frozen, and the time of freezing.
  private(set) var frozen: (moment: TopFrame, at: MonotonicTime)?
  private(set) var letters = DeadLetterList()
  private(set) var kill: KillTracker?
  var notice: ServiceNotice
  var shop = TopShop()
  /// Index of the first visible line of a text.
  private(set) var scrollOffset = 0
  /// Maximum of `scrollOffset`, and number of rows for the tab.
  var room = (push: 0, rows: 10)
  private var views: [TopTab: ListView] = [.log: ListView(cursor: RowCursor(followsEnd: true))]
  /// Requested numbers of windows whose requests are not answered yet.
  private var targets: [ServiceName: Int64] = [:]

  init(_ messages: MessageCatalog, isChaos: Bool, home: String, branch: Int64? = nil) {
    (self.messages, self.isChaos, self.home, self.branch) = (messages, isChaos, home, branch)
    notice = ServiceNotice(absence: messages.bankWaits, refusedKey: messages.bankIgnoredKey)
  }

  /// True if the bank was closing or closed at its last snapshot.
  var isClosing: Bool { live?.frame.state == .draining || live?.frame.state == .closed }
  /// True if the numbers are those of the branch of this home and not of the whole bank.
  var isOfThisBranchAlone: Bool {
    guard let branch else { return false }
    return live?.frame.branches?.contains { $0.isThis && $0.number == branch } == true
  }
  var view: ListView { views[tab] ?? ListView() }

  /// The data to show and the time to show it for: those of the freeze, otherwise the latest data now; nil before the
  /// first.
  func shown(at now: MonotonicTime) -> (moment: TopFrame, at: MonotonicTime)? {
    frozen ?? live.map { ($0, now) }
  }

  /// The lists of the tab, filtered and sorted; empty for a tab with text, or before the first snapshot.
  func lists(at now: MonotonicTime) -> [TopList] {
    guard let (topFrame, time) = shown(at: now) else { return [] }
    let rows = LineRows(topFrame: topFrame, messages: messages)
    var lists: [TopList]
    switch tab {
    case .windows:
      lists = [WindowRows(topFrame: topFrame, wall: topFrame.wall(at: time), messages: messages).list]
    case .lines: lists = [rows.services, rows.waiting]
    case .dead: lists = [rows.dead(letters.shown)]
    case .log: lists = [rows.log]
    case .stock, .vending: lists = []
    }
    for place in lists.indices {
      lists[place].filter(view.filter)
      if place == 0 { lists[place].sort(by: view.sorted) }
    }
    return lists
  }

  // MARK: - Messages

  /// Takes over a snapshot.
  mutating func handle(_ frame: BoardFrame, at now: MonotonicTime) {
    if live == nil { live = TopFrame(frame, at: now) } else { live?.handle(frame, at: now) }
    kill?.handle(frame)
    letters.noteChange()
    if case .timeline(var timeline) = mode {
      timeline.noteChange()
      mode = .timeline(timeline)
    }
    if view.cursor.key == nil { settle(at: now) }
    notice.forgetAbsence()
  }

  /// Handles the answer to a request, or one part of an answer in several parts.
  mutating func handle(_ answer: ControlAnswer, to command: ControlCommand, more: Bool) {
    if case .scale(let windows) = command { for window in windows { forgetTarget(window) } }
    if case .failure(let failure) = answer { return handle(failure, to: command) }
    if case .status(let report) = answer { live?.handle(report.services) }
    switch (command, answer) {
    case (.tickets, .tickets(let page)): letters.handle(page, more: more)
    case (.ticket(let number, _), .ticket(let report)):
      guard case .timeline(var timeline) = mode, timeline.ticket == number else { return }
      timeline.report = report
      mode = .timeline(timeline)
    case (.cancel(let number, _), .ticket): notice.say(messages.cancelled(number), isAlarm: false)
    case (.requeue(let number, _), .ticket): notice.say(messages.requeued(ticket: number), isAlarm: false)
    case (.pause(let service), .status): notice.say(messages.paused(service), isAlarm: false)
    case (.resume(let service), .status): notice.say(messages.resumed(service), isAlarm: false)
    case (.scale, .status(let report)): notice.say(messages.windows(report), isAlarm: false)
    default: break
    }
  }

  /// Shows the refusal of a request.
  private mutating func handle(_ failure: Failure, to command: ControlCommand) {
    switch command {
    case .killWorker: kill = nil
    case .ticket(let number, _):
      if case .timeline(let timeline) = mode, timeline.ticket == number { mode = .list }
    case .tickets: letters.forget()
    default: break
    }
    notice.say(messages.commandFailure(about: .failure(failure), home: home)?.message ?? "")
  }

  /// Handles a lost connection: drops the requests that get no answer any more, and marks what they would update as
  /// outdated.
  mutating func loseAnswers() {
    targets = [:]
    letters.forget()
    if case .timeline(var timeline) = mode {
      timeline.forget()
      mode = .timeline(timeline)
    }
  }

  /// True if the dead letters are requested after a change: their tab is chosen, and neither covered by the help nor
  /// frozen.
  private var showsDeadLetters: Bool { tab == .dead && mode != .help && frozen == nil }

  /// Returns the request that updates an outdated view, once.
  mutating func question(at now: MonotonicTime) -> ControlCommand? {
    if case .timeline(var timeline) = mode, let question = timeline.question(at: now) {
      mode = .timeline(timeline)
      return question
    }
    guard showsDeadLetters else { return nil }
    return letters.question(at: now)
  }

  /// Time at which ``question(at:)`` returns a request; nil before the next change.
  var due: MonotonicTime? {
    if case .timeline(let timeline) = mode { return timeline.due }
    return showsDeadLetters ? letters.due : nil
  }

  /// Time span after which the display changes even if no message arrives; nil for never.
  func pace(at now: MonotonicTime) -> TimeSpan? { frozen == nil ? live?.pace(at: now) : nil }

  // MARK: - Keys

  /// Applies a key. Returns a request if the key makes one.
  mutating func press(_ key: Key, at now: MonotonicTime) -> UserCommand? {
    notice.clear()
    if key == .paste {
      notice.say(messages.pasteIgnored)
      return nil
    }
    switch mode {
    case .filtering:
      type(key)
      settle(at: now)
      return nil
    case .asking(let question):
      mode = .list
      guard key == .character("y") || key == .character("Y") || key == .character("ㅛ") else {
        notice.say(messages.nothingChanged, isAlarm: false)
        return nil
      }
      return answer(question)
    case .help, .timeline:
      if let step = step(key) {
        push(by: step)
      } else if mode != .help || key != .character("z") {
        (mode, scrollOffset) = (.list, 0)
      }
      return nil
    case .list: return pressInList(key, at: now)
    }
  }

  /// Applies a key while a tab is shown and no question, filter or help. Returns a request if the key makes one.
  private mutating func pressInList(_ key: Key, at now: MonotonicTime) -> UserCommand? {
    if let step = step(key) {
      if [.stock, .vending].contains(tab) { push(by: step) } else { move(by: step, at: now) }
      return nil
    }
    switch key {
    // Further characters of a case are the same key with a Korean keyboard layout or another Shift state.
    case .control("d"), .character("q"), .character("ㅂ"): return .leave
    case .control("i"), .right: switchTab(by: 1, at: now)
    case .backTab, .left: switchTab(by: -1, at: now)
    case .character("?"): (mode, scrollOffset) = (.help, 0)
    case .character("/"): mode = .filtering
    case .character("<"), .character(","): sort(by: -1, at: now)
    case .character(">"), .character("."): sort(by: 1, at: now)
    case .character("z"), .character("ㅋ"): freeze(at: now)
    case .escape:
      views[tab, default: ListView()].filter = ""
      kill = nil
    case .character(let digit) where digit.wholeNumberValue.flatMap(TopTab.init) != nil:
      switchTab(to: digit.wholeNumberValue.flatMap(TopTab.init) ?? tab, at: now)
    default: if let action = TopAction(key, isChaos: isChaos) { return perform(action, at: now) }
    }
    return nil
  }

  /// Executes an action on the selected row.
  private mutating func perform(_ action: TopAction, at now: MonotonicTime) -> UserCommand? {
    // Keys are refused before the first snapshot, and while the bank is not connected, so that no old key is
    // executed later.
    guard let action = notice.grant(action, hasSnapshot: live != nil), let frame = live?.frame else {
      return nil
    }
    switch action.outcome(at: selected(in: lists(at: now)), in: tab, frame, pending: targets, messages) {
    case .refuse(let reason): notice.say(reason)
    case .confirm(let question): mode = .asking(question)
    case .timeline(let ticket):
      (mode, scrollOffset) = (.timeline(TicketTimelineView(ticket: ticket, day: frame.day)), 0)
    case .ask(let command):
      if case .scale(let windows) = command {
        for target in windows { targets[target.service] = target.count }
      }
      return .ask(command)
    }
    return nil
  }

  /// The request that the user has confirmed.
  private mutating func answer(_ question: TopQuestion) -> UserCommand {
    switch question {
    case .cancel(let ticket, let day): return .ask(.cancel(ticket, day: day))
    case .kill(let window, let pid):
      kill = KillTracker(window: window.window, generation: window.generation, pid: pid, in: live?.frame)
      return .ask(.killWorker(window: window.window, generation: window.generation, pid: pid))
    }
  }

  /// Removes the requested number of windows of a service after the answer, unless another number was requested since.
  private mutating func forgetTarget(_ windows: ServiceWindows) {
    if targets[windows.service] == windows.count { targets[windows.service] = nil }
  }

  /// Number of rows that a key moves by; nil for any other key.
  private func step(_ key: Key) -> Int? {
    switch key {
    case .up, .character("k"), .character("ㅏ"): -1
    case .down, .character("j"), .character("ㅓ"): 1
    case .pageUp: -max(1, room.rows - 1)
    case .pageDown: max(1, room.rows - 1)
    case .home, .character("g"), .character("ㅎ"): .min
    case .end, .character("G"): .max
    default: nil
    }
  }

  /// Scrolls the shown text by this number of lines, at most to its start or end.
  private mutating func push(by step: Int) {
    let sum = scrollOffset.addingReportingOverflow(step)
    scrollOffset = sum.overflow ? (step < 0 ? 0 : room.push) : max(0, min(sum.partialValue, room.push))
  }

  /// The rows of all lists of the tab.
  private func rows(at now: MonotonicTime) -> [TopRow] { lists(at: now).flatMap(\.rows) }

  /// The selected row among these lists; nil if they are empty.
  func selected(in lists: [TopList]) -> TopRow? {
    let rows = lists.flatMap(\.rows)
    return view.cursor.chosen(in: rows.map(\.key)).map { rows[$0] }
  }

  /// Binds the selection of the tab to the row that is selected now, so that it follows this row when the list changes.
  private mutating func settle(at now: MonotonicTime) {
    let keys = rows(at: now).map(\.key)
    views[tab, default: ListView()].cursor.settle(in: keys)
  }

  /// Moves the selection by rows.
  private mutating func move(by step: Int, at now: MonotonicTime) {
    let keys = rows(at: now).map(\.key)
    views[tab, default: ListView()].cursor.move(by: step, in: keys)
  }

  /// Shows a neighbouring tab; the last one is followed by the first.
  private mutating func switchTab(by step: Int, at now: MonotonicTime) {
    let count = TopTab.allCases.count
    switchTab(to: TopTab.allCases[(tab.rawValue - 1 + step + count) % count], at: now)
  }

  private mutating func switchTab(to tab: TopTab, at now: MonotonicTime) {
    (self.tab, scrollOffset) = (tab, 0)
    settle(at: now)
  }

  /// Sorts the first list by a neighbouring column.
  private mutating func sort(by step: Int, at now: MonotonicTime) {
    guard [.windows, .lines, .dead].contains(tab), let count = lists(at: now).first?.columns.count else {
      return
    }
    settle(at: now)
    views[tab, default: ListView()].sorted = (view.sorted + step + count) % count
  }

  /// Freezes the display, or unfreezes it.
  private mutating func freeze(at now: MonotonicTime) {
    frozen = frozen == nil ? live.map { ($0, now) } : nil
  }

  /// Edits the filter by a key.
  private mutating func type(_ key: Key) {
    switch key {
    case .enter: mode = .list
    case .escape:
      views[tab, default: ListView()].filter = ""
      mode = .list
    case .backspace, .control("h"):
      if view.filter.isEmpty { mode = .list } else { views[tab]?.filter.removeLast() }
    case .character(let character):
      if view.filter.count < 40 { views[tab, default: ListView()].filter.append(character) }
    default: break
    }
  }
}
