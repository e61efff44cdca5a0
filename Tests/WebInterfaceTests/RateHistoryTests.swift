// What the plots of the services are made of, by frames as a coordinator tells them.

import BankModel
import Testing
import Time
import Wire

@testable import WebInterface

@Suite("What was served in the last ten minutes")
struct RateHistoryTests {
  private func frame(
    _ events: [BoardEvent], windows: [BoardWindow], time: Int64 = 5_000
  ) -> BoardFrame {
    BoardFrame(
      day: 1, state: .open, coordinator: BoardCoordinator(pid: 2, generation: 1, openedAt: 0), time: time,
      businessTime: .zero, businessTimeRuns: true, counts: BoardCounts(), events: events, windows: windows)
  }

  private func window(_ generation: Int64, pid: Int32?, _ state: WorkerState, _ tickets: [Int64] = [])
    -> BoardWindow
  {
    BoardWindow(
      window: "loan-1", service: .loan, pid: pid, generation: generation, state: state, tickets: tickets)
  }

  @Test("what is served is counted in parts of ten seconds, from the windows")
  func rates() {
    var history = RateHistory()
    func note(_ time: Int64, served: Int64) {
      var window = window(1, pid: 40, .idle)
      window.served = served
      var frame = frame([], windows: [window], time: time)
      frame.services = [BoardService(service: .loan)]
      history.note(frame)
    }
    note(100_000, served: 5)
    note(103_000, served: 8)
    note(112_000, served: 10)
    // A coordinator that was replaced counts anew.
    note(131_000, served: 1)
    #expect(history[.loan] == [3, 2, 0, 0])
    note(10_000_000, served: 2)
    #expect(history[.loan].count == RateHistory.parts && history[.loan].last == 1)
  }
}
