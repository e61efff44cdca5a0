// Client of the bank's coordinator. It connects, has several requests in flight and one subscription, and retries while
// the coordinator restarts.
// Invariant: a request gets one result, from the coordinator or at its deadline. The listener of a subscription is
// notified when the connection is lost, and the subscription restarts with the next connection. The client connects
// only if there are requests or a subscription.
// Errors: a `Failure` of the protocol. At the deadline: `Failure.unanswered`, or `notOpen` if no coordinator was
// listening at the last attempt to connect.
import BankModel
import Posix
import Time
import Transport
import Wire

/// Result of a request to the coordinator: its answers in order, or the failure.
typealias ControlOutcome = Result<[ControlAnswer], Failure>

/// Connection to the coordinator for requests and one subscription.
final class CoordinatorConnection {
  private typealias Channel = MessageChannel<BankMessage, ClientMessage>

  /// A request that waits for its last answer, with its deadline and the answers received so far.
  private struct OpenRequest {
    var command: ControlCommand
    var deadline: MonotonicTime
    var isSent = false
    var answers: [ControlAnswer] = []
    var listener: (ControlOutcome) -> Void
  }

  /// The subscription: its command, the listener for its answers, and its number.
  private struct Subscription {
    var number: UInt32
    var command: ControlCommand
    var handle: (ControlAnswer?) -> Void
  }

  private let path: String
  private let loop: EventLoop
  private var channel: Channel?
  /// True from the coordinator's welcome until the connection is lost.
  private var isWelcomed = false
  private var connectedAt = MonotonicTime(nanoseconds: 0)
  /// Time of the next attempt to connect; nil for an attempt at once.
  private var retryAt: MonotonicTime?
  /// Pause after the next failed attempt to connect; it doubles with each failure, up to `longestPause`.
  private var pause = CoordinatorConnection.firstPause
  private var lastNumber: UInt32 = 0
  /// The requests without a result, by their numbers.
  private var open: [UInt32: OpenRequest] = [:]
  private var subscription: Subscription?
  /// False if no process was listening on the socket at the last attempt to connect.
  private var hasListener = true
  var isConnected: Bool { isWelcomed }

  private static let firstPause = TimeSpan.milliseconds(10)
  private static let longestPause = TimeSpan.milliseconds(250)
  /// Maximum wait for the welcome.
  private static let helloTimeout = TimeSpan.seconds(10)
  /// Maximum number of unsent bytes.
  private static let backlogLimit = 16 << 20

  init(socket path: String, loop: EventLoop) { (self.path, self.loop) = (path, loop) }

  deinit {
    channel?.onMessage = nil
    channel?.onEnd = nil
    channel?.close()
  }

  // MARK: - Requests

  /// Sends a request, and sends it again after each reconnect until the timeout. The listener is called once, in a
  /// later iteration.
  ///
  /// - Parameter timeout: maximum wait for the answer. The request must be idempotent, because it may be sent again.
  func ask(
    _ command: ControlCommand, within timeout: TimeSpan = .seconds(5),
    _ listener: @escaping (ControlOutcome) -> Void
  ) {
    let number = nextNumber()
    open[number] = OpenRequest(
      command: command, deadline: SystemClock.monotonic() + timeout, listener: listener)
    if isWelcomed { send(number) } else { connectIfDue() }
  }

  /// Subscribes, again after each reconnect. The listener receives each answer, and nil when the connection is lost.
  func follow(_ command: ControlCommand, _ handle: @escaping (ControlAnswer?) -> Void) {
    subscription = Subscription(number: nextNumber(), command: command, handle: handle)
    if isWelcomed { sendSubscription() } else { connectIfDue() }
  }

  /// Ends the subscription, and the connection if no request needs it.
  func stopFollowing() {
    subscription = nil
    if open.isEmpty { channel?.close() }
  }

  /// Number for a new request or subscription.
  private func nextNumber() -> UInt32 {
    lastNumber &+= 1
    return lastNumber
  }

  /// Sends the open request with this number, for the first time or again after a reconnect.
  private func send(_ number: UInt32) {
    guard let request = open[number] else { return }
    open[number]?.isSent = true
    open[number]?.answers = []
    channel?.send(.request(ControlRequest(number: number, command: request.command)))
  }

  /// Sends the subscription under a new number, at its start and after each reconnect.
  private func sendSubscription() {
    guard var subscription else { return }
    subscription.number = nextNumber()
    self.subscription = subscription
    channel?.send(.request(ControlRequest(number: subscription.number, command: subscription.command)))
  }

  // MARK: - Loop

  /// Deadline for the next call of ``finishIteration()``; nil for none.
  var nextDeadline: MonotonicTime? {
    var earliest: MonotonicTime?
    for request in open.values { earliest = .earlier(earliest, request.deadline) }
    if channel == nil {
      if wantsConnection { earliest = .earlier(earliest, retryAt) }
    } else if !isWelcomed {
      earliest = .earlier(earliest, connectedAt + Self.helloTimeout)
    }
    return earliest
  }

  /// Sends pending requests, reconnects if that is due, and fails requests whose deadline has passed.
  func finishIteration() {
    channel?.flush()
    let now = SystemClock.monotonic()
    if channel != nil, !isWelcomed, now >= connectedAt + Self.helloTimeout { channel?.close() }
    connectIfDue()
    guard open.values.contains(where: { $0.deadline <= now }) else { return }
    for number in open.keys.sorted() {
      guard let request = open[number], request.deadline <= now else { continue }
      open[number] = nil
      request.listener(.failure(hasListener ? .unanswered : Failure(.notOpen)))
    }
    if subscription == nil, open.isEmpty, !isWelcomed { channel?.close() }
  }

  // MARK: - Connection

  /// True if a request or a subscription needs the connection.
  private var wantsConnection: Bool { !open.isEmpty || subscription != nil }

  /// Connects if that is needed and no retry pause is running.
  private func connectIfDue() {
    guard channel == nil, wantsConnection else { return }
    if let retryAt, retryAt > SystemClock.monotonic() { return }
    guard let outcome = try? UnixSocket.connect(path: path, nonBlocking: true) else { return scheduleRetry() }
    switch consume outcome {
    case .connected(let socket): startHandshake(socket)
    case .noSuchFile: handleNoListener()
    case .refused: handleNoListener()
    case .busy: scheduleRetry()
    case .permissionDenied: scheduleRetry()
    }
  }

  /// Sends the first message (hello) over a new connection. Requests are sent after the coordinator's welcome.
  private func startHandshake(_ socket: consuming FileDescriptor) {
    guard
      let channel = try? Channel(
        descriptor: socket, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: Self.backlogLimit)
    else { return scheduleRetry() }
    hasListener = true
    self.channel = channel
    connectedAt = SystemClock.monotonic()
    channel.onMessage = { [unowned self] in handle($0) }
    channel.onEnd = { [unowned self] _ in handleDisconnect() }
    channel.send(.hello(Hello(build: BuildIdentity.current, role: .client)))
    channel.flush()
  }

  /// Called when the connection is lost: schedules a retry, and notifies the subscription.
  private func handleDisconnect() {
    channel = nil
    let wasWelcomed = isWelcomed
    isWelcomed = false
    for number in open.keys { open[number]?.isSent = false }
    if wasWelcomed { pause = Self.firstPause }
    scheduleRetry()
    if wasWelcomed { subscription?.handle(nil) }
  }

  /// Records that no process listens, and schedules a retry.
  private func handleNoListener() {
    hasListener = false
    scheduleRetry()
  }

  private func scheduleRetry() {
    retryAt = SystemClock.monotonic() + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// Handles the welcome, a refusal, or an answer of the coordinator.
  private func handle(_ message: BankMessage) {
    switch message {
    case .welcome(let welcome) where welcome.version == protocolVersion:
      isWelcomed = true
      (retryAt, pause) = (nil, Self.firstPause)
      for number in open.keys.sorted() { send(number) }
      sendSubscription()
      channel?.flush()
    case .welcome, .refused: channel?.close()
    case .reply(let reply): handle(reply)
    }
  }

  /// Passes an answer to the subscription or the request to which it belongs.
  private func handle(_ reply: ControlReply) {
    if let subscription, reply.number == subscription.number { return subscription.handle(reply.answer) }
    if reply.more {
      if case .progress = reply.answer { return }
      open[reply.number]?.answers.append(reply.answer)
      return
    }
    guard let request = open.removeValue(forKey: reply.number) else { return }
    if case .failure(let failure) = reply.answer { return request.listener(.failure(failure)) }
    request.listener(.success(request.answers + [reply.answer]))
  }
}

extension Failure {
  /// Failure of a request that got no answer in time. The coordinator may have executed it.
  static let unanswered = Failure(
    .system, detail: "no response in time; the request may or may not have taken effect")
  /// True if the coordinator has not answered in time.
  var isUnanswered: Bool { self == .unanswered }
}

extension ControlOutcome {
  /// The last answer, converted by `kind`; a failure if the answer is of another kind.
  func only<Value>(_ kind: (ControlAnswer) -> Value?) -> Result<Value, Failure> {
    flatMap { answers in
      answers.last.flatMap(kind).map { .success($0) }
        ?? .failure(Failure(.system, detail: "an unexpected response"))
    }
  }
}

/// Each property returns the value of an answer of this kind; for another kind, nil or an empty list.
extension ControlAnswer {
  var status: StatusReport? { if case .status(let report) = self { report } else { nil } }
  var ticket: TicketReport? { if case .ticket(let report) = self { report } else { nil } }
  var enqueued: EnqueuedReport? { if case .enqueued(let report) = self { report } else { nil } }
  var selection: SelectionReport? { if case .selection(let report) = self { report } else { nil } }
  var audit: AuditReport? { if case .audit(let report) = self { report } else { nil } }
  var ledger: [LedgerRow]? { if case .ledger(let rows) = self { rows } else { nil } }
  var account: AccountReport? { if case .account(let report) = self { report } else { nil } }
  var tickets: [TicketReport] { if case .tickets(let page) = self { page } else { [] } }
  var receipts: [ReceiptReport] { if case .receipts(let page) = self { page } else { [] } }
}
