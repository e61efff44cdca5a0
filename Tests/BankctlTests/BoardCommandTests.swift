// Selection of tickets on a board, and the texts of its events.

import Arguments
import BankModel
import Testing
import Time
import Wire

@testable import BankctlCommands

private let english = MessageCatalog(language: .english)
private let korean = MessageCatalog(language: .korean)

@Suite struct BoardCommandTests {
  @Test(
    "a number is one ticket, two with a dash between are a range",
    arguments: [
      ("3", 3, 3), ("7-12", 7, 12), ("7-7", 7, 7), ("1000000000000", 1_000_000_000_000, 1_000_000_000_000),
    ] as [(String, Int64, Int64)])
  func spans(_ word: String, _ first: Int64, _ last: Int64) {
    #expect(SelectionCommands.span(word) == TicketNumbers(first: first, last: last))
  }

  @Test(
    "any other text names no ticket",
    arguments: [
      "", "-", "0", "x", "7-", "-7", "12-7", "1-2-3", "+3", "٣", "1000000000001", "99999999999999999999",
      "3 ",
    ])
  func noSpans(_ word: String) { #expect(SelectionCommands.span(word) == nil) }

  private static func frame(
    _ events: [BoardEvent], windows: [BoardWindow]
  ) -> BoardFrame {
    BoardFrame(
      day: 1, state: .open, coordinator: BoardCoordinator(pid: 1, generation: 1, openedAt: 0), time: 2_000,
      businessTime: .zero, isBusinessTimeRunning: true, counts: BoardCounts(), events: events,
      windows: windows)
  }

  private static let death = BoardEvent(
    sequence: 9, time: 1_000, kind: .died, ticket: 4, service: .loan, window: "loan-1", pid: 41, signal: 9)
  private static let successor = BoardWindow(
    window: "loan-1", service: .loan, pid: 42, generation: 2, state: .serving)

  @Test("every event has a text in both languages, and a page differs only in these")
  func messages() {
    for kind in BoardEvent.Kind.allCases {
      let event = BoardEvent(
        sequence: 1, time: 0, kind: kind, ticket: 7, last: 9, service: .loan, window: "loan-1", pid: 3,
        signal: 9, attempt: 2)
      #expect(
        !english.boardEvent(event).isEmpty && english.boardEvent(event) != korean.boardEvent(event), "\(kind)"
      )
    }
    let frame = Self.frame([Self.death], windows: [Self.successor])
    for messages in [english, korean] {
      let picture = BoardRenderer(frame: frame, messages: messages, palette: .none, columns: 80)
      #expect(picture.lines.contains { $0.contains("loan-1") } && !picture.line.isEmpty)
    }
  }
}
