// What is told of a teller that was ended from a page, by frames as a coordinator tells them.

import BankModel
import Testing
import Time
import Wire

@testable import WebInterface

@Suite("The last teller that was ended")
struct DeathWatchTests {
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

  @Test("the time until its customer is served again is that of the coordinator's events")
  func customer() {
    let watch = DeathWatch()
    watch.expect(
      window: "loan-1", generation: 1, pid: 40, in: frame([], windows: [window(1, pid: 40, .serving, [7])]))
    #expect(watch.latest?.ticket == 7 && watch.latest?.milliseconds == nil)
    let start = BoardEvent(sequence: 1, time: 1_000, kind: .started, ticket: 7, window: "loan-1", pid: 40)
    let death = BoardEvent(
      sequence: 2, time: 2_000, kind: .died, ticket: 7, window: "loan-1", pid: 40, signal: 9)
    watch.note(frame([start, death], windows: [window(2, pid: 41, .starting)]))
    #expect(watch.latest?.milliseconds == nil)
    let again = BoardEvent(
      sequence: 3, time: 2_011, kind: .started, ticket: 7, window: "loan-1", pid: 41, attempt: 2)
    watch.note(frame([start, death, again], windows: [window(2, pid: 41, .serving, [7])]))
    #expect(watch.latest?.milliseconds == 11)
    watch.note(frame([], windows: []))
    #expect(watch.latest?.milliseconds == 11)
  }

  @Test("where nobody was served its successor is waited for")
  func nobody() {
    let watch = DeathWatch()
    watch.expect(
      window: "loan-1", generation: 1, pid: 40, in: frame([], windows: [window(1, pid: 40, .idle)]))
    let death = BoardEvent(sequence: 1, time: 4_000, kind: .died, window: "loan-1", pid: 40, signal: 9)
    watch.note(frame([death], windows: [window(2, pid: 41, .starting)], time: 4_010))
    #expect(watch.latest?.milliseconds == nil)
    watch.note(frame([death], windows: [window(2, pid: 41, .idle)], time: 4_020))
    #expect(watch.latest?.milliseconds == 20)
  }
}
