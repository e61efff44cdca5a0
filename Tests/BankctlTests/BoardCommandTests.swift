// What is read from a board, and which tickets words name.

import Arguments
import BankModel
import Testing
import Time
import Wire

@testable import Console

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

@Suite struct BoardCommandTests {
  @Test(
    "a number is one ticket, two with a dash between are all from the one to the other",
    arguments: [
      ("3", 3, 3), ("7-12", 7, 12), ("7-7", 7, 7), ("1000000000000", 1_000_000_000_000, 1_000_000_000_000),
    ] as [(String, Int64, Int64)])
  func spans(_ word: String, _ first: Int64, _ last: Int64) {
    #expect(SelectionCommands.span(word) == TicketNumbers(first: first, last: last))
  }

  @Test(
    "everything else names no ticket",
    arguments: [
      "", "-", "0", "x", "7-", "-7", "12-7", "1-2-3", "+3", "٣", "1000000000001", "99999999999999999999",
      "3 ",
    ])
  func noSpans(_ word: String) { #expect(SelectionCommands.span(word) == nil) }

  private static let window = BoardWindow(
    window: "loan-1", service: .loan, pid: 41, generation: 1, state: .serving, tickets: [4])

  private static func frame(
    _ events: [BoardEvent], serving: [BoardServing] = [], windows: [BoardWindow] = []
  ) -> BoardFrame {
    BoardFrame(
      day: 1, state: .open, coordinator: BoardCoordinator(pid: 1, generation: 1, openedAt: 0), time: 2_000,
      businessTime: .zero, businessTimeRuns: true, counts: BoardCounts(), serving: serving, events: events,
      windows: windows)
  }

  private static let death = BoardEvent(
    sequence: 9, time: 1_000, kind: .died, ticket: 4, service: .loan, window: "loan-1", pid: 41, signal: 9)
  private static let successor = BoardWindow(
    window: "loan-1", service: .loan, pid: 42, generation: 2, state: .serving)

  @Test("a death is seen, and how soon its customer was served again, at whichever window")
  func seen() {
    var watch = KillWatch(Self.window, pid: 41)
    watch.hear(Self.frame([], windows: [Self.window]))
    #expect(!watch.isSettled)
    watch.hear(Self.frame([Self.death], windows: []))
    watch.hear(
      Self.frame(
        [
          BoardEvent(sequence: 3, time: 500, kind: .started, ticket: 4), Self.death,
          BoardEvent(sequence: 11, time: 1_005, kind: .started, ticket: 4, window: "loan-2"),
        ], windows: [Self.successor]))
    #expect(watch.isSettled && watch.ticket == 4 && watch.milliseconds == 5 && watch.successor == 42)
  }

  @Test("where the events have gone by, it is seen by who is served since when")
  func byServing() {
    var watch = KillWatch(Self.window, pid: 41)
    watch.hear(Self.frame([Self.death], windows: [Self.window]))
    #expect(!watch.isSettled)
    let serving = BoardServing(
      ticket: 4, service: .loan, priority: .regular, window: "loan-1", since: 1_007, attempt: 2)
    watch.hear(Self.frame([], serving: [serving], windows: [Self.successor]))
    #expect(watch.isSettled && watch.ticket == 4 && watch.milliseconds == 7 && watch.successor == 42)
  }

  @Test("a window that is closed, or was given up, gets no successor, and none is waited for")
  func noSuccessor() {
    var watch = KillWatch(Self.window, pid: 41)
    var death = Self.death
    death.ticket = nil
    var window = Self.successor
    (window.state, window.pid) = (.starting, nil)
    watch.hear(Self.frame([death], windows: [window]))
    #expect(!watch.isSettled)
    var failed = watch
    window.isFailed = true
    failed.hear(Self.frame([death], windows: [window]))
    #expect(failed.isSettled && failed.successor == nil && failed.ticket == nil)
    watch.hear(Self.frame([death], windows: []))
    #expect(watch.isSettled && watch.successor == nil)
  }

  @Test("every event has words in both languages, and a page is the same in both but for them")
  func words() {
    for kind in BoardEvent.Kind.allCases {
      let event = BoardEvent(
        sequence: 1, time: 0, kind: kind, ticket: 7, last: 9, service: .loan, window: "loan-1", pid: 3,
        signal: 9, attempt: 2)
      #expect(
        !english.boardEvent(event).isEmpty && english.boardEvent(event) != korean.boardEvent(event), "\(kind)"
      )
    }
    let frame = Self.frame([Self.death], windows: [Self.successor])
    for words in [english, korean] {
      let picture = BoardPicture(frame: frame, words: words, palette: .none, columns: 80)
      #expect(picture.lines.contains { $0.contains("loan-1") } && !picture.line.isEmpty)
    }
  }
}
