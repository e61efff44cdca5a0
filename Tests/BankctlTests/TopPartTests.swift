// The parts of the dashboard without keys: plots of served customers, small bars, the lines written to a
// terminal, and its number of colours.
import Arguments
import Posix
import Testing
import Time

@testable import BankctlCommands

@Suite("The parts of the dashboard") struct TopPartTests {
  @Test("a plot shows each second when it is over, and drops it when it has gone by")
  func history() {
    var history = ServedHistory(seconds: 3)
    history.handle(total: 100, at: 10_500)
    #expect(history.seconds(by: 10_900) == [0, 0, 0], "customers served before the first look do not count")
    history.handle(total: 105, at: 10_999)
    #expect(history.seconds(by: 10_999) == [0, 0, 0] && history.isMoving(at: 10_999))
    #expect(history.seconds(by: 11_000) == [0, 0, 5])
    history.handle(total: 106, at: 11_000)
    history.handle(total: 108, at: 11_999)
    #expect(history.seconds(by: 12_000) == [0, 5, 3])
    #expect(history.seconds(by: 14_500) == [3, 0, 0])
    #expect(!history.isMoving(at: 15_000) && history.seconds(by: .max) == [0, 0, 0])
  }

  @Test("a count that falls starts again; a clock that is set back, and any numbers, are harmless")
  func oddNumbers() {
    var history = ServedHistory(seconds: 2)
    history.handle(total: 50, at: 1_000)
    history.handle(total: 3, at: 1_100)
    #expect(history.seconds(by: 2_000) == [0, 3])
    history.handle(total: 4, at: 500)
    #expect(history.seconds(by: 2_000) == [0, 4])
    for total in [Int64.min, .max, 0, .min, .max] {
      for time in [Int64.min, .max, 0, -1] { history.handle(total: total, at: time) }
    }
    #expect(history.seconds(by: .max).count == 2)
  }

  @Test(
    "the highest number has the full bar, zero the lowest, and any number above zero a higher one")
  func bars() {
    #expect(Sparkline.text([0, 1, 500, 1_000]) == "▁▂▅█")
    #expect(Sparkline.text([0, 0]) == "▁▁" && Sparkline.text([]) == "")
    #expect(Sparkline.text([.max, .min, 1]) == "█▁▂")
  }

  @Test(
    "only lines that differ are written, each at its place; all if the screen is unknown")
  func update() {
    let size = Terminal.Size(columns: 10, rows: 4)
    let before = ["a", "b", "c"]
    #expect(ScreenUpdate.text(from: before, to: before, size) == "")
    #expect(ScreenUpdate.text(from: before, to: ["a", "x", "c"], size) == "\u{1B}[2;1H\u{1B}[2Kx")
    #expect(
      ScreenUpdate.text(from: before, to: ["a"], size) == "\u{1B}[2;1H\u{1B}[2K\u{1B}[3;1H\u{1B}[2K")
    #expect(ScreenUpdate.text(from: ["a"], to: ["a", "b"], size) == "\u{1B}[2;1H\u{1B}[2Kb")
    let whole = "\u{1B}[H\u{1B}[2Ka\r\n\u{1B}[2Kb\r\n\u{1B}[J"
    #expect(ScreenUpdate.text(from: nil, to: ["a", "b"], size) == whole)
    #expect(ScreenUpdate.text(from: before, to: ["a", "b"], nil) == whole)
    #expect(
      !ScreenUpdate.text(from: nil, to: ["a", "b", "c", "d"], size).hasSuffix("\u{1B}[J"), "it would scroll")
  }

  @Test(
    "a terminal gets the colours that it has",
    arguments: [
      ("linux", "", "35"), ("vt220", "", "35"), ("xterm-16color", "", "35"), ("xterm", "", "38;5;135"),
      ("xterm-256color", "", "38;5;135"), ("xterm-256color", "truecolor", "38;2;175;82;222"),
      ("linux", "24bit", "38;2;175;82;222"), ("screen", "yes", "38;5;135"),
    ])
  func colours(terminal: String, colours: String, loan: String) {
    let palette = Palette(isTerminal: true) { ["TERM": terminal, "COLORTERM": colours][$0] }
    #expect(palette.paint("x", .loan) == "\u{1B}[\(loan)mx\u{1B}[0m")
    let plain = Palette(isTerminal: true) {
      ["TERM": terminal, "COLORTERM": colours, "NO_COLOR": "1"][$0]
    }
    #expect(plain.paint("x", .loan) == "x")
  }

  @Test(
    "long cells are shortened first, then columns left out in their order, no more than needed")
  func fitting() {
    let list = TopList(
      columns: [
        .init(title: "name", shortening: .middle, comfort: 10),
        .init(title: "n", alignment: .right, dispensability: 1),
        .init(title: "words", dispensability: 2, shortening: .end, comfort: 10), .init(title: "state"),
      ], rows: [])
    func fit(_ natural: [Int], _ room: Int) -> [[Int]] {
      let (places, widths) = list.fitting(natural, within: room)
      return [places, places.map { widths[$0] }]
    }
    #expect(fit([6, 2, 8, 4], 26) == [[0, 1, 2, 3], [6, 2, 8, 4]])
    #expect(
      fit([60, 2, 90, 4], 40) == [[0, 1, 2, 3], [18, 2, 10, 4]], "the remaining width goes to the first")
    #expect(fit([60, 2, 8, 4], 22) == [[0, 1, 3], [12, 2, 4]])
    #expect(fit([60, 2, 8, 4], 14) == [[0, 3], [8, 4]] && fit([60, 2, 8, 4], 5) == [[0, 3], [8, 4]])
    #expect(TopList.shortened("abcdefghij", to: 5, .middle) == "ab…ij")
    #expect(TopList.shortened("abcdefghij", to: 5, .end) == "abcd…")
    #expect(TopList.shortened("예금업무창구", to: 7, .middle) == "예…구")
    for text in ["abcdefghij", "예금업무창구", "", "👩‍👩‍👧abcdef"] {
      for width in 1...12 {
        let short = TopList.shortened(text, to: width, .middle)
        #expect(DisplayWidth.of(short) <= width, "\(text) in \(width)")
      }
      #expect(TopList.shortened(text, to: 3, .never) == text)
    }
  }

  @Test("the selection follows its row, and stays in place if the row is gone")
  func cursor() {
    var cursor = RowCursor()
    #expect(cursor.chosen(in: []) == nil && cursor.chosen(in: ["a", "b"]) == 0)
    cursor.move(by: 1, in: ["a", "b", "c"])
    #expect(cursor.chosen(in: ["c", "a", "b"]) == 2 && cursor.chosen(in: ["a", "c"]) == 1)
    #expect(cursor.chosen(in: ["x"]) == 0)
    cursor.move(by: .max, in: ["a", "b", "c"])
    #expect(cursor.key == "c")
    cursor.move(by: .min, in: ["a", "b", "c"])
    #expect(cursor.key == "a")
    var end = RowCursor(followsEnd: true)
    end.settle(in: ["a", "b"])
    #expect(end.chosen(in: ["a", "b", "c"]) == 2)
    end.move(by: -1, in: ["a", "b", "c"])
    #expect(end.chosen(in: ["a", "b", "c", "d"]) == 1)
    end.move(by: .max, in: ["a", "b", "c", "d"])
    #expect(end.chosen(in: ["a", "b", "c", "d", "e"]) == 4)
  }
}
