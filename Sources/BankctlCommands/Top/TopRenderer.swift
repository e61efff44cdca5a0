// Layout of the dashboard on a terminal of any size: header, tabs, content, prompt or notice, keys.
// Invariant: the lines fit the terminal in number and width. The selected row is shown, and hidden rows are counted
// if there is room.
import Arguments
import Posix
import Time
import Wire

/// Makes the lines of the dashboard.
struct TopRenderer {
  let model: TopModel
  let now: MonotonicTime
  let palette: Palette

  /// Maximum scroll offset of a text, and number of rows for the content.
  typealias Room = (push: Int, rows: Int)

  private var messages: MessageCatalog { model.messages }

  /// All lines of the screen, and the room for the content.
  func lines(size: Terminal.Size?) -> (lines: [String], room: Room) {
    let (columns, rows) = (size?.columns ?? 80, size?.rows ?? 24)
    let isLow = rows < 16
    let frame = ScreenFrame(
      title: head(columns, isLow: isLow) + [tabs(columns)], extra: note(columns), notice: notice(columns),
      keys: keys(columns))
    let (head, foot) = frame.fitted(rows: rows, leaving: 3)
    // On short terminals drop empty rows in favour of content.
    let tight = { (lines: [String]) in isLow ? lines.filter { !$0.isEmpty } : lines }
    let (above, below) = (tight(head), tight(foot))
    let height = max(1, rows - above.count - below.count)
    let (body, push) = page(columns, height)
    let filling = [String](repeating: "", count: max(0, height - body.count))
    let lines = (above + body + filling + below).prefix(rows).map { Screen.cut($0, to: columns) }
    return (lines, (push, height))
  }

  // MARK: - Header

  /// State, numbers, rates and branches, above the tabs.
  private func head(_ columns: Int, isLow: Bool) -> [String] {
    guard let (topFrame, time) = model.shown(at: now) else { return [] }
    let frame = topFrame.frame
    let state = TextTable.Cell(messages.state(frame.state), frame.state == .open ? .waiting : .alarm)
    let business = topFrame.businessMilliseconds(at: time)
    let frozen = model.frozen == nil ? [] : [TextTable.Cell(messages.isFrozen, .alarm)]
    let process = "pid \(frame.coordinator.pid), " + messages.generation(frame.coordinator.generation)
    let beginning = [state] + frozen + [TextTable.Cell(messages.day(frame.day))]
    // If there is no room for the label, the business time is shown without it. A running timer is
    // recognisable.
    let timers = [
      messages.businessTime(milliseconds: business), MessageCatalog.timer(milliseconds: business),
    ]
    let used = beginning.reduce(0) { $0 + DisplayWidth.of($1.text) + 3 }
    let timer = timers.first { used + DisplayWidth.of($0) <= columns } ?? timers[1]
    let first = row(beginning + [.init(timer), .init(process, .quiet)], " · ", columns)
    let counts = model.isOfThisBranchAlone ? frame.counts : frame.bank ?? frame.counts
    let queue = QueueReport(
      issued: counts.issued, waiting: counts.waiting, delayed: counts.delayed, serving: counts.serving,
      served: counts.served, dead: counts.dead, cancelled: counts.cancelled, oldestWaitMilliseconds: 0)
    var numbers = Screen.flow(StatusRenderer.terms(queue, messages), separator: " ", columns: columns)
    // If there is little room, the number of issued tickets is omitted, so that the line starts with waiting
    // customers.
    if numbers.count > 1 {
      numbers = Screen.flow(
        StatusRenderer.terms(queue, messages).dropFirst().map { String($0.dropFirst(2)) }, separator: " · ",
        columns: columns)
    }
    if isLow { numbers = Array(numbers.prefix(1)) }
    return [first] + numbers + [rates(topFrame, wall: topFrame.wall(at: time), columns)]
      + (isLow ? [] : branches(frame, columns))
  }

  /// The branches of a shared bank in one line, as many as fit, the branch of this home first.
  private func branches(_ frame: BoardFrame, _ columns: Int) -> [String] {
    guard let all = frame.branches else { return [] }
    let chosen = all.filter { model.branch == nil || $0.number == model.branch }
    guard !chosen.isEmpty else {
      let sentence = messages.noSuchBranch(model.branch ?? 0, among: all.map(\.number))
      return [palette.paint(Screen.cut(sentence, to: columns), .alarm)]
    }
    let sorted = chosen.filter(\.isThis) + chosen.filter { !$0.isThis }
    let cells = zip(messages.eachBranch(sorted), sorted).map { text, branch in
      TextTable.Cell(text, branch.state == .expired ? .alarm : branch.isThis ? .heading : nil)
    }
    return [row(cells, " · ", columns)]
  }

  /// The rates and the plot of the last minute, as far as they fit.
  private func rates(_ topFrame: TopFrame, wall: Int64, _ columns: Int) -> String {
    let minute = topFrame.minute.seconds(by: wall)
    let parts = messages.servedRates(topFrame.frame.rates)
    let isWide = columns >= 72
    let text = (isWide ? parts : Array(parts.prefix(1))).joined(separator: " · ")
    let room = max(0, min(minute.count, columns - DisplayWidth.of(text) - 2))
    return text + "  " + palette.paint(Sparkline.text(minute.suffix(room)), .waiting)
  }

  /// The parts that fit in one line, at least the first.
  private func row(_ parts: [TextTable.Cell], _ separator: String, _ columns: Int) -> String {
    var (line, width) = ("", 0)
    for part in parts {
      let added = DisplayWidth.of(part.text) + (width == 0 ? 0 : DisplayWidth.of(separator))
      guard width == 0 || width + added <= columns else { break }
      line += (width == 0 ? "" : separator) + palette.paint(part.text, part.role)
      width += added
    }
    return line
  }

  /// The line with the tabs; on a narrow terminal only the shown one has its name.
  private func tabs(_ columns: Int) -> String {
    /// Digit and name of a tab, in brackets if the tab is shown.
    func title(_ tab: TopTab, _ isNamed: Bool) -> TextTable.Cell {
      let dead = model.shown(at: now)?.moment.frame.counts.dead ?? 0
      let count = tab == .dead && dead > 0 ? " (\(MessageCatalog.grouped(dead)))" : ""
      let name = (isNamed ? " " + messages.tab(tab) : "") + count
      guard tab == model.tab else { return .init("\(tab.rawValue)\(name)", .quiet) }
      return .init("[\(tab.rawValue)\(name)]", .heading)
    }
    for isNamed in [true, false] {
      let cells = TopTab.allCases.map { title($0, isNamed || $0 == model.tab) }
      let width = cells.reduce(-2) { $0 + DisplayWidth.of($1.text) + 2 }
      if width <= columns || !isNamed {
        return cells.map { palette.paint($0.text, $0.role) }.joined(separator: "  ")
      }
    }
    return ""
  }

  // MARK: - Content

  /// The lines of the content, and the maximum scroll offset.
  private func page(_ columns: Int, _ height: Int) -> (lines: [String], push: Int) {
    switch model.mode {
    case .help: return text(help(columns), height)
    case .timeline(let timeline): return text(lines(of: timeline, columns), height)
    case .list, .filtering, .asking: break
    }
    switch model.tab {
    case .stock: return text(filtered(model.shop.stockLines(messages, palette, columns: columns)), height)
    case .vending: return text(filtered(model.shop.machineLines(messages, palette, columns: columns)), height)
    case .windows, .lines, .dead, .log: return (table(columns, height), 0)
    }
  }

  /// The part of a text that fits, from the scroll offset on.
  private func text(_ lines: [String], _ height: Int) -> (lines: [String], push: Int) {
    guard lines.count > height else { return (lines, 0) }
    let room = max(1, height - 1)
    let push = max(0, lines.count - room)
    let first = min(model.scrollOffset, push)
    let shown = lines[first..<min(lines.count, first + room)]
    let marks = [("↑", first), ("↓", lines.count - first - shown.count)].filter { $0.1 > 0 }
    let mark = marks.map { "\($0.0) \(messages.more($0.1))" }.joined(separator: "  ")
    return (Array((shown + [palette.paint(mark, .quiet)]).prefix(height)), push)
  }

  /// The lines that contain the filter text.
  private func filtered(_ lines: [String]) -> [String] {
    let filter = model.view.filter.lowercased()
    return filter.isEmpty ? lines : lines.filter { $0.lowercased().contains(filter) }
  }

  /// The events of a customer, folded to the width.
  private func lines(of timeline: TicketTimelineView, _ columns: Int) -> [String] {
    guard let report = timeline.report else { return [messages.doing(.ticket)] }
    return TicketTimelineRenderer(ticket: report, messages: messages, palette: palette).lines
      .flatMap { Screen.folded($0, columns: columns) }
  }

  /// The keys and their meanings.
  private func help(_ columns: Int) -> [String] {
    var table = TextTable([.left, .left])
    for (key, meaning) in messages.topHelp(isChaos: model.isChaos) {
      table.add([.init(key, .heading), .init(meaning)])
    }
    return table.lines(palette, within: columns)
  }

  /// Fixed headings, and the rows around the selected one.
  private func table(_ columns: Int, _ height: Int) -> [String] {
    let lists = model.lists(at: now)
    let selected = model.selected(in: lists)?.key
    var entries: [[String]] = []
    var heading: [String] = []
    var chosen = 0
    for (place, list) in lists.enumerated() {
      let sorted = place == 0 ? model.view.sorted : nil
      let lines = list.lines(selected: selected, sorted: sorted, palette, columns: columns)
      if place == 0 { heading = Array(lines.prefix(1)) } else if !list.rows.isEmpty { entries.append([""]) }
      for (row, line) in zip(list.rows, lines.dropFirst()) {
        if row.key == selected { chosen = entries.count }
        let isFirstBelow = place > 0 && row.key == list.rows.first?.key
        entries.append(isFirstBelow ? [lines[0], line] : [line])
      }
    }
    if let messageDetail { entries.append([palette.paint(messageDetail, .quiet)]) }
    guard height > 2 else { return shown(entries, chosen, height) }
    return heading + shown(entries, chosen, height - heading.count)
  }

  /// The entries that fit around the chosen one.
  private func shown(_ entries: [[String]], _ chosen: Int, _ room: Int) -> [String] {
    Screen.window(entries, around: chosen, room: room, messages, palette)
  }

  /// Additional line at the end of a list, such as the number of hidden rows.
  private var messageDetail: String? {
    guard let (topFrame, _) = model.shown(at: now) else { return nil }
    switch model.tab {
    case .windows:
      let hidden = Int(clamping: topFrame.frame.hidden.windows)
      return topFrame.frame.windows.isEmpty ? messages.noWindows : hidden > 0 ? messages.more(hidden) : nil
    case .lines:
      let hidden = Int(clamping: topFrame.frame.hidden.waiting)
      return hidden > 0 ? messages.more(hidden) : nil
    case .dead:
      let (shown, all) = (model.letters.shown.count, topFrame.frame.counts.dead)
      return shown == 0
        ? (all == 0 ? messages.noCustomers : nil) : shown < all ? messages.deadLetters(shown, of: all) : nil
    case .log, .stock, .vending: return nil
    }
  }

  // MARK: - Prompts and notices

  /// Lines about the process that was killed from the dashboard, and the recovery.
  private func note(_ columns: Int) -> [String] {
    guard let kill = model.kill else { return [] }
    return Screen.sentence(messages.killed(kill), columns: columns).map {
      palette.paint($0, kill.isOver ? .waiting : .alarm)
    }
  }

  /// The prompt, or the filter and the notice.
  private func notice(_ columns: Int) -> [String] {
    if case .asking(let question) = model.mode {
      return Screen.sentence(messages.ask(question), columns: columns).map { palette.paint($0, .alarm) }
    }
    let isTyped = model.mode == .filtering
    let filter =
      isTyped || !model.view.filter.isEmpty
      ? Screen.sentence(messages.filter(model.view.filter, isTyped: isTyped), columns: columns) : []
    let notice = model.notice.lines(hasSnapshot: model.live != nil, columns: columns, palette)
    return filter + notice.filter { !$0.isEmpty }
  }

  /// The line with the most important keys.
  private func keys(_ columns: Int) -> [String] {
    let hints =
      switch model.mode {
      case .list: messages.topKeys(model.tab, isChaos: model.isChaos)
      case .help, .timeline: [messages.anyKeyReturns]
      case .filtering, .asking: [String]()
      }
    return [row(hints.map { .init($0, .quiet) }, " · ", columns)]
  }
}
