// The presentation of a log line to people and scripts.

import BankModel
import Testing

@testable import Logging

@Suite("Showing log lines") struct LogPresentationTests {
  private func shown(_ line: [UInt8], _ presentation: LogPresentation) -> String {
    var output: [UInt8] = []
    presentation.append(LogRecord(worker: "loan-1", time: 0, line: line), to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  private func shown(_ line: String, _ presentation: LogPresentation) -> String {
    shown(Array(line.utf8), presentation)
  }

  @Test("plain lines are the bytes of the file") func plain() {
    var output: [UInt8] = []
    let line: [UInt8] = [0x1b, 0xff, 0x61]
    LogPresentation.plain.append(LogRecord(worker: "loan-1", time: 0, line: line), to: &output)
    #expect(output == line + [10])
  }

  @Test("JSON has the fields as strings and the known numbers as numbers") func json() {
    let line = """
      ts=2026-11-21T08:00:00.123Z level=info worker=loan-1 pid=4243 gen=2 event=exit day=1 ticket=7 \
      attempt=3 signal=9 code=-1 served=5 msg="7번 고객 \\"예금\\"\\n\\u001b[0m"
      """
    #expect(
      shown(line, .json) == """
        {"ts":"2026-11-21T08:00:00.123Z","level":"info","worker":"loan-1","pid":4243,"gen":2,"event":"exit",\
        "day":1,"ticket":7,"attempt":3,"signal":9,"code":-1,"served":5,"msg":"7번 고객 \\"예금\\"\\n\\u001b[0m"}

        """)
  }

  @Test("JSON has every whole number of a known field or unit as a number, and only as it was written")
  func numbers() {
    #expect(
      shown(
        "took_ms=1100 max_rss_kb=2900 child=7 child_gen=2 signal=SIGTERM code=007 pause_ms=+5 item=5", .json)
          == """
          {"worker":"loan-1","took_ms":1100,"max_rss_kb":2900,"child":7,"child_gen":2,"signal":"SIGTERM",\
          "code":"007","pause_ms":"+5","item":"5"}

          """)
  }

  @Test("JSON names the worker if the line does not, and has a repeated key once") func defaults() {
    #expect(
      shown("pid=x day=99999999999999999999 a=1 a=2", .json) == """
        {"worker":"loan-1","pid":"x","day":"99999999999999999999","a":"1"}

        """)
  }

  @Test("a line that is not logfmt is JSON too") func foreign() {
    #expect(shown("panic: \"no\"\t\\", .json) == #"{"worker":"loan-1","line":"panic: \"no\"\t\\"}"# + "\n")
    #expect(
      shown([0x00, 0xff, 0x7f], .json) == "{\"worker\":\"loan-1\",\"line\":\"\\u0000\u{fffd}\\u007f\"}\n")
    #expect(shown("", .json) == "{\"worker\":\"loan-1\",\"line\":\"\"}\n")
  }

  @Test("on a terminal no control character gets through, from any writer") func terminal() {
    let evil = "\u{1b}[2J\u{7}\r\u{9b}31m\u{202e}abc\u{7f}\ttab 예금 🍓"
    let visible = "\\u001b[2J\\u0007\\u000d\\u009b31m\\u202eabc\\u007f\ttab 예금 🍓\n"
    #expect(shown(evil, .terminal(coloured: false)) == visible)
    #expect(shown(evil, .terminal(coloured: true)) == visible)
  }

  @Test("colours a line by its level, and frequent events not at all") func colour() {
    for (level, colour) in [("error", "31"), ("warn", "33"), ("debug", "2")] {
      #expect(
        shown("level=\(level) a=1", .terminal(coloured: true))
          == "\u{1b}[\(colour)mlevel=\(level) a=1\u{1b}[0m\n")
      #expect(shown("level=\(level) a=1", .terminal(coloured: false)) == "level=\(level) a=1\n")
    }
    #expect(shown("level=info a=1", .terminal(coloured: true)) == "level=info a=1\n")
  }

  @Test("any bytes become one line of valid text") func anything() {
    var random = SeededGenerator(seed: testSeed("presentation"))
    for _ in 0..<2_000 {
      let line = (0..<Int(random.draw(0...40))).map { _ in UInt8(random.draw(0...255)) }.filter { $0 != 10 }
      for presentation in [LogPresentation.json, .terminal(coloured: false), .terminal(coloured: true)] {
        var output: [UInt8] = []
        presentation.append(LogRecord(worker: "loan-1", time: 0, line: line), to: &output)
        #expect(output.filter { $0 == 10 }.count == 1 && output.last == 10)
        #expect(String(validating: output, as: UTF8.self) != nil)
      }
    }
  }
}

@Suite("Moments a person writes") struct LogMomentTests {
  private let now = Sample.morning + 3_600_000

  @Test("are RFC 3339 instants, in UTC or with an offset") func instants() {
    #expect(LogMoment.parse("2026-11-21T08:00:00Z", now: now) == Sample.morning)
    #expect(LogMoment.parse("2026-11-21T08:00:00.250Z", now: now) == Sample.morning + 250)
    #expect(LogMoment.parse("2026-11-21T17:00:00+09:00", now: now) == Sample.morning)
    #expect(LogMoment.parse("2026-11-21T04:30:00.5-03:30", now: now) == Sample.morning + 500)
    #expect(LogMoment.parse("2026-11-21t08:00:00z", now: now) == Sample.morning)
    #expect(LogMoment.parse("2026-11-21t17:00:00+09:00", now: now) == Sample.morning)
  }

  @Test("are times of the present day in UTC") func today() {
    #expect(LogMoment.parse("08:00", now: now) == Sample.morning)
    #expect(LogMoment.parse("08:00:01", now: now) == Sample.morning + 1_000)
    #expect(LogMoment.parse("00:00", now: now) == Sample.morning - 8 * 3_600_000)
  }

  @Test(
    "are nothing else",
    arguments: [
      "", "8:00", "24:00", "08:60", "08:00:60", "5m", "2026-11-21", "2026-02-30T00:00:00Z",
      "2026-11-21T08:00:00",
      "2026-11-21T08:00:00+9:00", "2026-11-21T08:00:00+24:00", "2026-11-21T08:00:00*09:00", "+09:00", "예금ab",
    ])
  func refused(text: String) { #expect(LogMoment.parse(text, now: now) == nil) }
}
