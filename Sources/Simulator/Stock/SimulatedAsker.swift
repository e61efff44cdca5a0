// Owns one way to the stock service in the simulated world, after the real `StockClient`: connecting, asking with
// several requests in flight, and asking again while the service is being restarted. It must not know what is done with
// an answer. Invariant: every request is answered exactly once, by the service or by its deadline, unless its process
// has ended.

import BankModel
import Wire

/// Somebody's connection to the stock service.
final class SimulatedAsker {
  /// What hears the answer; nil for none before the deadline.
  typealias Listener = (StockResult?) -> Void

  private struct View {
    var number: UInt32
    /// What was seen; nil before the first picture.
    var place: StockPlace?
    var hear: (StockResult) -> Void
    /// The last change that was told on this connection; nil before the first word.
    var told: Int64?
  }

  private struct OpenRequest {
    var request: StockRequest
    var deadline: MonotonicTime
    var listener: Listener
  }

  private unowned let world: Simulation
  private let number: Int
  private(set) var link: Int?
  private var isGreeted = false
  private var decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
  private var lastNumber: UInt32 = 0
  /// In the order in which they were asked.
  private var open: [OpenRequest] = []
  private var view: View?
  private var retryAt: MonotonicTime?
  private var pause = SimulatedAsker.firstPause
  private var wakesAt: MonotonicTime?
  private var isClosed = false
  /// The process stands still: what arrives is not heard.
  private var isStanding = false
  private var unread: [(link: Int, arrival: Arrival)] = []
  /// Called when the connection has ended.
  var onLost: (() -> Void)?

  /// Whether the service has said welcome and has not gone since.
  var isConnected: Bool { link != nil && isGreeted }

  private static let firstPause = TimeSpan.milliseconds(10)
  private static let longestPause = TimeSpan.milliseconds(250)

  init(number: Int, world: Simulation) {
    self.number = number
    self.world = world
  }

  /// Asks; a change has a name of the caller's.
  func ask(
    _ command: StockCommand, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ listener: @escaping Listener
  ) {
    guard !isClosed else { return }
    lastNumber += 1
    let request = StockRequest(number: lastNumber, order: order, command: command)
    open.append(OpenRequest(request: request, deadline: deadline, listener: listener))
    if isGreeted { send(request) } else { connectIfDue() }
    rest()
  }

  /// Follows the stock: a picture, and then every change, over lost connections too.
  func follow(_ hear: @escaping (StockResult) -> Void) {
    lastNumber += 1
    view = View(number: lastNumber, hear: hear)
    connectIfDue()
    rest()
  }

  /// The process has ended: nobody hears anything any more.
  func close() {
    isClosed = true
    open.removeAll()
    view = nil
    onLost = nil
    guard let link else { return }
    self.link = nil
    world.hangUp(link)
  }

  /// The connection breaks.
  func lose() {
    guard link != nil else { return }
    (link, isGreeted) = (nil, false)
    tryLater()
    rest()
    onLost?()
  }

  /// The process stands still, or goes on.
  func stand(_ isStanding: Bool) {
    self.isStanding = isStanding
    guard !isStanding else { return }
    let arrivals = unread
    unread.removeAll()
    for (link, arrival) in arrivals { hear(arrival, on: link) }
    keepTime()
  }

  // MARK: - Time

  /// The moment has come at which there may be something to do.
  func wake() {
    guard let due = wakesAt, due <= world.clock.now else { return }
    wakesAt = nil
    keepTime()
  }

  private func keepTime() {
    guard !isClosed, !isStanding else { return }
    connectIfDue()
    let late = open.filter { $0.deadline <= world.clock.now }
    open.removeAll { $0.deadline <= world.clock.now }
    for request in late where !isClosed { request.listener(nil) }
    rest()
  }

  private func rest() {
    guard !isClosed else { return }
    var earliest = open.map(\.deadline).min()
    if link == nil, let retryAt, hasWork { earliest = min(earliest ?? retryAt, retryAt) }
    guard let earliest, wakesAt.map({ earliest < $0 }) ?? true else { return }
    wakesAt = earliest
    world.agenda.add(.askerWoke(number), at: max(earliest, world.clock.now))
  }

  private var hasWork: Bool { !open.isEmpty || view != nil }

  // MARK: - The connection

  private func connectIfDue() {
    guard link == nil, hasWork else { return }
    if let retryAt, retryAt > world.clock.now { return }
    guard let link = world.connect(asker: number) else { return tryLater() }
    self.link = link
    decoder = FrameDecoder(maximumBodyLength: FrameLimits.control)
    say(.hello(Hello(build: Simulation.build, role: .client)))
  }

  private func tryLater() {
    retryAt = world.clock.now + pause
    pause = min(pause + pause, Self.longestPause)
  }

  private func send(_ request: StockRequest) { say(.request(request)) }

  private func say(_ message: StockMessage) {
    guard let link else { return }
    world.send(message, on: link, to: .server, limit: FrameLimits.control)
  }

  /// Something has come.
  func hear(_ arrival: Arrival, on link: Int) {
    guard link == self.link, !isClosed else { return }
    guard !isStanding else { return unread.append((link, arrival)) }
    guard case .bytes(let bytes) = arrival else { return lose() }
    decoder.append(bytes)
    do {
      while self.link == link, !isClosed, let body = try decoder.next() {
        hear(try CBORDecoder().decode(StockServiceMessage.self, from: body))
      }
    } catch {
      world.violate(.conversation, "the stock cannot be understood: \(error)")
    }
    rest()
  }

  private func hear(_ message: StockServiceMessage) {
    switch message {
    case .welcome:
      isGreeted = true
      (retryAt, pause) = (nil, Self.firstPause)
      for each in open { send(each.request) }
      sendView()
    case .refused(let refusal): world.violate(.conversation, "the stock refuses to talk: \(refusal.detail)")
    case .reply(let reply) where reply.number == view?.number: hearNews(reply.result)
    case .reply(let reply):
      guard let place = open.firstIndex(where: { $0.request.number == reply.number }) else { return }
      open.remove(at: place).listener(reply.result)
    }
  }

  // MARK: - The view

  private func sendView() {
    guard let number = view?.number else { return }
    view?.told = nil
    send(StockRequest(number: number, command: .follow(view?.place)))
  }

  private func hearNews(_ result: StockResult) {
    switch result {
    case .picture(let picture):
      view?.place = StockPlace(ledger: picture.ledger, sequence: picture.sequence)
      view?.told = picture.sequence
      view?.hear(result)
    case .changes(let changes):
      guard let place = view?.place, let last = changes.last else { return }
      // On one connection nothing is left out and nothing is told twice: a client has no need to look.
      let told = view?.told ?? place.sequence
      if changes.enumerated().contains(where: { $1.sequence != told + Int64($0) + 1 }) {
        world.violate(
          .news, "after change \(told) came the changes \(changes.map(\.sequence)) on the same connection")
      }
      view?.told = last.sequence
      view?.place?.sequence = last.sequence
      view?.hear(result)
    default: world.violate(.conversation, "somebody who looks on was told \(result)")
    }
  }
}
