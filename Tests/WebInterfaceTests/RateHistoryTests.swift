// The small plots: a coordinator's counts from before the first look, and the counts from there on.

import BankModel
import Testing
import Wire

@testable import WebInterface

@Suite("Rates at which customers of a service were served")
struct RateHistoryTests {
  private func frame(
    _ time: Int64, served: Int64?, day: Int64 = 1, _ history: BoardHistory? = nil
  ) -> BoardFrame {
    BoardFrame(
      day: day, state: .open, coordinator: BoardCoordinator(pid: 2, generation: 1, openedAt: 0),
      time: time,
      businessTime: .zero, isBusinessTimeRunning: true, counts: BoardCounts(),
      services: [BoardService(service: .loan, served: served)], history: history)
  }

  private func tail(_ history: RateHistory, _ count: Int) -> [Int64] { history[.loan].suffix(count) }

  @Test("the plot is there at the first look, and continues with customers served later")
  func firstLook() {
    var history = RateHistory()
    history.record(frame(1_000_000, served: 9, BoardHistory(since: 998_000, served: [[4, 0, 5]])))
    #expect(history[.loan].count == BoardHistory.intervalsAtMost && tail(history, 4) == [0, 4, 0, 5])
    history.record(frame(1_003_999, served: 11))
    #expect(tail(history, 3) == [4, 0, 7])
    history.record(frame(1_004_000, served: 12))
    #expect(tail(history, 4) == [4, 0, 7, 8], "a part that starts is not shown as if none was served in it")
    history.record(frame(1_007_000, served: 12))
    #expect(tail(history, 4) == [4, 0, 7, 4])
    history.record(frame(1_017_000, served: 12))
    #expect(tail(history, 4) == [7, 1, 0, 0])
    history.record(frame(90_000_000, served: 14))
    #expect(history[.loan].count == BoardHistory.intervalsAtMost && history[.loan].reduce(0, +) == 2)
  }

  @Test("a new day counts from zero")
  func newDay() {
    var history = RateHistory()
    history.record(frame(1_000_000, served: 9, BoardHistory(since: 998_000, served: [[9]])))
    history.record(frame(1_001_000, served: 3, day: 2))
    #expect(tail(history, 2) == [0, 12])
  }

  @Test("a repeated history is taken as it is: nothing is counted twice")
  func sentAgain() {
    var history = RateHistory()
    history.record(frame(1_000_000, served: 9, BoardHistory(since: 998_000, served: [[4, 0, 5]])))
    history.record(frame(1_002_000, served: 11))
    // No frame came for a moment.
    history.record(frame(1_012_000, served: 12, BoardHistory(since: 1_010_000, served: [[4, 0, 7, 1, 0]])))
    #expect(tail(history, 6) == [0, 4, 0, 7, 1, 0])
    history.record(frame(1_012_500, served: 14))
    #expect(tail(history, 3) == [7, 1, 2])
  }

  @Test("any counts from a socket are harmless")
  func anything() {
    for since in [Int64.min, -1, 0, .max] {
      for time in [Int64.min, 0, .max] {
        var history = RateHistory()
        let parts = [Int64](repeating: .max, count: 500)
        history.record(frame(time, served: .max, BoardHistory(since: since, served: [parts, parts])))
        history.record(frame(.max, served: .min))
        history.record(frame(time, served: .max, BoardHistory(since: time, served: [[.max]])))
        history.record(frame(.min, served: nil))
        #expect(history[.loan].count == BoardHistory.intervalsAtMost)
      }
    }
  }
}
