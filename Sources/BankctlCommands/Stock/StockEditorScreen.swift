// Connection of the stock editor to the stock; `StockEditor` interprets keys.
// Invariant: the screen waits for requested changes, unless the user closes it twice or presses Ctrl-C. In
// that case the command reports a change that has no answer.
// Errors: `CommandError`. If the stock stops or does not answer while the screen is open, the screen waits until the
// user closes it.
import BankModel
import Posix
import StockClient
import Time
import Wire

/// The full screen of the stock editor.
final class StockEditorScreen {
  private let session: Session
  private let serviceRequests: StockRequests
  private var editor: StockEditor
  private let screen: FullScreen
  /// Changes without an answer.
  private var requests = RequestQueue<ItemAmount>()

  private static let changeTimeout = TimeSpan.seconds(5)
  /// Time limit for the next answer of a stock that has not answered a change.
  private static let probeTimeout = TimeSpan.minutes(60)
  /// Maximum wait for the amounts. After this time the editor opens without them.
  private static let snapshotTimeout = TimeSpan.seconds(1)

  /// Opens the editor; returns when its screen has ended.
  static func run(_ session: Session) throws(CommandError) {
    guard session.environment.variable("TERM") != "dumb" else {
      return session.note(session.messages.editorNeedsTerminal)
    }
    let serviceRequests = try StockRequests(session)
    let assortment = try serviceRequests.assortment()
    let screen = try FullScreen(session.output, on: serviceRequests.loop)
    defer { screen.end() }
    let editing = StockEditorScreen(session, serviceRequests, assortment, screen)
    try editing.edit()
    screen.end()
    if let change = editing.requests.inDoubt {
      session.note(session.messages.exitedUnanswered(.stock, editing.name(change)))
    }
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(
    _ session: Session, _ serviceRequests: StockRequests, _ assortment: Assortment, _ screen: FullScreen
  ) {
    self.session = session
    self.serviceRequests = serviceRequests
    self.screen = screen
    editor = StockEditor(assortment, session.messages)
  }

  private func edit() throws(CommandError) {
    serviceRequests.client.follow { [unowned self] news in
      editor.handle(news)
      screen.isDirty = true
    }
    // Keys that were typed early apply to the amounts, so the amounts are loaded first, unless loading takes
    // long.
    let firstDeadline = SystemClock.monotonic() + Self.snapshotTimeout
    while editor.picture == nil, !screen.isEnded, SystemClock.monotonic() < firstDeadline {
      try serviceRequests.runIteration(until: firstDeadline)
    }
    guard !screen.isEnded else { return }
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isOver(unless: requests.isBusy) {
      if editor.notice.isConnected != serviceRequests.client.isConnected { screen.isDirty = true }
      editor.notice.isConnected = serviceRequests.client.isConnected
      if requests.settle(at: serviceRequests.loop.listeningTime.now) { screen.isDirty = true }
      editor.notice.silence = session.messages.waiting(for: .stock, requests, name)
      try screen.draw { StockEditorRenderer(editor: editor, palette: session.output.palette).lines(size: $0) }
      let due = requests.due.map { serviceRequests.loop.listeningTime.wakeTime(for: $0) }
      try serviceRequests.runIteration(until: MonotonicTime.earlier(screen.wakeTime, due))
      screen.settle()
    }
    if let failure = screen.failure { throw failure }
  }

  /// Text of a change in messages, such as `add 1 kiwi`.
  private func name(_ change: ItemAmount) -> String {
    session.messages.added(
      editor.assortment.name(of: change.item, in: session.messages.language), change.quantity)
  }

  /// Applies a key: closes the screen, or queues the requested change.
  private func press(_ key: Key) {
    guard let userCommand = editor.press(key) else { return }
    switch userCommand {
    case .close:
      screen.close()
      if requests.isBusy { editor.notice.say(session.messages.exitWaits(.stock)) }
    case .change(let item, let difference):
      guard !screen.isClosed else { return }
      requests.add(ItemAmount(item, difference))
      sendNext()
    }
  }

  /// Sends the next change. Further changes wait for its answer, so that no changes accumulate at a stock
  /// that does not answer.
  private func sendNext() {
    guard let change = requests.next(at: serviceRequests.loop.listeningTime.now) else { return }
    let deadline = SystemClock.monotonic() + Self.changeTimeout
    serviceRequests.client.ask(.change(change, nil), until: deadline) { [weak self] in self?.handle($0) }
  }

  /// Takes over the answer to a change and sends the next one; probes the stock after a timeout.
  private func handle(_ result: Result<StockResult, StockClientError>) {
    screen.isDirty = true
    guard case .success = result else {
      requests.gaveUp()
      return probe()
    }
    let untaken = requests.answered()
    editor.handle(result)
    if untaken > 0 { editor.notice.add(session.messages.keysIgnored(untaken)) }
    sendNext()
  }

  /// Requests a snapshot repeatedly until a stock that has not answered a change answers again. The snapshot
  /// shows the result of the change.
  private func probe() {
    serviceRequests.client.ask(.querySnapshot, until: SystemClock.monotonic() + Self.probeTimeout) {
      [weak self] result in
      guard let self else { return }
      guard case .success = result else { return probe() }
      let text = session.messages.answersAgain(.stock, requests.inDoubt.map(name))
      editor.notice.say(text)
      let untaken = requests.answered()
      if untaken > 0 { editor.notice.add(session.messages.keysIgnored(untaken)) }
      screen.isDirty = true
    }
  }
}
