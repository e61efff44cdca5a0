// Data sources of the pages: board, stock, vending machine. Each source is subscribed to while a page needs it and for
// three seconds longer, so that the event stream that follows a page request finds the subscription ready.
// Invariant: each value is the last one received. If a source is unavailable, `isOpen` does not contain it, and its
// last value stays until the subscription ends.
import BankModel
import Posix
import StockClient
import Time
import VendingClient
import Wire

/// A data source of pages.
enum FeedKind: Hashable, CaseIterable {
  case board, stock, vending, manager
  /// Timer with an interval of half a second.
  case clock
}

final class Feeds {
  /// Called when a source has changed.
  var onChange: ((FeedKind) -> Void)?
  private(set) var board: BoardFrame?
  private(set) var assortment: Assortment?
  private(set) var stock: StockPicture?
  private(set) var vending: VendingPicture?
  private(set) var manager: VendingPicture?
  private(set) var rates = RateHistory()
  /// Sources that are available at the moment.
  private(set) var isOpen: Set<FeedKind> = [.clock]

  private let home: WebHome
  private let loop: EventLoop
  private let boardLink: ControlLink
  private var stockClient: StockClient?
  private var vendingClient: VendingClient?
  private var managerClient: VendingClient?
  /// Time at which each subscription that no page needs ends.
  private var until: [FeedKind: MonotonicTime] = [:]
  private var needed: Set<FeedKind> = []
  private var nextTick: MonotonicTime?
  private var stockWelcomes = 0

  /// Time for which an unneeded subscription is kept.
  private static let linger = TimeSpan.seconds(3)
  private static let tick = TimeSpan.milliseconds(500)

  init(home: WebHome, loop: EventLoop) {
    (self.home, self.loop) = (home, loop)
    boardLink = ControlLink(socket: home.controlSocket, loop: loop)
  }

  /// True if all of these sources have a value to show.
  func has(_ kinds: Set<FeedKind>) -> Bool {
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
  func want(_ kinds: Set<FeedKind>, at now: MonotonicTime) {
    for kind in kinds {
      until[kind] = now + Self.linger
      open(kind, now)
    }
  }

  /// Sets the sources that viewers need. The subscriptions to all other sources end after `linger`.
  func need(_ kinds: Set<FeedKind>, at now: MonotonicTime) {
    for kind in needed.subtracting(kinds) { until[kind] = now + Self.linger }
    for kind in kinds.subtracting(needed) { open(kind, now) }
    needed = kinds
  }

  // MARK: - Subscriptions

  private func open(_ kind: FeedKind, _ now: MonotonicTime) {
    switch kind {
    case .board where !isFollowingBoard: followBoard()
    case .stock where stockClient == nil: followStock()
    case .vending where vendingClient == nil:
      let client = VendingClient(
        socket: VendingClient.customersSocket(inHome: home.path), loop: loop, helloPatience: .seconds(2))
      vendingClient = client
      client.follow { [unowned self] in hear($0, \.vending, .vending) }
    case .manager where managerClient == nil:
      let client = VendingClient(
        socket: VendingClient.managersSocket(inHome: home.path), loop: loop, helloPatience: .seconds(2))
      managerClient = client
      client.follow { [unowned self] in hear($0, \.manager, .manager) }
    case .clock where nextTick == nil: nextTick = now + Self.tick
    default: break
    }
  }

  private var isFollowingBoard = false

  private func followBoard() {
    isFollowingBoard = true
    boardLink.follow(.board) { [unowned self] answer in
      guard !isOver else { return }
      switch answer {
      case .board(let frame):
        board = frame
        isOpen.insert(.board)
        rates.note(frame)
      default: isOpen.remove(.board)
      }
      onChange?(.board)
    }
  }

  private var isOver = false

  /// Marks the bank as closed. The coordinator sends no frame about its end, and a late frame must not undo the mark.
  func noteEndOfBank() {
    isOver = true
    board?.state = .closed
    board?.businessTimeRuns = false
  }

  private func followStock() {
    let client = StockClient(
      socket: StockClient.socket(inHome: home.path), loop: loop, helloPatience: .seconds(2))
    stockClient = client
    client.follow { [unowned self] news in
      switch news {
      case .picture(let picture): stock = picture
      case .changes(let changes): stock?.apply(changes)
      case .refused: break
      }
      if client.welcomes != stockWelcomes { askForAssortment(client) }
      isOpen.insert(.stock)
      onChange?(.stock)
    }
  }

  /// Reads the assortment again after each reconnect, because the service may have loaded another file.
  private func askForAssortment(_ client: StockClient) {
    stockWelcomes = client.welcomes
    client.ask(.assortment, until: SystemClock.monotonic() + .seconds(10)) { [weak self] answer in
      guard case .success(.assortment(let assortment)) = answer else { return }
      self?.assortment = assortment
      self?.onChange?(.stock)
    }
  }

  private func hear(
    _ notice: VendingNotice, _ path: ReferenceWritableKeyPath<Feeds, VendingPicture?>, _ kind: FeedKind
  ) {
    switch notice {
    case .picture(let picture): self[keyPath: path] = picture
    case .news(let news): self[keyPath: path]?.apply(news)
    case .refused: return
    }
    isOpen.insert(kind)
    onChange?(kind)
  }

  private func close(_ kind: FeedKind) {
    isOpen.remove(kind)
    switch kind {
    case .board:
      boardLink.stopFollowing()
      isFollowingBoard = false
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

  var nextDeadline: MonotonicTime? {
    var earliest = MonotonicTime.earliest(
      boardLink.nextDeadline, stockClient?.nextDeadline, vendingClient?.nextDeadline,
      managerClient?.nextDeadline, nextTick)
    for (kind, end) in until where !needed.contains(kind) { earliest = .earlier(earliest, end) }
    return earliest
  }

  func endTurn(_ now: MonotonicTime) {
    boardLink.endTurn()
    look(stockClient?.isConnected, .stock)
    look(vendingClient?.isConnected, .vending)
    look(managerClient?.isConnected, .manager)
    stockClient?.endTurn()
    vendingClient?.endTurn()
    managerClient?.endTurn()
    if let tick = nextTick, tick <= now {
      nextTick = now + Self.tick
      onChange?(.clock)
    }
    for (kind, end) in until where end <= now && !needed.contains(kind) {
      until[kind] = nil
      close(kind)
    }
  }

  /// Reports to viewers that a service has disconnected.
  private func look(_ isConnected: Bool?, _ kind: FeedKind) {
    guard isConnected == false, isOpen.contains(kind) else { return }
    isOpen.remove(kind)
    onChange?(kind)
  }
}
