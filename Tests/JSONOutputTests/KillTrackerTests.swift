// The report about a teller that was killed by the operator, from frames of a coordinator: the time until its
// customer was served again, the new window, and bounds if the events have gone by unseen.

import BankModel
import Testing
import Time
import Wire

@testable import JSONOutput

@Suite("A teller that was killed by the operator") struct KillTrackerTests {
  private static let living = window(1, pid: 41, .serving, [4])
  private static let starting = window(2, pid: nil, .starting)
  private static let successor = window(2, pid: 42, .serving)

  private static func window(
    _ generation: Int64, pid: Int32?, _ state: WorkerState, _ tickets: [Int64] = []
  ) -> BoardWindow {
    BoardWindow(
      window: "loan-1", service: .loan, pid: pid, generation: generation, state: state, tickets: tickets)
  }

  private static func frame(
    _ events: [BoardEvent], serving: [BoardServing] = [], windows: [BoardWindow] = [], waiting: [Int64] = [],
    time: Int64 = 2_000, coordinator: Int64 = 1, day: Int64 = 1
  ) -> BoardFrame {
    BoardFrame(
      day: day, state: .open, coordinator: BoardCoordinator(pid: 1, generation: coordinator, openedAt: 0),
      time: time, businessTime: .zero, isBusinessTimeRunning: true, counts: BoardCounts(),
      waiting: waiting.map { BoardWaiting(ticket: $0, service: .loan, priority: .regular) },
      serving: serving, events: events, windows: windows)
  }

  private static func death(_ ticket: Int64? = 4, at time: Int64 = 1_000) -> BoardEvent {
    BoardEvent(
      sequence: 9, time: time, kind: .died, ticket: ticket, service: .loan, window: "loan-1", pid: 41,
      signal: 9)
  }

  private static func event(
    _ kind: BoardEvent.Kind, _ sequence: Int64, at time: Int64, ticket: Int64? = 4, by pid: Int32 = 42,
    in window: String = "loan-1"
  ) -> BoardEvent {
    BoardEvent(sequence: sequence, time: time, kind: kind, ticket: ticket, window: window, pid: pid)
  }

  private static func serving(since: Int64, in window: String = "loan-1") -> BoardServing {
    BoardServing(
      ticket: 4, service: .loan, priority: .regular, window: window, since: since, attempt: 2)
  }

  /// The one that is at the window.
  private static func watch(in frame: BoardFrame? = nil) -> KillTracker {
    KillTracker(window: "loan-1", generation: 1, pid: 41, in: frame)
  }

  private static func watch(after frames: BoardFrame...) -> KillTracker {
    var watch = watch()
    for frame in frames { watch.handle(frame) }
    return watch
  }

  // MARK: - Seen events

  @Test("a death is seen, and how soon its customer was served again, at any window")
  func seen() {
    var watch = Self.watch(in: Self.frame([], windows: [Self.living]))
    watch.handle(Self.frame([], windows: [Self.living]))
    #expect(watch.stage == .ordered && !watch.isOver && !watch.isSettled && watch.ticket == nil)
    let start = Self.event(.started, 3, at: 500, by: 41)
    watch.handle(Self.frame([start, Self.death()], windows: [Self.starting], waiting: [4]))
    #expect(watch.stage == .died(ticket: 4, at: 1_000) && !watch.isSettled && watch.milliseconds == nil)
    let others = Self.event(.started, 10, at: 1_003, ticket: 8)
    let again = Self.event(.started, 11, at: 1_005, in: "loan-2")
    watch.handle(Self.frame([start, Self.death(), others, again], windows: [Self.successor]))
    #expect(watch.stage == .served(ticket: 4, window: "loan-2", after: 5, isExact: true))
    #expect(watch.isSettled && watch.ticket == 4 && watch.milliseconds == 5 && watch.successor == 42)
    let told = watch
    watch.handle(Self.frame([], windows: []))
    #expect(watch.stage == told.stage && watch.milliseconds == 5, "what is known stays")
  }

  @Test("the death of another process at the same window, or at another window, is ignored")
  func otherDeaths() {
    var (other, elsewhere) = (Self.death(), Self.death())
    other.pid = 40
    elsewhere.window = "loan-2"
    let watch = Self.watch(after: Self.frame([other, elsewhere], windows: [Self.living]))
    #expect(watch.stage == .ordered && !watch.isOver)
  }

  @Test("without a customer at the window, the successor counts, when it is ready")
  func noVictim() {
    var watch = Self.watch(
      after: Self.frame([Self.death(nil)], windows: [Self.window(2, pid: 42, .starting)], time: 1_010))
    #expect(watch.stage == .died(ticket: nil, at: 1_000) && !watch.isOver)
    watch.handle(Self.frame([Self.death(nil)], windows: [Self.window(2, pid: 42, .idle)], time: 1_035))
    #expect(watch.stage == .replaced(generation: 2, after: 35) && watch.ticket == nil)
    // Its customer at the time of the order had been served by then.
    watch = Self.watch(in: Self.frame([], windows: [Self.living]))
    watch.handle(Self.frame([Self.death(nil)], windows: [Self.successor], time: 1_035))
    #expect(watch.stage == .replaced(generation: 2, after: 35))
  }

  @Test("a window that is closed, or was given up, gets no successor, and none is waited for")
  func noSuccessor() {
    var watch = Self.watch(after: Self.frame([Self.death(nil)], windows: [Self.starting]))
    #expect(!watch.isSettled)
    var (failed, given) = (watch, Self.starting)
    given.isFailed = true
    failed.handle(Self.frame([Self.death(nil)], windows: [given]))
    #expect(failed.isSettled && failed.successor == nil && failed.ticket == nil)
    watch.handle(Self.frame([Self.death(nil)], windows: []))
    #expect(watch.isSettled && watch.successor == nil)
  }

  @Test("a customer who is cancelled, dead, or cancelled by a reset is not served again")
  func ended() {
    for kind in [BoardEvent.Kind.cancelled, .dead, .reset] {
      let end = Self.event(kind, 10, at: 1_500, ticket: kind == .reset ? nil : 4)
      let watch = Self.watch(after: Self.frame([Self.death(), end], windows: [Self.successor]))
      #expect(watch.stage == .ended(ticket: 4) && watch.isSettled && watch.milliseconds == nil, "\(kind)")
    }
    let others = Self.event(.cancelled, 10, at: 1_500, ticket: 8)
    #expect(
      Self.watch(after: Self.frame([Self.death(), others], waiting: [4])).stage == .died(ticket: 4, at: 1_000)
    )
  }

  // MARK: - Unseen events

  @Test("if the start has gone by unseen, the customer's own row gives it, to the millisecond")
  func byServing() {
    var watch = Self.watch(after: Self.frame([Self.death()], windows: [Self.living]))
    #expect(!watch.isSettled)
    watch.handle(Self.frame([], serving: [Self.serving(since: 1_007)], windows: [Self.successor]))
    #expect(watch.stage == .served(ticket: 4, window: "loan-1", after: 7, isExact: true))
    #expect(watch.isSettled && watch.milliseconds == 7 && watch.successor == 42)
  }

  @Test("or its end, or else the frame, as a bound; a waiting customer is not served")
  func bounds() {
    let died = Self.watch(after: Self.frame([Self.death()], waiting: [4], time: 1_050))
    let later = Self.event(.started, 800, at: 1_060, ticket: 900)
    var served = died
    let end = Self.event(.served, 799, at: 1_058, in: "loan-2")
    served.handle(Self.frame([end, later], windows: [Self.successor], time: 1_070))
    #expect(served.stage == .served(ticket: 4, window: "loan-2", after: 58, isExact: false))
    #expect(served.milliseconds == nil && served.ticket == 4)
    var gone = died
    gone.handle(Self.frame([later], windows: [Self.successor], time: 1_070))
    #expect(gone.stage == .served(ticket: 4, window: "loan-1", after: 70, isExact: false))
    var waiting = died
    waiting.handle(Self.frame([later], waiting: [4], time: 1_070))
    #expect(!waiting.isOver, "it is in line again")
    for hide in [\BoardFrame.hidden.waiting, \BoardFrame.counts.delayed] {
      var (hidden, frame) = (died, Self.frame([later], time: 1_070))
      frame[keyPath: hide] = 1
      hidden.handle(frame)
      #expect(!hidden.isOver, "it may be among those who are not shown")
    }
    waiting.handle(Self.frame([Self.event(.cancelled, 801, at: 1_070)]))
    #expect(waiting.stage == .ended(ticket: 4))
  }

  @Test("if even the death has gone by unseen, another process at the window shows it")
  func unseenDeath() {
    let watch = Self.watch(after: Self.frame([], windows: [Self.window(2, pid: 42, .idle)]))
    #expect(watch.stage == .replaced(generation: 2, after: nil) && watch.isSettled)
    // Its last seen customer is not seen to come back.
    var known = Self.watch(in: Self.frame([], windows: [Self.living]))
    known.handle(Self.frame([], windows: [Self.successor]))
    #expect(known.stage == .replaced(generation: 2, after: nil))
  }

  @Test("and its last seen customer is followed, if it comes back; the time is a bound")
  func comesBack() {
    let before = Self.frame([], windows: [Self.living], time: 1_000)
    var watch = Self.watch(in: before)
    watch.handle(Self.frame([], windows: [Self.starting], waiting: [4], time: 1_050))
    #expect(watch.stage == .died(ticket: 4, at: 1_000))
    // The start by the process itself is reported after that, and is not an answer.
    let first = Self.event(.started, 3, at: 1_000, by: 41)
    watch.handle(Self.frame([first], windows: [Self.starting], waiting: [4], time: 1_060))
    #expect(!watch.isOver)
    watch.handle(Self.frame([first, Self.event(.started, 40, at: 1_070)], windows: [Self.successor]))
    #expect(watch.stage == .served(ticket: 4, window: "loan-1", after: 70, isExact: false))
    #expect(watch.ticket == 4 && watch.milliseconds == nil && watch.isSettled)
    // All at once.
    var atOnce = Self.watch(in: nil)
    atOnce.handle(before)
    atOnce.handle(
      Self.frame([], serving: [Self.serving(since: 1_030, in: "loan-2")], windows: [Self.successor]))
    #expect(atOnce.stage == .served(ticket: 4, window: "loan-2", after: 30, isExact: false))
  }

  @Test("a coordinator that was replaced meanwhile counts events and generations from the start")
  func otherCoordinator() {
    var watch = Self.watch(
      in: Self.frame([], windows: [Self.window(5, pid: 41, .serving, [4])], time: 900))
    watch.handle(Self.frame([Self.death()], windows: [Self.living], waiting: [4]))
    let again = Self.event(.started, 1, at: 1_400)
    var after = watch
    after.handle(
      Self.frame([again], windows: [Self.window(1, pid: 42, .serving, [4])], coordinator: 2))
    #expect(after.stage == .served(ticket: 4, window: "loan-1", after: 400, isExact: true))
    #expect(after.isSettled && after.successor == 42)
    // On another day the number is another customer's.
    watch.handle(
      Self.frame([again], windows: [Self.window(1, pid: 42, .starting)], coordinator: 1, day: 2))
    #expect(!watch.isOver)
    watch.handle(Self.frame([], windows: [Self.window(1, pid: 42, .idle)], coordinator: 1, day: 2))
    #expect(watch.stage == .replaced(generation: 1, after: nil))
  }
}
