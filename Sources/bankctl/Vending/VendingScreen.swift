// Owns the conversation of the vending machine's screen with the machine, on both of its sockets, and which of the two
// screens is shown.
// It must not know what a key means (the boards do), how a screen looks (their pictures do), nor how it comes to the
// terminal (FullScreen does).
// Invariant: each side speaks on its own socket; a wish that was granted is waited for, unless somebody leaves twice or
// presses Ctrl-C.
// Failure: CommandError. A machine that is away is waited for on the screen; the person decides for how long.
import BankModel
import Posix
import VendingClient
import Wire

/// The vending machine on a terminal.
final class VendingScreen {
  private let session: Session
  private let customers: VendingCounter
  private let screen: FullScreen
  private var managers: VendingCounter?
  private var customerBoard: CustomerBoard
  private var adminBoard: AdminBoard
  private var isManaging = false
  private var isClosed = false
  /// Wishes that the machine has not answered yet; they are waited for, unless somebody leaves twice.
  private var outstanding = 0
  private var isAbandoned = false
  private var isFetching = false
  private var failure: CommandError?

  /// How long a wish waits for a machine that has just gone.
  private static let wishPatience = Duration.seconds(10)

  /// Shows the machine, and returns when the person has left it.
  static func run(_ session: Session) throws(CommandError) {
    let customers = try VendingCounter(session, .customers)
    let screen = try FullScreen(session.output, on: customers.loop)
    defer { screen.end() }
    try VendingScreen(session, customers, screen).show()
    screen.end()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ customers: VendingCounter, _ screen: FullScreen) {
    self.session = session
    self.customers = customers
    self.screen = screen
    customerBoard = CustomerBoard(session.words)
    adminBoard = AdminBoard(session.words)
  }

  private func show() throws(CommandError) {
    customers.client.follow { [unowned self] notice in
      customerBoard.hear(notice)
      screen.isDirty = true
    }
    try screen.begin { [unowned self] key in press(key) }
    while !screen.isEnded, failure == nil, !isClosed || (outstanding > 0 && !isAbandoned) {
      noteConnections()
      if screen.isDirty { try draw() }
      let wake = [screen.wake, managers?.client.nextDeadline].compactMap { $0 }.min()
      managers?.client.endTurn()
      do throws(VendingClientError) { try customers.client.turn(until: wake) } catch {
        throw session.words.refusal(ofMachine: error, trouble: customers.trouble)
      }
      managers?.client.endTurn()
      screen.settle()
    }
    if let failure = failure ?? screen.failure { throw failure }
  }

  private func noteConnections() {
    let (customer, manager) = (customers.client.isConnected, managers?.client.isConnected ?? false)
    if customerBoard.isConnected != customer || adminBoard.isConnected != manager { screen.isDirty = true }
    (customerBoard.isConnected, adminBoard.isConnected) = (customer, manager)
  }

  private func draw() throws(CommandError) {
    let (size, palette) = (Terminal.size, session.output.palette)
    customerBoard.columns = CustomerBoardPicture.columns(size: size, of: customerBoard)
    let lines =
      isManaging
      ? AdminBoardPicture(board: adminBoard, palette: palette).lines(size: size)
      : CustomerBoardPicture(board: customerBoard, palette: palette).lines(size: size)
    try screen.draw(lines, size: size)
  }

  private func press(_ key: Key) {
    if isManaging {
      if let wish = adminBoard.press(key) { grant(wish) }
    } else if let wish = customerBoard.press(key) {
      grant(wish)
    }
  }

  // MARK: - Wishes

  private func grant(_ wish: CustomerBoard.Wish) {
    switch wish {
    case .leave:
      (isAbandoned, isClosed) = (isClosed, true)
      screen.isClosed = true
    case .manage: openManager()
    case .insert(let amount): ask(.insert(amount))
    case .buy(let product): ask(.buy(product))
    case .giveChange: ask(.giveChange)
    case .older(let first): fetch(before: first)
    }
  }

  private func ask(_ command: VendingCommand) {
    guard !isClosed else { return }
    outstanding += 1
    customers.client.ask(command, until: SystemClock.monotonic() + Self.wishPatience) { [weak self] result in
      guard let self else { return }
      outstanding -= 1
      customerBoard.hear(result)
      screen.isDirty = true
    }
  }

  /// Purchases that the strip does not know yet: those in front of the first it does.
  private func fetch(before first: Int64) {
    guard !isFetching else { return }
    isFetching = true
    let page = PurchasePage(after: max(0, first - 501), limit: 500)
    customers.client.ask(.history(page), until: SystemClock.monotonic() + Self.wishPatience) {
      [weak self] result in
      guard let self else { return }
      isFetching = false
      if case .success(.history(let purchases)) = result {
        customerBoard.hear(older: purchases.filter { $0.sequence < first })
      }
      screen.isDirty = true
    }
  }

  private func openManager() {
    isManaging = true
    guard managers == nil else { return }
    do throws(CommandError) {
      let counter = try VendingCounter(session, .manager, on: customers.loop)
      counter.client.follow { [unowned self] notice in
        adminBoard.hear(notice)
        screen.isDirty = true
      }
      managers = counter
    } catch {
      isManaging = false
      failure = error
    }
  }

  private func grant(_ wish: AdminBoard.Wish) {
    let command: VendingCommand
    switch wish {
    case .close:
      isManaging = false
      return
    case .add(let product, let quantity): command = .add(AddedDrinks(product: product, quantity: quantity))
    case .remove(let product, let quantity): command = .remove(ItemAmount(product, quantity))
    case .discardExpired: command = .discardExpired
    }
    outstanding += 1
    managers?.client.ask(command, until: SystemClock.monotonic() + Self.wishPatience) { [weak self] result in
      guard let self else { return }
      outstanding -= 1
      adminBoard.hear(result, wish)
      screen.isDirty = true
    }
  }
}
