// Owns the terminal while the vending machine is on it: its raw mode, its other screen, its keys, its size, and the
// signals that would end this program meanwhile; and which of the two screens is shown.
// It must not know what a key means (the boards do) nor how a screen looks (their pictures do).
// Invariant: however it ends, by a key, by a signal, or by a failure, the terminal is as it was before. Each side speaks
// on its own socket.
// Failure: CommandError. A machine that is away is waited for on the screen; the person decides for how long.
import BankModel
import Glibc
import Posix
import VendingClient
import Wire

/// The vending machine on a terminal.
final class VendingScreen {
  private let session: Session
  private let customers: VendingCounter
  private var managers: VendingCounter?
  private var customerBoard: CustomerBoard
  private var adminBoard: AdminBoard
  private var isManaging = false
  private var keys = KeyDecoder()
  private var escapeBy: MonotonicInstant?
  private var isClosed = false
  /// Wishes that the machine has not answered yet; they are waited for, unless somebody leaves twice.
  private var outstanding = 0
  private var isAbandoned = false
  private var isFetching = false
  private var isDirty = true
  private var signal: CInt?
  private var failure: CommandError?

  /// How long the rest of a key's sequence may take; a lone escape is known by nothing following it.
  private static let sequencePatience = Duration.milliseconds(50)
  /// How long a wish waits for a machine that has just gone.
  private static let wishPatience = Duration.seconds(10)
  private static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// The other screen with the cursor hidden, and back. xterm's ctlseqs, DECSET 1049 and 25
  private static let begin = "\u{1B}[?1049h\u{1B}[?25l"
  private static let end = "\u{1B}[?25h\u{1B}[?1049l"

  /// Shows the machine, and returns when the person has left it.
  static func run(_ session: Session) throws(CommandError) {
    let screen = VendingScreen(session, try VendingCounter(session, .customers))
    try screen.show()
    if let signal = screen.signal { Signals.end(by: signal) }
  }

  private init(_ session: Session, _ customers: VendingCounter) {
    self.session = session
    self.customers = customers
    customerBoard = CustomerBoard(session.words)
    adminBoard = AdminBoard(session.words)
  }

  private func show() throws(CommandError) {
    let terminal: RawTerminal
    let signals: SignalSource
    do throws(SystemError) {
      // Blocked before the terminal is taken over, so that none can come in between.
      signals = try SignalSource(Self.endings + [SIGWINCH, SIGTSTP], on: customers.loop) { [unowned self] in
        hear($0.signal)
      }
      terminal = try RawTerminal()
    } catch {
      throw .system(error)
    }
    defer {
      // What has come too late to be heard here ends this program now, with its terminal in order.
      terminal.restore()
      withExtendedLifetime(signals) {}
      try? Signals.unblock(Self.endings + [SIGWINCH, SIGTSTP])
    }
    session.output.write(Self.begin)
    defer {
      session.output.write(Self.end)
      try? session.output.flush()
    }
    customers.client.follow { [unowned self] notice in
      customerBoard.hear(notice)
      isDirty = true
    }
    try work(terminal)
  }

  private func work(_ terminal: RawTerminal) throws(CommandError) {
    let loop = customers.loop
    let registration: Registration
    do throws(SystemError) {
      registration = try loop.register(fd: STDIN_FILENO, interest: .read) { [unowned self] _ in read(terminal)
      }
    } catch {
      throw .system(error)
    }
    defer { loop.deregister(registration) }
    while !isClosed || (outstanding > 0 && !isAbandoned), signal == nil, failure == nil {
      noteConnections()
      if isDirty { try draw() }
      let wake = [escapeBy, managers?.client.nextDeadline].compactMap { $0 }.min()
      managers?.client.endTurn()
      do throws(VendingClientError) { try customers.client.turn(until: wake) } catch {
        throw session.words.refusal(ofMachine: error, trouble: customers.trouble)
      }
      managers?.client.endTurn()
      if let due = escapeBy, SystemClock.monotonic() >= due {
        escapeBy = nil
        if let key = keys.settle() { press(key) }
      }
    }
    if let failure { throw failure }
  }

  private func noteConnections() {
    let (customer, manager) = (customers.client.isConnected, managers?.client.isConnected ?? false)
    if customerBoard.isConnected != customer || adminBoard.isConnected != manager { isDirty = true }
    (customerBoard.isConnected, adminBoard.isConnected) = (customer, manager)
  }

  private func draw() throws(CommandError) {
    isDirty = false
    let (size, palette) = (Terminal.size, session.output.palette)
    customerBoard.columns = CustomerBoardPicture.columns(size: size)
    let lines =
      isManaging
      ? AdminBoardPicture(board: adminBoard, palette: palette).lines(size: size)
      : CustomerBoardPicture(board: customerBoard, palette: palette).lines(size: size)
    session.output.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
    try session.output.flush()
  }

  private func hear(_ signal: CInt) {
    // A size that has changed; Ctrl-Z is a key here, and from outside there is nothing to stop for.
    if signal == SIGWINCH { isDirty = true } else if signal != SIGTSTP { self.signal = self.signal ?? signal }
  }

  private func read(_ terminal: RawTerminal) {
    do throws(SystemError) {
      // A terminal that is gone has nobody in front of it.
      guard let bytes = try terminal.read() else { return (isClosed, isAbandoned) = (true, true) }
      for key in keys.take(bytes) { press(key) }
      escapeBy = keys.isWaiting ? SystemClock.monotonic() + Self.sequencePatience : nil
    } catch {
      failure = .system(error)
    }
  }

  private func press(_ key: Key) {
    isDirty = true
    if isManaging {
      if let wish = adminBoard.press(key) { grant(wish) }
    } else if let wish = customerBoard.press(key) {
      grant(wish)
    }
  }

  // MARK: - Wishes

  private func grant(_ wish: CustomerBoard.Wish) {
    switch wish {
    case .leave: (isAbandoned, isClosed) = (isClosed, true)
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
      isDirty = true
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
      isDirty = true
    }
  }

  private func openManager() {
    isManaging = true
    guard managers == nil else { return }
    do throws(CommandError) {
      let counter = try VendingCounter(session, .manager, on: customers.loop)
      counter.client.follow { [unowned self] notice in
        adminBoard.hear(notice)
        isDirty = true
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
      isDirty = true
    }
  }
}
