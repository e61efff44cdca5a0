// Texts for people: both languages, every failure, every exit code, widths and colours.
import Arguments
import BankModel
import ControlClient
import Posix
import Testing
import Time
import Wire

@testable import BankctlCommands

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

private func hasHangul(_ text: String) -> Bool {
  text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
}

@Test("the command table has no faults, and every command can be called by its words")
func table() {
  #expect(BankctlTable.table.faults() == [])
  for command in BankctlTable.table.commands {
    #expect(Commands.command(named: command.name) != nil, "\(command.name)")
  }
  #expect(BankctlTable.chaosProgram.faults() == [])
  #expect(BankctlTable.chaosProgram.commands[0].options == BankctlTable.chaos.options)
}

@Test("every refusal of the coordinator has a sentence in both languages", arguments: Failure.Code.allCases)
func failures(code: Failure.Code) {
  for subject in ["", "7", "7 serving"] {
    let failure = CommandError.failure(Failure(code, subject: subject, detail: "why"))
    for messages in [english, korean] {
      let commandFailure = messages.commandFailure(about: failure, home: "/h")
      #expect(commandFailure?.code == code.name)
      let message = commandFailure?.message ?? ""
      #expect(!message.contains("\n") && message.utf8.count > 20)
      #expect(hasHangul(message) == (messages.language == .korean))
    }
  }
}

@Test("every refusal has its exit code")
func exitCodes() {
  let expected: [Failure.Code: Int32] = [
    .queueFull: 75, .draining: 75, .diskFull: 75, .notOpen: 3, .noSuchTicket: 4, .noSuchDay: 4,
    .alreadyOpen: 5,
    .wrongState: 5, .badRequest: 2, .badConfiguration: 2, .damaged: 1, .newerSchema: 1, .badHome: 1,
    .startFailed: 1, .system: 1, .inspected: 75, .removed: 1, .keyConflict: 5, .wrongDay: 5, .withdrawn: 1,
    .slowConsumer: 1, .noSuchService: 4, .noSuchWindow: 4, .processChanged: 5, .requiresSharedStore: 5,
    .leaseLost: 75,
    .unsupportedWithSharedStore: 5, .notMoved: 5, .databaseMoved: 5, .fromOwnWork: 5,
  ]
  for code in Failure.Code.allCases { #expect(ProgramExit(code).rawValue == expected[code], "\(code)") }
  let documented = Set(BankctlTable.table.exitCodes.map(\.code))
  #expect(documented == Set(ProgramExit.allCases.map(\.rawValue)))
}

@Test("every broken connection has a sentence in both languages")
func connections() {
  let crowded = Refusal(reason: .crowded, build: "b", detail: "d")
  let errors: [ControlError] = [
    .notOpen(socket: "/s", stale: true), .notPermitted(socket: "/s"), .busy(socket: "/s"),
    .otherVersion(theirs: 2, build: "b"), .refused(crowded),
    .refused(Refusal(reason: .hello, build: "b", detail: "d")), .lost, .noWelcome, .timedOut(what: "w"),
    .malformed(detail: "d"), .unexpected(detail: "d"),
    .system(SystemError(call: "poll", subject: "", code: 5)), .programMissing(places: ["/a", "/b"]),
    .coordinatorEnded(Posix.ExitStatus(ending: .code(3), maxResidentBytes: 0)),
  ]
  for error in errors {
    for messages in [english, korean] {
      let message = messages.sentence(error, home: "/h")
      #expect(hasHangul(message) == (messages.language == .korean) && !message.contains("\n"))
    }
  }
  func commandFailure(_ error: ControlError) -> CommandFailure {
    english.commandFailure(inConversation: error, home: "/h")
  }
  let notOpen = commandFailure(.notOpen(socket: "", stale: false))
  #expect(notOpen.exit == .notOpen && notOpen.code == "not_open")
  #expect(commandFailure(.refused(crowded)).exit == .later)
  #expect(commandFailure(.refused(crowded)).code == "too_many_connections")
  #expect(commandFailure(.busy(socket: "/s")).code == "too_many_connections")
  #expect(commandFailure(.lost).exit == .failed && commandFailure(.lost).code == "connection_lost")
  // It was not asked for anything, so that a repetition does nothing twice.
  #expect(commandFailure(.noWelcome).exit == .later && commandFailure(.noWelcome).code == "server_busy")
  #expect(english.commandFailure(about: .readerGone, home: "/h") == nil)
}

@Test("the timer counts minutes, seconds and milliseconds, and continues beyond an hour")
func timer() {
  #expect(MessageCatalog.timer(milliseconds: 0) == "00:00:000")
  #expect(MessageCatalog.timer(milliseconds: 4_410) == "00:04:410")
  #expect(MessageCatalog.timer(milliseconds: 61 * 60_000 + 1_002) == "61:01:002")
  #expect(MessageCatalog.timer(milliseconds: -5) == "00:00:000")
  #expect(korean.businessTime(milliseconds: 4_410) == "업무시간 - 00:04:410")
}

@Test("numbers and spans are written for people")
func numbers() {
  #expect(
    [0, 999, 1000, 1_234_567, -1234].map(MessageCatalog.grouped) == [
      "0", "999", "1,000", "1,234,567", "-1,234",
    ])
  #expect(MessageCatalog.grouped(Int64.min) == "-9,223,372,036,854,775,808")
  #expect(english.span(milliseconds: 812) == "812 ms")
  #expect(english.span(milliseconds: 4_410) == "4.4 s")
  #expect(english.span(milliseconds: 200_000) == "3 min 20 s")
  #expect(english.span(milliseconds: 7_500_000) == "2 h 5 min")
}

@Test("the menu and the message about bad input are the originals'")
func menu() {
  #expect(korean.menu == "1 : 은행개점\n2 : 종료\n입력 : ")
  #expect(korean.wrongInput == "잘못된 입력입니다.")
}

@Test("the end of a closed day is the original closing message")
func closing() {
  var report = StoppedReport(
    day: 1, served: 10, businessMilliseconds: 4_410, waiting: 0, dead: 0, isDayClosed: true)
  #expect(korean.stopped(report) == ["업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 4.41초입니다."])
  report.sentAway = 4
  #expect(
    korean.stopped(report) == [
      "재고가 모자라 돌아간 고객은 4명입니다.", "업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 6명이며, 총 업무시간은 4.41초입니다.",
    ])
  #expect(english.stopped(report).last?.contains("Customers served today: 6.") == true)
  report.sentAway = nil
  report.isDayClosed = false
  report.waiting = 3
  report.dead = 1
  #expect(english.stopped(report).count == 3)
  #expect(english.stopped(report)[1].contains("3"))
  report.branch = 2
  #expect(
    english.stopped(report) == [
      "Branch 2 has closed; the other branches continue. Served here on day 1: 10.",
      "Returned to the shared queue: 3.",
    ])
  #expect(korean.stopped(report).first == "지점 2를 닫았습니다. 나머지 지점은 계속 영업합니다. 영업 1일차에 여기서 처리한 고객은 10명입니다.")
  // The count of one branch is not reported as that of the bank.
  report.isDayClosed = true
  #expect(
    english.stopped(report) == [
      "Day 1 has ended at all branches. Served at branch 2: 10. All receipts: 'bankctl receipts --day 1'."
    ])
  #expect(
    korean.stopped(report) == [
      "모든 지점에서 영업 1일차가 끝났습니다. 지점 2에서 처리한 고객은 10명입니다. 모든 영수증: 'bankctl receipts --day 1'"
    ])
}

@Test("a user's text is shown without control characters")
func quoting() {
  #expect(english.quoted("a\u{1B}[31m\n") == "'a\\u{1b}[31m\\u{a}'")
}

@Test("the history of a dead letter shows that it is one, and why", arguments: AttemptEnd.allCases)
func deadLetter(end: AttemptEnd) {
  var ticket = waiting(7)
  ticket.state = .dead
  ticket.attempts = (1...3).map { place in
    AttemptReport(
      window: "deposit-1", generation: Int32(place), pid: 42, startedAt: 1_795_248_000_000 + Int64(place),
      endedAt: 1_795_248_000_500 + Int64(place), end: end, signal: end == .killed ? 9 : nil, code: nil)
  }
  for messages in [english, korean] {
    let lines = TicketTimelineRenderer(ticket: ticket, messages: messages, palette: .none).lines
    let reason = messages.attemptFailed(end) + (end == .killed ? " (SIGKILL)" : "")
    #expect(lines.last?.hasSuffix(messages.becameDead(attempts: 3, reason)) == true, "\(lines)")
    #expect(
      lines.last?.contains(reason) == true && hasHangul(lines.last ?? "") == (messages.language == .korean))
    // No customer returns to the line after the last attempt.
    #expect(!lines.suffix(2).contains { $0.contains(messages.attemptEnded(.killed)) })
    #expect(lines.count { $0.contains(messages.attemptEnded(.killed)) } == (end == .killed ? 2 : 0))
  }
}

@Test("the history of a requeued customer that fails again shows each time, also when cancelled")
func givenUpTwice() {
  var ticket = waiting(7)
  ticket.state = .dead
  ticket.attempts = (1...4).map { place in
    var attempt = AttemptReport(
      window: "deposit-1", generation: Int32(place), pid: 42, startedAt: 1_795_248_000_000 + Int64(place),
      endedAt: 1_795_248_000_500 + Int64(place), end: .killed, signal: 9, code: nil)
    if place == 2 || place == 4 { attempt.isFatal = true }
    return attempt
  }
  for messages in [english, korean] {
    let reason = messages.attemptFailed(.killed) + " (SIGKILL)"
    for state in [CustomerState.dead, .done] {
      ticket.state = state
      let lines = TicketTimelineRenderer(ticket: ticket, messages: messages, palette: .none).lines
      for attempts in [2, 4] {
        #expect(
          lines.count { $0.hasSuffix(messages.becameDead(attempts: attempts, reason)) } == 1, "\(lines)")
      }
      #expect(lines.count { $0.contains(messages.attemptEnded(.killed)) } == 2)
    }
    // If it was not recorded, the history does not say where a cancelled customer was.
    ticket.attempts[3].isFatal = nil
    let lines = TicketTimelineRenderer(ticket: ticket, messages: messages, palette: .none).lines
    #expect(lines.last?.hasSuffix(reason) == true)
    ticket.attempts[3].isFatal = true
  }
}

@Test("drinks made in days to come, or expired already, are marked; all others are not")
func oddDates() {
  let today: DayNumber = 20_000
  for messages in [english, korean] {
    #expect(messages.oddDates("top", made: nil, expires: nil, today: today) == nil)
    #expect(messages.oddDates("top", made: today, expires: today, today: today) == nil)
    #expect(messages.oddDates("top", made: today - 7, expires: nil, today: today) == nil)
    let future = messages.oddDates("top", made: today + 1, expires: nil, today: today)
    #expect(future?.contains(CalendarDate(today + 1).dashed) == true)
    for (made, expires) in [(today - 8, nil), (nil, today - 1), (today - 9, today - 1)]
      as [(DayNumber?, DayNumber?)]
    {
      let text = messages.oddDates("top", made: made, expires: expires, today: today)
      #expect(text?.contains(CalendarDate(today - 1).dashed) == true && text != future)
    }
  }
}

@Test("the remedy of a shortage is named, a command for every fruit")
func mending() {
  let shortages = [
    Shortage(item: "strawberry", needed: 16, available: 10), Shortage(item: "kiwi", needed: 1, available: 0),
  ]
  for messages in [english, korean] {
    #expect(
      messages.restockCommands(by: shortages).hasSuffix(
        "bankctl stock add strawberry 6 && bankctl stock add kiwi 1"))
  }
}

// MARK: Screens

@Test("columns line up with Hangul of two places, and colours change no width")
func widths() {
  var table = TextTable([.left, .right, .left])
  table.add([.init("업무"), .init("1"), .init("중지", .alarm)])
  table.add([.init("deposit"), .init("1,000"), .init("")])
  #expect(table.lines(.none) == ["업무         1  중지", "deposit  1,000"])
  #expect(table.lines(Palette(isOn: true)) == ["업무         1  \u{1B}[31m중지\u{1B}[0m", "deposit  1,000"])
}

@Test("the screen of a bank", arguments: [Language.korean, .english])
func statusPicture(language: Language) {
  let lines = StatusRenderer(report: picture(), messages: MessageCatalog(language: language), palette: .none)
    .lines
  if language == .korean {
    #expect(lines[0].hasPrefix("영업 중 · 영업 1일차 · 업무시간 - 00:04:410"))
    #expect(lines[1] == "발급 10 = 대기중 3 + 업무중 3 + 완료 4 · 맨 앞 고객 812밀리초 대기")
    #expect(lines[4] == "예금     2       1       2     3")
    #expect(lines[5] == "대출     1       2       1     1  일시 중지")
  } else {
    #expect(lines[1] == "issued 10 = waiting 3 + serving 3 + served 4 · oldest wait 812 ms")
  }
  #expect(lines.count == 10)
  #expect(!lines.contains { $0.hasSuffix(" ") })
}

@Test("colours only on a terminal that supports them")
func palette() {
  func isOn(_ isTerminal: Bool, _ variables: [String: String]) -> Bool {
    Palette(isTerminal: isTerminal) { variables[$0] }.isOn
  }
  #expect(isOn(true, ["TERM": "xterm"]))
  #expect(isOn(true, ["NO_COLOR": ""]))
  #expect(!isOn(false, [:]))
  #expect(!isOn(true, ["NO_COLOR": "1"]))
  #expect(!isOn(true, ["TERM": "dumb"]))
  #expect(Palette(isOn: true).paint("7 - 대출", of: .loan) == "\u{1B}[38;5;135m7 - 대출\u{1B}[0m")
  #expect(Palette(isOn: true).paint("7 - 예금", of: .deposit) == "7 - 예금")
}

@Test("a line is cut at the width of a terminal, and its colours are not")
func cutAtTheEdge() {
  #expect(Screen.cut("업무시간", to: 8) == "업무시간")
  #expect(Screen.cut("업무시간", to: 5) == "업무…" && Screen.cut("업무시간", to: 1) == "…")
  #expect(Screen.cut("업무시간", to: 0) == "")
  #expect(Screen.cut("\u{1B}[31m업무시간\u{1B}[0m", to: 4) == "\u{1B}[31m업…\u{1B}[0m")
  #expect(Screen.row("strawberry milk", "3,500 ×12", columns: 20) == "strawberr… 3,500 ×12")
  #expect(Screen.row("kiwi", "3,500 ×12", columns: 20) == "kiwi 3,500 ×12")
}

@Test("a line that is wider than the terminal is broken at its spaces, and no number is torn")
func folding() {
  #expect(Screen.folded("2 - 예금  VIP", columns: 13) == ["2 - 예금  VIP"])
  #expect(Screen.folded("a  b", columns: nil) == ["a  b"])
  #expect(
    Screen.folded("10:53Z  Hot6  1,000 won, good until 2026-11-29", columns: 20) == [
      "10:53Z  Hot6  1,000", "  won, good until", "  2026-11-29",
    ])
  #expect(Screen.folded("  \u{1B}[31m업무 시간\u{1B}[0m", columns: 8) == ["  \u{1B}[31m업무", "시간\u{1B}[0m"])
  let path = "/a/long/path/without/a/space"
  #expect(Screen.folded("kept as \(path)", columns: 12) == ["kept as", "  \(path)"])
  for columns in 1...40 {
    let lines = Screen.folded("  issued 8 = waiting 0 + serving 0 + served 1,208,000", columns: columns)
    #expect(
      lines.joined(separator: " ").split(separator: " ").joined()
        == "issued8=waiting0+serving0+served1,208,000")
    if columns > 13 { #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)") }
  }
}

@Test("rows that a terminal has no room for are counted in its last one; empty rows go first")
func hiddenRows() {
  let lines = (1...20).map { "row \($0)" }
  let size = Terminal.Size(columns: 20, rows: 8)
  #expect(Screen.fit(lines, to: size, english) == lines.prefix(7) + ["… 13 more rows"])
  #expect(Screen.fit(lines, to: size, korean).last == "… 13줄 더 있음")
  #expect(Screen.fit(lines.prefix(8) + ["", ""], to: size, english) == Array(lines.prefix(8)))
  #expect(Screen.fit(Array(lines.prefix(9)), to: size, english).last == "… 2 more rows")
  #expect(Screen.fit(lines, to: Terminal.Size(columns: 20, rows: 1), english) == ["row 1"])
  #expect(Screen.fit(lines, to: nil, english) == lines)
}

@Test("the chosen entry is always in the window, whole if it fits", arguments: 1...12)
func window(room: Int) {
  let entries = (0..<9).map { entry in (0..<(entry % 3 + 1)).map { "\(entry).\($0)" } }
  for chosen in entries.indices {
    let shown = Screen.window(entries, around: chosen, room: room, english)
    #expect(shown.count <= room)
    #expect(entries[chosen].prefix(room).allSatisfy { shown.contains($0) }, "\(chosen): \(shown)")
    guard room > entries[chosen].count else { continue }
    // What is not shown is counted, and nothing is shown in part.
    let counted = shown.compactMap { $0.contains("more") ? Int($0.filter(\.isNumber)) : nil }.reduce(0, +)
    let whole = entries.filter { $0.allSatisfy { shown.contains($0) } }
    #expect(counted == entries.count - whole.count, "\(chosen) in \(room): \(shown)")
    #expect(shown.count { $0.contains(".") } == whole.reduce(0) { $0 + $1.count }, "\(shown)")
  }
}

@Test("a table wider than the terminal lists each row with the headings, and loses nothing")
func narrowTable() {
  var table = TextTable([.left, .right, .left, .right])
  table.addHeadings(["window", "pid", "state", "ticket"])
  table.add([.init("deposit-1"), .init("4243"), .init("serving"), .init("7")])
  table.add([.init("예금-1"), .init("-"), .init("restarting"), .init("-")])
  #expect(table.lines(.none, within: 80) == table.lines(.none))
  #expect(
    table.lines(.none, within: 20) == [
      "deposit-1  pid 4243", "  state serving", "  ticket 7", "예금-1", "  state restarting",
    ])
  #expect(
    table.lines(.none, indent: 2, within: 30) == [
      "  deposit-1  pid 4243", "    state serving  ticket 7", "  예금-1  state restarting",
    ])
}

@Test(
  "the screens of bank, menu and machine can be read on a narrow terminal",
  arguments: [20, 40, 80], [Language.korean, .english])
func narrowPictures(columns: Int, language: Language) {
  let messages = MessageCatalog(language: language)
  let shelves = shelves(["strawberry": 9])
  let menu = MenuRenderer(
    assortment: .standard, picture: shelves, messages: messages, palette: .none, columns: columns)
  let bank = StatusRenderer(report: picture(), messages: messages, palette: .none, columns: columns)
  for lines in [menu.lines, bank.lines] {
    #expect(lines.allSatisfy { DisplayWidth.of($0) <= columns }, "\(lines)")
  }
  for juice in Assortment.standard.juices {
    let name = juice.name(in: language)
    // A name that is wider than the terminal is broken and not cut.
    let isBroken = DisplayWidth.of(name) > columns
    #expect(isBroken || menu.lines.contains { $0.contains(name) }, "\(menu.lines)")
  }
  let all = bank.lines.joined(separator: " ")
  for word in ["4243", "deposit-1", "2.8 MB", messages.state(.serving as WorkerState), messages.paused] {
    #expect(all.contains(word), "\(word): \(bank.lines)")
  }
}

@Test("progress is silent for a second, then a bar on a terminal and plain lines elsewhere")
func progress() {
  final class Clock { var now = MonotonicTime(nanoseconds: 0) }
  for isTerminal in [true, false] {
    let clock = Clock()
    var written: [String] = []
    let meter = ProgressMeter(
      messages: english, isTerminal: isTerminal, columns: 100, now: { clock.now },
      write: { written.append($0) })
    meter.update("serving", done: 0, total: 1000)
    clock.now += .milliseconds(999)
    meter.update("serving", done: 100, total: 1000)
    #expect(written == [])
    clock.now += .milliseconds(1001)
    meter.update("serving", done: 500, total: 1000)
    clock.now += .milliseconds(10)
    meter.update("serving", done: 501, total: 1000)
    meter.finish()
    if isTerminal {
      #expect(
        written == [
          "\r\u{1B}[Kserving [############------------] 50% 500/1,000 · 250/s · 2 s left", "\r\u{1B}[K",
        ])
    } else {
      #expect(written == ["serving 50% 500/1,000 · 250/s · 2 s left\n"])
    }
  }
}

@Test(
  "on a narrow terminal the remaining time is shown before the bar, the pace and the numbers",
  arguments: [
    (100, ["[#", "75%", "1,500,000/2,000,000", "/s", "left"]),
    (80, ["[#", "75%", "1,500,000/2,000,000", "/s", "left"]),
    (66, ["75%", "1,500,000/2,000,000", "/s", "left"]), (60, ["75%", "1,500,000/2,000,000", "left"]),
    (40, ["75%", "left"]), (20, ["75%"]),
  ])
func narrowProgress(columns: Int, wanted: [String]) {
  final class Clock { var now = MonotonicTime(nanoseconds: 0) }
  let clock = Clock()
  var written: [String] = []
  let meter = ProgressMeter(
    messages: english, isTerminal: true, columns: columns, now: { clock.now }, write: { written.append($0) })
  meter.update("taking tickets", done: 0, total: 2_000_000)
  clock.now += .seconds(3)
  meter.update("taking tickets", done: 1_500_000, total: 2_000_000)
  let line = written.joined()
  #expect(DisplayWidth.of(line.replacing("\r\u{1B}[K", with: "")) < columns, "\(written)")
  for part in ["[#", "75%", "1,500,000/2,000,000", "/s", "left"] {
    #expect(line.contains(part) == wanted.contains(part), "\(part): \(written)")
  }
}
