// Data sources of the pages: board, stock, vending machine. Each source is subscribed to while a page needs it and a
// little longer, so that the event stream that follows a page request finds the subscription ready.
// Invariant: `isOpen` contains the available sources. The last values of a source remain at least until its
// subscription ends.
import BankModel
import Posix
import StockClient
import Time
import VendingClient
import Wire

/// Source of the values that pages show, to which this process subscribes.
enum DataSource: Hashable, CaseIterable {
  /// Snapshots of the bank, the stock, and the customers' and the manager's side of the vending machine.
  case board, stock, vending, manager
  /// Timer that ticks while a page needs it.
  case clock
}

/// The subscriptions to the data sources, and their last values.
final class DataSources {
  /// Called when a source has changed.
  var onChange: ((DataSource) -> Void)?
  private(set) var board: BoardFrame?
  private(set) var assortment: Assortment?
  private(set) var stock: StockSnapshot?
  private(set) var vending: VendingSnapshot?
  private(set) var manager: VendingSnapshot?
  /// Numbers of served customers over time, from the board.
  private(set) var rates = RateHistory()
  /// Sources that are available at the moment.
  private(set) var isOpen: Set<DataSource> = [.clock]

  private let home: WebHome
  private let loop: EventLoop
  private let boardConnection: CoordinatorConnection
  private var stockClient: StockClient?
  private var vendingClient: VendingClient?
  private var managerClient: VendingClient?
  /// Time at which each subscription that no page needs ends.
  private var until: [DataSource: MonotonicTime] = [:]
  /// Sources that viewers need.
  private var needed: Set<DataSource> = []
  /// Time of the next change of the clock; nil while no page needs the clock.
  private var nextTick: MonotonicTime?
  /// Number of connections to the stock when the assortment was last requested.
  private var stockWelcomes = 0

  /// Time for which an unneeded subscription is kept.
  private static let linger = TimeSpan.seconds(3)
  /// Interval of the clock.
  private static let tick = TimeSpan.milliseconds(500)

  init(home: WebHome, loop: EventLoop) {
    (self.home, self.loop) = (home, loop)
    boardConnection = CoordinatorConnection(socket: home.controlSocket, loop: loop)
  }

  /// True if all of these sources have a value to show.
  func has(_ kinds: Set<DataSource>) -> Bool {
    kinds.allSatisfy { kind in
      switch kind {
      case .board: board != nil && isOpen.contains(.board)
      case .stock: stock != nil && assortment != nil
      case .vending: vending != nil
      case .manager: manager != nil
      case .clock: true
      }
    }
  }

  /// Subscribes to these sources for at least `linger` from now.
  func subscribeBriefly(_ kinds: Set<DataSource>, at now: MonotonicTime) {
    for kind in kinds {
      until[kind] = now + Self.linger
      open(kind, now)
    }
  }

  /// Sets the sources that viewers need. The subscriptions to the other sources end after `linger`.
  func setNeeded(_ kinds: Set<DataSource>, at now: MonotonicTime) {
    for kind in needed.subtracting(kinds) { until[kind] = now + Self.linger }
    for kind in kinds.subtracting(needed) { open(kind, now) }
    needed = kinds
  }

  // MARK: - Subscriptions

  /// Subscribes to a source unless that is done already.
  private func open(_ kind: DataSource, _ now: MonotonicTime) {
    switch kind {
    case .board where !isBoardSubscribed: subscribeToBoard()
    case .stock where stockClient == nil: subscribeToStock()
    case .vending where vendingClient == nil:
      let client = VendingClient(
        socket: VendingClient.customersSocket(inHome: home.path), loop: loop, helloTimeout: .seconds(2))
      vendingClient = client
      client.follow { [unowned self] in handle($0, \.vending, .vending) }
    case .manager where managerClient == nil:
      let client = VendingClient(
        socket: VendingClient.managersSocket(inHome: home.path), loop: loop, helloTimeout: .seconds(2))
      managerClient = client
      client.follow { [unowned self] in handle($0, \.manager, .manager) }
    case .clock where nextTick == nil: nextTick = now + Self.tick
    default: break
    }
  }

  private var isBoardSubscribed = false

  private func subscribeToBoard() {
    isBoardSubscribed = true
    boardConnection.follow(.board) { [unowned self] answer in
      guard !isBankClosed else { return }
      switch answer {
      case .board(let frame):
        board = frame
        isOpen.insert(.board)
        rates.record(frame)
      default: isOpen.remove(.board)
      }
      onChange?(.board)
    }
  }

  /// True after `markBankClosed()`.
  private var isBankClosed = false

  /// Marks the bank as closed. The coordinator sends no frame about its end, and a late frame must not undo the mark.
  func markBankClosed() {
    isBankClosed = true
    board?.state = .closed
    board?.isBusinessTimeRunning = false
  }

  /// Subscribes to the snapshot of the stock and to its changes.
  private func subscribeToStock() {
    let client = StockClient(
      socket: StockClient.socket(inHome: home.path), loop: loop, helloTimeout: .seconds(2))
    stockClient = client
    client.follow { [unowned self] news in
      switch news {
      case .snapshot(let picture): stock = picture
      case .changes(let changes): stock?.apply(changes)
      case .refused: return
      }
      if client.connectionCount != stockWelcomes { askForAssortment(client) }
      isOpen.insert(.stock)
      onChange?(.stock)
    }
  }

  /// Reads the assortment (fruits and juices); a restarted service may have loaded another file.
  private func askForAssortment(_ client: StockClient) {
    stockWelcomes = client.connectionCount
    client.ask(.assortment, until: SystemClock.monotonic() + .seconds(10)) { [weak self] answer in
      guard case .success(.assortment(let assortment)) = answer else { return }
      self?.assortment = assortment
      self?.onChange?(.stock)
    }
  }

  /// Applies an update of the vending machine to the snapshot at a key path, and reports a change of this source.
  private func handle(
    _ notice: VendingUpdate, _ path: ReferenceWritableKeyPath<DataSources, VendingSnapshot?>,
    _ kind: DataSource
  ) {
    switch notice {
    case .snapshot(let picture): self[keyPath: path] = picture
    case .news(let news): self[keyPath: path]?.apply(news)
    case .refused: return
    }
    isOpen.insert(kind)
    onChange?(kind)
  }

  /// Ends the subscription to a source, and drops its value.
  private func close(_ kind: DataSource) {
    isOpen.remove(kind)
    switch kind {
    case .board:
      boardConnection.stopFollowing()
      isBoardSubscribed = false
      board = nil
    case .stock:
      stockClient?.close()
      (stockClient, stock, stockWelcomes) = (nil, nil, 0)
    case .vending:
      vendingClient?.close()
      (vendingClient, vending) = (nil, nil)
    case .manager:
      managerClient?.close()
      (managerClient, manager) = (nil, nil)
    case .clock:
      nextTick = nil
      isOpen.insert(.clock)
    }
  }

  // MARK: - Loop

  /// Deadline for the next call of `finishIteration(_:)`; nil for none.
  var nextDeadline: MonotonicTime? {
    var earliest = MonotonicTime.earliest(
      boardConnection.nextDeadline, stockClient?.nextDeadline, vendingClient?.nextDeadline,
      managerClient?.nextDeadline, nextTick)
    for (kind, end) in until where !needed.contains(kind) { earliest = .earlier(earliest, end) }
    return earliest
  }

  /// Continues the connections, reports a tick of the clock if it is due, and ends subscriptions that no page needs.
  func finishIteration(_ now: MonotonicTime) {
    boardConnection.finishIteration()
    checkConnection(stockClient?.isConnected, .stock)
    checkConnection(vendingClient?.isConnected, .vending)
    checkConnection(managerClient?.isConnected, .manager)
    stockClient?.finishIteration()
    vendingClient?.finishIteration()
    managerClient?.finishIteration()
    if let tick = nextTick, tick <= now {
      nextTick = now + Self.tick
      onChange?(.clock)
    }
    for (kind, end) in until where end <= now && !needed.contains(kind) {
      until[kind] = nil
      close(kind)
    }
  }

  /// Marks the source as unavailable and reports a change if its service has disconnected.
  private func checkConnection(_ isConnected: Bool?, _ kind: DataSource) {
    guard isConnected == false, isOpen.contains(kind) else { return }
    isOpen.remove(kind)
    onChange?(kind)
  }
}
