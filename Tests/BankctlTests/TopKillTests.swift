// Killing of a teller from the dashboard: the target, the confirmation, and the note about its customer's
// wait.
import BankModel
import JSONOutput
import Testing
import Wire

@testable import BankctlCommands

@Suite("Killing from the dashboard") struct TopKillTests {
  private let now = TopFixture.begin
  private let window = TopFixture.windows[0]

  @Test("K asks, and names window, generation and process; only y kills, and only with --chaos")
  func asking() {
    var model = TopFixture.model()
    #expect(model.press("K") == nil && model.mode == .asking(.kill(window, pid: 4961)))
    let question = model.messages.ask(.kill(window, pid: 4961))
    for part in ["deposit-1", "generation 1", "4961", "customer 1"] { #expect(question.contains(part)) }
    #expect(model.press("k") == nil && model.kill == nil)
    model.press("K")
    #expect(model.press("y") == .ask(.killWorker(window: "deposit-1", generation: 1, pid: 4961)))
    #expect(model.kill?.stage == .ordered)
    var harmless = TopFixture.model(isChaos: false)
    #expect(harmless.press("K") == nil && harmless.mode == .list && harmless.notice.last == nil)
    model.press("jjj")
    #expect(model.press("K") == nil && model.mode == .list, "no customer is at the juice station")
    model.press("2")
    #expect(model.press("K") == nil && model.mode == .list && model.notice.last?.isAlarm == true)
  }

  @Test("the target is the process that was shown when K was pressed, also if it was replaced since")
  func fenced() {
    var model = TopFixture.model()
    model.press("K")
    var frame = TopFixture.frame()
    (frame.windows[0].generation, frame.windows[0].pid) = (2, 5_000)
    model.handle(frame, at: now)
    #expect(model.press("y") == .ask(.killWorker(window: "deposit-1", generation: 1, pid: 4961)))
    model.handle(
      .failure(Failure(.wrongState)), to: .killWorker(window: "deposit-1", generation: 1, pid: 4961),
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

  @Test("the note gives the time by the coordinator's clock, and stays until Esc or the next kill")
  func note() {
    var model = TopFixture.model()
    model.press("Ky")
    var frame = TopFixture.frame(after: 50)
    frame.events.append(death(1, at: 20))
    model.handle(frame, at: TopFixture.later(80))
    #expect(model.kill?.stage == .died(ticket: 1, at: TopFixture.wall + 20))
    // A customer of the same number who was started before that is not an answer.
    frame.events.append(started(8, 5, at: 23))
    frame.events.append(started(1, 6, at: 26))
    model.handle(frame, at: TopFixture.later(130))
    #expect(model.kill?.stage == .served(ticket: 1, window: "deposit-2", after: 6, isExact: true))
    for messages in [MessageCatalog(language: .english), MessageCatalog(language: .korean)] {
      let note = model.kill.map(messages.killed) ?? ""
      #expect(note.contains("6 ms") || note.contains("6밀리초"), "\(note)")
      #expect(note.contains("deposit-2") && note.contains("4961"))
    }
    model.press("2j1?q")
    model.handle(TopFixture.frame(after: 9_000), at: TopFixture.later(9_000))
    #expect(model.kill != nil)
    model.press("\u{1B}")
    #expect(model.kill == nil)
  }

  @Test("every end of it has a text in both languages, which also marks a time that is a bound")
  func messages() {
    let (english, korean) = (MessageCatalog(language: .english), MessageCatalog(language: .korean))
    var frame = TopFixture.frame(after: 70)
    func watch(_ events: [BoardEvent]) -> KillTracker {
      var watch = KillTracker(window: window.window, generation: 1, pid: 4961, in: nil)
      frame.events = events
      watch.handle(frame)
      return watch
    }
    (frame.windows[0].pid, frame.windows[0].generation) = (5_001, 2)
    frame.serving = []
    let cancelled = BoardEvent(sequence: 5, time: TopFixture.wall + 70, kind: .cancelled, ticket: 1)
    var bound = watch([death(1, at: 20)])
    frame.events = [started(900, 800, at: 60)]
    (frame.counts.delayed, frame.waiting) = (0, [])
    bound.handle(frame)
    for (watch, part) in [
      (KillTracker(window: "deposit-1", generation: 1, pid: 4961, in: nil), "Killing"),
      (watch([death(1, at: 20)]), "customer 1 is not served yet"),
      (watch([death(1, at: 20), started(1, 6, at: 26)]), "after 6 ms, at deposit-2"),
      (bound, "after ≤ 50 ms"),
      (watch([death(nil, at: 20)]), "Generation 2 was ready after 50 ms"),
      (watch([]), "generation 2 is running"),
      (watch([death(1, at: 20), cancelled]), "customer 1 was not served again"),
    ] {
      #expect(english.killed(watch).contains(part), "\(english.killed(watch))")
      #expect(korean.killed(watch).contains("4961") && korean.killed(watch) != english.killed(watch))
    }
  }
}
