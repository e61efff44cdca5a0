// Owns the way to the stock service: connecting, asking with several requests in flight, following every change, and
// trying again while the service is being restarted. It must not know what is done with an answer.
// Invariant: every request is answered exactly once, by the service or by its deadline. Whatever changes the stock has a
// name, drawn here where the caller gave none, so asking again after a lost connection takes nothing twice.
// Failure: StockClientError. A service that is not there is not one before the deadline has come.

import BankModel
import Posix
import Transport
import Wire

/// A client of the stock service, on an ``EventLoop`` of the caller's. Not Sendable.
///
/// A caller with a loop of its own calls ``endTurn()`` at the end of each turn, and wakes by ``nextDeadline``. A caller
/// without one uses ``call(_:as:within:)`` and ``turn(until:)``.
public final class StockClient {
  /// What hears the answer to a request.
  public typealias Listener = (Result<StockResult, StockClientError>) -> Void

  /// Whether the service has said welcome and has not gone since.
  public private(set) var isConnected = false
  /// How often a service has said welcome. Behind each time there may be another process, with another assortment.
  public private(set) var welcomes = 0

  private let path: String
  private let loop: EventLoop
  private let build: String
  private var names = OrderNames(seed: RandomSeed.fromSystem())
  private var channel: MessageChannel<StockServiceMessage, StockMessage>?
  private var connectedAt = MonotonicInstant(nanoseconds: 0)
  private var retryAt: MonotonicInstant?
  private var pause = StockClient.firstPause
  private var lastNumber: UInt32 = 0
  private var open: [UInt32: OpenRequest] = [:]
  private var view: StockView?
  private var lastTrouble = Remark(.nobodyListensYet)

  private struct OpenRequest {
    var request: StockRequest
    /// In the time that was attended: whoever was stopped, or did something else for long, listens before it despairs.
    var deadline: MonotonicInstant
    var sendings = 0
    var listener: Listener
  }

  private static let firstPause = Duration.milliseconds(10)
  private static let longestPause = Duration.milliseconds(250)
  /// How long the service may take to say welcome before the connection is given up. A large audit takes its time.
  private static let helloPatience = Duration.seconds(10)
  /// How often a question that may take minutes is sent: a service that ends over it each time would never be at work.
  private static let longSendings = 2

  /// The socket of the stock service in the home of a bank.
  public static func socket(inHome home: String) -> String { Paths.join(home, "run", "stock.sock") }

  /// A client that connects when it is first asked.
  public init(socket path: String, loop: EventLoop, build: String = BuildIdentity.current) {
    self.path = path
    self.loop = loop
    self.build = build
  }

  /// Nobody hears what comes after the client is gone. Whoever still waits for an answer gets none.
  deinit {
    channel?.onMessage = nil
    channel?.onEnd = nil
    channel?.close()
  }

  // MARK: - Asking

  /// Asks; the listener hears the answer, or why there is none, from a later turn of the loop.
  ///
  /// - Parameters:
  ///   - order: the name that makes a change repeatable by the caller too, after a crash of its own.
  ///   - deadline: until then the request is sent again whenever the service has come back.
  public func ask(
    _ command: StockCommand, as order: OrderID? = nil, until deadline: MonotonicInstant,
    _ listener: @escaping Listener
  ) {
    lastNumber &+= 1
    let name = order ?? (command.changesStock ? names.next() : nil)
    let request = StockRequest(number: lastNumber, order: name, command: command)
    // Brought up to now first: what passed since the caller last listened is not taken from the patience for this answer.
    let now = SystemClock.monotonic()
    loop.attend(until: now)
    let patience = max(.zero, deadline - now)
    open[lastNumber] = OpenRequest(
      request: request, deadline: loop.attended.now + patience, listener: listener)
    if isConnected { send(lastNumber) } else { connectIfDue() }
  }

  /// Follows the stock: a picture, and then every change, over lost connections too and without a gap. One view at a
  /// time; another one takes its place.
  ///
  /// - Parameter place: where the caller has been before; nil for the present.
  public func follow(from place: StockPlace? = nil, _ hear: @escaping (StockNews) -> Void) {
    lastNumber &+= 1
    view = StockView(number: lastNumber, place: place, hear: hear)
    if isConnected { sendView() } else { connectIfDue() }
  }

  /// Asks, and runs the loop until the answer is there.
  ///
  /// Not from within a handler of the loop.
  /// - Throws: `tryLater` where no answer came in time; the same order may be asked again.
  public func call(
    _ command: StockCommand, as order: OrderID? = nil, within patience: Duration
  ) throws(StockClientError) -> StockResult {
    var outcome: Result<StockResult, StockClientError>?
    let deadline = SystemClock.monotonic() + patience
    ask(command, as: order, until: deadline) { outcome = $0 }
    while outcome == nil { try turn(until: nil) }
    return try (outcome ?? .failure(.tryLater(detail: lastTrouble))).get()
  }

  /// Waits for the next thing to happen, no longer than until the deadline, and does what there is to do.
  public func turn(until deadline: MonotonicInstant?) throws(StockClientError) {
    endTurn()
    let wake = [nextDeadline, deadline].compactMap { $0 }.min()
    do throws(SystemError) { try loop.runOnce(until: wake) } catch { throw .system(error) }
    endTurn()
  }

  // MARK: - Turns

  /// When ``endTurn()`` has something to do by itself; nil for never.
  public var nextDeadline: MonotonicInstant? {
    var earliest = open.values.lazy.map(\.deadline).min().map { loop.attended.wake(for: $0) }
    let own =
      channel == nil
      ? wantsConnection ? retryAt : nil
      : isConnected ? nil : loop.attended.wake(for: connectedAt + Self.helloPatience)
    if let own { earliest = min(earliest ?? own, own) }
    return earliest
  }

  /// Sends what was asked, connects again where that is due, and ends what has come to its deadline.
  public func endTurn() {
    channel?.flush()
    loop.attend(until: SystemClock.monotonic())
    let now = loop.attended.now
    // What has come while nobody listened is heard before anything is given up.
    if isOverdue(now) { while channel?.receiveNow() == true {} }
    if channel != nil, !isConnected, now - connectedAt >= Self.helloPatience {
      lastTrouble = Remark(.noAnswer)
      channel?.close()
    }
    connectIfDue()
    guard open.values.contains(where: { $0.deadline <= now }) else { return }
    // In the order in which they were asked, so that nothing depends on where a table keeps them.
    for number in open.keys.sorted() {
      guard let request = open[number], request.deadline <= now else { continue }
      open[number] = nil
      request.listener(.failure(.tryLater(detail: lastTrouble)))
    }
  }

  private func isOverdue(_ now: MonotonicInstant) -> Bool {
    channel != nil
      && (!isConnected && now - connectedAt >= Self.helloPatience
        || open.values.contains { $0.deadline <= now })
  }

  /// Ends the connection. Whoever still waits for an answer gets none.
  public func close() {
    view = nil
    open.removeAll()
    channel?.close()
  }

  // MARK: - The connection

  /// Whether there is anything to connect for. A moment to try again in which nothing is to be tried is none: it would pass,
  /// and keep the loop of the caller awake for ever.
  private var wantsConnection: Bool { !open.isEmpty || view != nil }

  private func connectIfDue() {
    guard channel == nil, wantsConnection else { return }
    let now = SystemClock.monotonic()
    if let retryAt, retryAt > now { return }
    do throws(SystemError) {
      switch try UnixSocket.connect(path: path, nonBlocking: true) {
      case .connected(let socket): try greet(socket)
      case .notThere: tryLater(Remark(.noSocket, path))
      case .refused: tryLater(Remark(.nobodyListens, path))
      case .busy: tryLater(Remark(.noRoomForConnection, path))
      case .permissionDenied: fail(.notPermitted(socket: path))
      }
    } catch {
      // What has run out comes back; anything else would fail again.
      if error.isShortage { tryLater(Remark(quoting: error.description)) } else { fail(.system(error)) }
    }
  }

  private func greet(_ socket: consuming FileDescriptor) throws(SystemError) {
    let channel = try MessageChannel<StockServiceMessage, StockMessage>(
      descriptor: socket, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: 64 << 20)
    self.channel = channel
    loop.attend(until: SystemClock.monotonic())
    connectedAt = loop.attended.now
    lastTrouble = Remark(.noAnswer)
    channel.onMessage = { [unowned self] in hear($0) }
    channel.onEnd = { [unowned self] end in
      self.channel = nil
      isConnected = false
      tryLater(end.remark)
    }
    channel.send(.hello(Hello(build: build, role: .client)))
    channel.flush()
  }

  /// Sends a request, the first time or again, unless it has ended so many that nobody should be sent it any more.
  private func send(_ number: UInt32) {
    guard let request = open[number] else { return }
    guard !request.request.command.isLong || request.sendings < Self.longSendings else {
      open[number] = nil
      let detail = Remark(.endedMeanwhile, request.sendings)
      return request.listener(.failure(.tryLater(detail: detail)))
    }
    open[number]?.sendings += 1
    channel?.send(.request(request.request))
  }

  private func tryLater(_ trouble: Remark) {
    lastTrouble = trouble
    retryAt = SystemClock.monotonic() + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// There is no hope of an answer; a later request tries anew.
  private func fail(_ error: StockClientError) {
    tryLater(Remark(quoting: "\(error)"))
    let waiting = open
    open.removeAll()
    for number in waiting.keys.sorted() { waiting[number]?.listener(.failure(error)) }
  }

  private func hear(_ message: StockServiceMessage) {
    switch message {
    case .welcome(let welcome) where welcome.version == protocolVersion:
      isConnected = true
      welcomes += 1
      (retryAt, pause) = (nil, Self.firstPause)
      for number in open.keys.sorted() { send(number) }
      if welcomes == 1 || !Kernel.makes("viewIsNotRenewed") { sendView() }
      channel?.flush()
    case .welcome(let welcome): fail(.otherVersion(theirs: welcome.version, build: welcome.build))
    case .refused(let refusal) where refusal.reason == .version:
      fail(.otherVersion(theirs: refusal.version, build: refusal.build))
    case .refused(let refusal): lastTrouble = Remark(quoting: refusal.detail)
    case .reply(let reply): hear(reply)
    }
  }

  private func hear(_ reply: StockReply) {
    if reply.number == view?.number { return hearNews(reply.result) }
    guard !reply.more, let request = open.removeValue(forKey: reply.number) else { return }
    request.listener(.success(reply.result))
  }

  // MARK: - The view

  private func sendView() {
    guard let view else { return }
    channel?.send(.request(StockRequest(number: view.number, command: .follow(view.place))))
  }

  private func hearNews(_ result: StockResult) {
    switch result {
    case .picture(let picture):
      view?.place = StockPlace(ledger: picture.ledger, sequence: picture.sequence)
      view?.hear(.picture(picture))
    case .changes(let changes):
      // What was seen before is not told again, whatever the service thinks.
      guard let seen = view?.place?.sequence else { return }
      let fresh = changes.filter { $0.sequence > seen }
      guard let last = fresh.last else { return }
      guard fresh[0].sequence == seen + 1 else {
        view?.place = nil
        return sendView()
      }
      view?.place?.sequence = last.sequence
      view?.hear(.changes(fresh))
    // From where it was: what is too much to be told one by one comes as a picture.
    case .failure(let failure) where failure.code == .tooSlow: sendView()
    case .failure(let failure): view?.hear(.refused(failure))
    default: break
    }
  }
}

private struct StockView {
  var number: UInt32
  /// What the viewer has seen; nil before the first picture.
  var place: StockPlace?
  var hear: (StockNews) -> Void
}

extension StockCommand {
  /// Whether the answer may take minutes, because every row is counted for it.
  fileprivate var isLong: Bool { if case .audit = self { true } else { false } }
}
