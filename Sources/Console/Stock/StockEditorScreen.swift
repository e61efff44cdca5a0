// Connection of the stock editor to the stock; `StockEditor` interprets keys.
// Invariant: the screen waits for requested changes, unless the user closes it twice or presses Ctrl-C. In
// that case the command reports that there was no answer.
// Errors: `CommandError`. If the stock is not running or does not answer, the screen waits until the user
// closes it.
import BankModel
import Posix
import StockClient
import Time
import Wire

final class StockEditorScreen {
  private let session: Session
  private let counter: StockRequests
  private var editor: StockEditor
  private let screen: FullScreen
  /// Changes without an answer. The screen waits for them unless the user closes it twice.
  private var requests = RequestQueue<ItemAmount>()

  /// Timeout of a change.
  private static let changePatience = TimeSpan.seconds(5)
  /// Time limit for the next answer of a stock that has not answered a change.
  private static let probePatience = TimeSpan.minutes(60)
  /// Maximum wait for the amounts. After this time the editor opens without them.
  private static let picturePatience = TimeSpan.seconds(1)

  static func run(_ session: Session) throws(CommandError) {
    guard session.surroundings.variable("TERM") != "dumb" else {
      return session.note(session.words.editorIsForPeople)
    }
    let counter = try StockRequests(session)
    let assortment = try counter.assortment()
    let screen = try FullScreen(session.output, on: counter.loop)
    defer { screen.end() }
    let editing = StockEditorScreen(session, counter, assortment, screen)
    try editing.edit()
    screen.end()
    if let change = editing.requests.inDoubt {
      session.note(session.words.leftUnanswered(.stock, editing.name(change)))
    }
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ counter: StockRequests, _ assortment: Assortment, _ screen: FullScreen) {
    self.session = session
    self.counter = counter
    self.screen = screen
    editor = StockEditor(assortment, session.words)
  }

  private func edit() throws(CommandError) {
    counter.client.follow { [unowned self] news in
      editor.hear(news)
      screen.isDirty = true
    }
    // Keys that were typed early apply to the amounts, so the amounts are loaded first, unless loading takes
    // long.
    let patience = SystemClock.monotonic() + Self.picturePatience
    while editor.picture == nil, !screen.isEnded, SystemClock.monotonic() < patience {
      try counter.turn(until: patience)
    }
    guard !screen.isEnded else { return }
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isOver(unless: requests.isBusy) {
      if editor.notice.isConnected != counter.client.isConnected { screen.isDirty = true }
      editor.notice.isConnected = counter.client.isConnected
      if requests.settle(at: counter.loop.attended.now) { screen.isDirty = true }
      editor.notice.silence = session.words.waiting(for: .stock, requests, name)
      try screen.draw { StockEditorPicture(editor: editor, palette: session.output.palette).lines(size: $0) }
      let due = requests.due.map { counter.loop.attended.wake(for: $0) }
      try counter.turn(until: MonotonicTime.earlier(screen.wake, due))
      screen.settle()
    }
    if let failure = screen.failure { throw failure }
  }

  private func name(_ change: ItemAmount) -> String {
    session.words.added(editor.assortment.name(of: change.item, in: session.words.language), change.quantity)
  }

  private func press(_ key: Key) {
    guard let wish = editor.press(key) else { return }
    switch wish {
    case .close:
      screen.close()
      if requests.isBusy { editor.notice.say(session.words.leavingWaits(.stock)) }
    case .change(let item, let difference):
      guard !screen.isClosed else { return }
      requests.add(ItemAmount(item, difference))
      sendNext()
    }
  }

  /// Sends the next change. Further changes wait for its answer, so that no changes accumulate at a stock
  /// that does not answer.
  private func sendNext() {
    guard let change = requests.next(at: counter.loop.attended.now) else { return }
    let deadline = SystemClock.monotonic() + Self.changePatience
    counter.client.ask(.change(change, nil), until: deadline) { [weak self] in self?.hear($0) }
  }

  private func hear(_ result: Result<StockResult, StockClientError>) {
    screen.isDirty = true
    guard case .success = result else {
      requests.gaveUp()
      return probe()
    }
    let untaken = requests.answered()
    editor.hear(result)
    if untaken > 0 { editor.notice.add(session.words.notTaken(untaken)) }
    sendNext()
  }

  /// Requests a snapshot repeatedly until a stock that has not answered a change answers again. The snapshot
  /// shows the result of the change.
  private func probe() {
    counter.client.ask(.look, until: SystemClock.monotonic() + Self.probePatience) { [weak self] result in
      guard let self else { return }
      guard case .success = result else { return probe() }
      let text = session.words.answersAgain(.stock, requests.inDoubt.map(name))
      editor.notice.say(text)
      let untaken = requests.answered()
      if untaken > 0 { editor.notice.add(session.words.notTaken(untaken)) }
      screen.isDirty = true
    }
  }
}
