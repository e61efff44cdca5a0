// Keys of the dashboard, without a terminal: pages, selection, filter, order, and requests to the bank.
import BankModel
import Testing
import Time
import Wire

@testable import BankctlCommands

@Suite("The dashboard") struct TopModelTests {
  private let now = TopFixture.begin

  // MARK: Selecting

  @Test(
    "the selection follows its window when the order changes, and stays in place when it is gone")
  func selection() {
    var model = TopFixture.model()
    #expect(model.selected(at: now)?.key == "deposit-1")
    model.press("j")
    #expect(model.selected(at: now)?.key == "deposit-2")
    var frame = TopFixture.frame()
    frame.windows.reverse()
    model.handle(frame, at: now)
    #expect(model.selected(at: now)?.key == "deposit-2")
    frame.windows.removeAll { $0.window == "deposit-2" }
    model.handle(frame, at: now)
    #expect(model.selected(at: now)?.key == "loan-1", "the second place is another window's")
    model.press("kkkk")
    #expect(model.selected(at: now)?.key == "juice-1", "it stops at the first")
    _ = model.press(.end, at: now)
    #expect(model.selected(at: now)?.key == "deposit-1")
    _ = model.press(.home, at: now)
    #expect(model.selected(at: now)?.key == "juice-1")
  }

  @Test("a selection that was never moved follows its name, too, and not its place")
  func untouched() {
    var model = TopFixture.model()
    var frame = TopFixture.frame()
    frame.windows.reverse()
    model.handle(frame, at: now)
    #expect(model.selected(at: now)?.key == "deposit-1")
  }

  @Test("Tab, the arrows and digits change the page, and each page remembers its row")
  func pages() {
    var model = TopFixture.model()
    model.press("j")
    _ = model.press(.control("i"), at: now)
    #expect(model.tab == .lines)
    _ = model.press(.backTab, at: now)
    _ = model.press(.backTab, at: now)
    #expect(model.tab == .log)
    _ = model.press(.right, at: now)
    #expect(model.tab == .windows && model.selected(at: now)?.key == "deposit-2")
    for (digit, tab) in zip("123456", TopTab.allCases) {
      model.press(String(digit))
      #expect(model.tab == tab)
    }
    model.press("7")
    #expect(model.tab == .log)
  }

  @Test("the log shows its end until the selection is moved away from it")
  func log() {
    var model = TopFixture.model()
    model.press("6")
    #expect(model.selected(at: now)?.cells[1].text.contains("SIGKILL") == true)
    var frame = TopFixture.frame()
    frame.events.append(BoardEvent(sequence: 4, time: TopFixture.wall, kind: .served, ticket: 1))
    model.handle(frame, at: now)
    #expect(model.selected(at: now)?.key == "2.4")
    model.press("k")
    frame.events = [BoardEvent(sequence: 5, time: TopFixture.wall, kind: .served, ticket: 2)]
    model.handle(frame, at: now)
    #expect(model.selected(at: now)?.key == "2.3", "it follows its line")
    // Another coordinator counts from 1 again.
    frame.coordinator.generation = 3
    frame.events = [BoardEvent(sequence: 1, time: TopFixture.wall, kind: .started, ticket: 2)]
    model.handle(frame, at: now)
    #expect(model.lists(at: now)[0].rows.map(\.key).suffix(3) == ["2.4", "2.5", "3.1"])
  }

  @Test("a filter leaves the matching rows of the page on which it was typed; Esc clears it")
  func filter() {
    var model = TopFixture.model()
    model.press("/LOAN")
    #expect(model.mode == .filtering && model.lists(at: now)[0].rows.map(\.key) == ["loan-1"])
    #expect(model.selected(at: now)?.key == "loan-1")
    model.press("qq")
    #expect(model.lists(at: now)[0].rows.isEmpty && model.selected(at: now) == nil, "letters are text there")
    _ = model.press(.backspace, at: now)
    _ = model.press(.backspace, at: now)
    model.press("\r")
    #expect(model.mode == .list && model.view.filter == "LOAN")
    model.press("2")
    #expect(model.view.filter.isEmpty)
    model.press("1\u{1B}")
    #expect(model.lists(at: now)[0].rows.count == 4)
    model.press("/예\u{1B}")
    #expect(model.mode == .list && model.view.filter.isEmpty)
  }

  @Test(
    "< and > sort by each column in turn, numbers from the largest; the first is by window"
  )
  func order() {
    var model = TopFixture.model()
    let titles = model.lists(at: now)[0].columns.map(\.title)
    for _ in 0..<(titles.firstIndex(of: "served") ?? 0) { model.press(">") }
    #expect(model.lists(at: now)[0].rows.map(\.key) == ["deposit-2", "deposit-1", "loan-1", "juice-1"])
    #expect(model.selected(at: now)?.key == "deposit-1", "the selection stays where it was")
    for _ in 0..<(titles.firstIndex(of: "served") ?? 0) { model.press("<") }
    #expect(model.lists(at: now)[0].rows.map(\.key) == TopFixture.windows.map(\.window))
    model.press("<")
    #expect(model.view.sorted == titles.count - 1)
  }

  @Test("z freezes the display, then shows what has come meanwhile; keys mean the selected row")
  func freezing() {
    var model = TopFixture.model()
    model.press("z")
    model.handle(TopFixture.frame(served: 2_000, after: 900), at: TopFixture.later(900))
    let shown = model.shown(at: TopFixture.later(900))
    #expect(shown?.moment.frame.counts.served == 1_265 && shown?.at == now)
    #expect(model.pace(at: TopFixture.later(900)) == nil, "nothing moves")
    #expect(model.press("p") == .ask(.pause(.deposit)))
    model.press("ㅋ")
    #expect(model.shown(at: now)?.moment.frame.counts.served == 2_000)
  }

  // MARK: Requests

  @Test("p pauses the service of the selected row, or resumes one that is paused")
  func pausing() {
    var model = TopFixture.model()
    #expect(model.press("p") == .ask(.pause(.deposit)))
    model.press("jj")
    #expect(model.press("ㅔ") == .ask(.resume(.loan)))
    model.press("2")
    #expect(model.press("p") == .ask(.pause(.deposit)))
    model.press("4")
    #expect(model.press("p") == nil && model.notice.last?.isAlarm == true)
  }

  @Test(
    "+ and - open and close a window, one for each key even without answers, within the bounds")
  func scaling() {
    var model = TopFixture.model()
    func windows(_ count: Int64) -> TopModel.UserCommand {
      .ask(.scale([ServiceWindows(service: .deposit, count: count)]))
    }
    #expect(
      model.press("+") == windows(3) && model.press("=") == windows(4) && model.press("-") == windows(3))
    model.handle(
      .failure(Failure(.draining)), to: .scale([ServiceWindows(service: .deposit, count: 3)]), more: false)
    #expect(model.notice.last?.isAlarm == true)
    #expect(model.press("-") == windows(1) && model.press("-") == windows(0))
    #expect(model.press("-") == nil && model.notice.last?.isAlarm == true, "there are no fewer")
    model.loseAnswers()
    var frame = TopFixture.frame()
    frame.services[0].windows = 256
    model.handle(frame, at: now)
    #expect(model.press("+") == nil && model.press("-") == windows(255))
  }

  @Test("x asks before it cancels a customer; any answer but yes cancels none")
  func cancelling() {
    for (key, isDone) in [
      ("y", true), ("ㅛ", true), ("n", false), ("\r", false), ("\u{1B}", false), ("x", false),
    ] {
      var model = TopFixture.model()
      model.press("2jjj")
      #expect(model.selected(at: now)?.ticket == 7)
      #expect(model.press("x") == nil && model.mode == .asking(.cancel(ticket: 7, day: 3)))
      #expect(model.press(key) == (isDone ? .ask(.cancel(7, day: 3)) : nil), "\(key)")
      #expect(model.mode == .list)
    }
    var model = TopFixture.model()
    model.press("jj")
    #expect(model.press("x") == nil && model.mode == .list, "no customer is at the window for loans")
  }

  @Test(
    "dead letters are requested while shown, again only after a change, and r requeues one"
  )
  func letters() {
    var model = TopFixture.model()
    #expect(model.question(at: now) == nil && model.due == nil)
    model.press("3")
    let question = ControlCommand.tickets(TicketQuery(state: .dead, limit: 500))
    #expect(model.question(at: now) == question)
    #expect(model.question(at: TopFixture.later(5_000)) == nil, "one at a time")
    let letter = TicketReport(
      day: 3, ticket: 9, service: .juice, priority: .regular, amount: 0, account: 0,
      issuedAt: TopFixture.wall,
      state: .dead, itemName: "kiwi")
    model.handle(.tickets([letter]), to: question, more: true)
    #expect(model.letters.shown.isEmpty)
    model.handle(.tickets([]), to: question, more: false)
    #expect(model.letters.shown == [letter])
    #expect(model.question(at: TopFixture.later(5_000)) == nil && model.due == nil, "nothing has happened")
    model.handle(TopFixture.frame(), at: TopFixture.later(100))
    #expect(model.question(at: TopFixture.later(100)) == nil && model.due == TopFixture.later(500))
    model.press("?")
    #expect(model.question(at: TopFixture.later(500)) == nil && model.due == nil, "the help hides the list")
    model.press("?")
    #expect(model.question(at: TopFixture.later(500)) == question)
    #expect(model.press("r") == .ask(.requeue(9, day: 3)))
    model.press("1")
    #expect(model.press("r") == nil && model.notice.last?.isAlarm == true)
  }

  @Test(
    "Enter shows a customer's history, which is requested again until the receipt"
  )
  func timeline() {
    var model = TopFixture.model()
    #expect(model.press("\r") == nil)
    #expect(model.question(at: now) == .ticket(number: 1, day: 3))
    var report = TicketReport(
      day: 3, ticket: 1, service: .deposit, priority: .regular, amount: 5, account: 6,
      issuedAt: TopFixture.wall,
      state: .serving, window: "deposit-1")
    model.handle(.ticket(report), to: .ticket(number: 1, day: 3), more: false)
    #expect(model.question(at: TopFixture.later(900)) == nil)
    model.handle(TopFixture.frame(), at: TopFixture.later(900))
    #expect(model.question(at: TopFixture.later(900)) == .ticket(number: 1, day: 3))
    model.loseAnswers()
    #expect(
      model.question(at: TopFixture.later(1_500)) == .ticket(number: 1, day: 3),
      "requested from the next coordinator")
    report.state = .done
    report.receipt = receipt
    model.handle(.ticket(report), to: .ticket(number: 1, day: 3), more: false)
    model.handle(TopFixture.frame(), at: TopFixture.later(2_500))
    #expect(model.question(at: TopFixture.later(2_500)) == nil)
    #expect(model.press("q") == nil && model.mode == .list, "q leaves the history and not the dashboard")
    #expect(model.press("q") == .leave)
    model.press("4")
    #expect(model.press("\r") == nil && model.mode == .list)
  }

  private var receipt: ReceiptReport {
    let topFrame = WallTime(milliseconds: TopFixture.wall)
    let receipt = Receipt(
      sequence: 1, day: 3, ticket: 1, service: .deposit, priority: .regular, outcome: .served, window: nil,
      generation: 1, pid: 4961, attempts: 1, amount: 5, account: 6, issuedAt: topFrame, startedAt: topFrame,
      finishedAt: topFrame)
    return ReceiptReport(receipt, ServiceDirectory())
  }

  @Test("a bank that is away gets no request, and none later for old keys; pages still change")
  func away() {
    for hasSnapshot in [true, false] {
      var model = TopFixture.model(.english, hasSnapshot ? TopFixture.frame() : nil)
      if hasSnapshot { model.notice.isConnected = false }
      for key in ["p", "+", "r", "x", "K", "\r"] {
        #expect(
          model.press(key) == nil && model.mode == .list && model.notice.last?.isAlarm == true, "\(key)")
      }
      model.press("3j>z/a\r")
      #expect(model.tab == .dead)
      #expect(model.press("q") == .leave)
    }
  }

  @Test("pasted text presses no key")
  func paste() {
    var model = TopFixture.model()
    #expect(model.press(.paste, at: now) == nil && model.notice.last?.isAlarm == true)
    model.press("K")
    #expect(model.press(.paste, at: now) == nil)
  }
}
