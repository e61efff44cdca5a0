// Connections of the vending screens to the machine; the boards interpret keys.
// Invariant: the screen waits for accepted requests, unless the user closes it twice or presses Ctrl-C. In that case
// the command reports a change that has no answer.
// Errors: `CommandError`. If the machine is not running or does not answer, the screen waits until the user
// closes it.
import BankModel
import Posix
import Time
import VendingClient
import Wire

/// The full screen of the vending machine, with the customers' and the manager's board.
final class VendingScreen {
  private let session: Session
  private let customers: VendingRequests
  private let screen: FullScreen
  private var managers: VendingRequests?
  private var customerBoard: CustomerBoard
  private var adminBoard: AdminBoard
  private var isManaging = false
  /// Requests without an answer.
  private var requests = RequestQueue<Request>()
  private var failure: CommandError?

  private static let requestTimeout = TimeSpan.seconds(10)
  /// Time limit for the next answer of a machine that has not answered a request.
  private static let probeTimeout = TimeSpan.minutes(60)

  /// A request to the machine, with its origin.
  private enum Request {
    case customer(VendingCommand)
    case manager(VendingCommand, AdminBoard.UserCommand)
    /// Purchases before the first loaded one.
    case older(PurchasePage, before: Int64)

    /// The request as the machine receives it.
    var command: VendingCommand {
      switch self {
      case .customer(let command), .manager(let command, _): command
      case .older(let page, _): .history(page)
      }
    }
  }

  /// Opens the screen; returns when it has ended.
  static func run(_ session: Session) throws(CommandError) {
    let customers = try VendingRequests(session, .customers)
    let screen = try FullScreen(session.output, on: customers.loop)
    defer { screen.end() }
    let shop = VendingScreen(session, customers, screen)
    try shop.show()
    screen.end()
    if let request = shop.requests.inDoubt, request.command.changesSomething {
      session.note(session.messages.exitedUnanswered(.vending, shop.name(request)))
    }
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ customers: VendingRequests, _ screen: FullScreen) {
    self.session = session
    self.customers = customers
    self.screen = screen
    customerBoard = CustomerBoard(session.messages)
    adminBoard = AdminBoard(session.messages)
  }

  private func show() throws(CommandError) {
    customers.client.follow { [unowned self] notice in
      customerBoard.handle(notice)
      screen.isDirty = true
    }
    try screen.begin { [unowned self] key in press(key) }
    while failure == nil, !screen.isOver(unless: requests.isBusy) {
      noteConnections()
      notePace()
      try screen.draw(lines)
      let due = requests.due.map { customers.loop.listeningTime.wakeTime(for: $0) }
      let wakeTime = MonotonicTime.earliest(screen.wakeTime, managers?.client.nextDeadline, due)
      managers?.client.finishIteration()
      try customers.runIteration(until: wakeTime)
      managers?.client.finishIteration()
      screen.settle()
    }
    if let failure = failure ?? screen.failure { throw failure }
  }

  /// Passes to both boards whether the machine is connected.
  private func noteConnections() {
    let (customer, manager) = (customers.client.isConnected, managers?.client.isConnected ?? false)
    let known = (customerBoard.notice.isConnected, adminBoard.notice.isConnected)
    if known != (customer, manager) { screen.isDirty = true }
    (customerBoard.notice.isConnected, adminBoard.notice.isConnected) = (customer, manager)
  }

  /// Passes to both boards whether the machine is slow or does not answer.
  private func notePace() {
    if requests.settle(at: customers.loop.listeningTime.now) { screen.isDirty = true }
    let text = session.messages.waiting(for: .vending, requests, name)
    (customerBoard.notice.silence, adminBoard.notice.silence) = (text, text)
  }

  /// Text of a request in messages, such as `buy Coca-Cola`.
  private func name(_ request: Request) -> String {
    session.messages.request(request.command, customerBoard.picture)
  }

  /// The lines of the shown board.
  private func lines(_ size: Terminal.Size?) -> [String] {
    let palette = session.output.palette
    customerBoard.columns = CustomerBoardRenderer.columns(size: size, of: customerBoard)
    return isManaging
      ? AdminBoardRenderer(board: adminBoard, palette: palette).lines(size: size)
      : CustomerBoardRenderer(board: customerBoard, palette: palette).lines(size: size)
  }

  /// Applies a key to the shown board and executes what it requests.
  private func press(_ key: Key) {
    if isManaging {
      if let userCommand = adminBoard.press(key) { grant(userCommand) }
    } else if let userCommand = customerBoard.press(key) {
      grant(userCommand)
    }
  }

  /// Executes a request of the customers' board.
  private func grant(_ userCommand: CustomerBoard.UserCommand) {
    switch userCommand {
    case .leave:
      screen.close()
      if requests.isBusy { customerBoard.notice.say(session.messages.exitWaits(.vending)) }
    case .manage: openManager()
    case .insert(let amount): add(.customer(.insert(amount)))
    case .buy(let product): add(.customer(.buy(product)))
    case .giveChange: add(.customer(.giveChange))
    case .older(let first):
      let page = PurchasePage(after: max(0, first - 501), limit: 500)
      let isFetching = requests.all.contains { if case .older = $0 { true } else { false } }
      if !isFetching { add(.older(page, before: first)) }
    }
  }

  /// Queues a request, unless the screen is closed.
  private func add(_ request: Request) {
    guard !screen.isClosed else { return }
    requests.add(request)
    sendNext()
  }

  /// Sends the next request. Further requests wait for its answer, so that no requests accumulate at a
  /// machine that does not answer.
  private func sendNext() {
    guard let request = requests.next(at: customers.loop.listeningTime.now) else { return }
    let side: VendingRequests? = if case .manager = request { managers } else { customers }
    side?.client.ask(request.command, until: SystemClock.monotonic() + Self.requestTimeout) { [weak self] in
      self?.handle($0, request)
    }
  }

  /// Takes over the answer to a request and sends the next one; probes the machine after a timeout.
  private func handle(_ result: Result<VendingResult, VendingClientError>, _ request: Request) {
    screen.isDirty = true
    guard case .success(let answer) = result else {
      requests.gaveUp()
      return probe()
    }
    let untaken = requests.answered()
    switch request {
    case .customer: customerBoard.handle(result)
    case .manager(_, let userCommand): adminBoard.handle(result, userCommand)
    case .older(_, let first):
      if case .history(let purchases) = answer {
        customerBoard.handle(older: purchases.filter { $0.sequence < first })
      }
    }
    if untaken > 0 { notice.add(session.messages.keysIgnored(untaken)) }
    sendNext()
  }

  /// Requests a snapshot repeatedly until a machine that has not answered a request answers again. The
  /// snapshot shows the result of the request.
  private func probe() {
    customers.client.ask(.querySnapshot, until: SystemClock.monotonic() + Self.probeTimeout) {
      [weak self] result in
      guard let self else { return }
      guard case .success(let answer) = result else { return probe() }
      let text = session.messages.answersAgain(.vending, requests.inDoubt.map(name))
      let untaken = requests.answered()
      if case .snapshot(let picture) = answer { customerBoard.handle(.snapshot(picture)) }
      notice.say(text)
      if untaken > 0 { notice.add(session.messages.keysIgnored(untaken)) }
      screen.isDirty = true
    }
  }

  /// The notice of the shown board.
  private var notice: ServiceNotice {
    get { isManaging ? adminBoard.notice : customerBoard.notice }
    set { if isManaging { adminBoard.notice = newValue } else { customerBoard.notice = newValue } }
  }

  /// Shows the manager's board, and subscribes to the manager's socket the first time.
  private func openManager() {
    isManaging = true
    guard managers == nil else { return }
    do throws(CommandError) {
      let serviceRequests = try VendingRequests(session, .manager, on: customers.loop)
      serviceRequests.client.follow { [unowned self] notice in
        adminBoard.handle(notice)
        screen.isDirty = true
      }
      managers = serviceRequests
    } catch {
      isManaging = false
      failure = error
    }
  }

  /// Executes a request of the manager's board.
  private func grant(_ userCommand: AdminBoard.UserCommand) {
    let command: VendingCommand
    switch userCommand {
    case .close:
      isManaging = false
      return
    case .add(let product, let quantity): command = .add(AddedDrinks(product: product, quantity: quantity))
    case .remove(let product, let quantity): command = .remove(ItemAmount(product, quantity))
    case .discardExpired: command = .discardExpired
    }
    add(.manager(command, userCommand))
  }
}
