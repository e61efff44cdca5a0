// What people read: both languages, every failure, every exit code, widths and colours.
import Arguments
import BankModel
import ControlClient
import Posix
import Testing
import Wire

@testable import bankctl

private let english = Words(language: .english)
private let korean = Words(language: .korean)

private func hasHangul(_ text: String) -> Bool {
  text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
}

@Test("the command table has no faults, and every command is behind its words")
func table() {
  #expect(BankctlTable.table.faults() == [])
  for command in BankctlTable.table.commands {
    #expect(Commands.command(named: command.name) != nil, "\(command.name)")
  }
}

@Test("every refusal of the coordinator has a sentence in both languages", arguments: Failure.Code.allCases)
func failures(code: Failure.Code) {
  for subject in ["", "7", "7 serving"] {
    let failure = CommandError.failure(Failure(code, subject: subject, detail: "why"))
    for words in [english, korean] {
      let complaint = words.complaint(about: failure, home: "/h")
      #expect(complaint?.code == code.rawValue)
      let message = complaint?.message ?? ""
      #expect(!message.contains("\n") && message.utf8.count > 20)
      #expect(hasHangul(message) == (words.language == .korean))
    }
  }
}

@Test("every refusal has its exit code")
func exitCodes() {
  let expected: [Failure.Code: Int32] = [
    .queueFull: 75, .draining: 75, .diskFull: 75, .notOpen: 3, .noSuchTicket: 4, .noSuchDay: 4,
    .alreadyOpen: 5,
    .wrongState: 5, .badRequest: 2, .badConfiguration: 2, .damaged: 1, .newerSchema: 1, .badHome: 1,
    .windowsFailed: 1, .system: 1, .inspected: 75, .keyConflict: 5, .wrongDay: 5,
  ]
  for code in Failure.Code.allCases { #expect(ProgramExit(code).rawValue == expected[code], "\(code)") }
  let documented = Set(BankctlTable.table.exitCodes.map(\.code))
  #expect(documented == Set(ProgramExit.allCases.map(\.rawValue)))
}

@Test("every broken conversation has a sentence in both languages")
func connections() {
  let crowded = Refusal(reason: .crowded, build: "b", detail: "d")
  let errors: [ControlError] = [
    .notOpen(socket: "/s", stale: true), .notPermitted(socket: "/s"), .busy(socket: "/s"),
    .otherVersion(theirs: 2, build: "b"), .refused(crowded),
    .refused(Refusal(reason: .hello, build: "b", detail: "d")), .lost, .timedOut(what: "w"),
    .malformed(detail: "d"), .unexpected(detail: "d"),
    .system(SystemError(call: "poll", subject: "", code: 5)), .programMissing(places: ["/a", "/b"]),
    .coordinatorEnded(Posix.ExitStatus(ending: .code(3), maxResidentBytes: 0)),
  ]
  for error in errors {
    for words in [english, korean] {
      let message = words.sentence(error, home: "/h")
      #expect(hasHangul(message) == (words.language == .korean) && !message.contains("\n"))
    }
  }
  #expect(ProgramExit(.notOpen(socket: "", stale: false)) == .notOpen)
  #expect(ProgramExit(.refused(crowded)) == .later)
  #expect(ProgramExit(.lost) == .failed)
  #expect(english.complaint(about: .readerGone, home: "/h") == nil)
}

@Test("the timer counts minutes, seconds and milliseconds, and goes on beyond an hour")
func timer() {
  #expect(Words.timer(milliseconds: 0) == "00:00:000")
  #expect(Words.timer(milliseconds: 4_410) == "00:04:410")
  #expect(Words.timer(milliseconds: 61 * 60_000 + 1_002) == "61:01:002")
  #expect(Words.timer(milliseconds: -5) == "00:00:000")
  #expect(korean.businessTime(milliseconds: 4_410) == "업무시간 - 00:04:410")
}

@Test("numbers and spans are written for people")
func numbers() {
  #expect(
    [0, 999, 1000, 1_234_567, -1234].map(Words.grouped) == ["0", "999", "1,000", "1,234,567", "-1,234"])
  #expect(Words.grouped(.min) == "-9,223,372,036,854,775,808")
  #expect(english.span(milliseconds: 812) == "812 ms")
  #expect(english.span(milliseconds: 4_410) == "4.4 s")
  #expect(english.span(milliseconds: 200_000) == "3 min 20 s")
  #expect(english.span(milliseconds: 7_500_000) == "2 h 5 min")
}

@Test("the menu and the told-off input are the originals'")
func menu() {
  #expect(korean.menu == "1 : 은행개점\n2 : 종료\n입력 : ")
  #expect(korean.wrongInput == "잘못된 입력입니다.")
}

@Test("the end of a closed day is the original closing message")
func closing() {
  var report = StoppedReport(
    day: 1, served: 10, businessMilliseconds: 4_410, waiting: 0, dead: 0, isDayClosed: true)
  #expect(korean.stopped(report) == ["업무가 마감되었습니다. 오늘 업무를 처리한 고객은 총 10명이며, 총 업무시간은 4.41초입니다."])
  report.isDayClosed = false
  report.waiting = 3
  report.dead = 1
  #expect(english.stopped(report).count == 3)
  #expect(english.stopped(report)[1].contains("3"))
}

@Test("a person's word is shown without control characters")
func quoting() {
  #expect(english.quoted("a\u{1B}[31m\n") == "'a\\u{1b}[31m\\u{a}'")
}

// MARK: Pictures

@Test("columns line up where Hangul takes two places, and colours change no width")
func widths() {
  var table = TextTable([.left, .right, .left])
  table.add([.init("업무"), .init("1"), .init("멈춤", .alarm)])
  table.add([.init("deposit"), .init("1,000"), .init("")])
  #expect(table.lines(.none) == ["업무         1  멈춤", "deposit  1,000"])
  #expect(table.lines(Palette(isOn: true)) == ["업무         1  \u{1B}[31m멈춤\u{1B}[0m", "deposit  1,000"])
}

@Test("the picture of a bank", arguments: [Language.korean, .english])
func statusPicture(language: Language) {
  let lines = StatusPicture(report: picture(), words: Words(language: language), palette: .none).lines
  if language == .korean {
    #expect(lines[0].hasPrefix("영업 중 · 영업 1일차 · 업무시간 - 00:04:410"))
    #expect(lines[1] == "발급 10 = 대기중 3 + 업무중 3 + 완료 4 · 맨 앞 고객 812밀리초 대기")
    #expect(lines[4] == "예금     2       1       2     3")
    #expect(lines[5] == "대출     1       2       1     1  멈춤")
  } else {
    #expect(lines[1] == "issued 10 = waiting 3 + serving 3 + served 4 · first in line for 812 ms")
  }
  #expect(lines.count == 10)
  #expect(!lines.contains { $0.hasSuffix(" ") })
}

@Test("colours only on a terminal that takes them")
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

@Test("a screen is redrawn in its place, within its size")
func screen() {
  var screen = Screen()
  #expect(screen.redraw(["a", "b"], size: nil) == "\u{1B}[Ka\n\u{1B}[Kb\n\u{1B}[J")
  #expect(screen.redraw(["c"], size: nil) == "\u{1B}[2A\r\u{1B}[Kc\n\u{1B}[J")
  #expect(Screen.cut("업무시간", to: 5) == "업무")
  #expect(Screen.cut("\u{1B}[31m업무시간\u{1B}[0m", to: 4) == "\u{1B}[31m업무\u{1B}[0m")
}

@Test("progress is silent for a second, then a bar on a terminal and plain lines elsewhere")
func progress() {
  final class Clock { var now = MonotonicInstant(nanoseconds: 0) }
  for isTerminal in [true, false] {
    let clock = Clock()
    var written: [String] = []
    let meter = ProgressMeter(
      words: english, isTerminal: isTerminal, columns: 100, now: { clock.now }, write: { written.append($0) })
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
          "\r\u{1B}[Kserving [############------------] 50% 500/1,000 · 250/s · 2.0 s left", "\r\u{1B}[K",
        ])
    } else {
      #expect(written == ["serving 50% 500/1,000 · 250/s · 2.0 s left\n"])
    }
  }
}
