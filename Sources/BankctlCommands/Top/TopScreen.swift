// Connections of the dashboard to the bank, the stock and the vending machine; `TopModel` interprets keys.
// Invariant: snapshots are drawn at most once in `pace`, keys and answers to requests at once.
// Errors: `CommandError`. The dashboard waits for a killed coordinator to restart. If the bank closes, the
// dashboard ends without an error.
import BankModel
import ControlClient
import Glibc
import Posix
import Time
import VendingClient
import Wire

/// The full screen of `bankctl top`.
final class TopScreen {
  private let session: Session
  private let loop: EventLoop
  private let screen: FullScreen
  private let coordinator: CoordinatorSubscription
  private var model: TopModel
  private var stock: StockRequests?
  private var machine: VendingRequests?
  /// Requests whose last answer has not arrived.
  private var asked: [UInt32: ControlCommand] = [:]
  /// True if messages were received since the last drawing.
  private var hasNews = false
  /// Earliest time of the next drawing for new snapshots or running clocks.
  private var nextDrawing = MonotonicTime(nanoseconds: 0)
  private var failure: CommandError?

  /// Minimum time between two drawings of snapshots. A higher rate would not be visible, and each drawing takes time
  /// from a busy bank.
  private static let pace = TimeSpan.milliseconds(100)
  /// Timeout of the request for the assortment.
  private static let assortmentTimeout = TimeSpan.minutes(60)
  /// Maximum number of open requests.
  private static let questionsAtMost = 64

  /// Shows the dashboard until the user exits or the bank closes.
  static func run(_ session: Session) throws(CommandError) {
    let isScreen =
      session.output.isTerminal && Terminal.isTerminal(STDIN_FILENO) && !session.asJSON
      && session.environment.variable("TERM") != "dumb"
    guard isScreen else { throw .usage(session.messages.topNeedsTerminal) }
    let client = try CoordinatorClient.open(session)
    let loop = try fromSystem(EventLoop())
    let screen = try FullScreen(session.output, on: loop)
    defer { screen.end() }
    let coordinator = try CoordinatorSubscription(session, client, following: .board, on: loop)
    let top = TopScreen(session, coordinator, loop, screen)
    let isClosed = try top.show()
    screen.end()
    if isClosed { session.note(session.messages.bankHasClosed) }
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(
    _ session: Session, _ coordinator: CoordinatorSubscription, _ loop: EventLoop, _ screen: FullScreen
  ) {
    (self.session, self.coordinator, self.loop, self.screen) = (session, coordinator, loop, screen)
    model = TopModel(
      session.messages, isChaos: session.invocation.flag("chaos"), home: session.home.path,
      branch: session.invocation.integer("branch"))
  }

  /// Runs the loop of the screen until it ends. Returns true if the bank has closed.
  private func show() throws(CommandError) -> Bool {
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isEnded, !screen.isClosed {
      if try !handle() { return true }
      noteConnections()
      askAgain()
      try draw()
      try loop.runIteration(until: wakeTime)
      stock?.client.finishIteration()
      machine?.client.finishIteration()
      screen.settle()
      if let failure { throw failure }
    }
    if let failure = screen.failure { throw failure }
    return false
  }

  /// Time at which the loop must run even if no event occurs; nil for never.
  private var wakeTime: MonotonicTime? {
    let now = SystemClock.monotonic()
    let drawing = hasNews ? nextDrawing : model.pace(at: now).map { max(nextDrawing, now + $0) }
    return .earliest(
      screen.wakeTime, coordinator.wakeTime, drawing, coordinator.isConnected ? model.due : nil,
      stock?.client.nextDeadline,
      machine?.client.nextDeadline)
  }

  /// Draws the screen if it is marked as changed, or if there is news and the pace allows it.
  private func draw() throws(CommandError) {
    let now = SystemClock.monotonic()
    if now >= nextDrawing, hasNews || model.pace(at: now) != nil { screen.isDirty = true }
    guard screen.isDirty else { return }
    (hasNews, nextDrawing) = (false, now + Self.pace)
    try screen.draw { size in
      let (lines, room) = TopRenderer(model: model, now: now, palette: session.output.palette).lines(
        size: size)
      model.room = room
      return lines
    }
  }

  // MARK: - The bank

  /// Handles the messages of the bank and the state of its connection. Returns false if the bank has closed.
  private func handle() throws(CommandError) -> Bool {
    let wasThere = coordinator.isConnected
    let replies: [ControlReply]
    do throws(CommandError) { replies = try coordinator.handle() } catch {
      guard case .control(.notOpen) = error, model.isClosing else { throw error }
      return false
    }
    for reply in replies { try handle(reply) }
    if model.live?.frame.state == .closed { return false }
    guard coordinator.isConnected else {
      if wasThere {
        asked = [:]
        model.loseAnswers()
      }
      return !(model.isClosing && session.isBankClosed)
    }
    return true
  }

  /// Passes a snapshot or an answer to the model.
  private func handle(_ reply: ControlReply) throws(CommandError) {
    hasNews = true
    if reply.number == coordinator.followed {
      if case .failure(let failure) = reply.answer { throw .failure(failure) }
      guard case .board(let frame) = reply.answer else { throw reply.answer.unexpected }
      return model.handle(frame, at: SystemClock.monotonic())
    }
    guard let command = asked[reply.number] else { return }
    if !reply.more { asked[reply.number] = nil }
    model.handle(reply.answer, to: command, more: reply.more)
    // The answer to a request is drawn at once.
    screen.isDirty = true
  }

  /// Passes to the model which connections exist and whether the bank answers.
  private func noteConnections() {
    let before = (
      model.notice.isConnected, model.notice.silence, model.shop.isStockThere, model.shop.isMachineThere
    )
    model.notice.isConnected = coordinator.isConnected
    model.notice.silence =
      coordinator.isSilent
      ? session.messages.bankIsSilent(since: Timestamp.utc(milliseconds: coordinator.lastMessageAt)) : nil
    model.shop.isStockThere = stock?.client.isConnected ?? false
    model.shop.isMachineThere = machine?.client.isConnected ?? false
    let after = (
      model.notice.isConnected, model.notice.silence, model.shop.isStockThere, model.shop.isMachineThere
    )
    if before != after { screen.isDirty = true }
  }

  /// Sends the request of an outdated view if it is due.
  private func askAgain() {
    guard coordinator.isConnected, let question = model.question(at: SystemClock.monotonic()) else { return }
    ask(question)
  }

  /// Sends a request and stores it for its answer; drops it if too many are open, or without a connection.
  private func ask(_ command: ControlCommand) {
    guard asked.count < Self.questionsAtMost, let number = coordinator.ask(command) else { return }
    asked[number] = command
  }

  /// Applies a key, and opens the service of a tab that is shown for the first time.
  private func press(_ key: Key) {
    coordinator.probeCoordinator()
    switch model.press(key, at: SystemClock.monotonic()) {
    case .leave: screen.close()
    case .ask(let command): ask(command)
    case nil: break
    }
    if model.tab == .stock, stock == nil { openStock() }
    if model.tab == .vending, machine == nil { openMachine() }
  }

  // MARK: - The shop

  /// Subscribes to the stock, and requests the assortment.
  private func openStock() {
    do throws(CommandError) {
      let serviceRequests = try StockRequests(session, isSeenOpen: true, on: loop)
      serviceRequests.client.follow { [unowned self] news in
        model.shop.handle(news)
        hasNews = true
      }
      serviceRequests.client.ask(.assortment, until: SystemClock.monotonic() + Self.assortmentTimeout) {
        [unowned self] in
        if case .success(.assortment(let assortment)) = $0 { model.shop.assortment = assortment }
        hasNews = true
      }
      stock = serviceRequests
    } catch { failure = error }
  }

  private func openMachine() {
    do throws(CommandError) {
      let serviceRequests = try VendingRequests(session, .customers, on: loop)
      serviceRequests.client.follow { [unowned self] notice in
        model.shop.handle(notice)
        hasNews = true
      }
      machine = serviceRequests
    } catch { failure = error }
  }
}
