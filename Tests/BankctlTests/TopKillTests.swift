// Killing a teller from the dashboard: who is meant, what is asked first, and what is said of how long its customer waited.
import BankModel
import Testing
import Wire

@testable import Console

@Suite("Killing from the dashboard") struct TopKillTests {
  private let now = TopFixture.begin
  private let window = TopFixture.windows[0]

  @Test("K asks, and names window, generation and process; only y kills, and only with --chaos")
  func asking() {
    var model = TopFixture.model()
    #expect(model.press("K") == nil && model.mode == .asking(.kill(window, pid: 4961)))
    let question = model.words.ask(.kill(window, pid: 4961))
    for part in ["deposit-1", "generation 1", "4961", "customer 1"] { #expect(question.contains(part)) }
    #expect(model.press("k") == nil && model.kill == nil)
    model.press("K")
    #expect(model.press("y") == .ask(.endTeller(window: "deposit-1", generation: 1, pid: 4961)))
    #expect(model.kill?.stage == .ordered)
    var harmless = TopFixture.model(isChaos: false)
    #expect(harmless.press("K") == nil && harmless.mode == .list && harmless.notice.last == nil)
    model.press("jjj")
    #expect(model.press("K") == nil && model.mode == .list, "nobody is at the juice station")
    model.press("2")
    #expect(model.press("K") == nil && model.mode == .list && model.notice.last?.isAlarm == true)
  }

  @Test("who is meant is the process that was shown when K was pressed, also where another is there by now")
  func fenced() {
    var model = TopFixture.model()
    model.press("K")
    var frame = TopFixture.frame()
    (frame.windows[0].generation, frame.windows[0].pid) = (2, 5_000)
    model.hear(frame, at: now)
    #expect(model.press("y") == .ask(.endTeller(window: "deposit-1", generation: 1, pid: 4961)))
    model.hear(
      .failure(Failure(.wrongState)), to: .endTeller(window: "deposit-1", generation: 1, pid: 4961),
      more: false)
    #expect(model.kill == nil && model.notice.last?.isAlarm == true)
  }

  private func death(_ ticket: Int64?, at milliseconds: Int64) -> BoardEvent {
    BoardEvent(
      sequence: 4, time: TopFixture.wall + milliseconds, kind: .died, ticket: ticket, service: .deposit,
      window: "deposit-1", pid: 4961, signal: 9)
  }

  private func started(_ ticket: Int64, _ sequence: Int64, at milliseconds: Int64) -> BoardEvent {
    BoardEvent(
      sequence: sequence, time: TopFixture.wall + milliseconds, kind: .started, ticket: ticket,
      service: .deposit,
      window: "deposit-2", pid: 4962, attempt: 2)
  }

  @Test("the note says how long it took by the coordinator's clock, and stays until Esc or the next kill")
  func note() {
    var model = TopFixture.model()
    model.press("Ky")
    var frame = TopFixture.frame(after: 50)
    frame.events.append(death(1, at: 20))
    model.hear(frame, at: TopFixture.later(80))
    #expect(model.kill?.stage == .died(ticket: 1, at: TopFixture.wall + 20))
    // A customer of the same number who was begun before that is no answer.
    frame.events.append(started(8, 5, at: 23))
    frame.events.append(started(1, 6, at: 26))
    model.hear(frame, at: TopFixture.later(130))
    #expect(model.kill?.stage == .served(ticket: 1, window: "deposit-2", after: 6, isExact: true))
    for words in [MessageCatalog(language: .english), MessageCatalog(language: .korean)] {
      let note = model.kill.map(words.killed) ?? ""
      #expect(note.contains("6 ms") || note.contains("6밀리초"), "\(note)")
      #expect(note.contains("deposit-2") && note.contains("4961"))
    }
    model.press("2j1?q")
    model.hear(TopFixture.frame(after: 9_000), at: TopFixture.later(9_000))
    #expect(model.kill != nil)
    model.press("\u{1B}")
    #expect(model.kill == nil)
  }

  @Test("the death of another process at the same window, or of another window, is none of its business")
  func otherDeaths() {
    var watch = KillWatch(window, pid: 4961)
    var frame = TopFixture.frame()
    var other = death(1, at: 20)
    other.pid = 4_000
    frame.events.append(other)
    other = death(1, at: 21)
    other.window = "loan-1"
    frame.events.append(other)
    watch.hear(frame)
    #expect(watch.stage == .ordered && !watch.isOver)
  }

  @Test("where the start has gone by unseen the customer's own row tells, and else the frame, as a bound")
  func unseen() {
    var frame = TopFixture.frame(after: 70)
    frame.events = [death(1, at: 20)]
    var watch = KillWatch(window, pid: 4961)
    watch.hear(frame)
    var served = watch
    frame.events = [started(900, 800, at: 60)]
    frame.serving[0].since = TopFixture.wall + 25
    served.hear(frame)
    #expect(served.stage == .served(ticket: 1, window: "deposit-1", after: 5, isExact: true))
    var gone = watch
    frame.serving = []
    frame.counts.delayed = 0
    gone.hear(frame)
    #expect(gone.stage == .served(ticket: 1, window: "deposit-1", after: 50, isExact: false))
    #expect(MessageCatalog(language: .english).killed(gone).contains("≤ 50 ms"))
    var waiting = watch
    frame.waiting = [BoardWaiting(ticket: 1, service: .deposit, priority: .regular)]
    waiting.hear(frame)
    #expect(!waiting.isOver, "it is in line again")
    frame.events = [BoardEvent(sequence: 801, time: TopFixture.wall + 70, kind: .cancelled, ticket: 1)]
    waiting.hear(frame)
    #expect(waiting.stage == .ended(ticket: 1))
  }

  @Test("where nobody was at the window, the successor counts")
  func nobody() {
    var watch = KillWatch(window, pid: 4961)
    var frame = TopFixture.frame(after: 40)
    frame.events.append(death(nil, at: 20))
    (frame.windows[0].pid, frame.windows[0].state) = (nil, .starting)
    watch.hear(frame)
    #expect(!watch.isOver)
    frame.time += 15
    (frame.windows[0].pid, frame.windows[0].state, frame.windows[0].generation) = (5_001, .idle, 2)
    watch.hear(frame)
    #expect(watch.stage == .succeeded(generation: 2, after: 35))
  }

  @Test("where even the death has gone by unseen, it is known by the other process at the window")
  func unseenDeath() {
    var watch = KillWatch(window, pid: 4961)
    var frame = TopFixture.frame(after: 40)
    frame.windows[0].pid = 5_001
    frame.windows[0].generation = 2
    watch.hear(frame)
    #expect(watch.stage == .succeeded(generation: 2, after: nil))
  }
}
