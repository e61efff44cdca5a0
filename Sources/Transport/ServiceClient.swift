// Client of a service process: connection, several requests in flight, one subscription, and reconnection while the
// service restarts. `ServiceCommand` describes the service. Invariant: a request gets one answer or error, unless
// the client is closed or released before. A change has an order name, which the client generates if the caller
// passes none, so a retry after a lost connection changes nothing twice. Errors: ServiceClientError. A missing
// service is an error only after the deadline.
import BankModel
import Posix
import Time
import Wire

/// A client of a service process, on the caller's ``EventLoop``. Not Sendable.
///
/// A caller that runs the loop itself has to call ``finishIteration()`` at the end of an iteration, and to wait at most
/// until ``nextDeadline``. Any other caller uses ``call(_:as:within:)`` and ``runIteration(until:)``.
public final class ServiceClient<Command: ServiceCommand> {
  /// Answer of the service to a request.
  public typealias Answer = Command.Answer
  /// Error of a request.
  public typealias RequestError = ServiceClientError<Command>
  /// News that the subscriber receives.
  public typealias Update = Command.Cursor.Update
  /// Handler of the answer to a request.
  public typealias Completion = (Result<Answer, RequestError>) -> Void

  /// Type of the connection to the service.
  private typealias Channel = MessageChannel<
    ServiceServerMessage<Answer>, ServiceClientMessage<ServiceRequest<Command>>
  >

  /// True after the service's welcome, until the connection ends.
  public private(set) var isConnected = false
  /// Number of welcomes so far. After a new one the service may be another process.
  public private(set) var connectionCount = 0
  private let path: String
  private let loop: EventLoop
  private let build: String
  private let helloTimeout: TimeSpan
  /// Generator of the order names of changes.
  private var names = OrderIDGenerator(seed: RandomSeed.fromSystem())
  /// Connection to the service; nil for none.
  private var channel: Channel?
  /// Start of the connection, in listening time.
  private var connectedAt = MonotonicTime(nanoseconds: 0)
  /// Time of the next attempt to connect; nil for at once.
  private var retryAt: MonotonicTime?
  /// Pause before the next attempt to connect.
  private var pause = ServiceClient.initialRetryDelay
  /// Number of the newest request.
  private var lastNumber: UInt32 = 0
  /// Requests without an answer, by number.
  private var open: [UInt32: OpenRequest] = [:]
  /// The subscription: number of its request, state that the subscriber has seen, handler of the news.
  private var view: (number: UInt32, state: Command.Cursor, hear: (Update) -> Void)?
  /// Reason of the last failure, for requests that get no answer in time.
  private(set) var lastError = MessageDetail(.noListenerYet)
  /// True if the service may have made a change for which no answer has arrived.
  public var isInDoubt: Bool { open.values.contains(where: \.isInDoubt) }

  /// A request that has no answer yet.
  private struct OpenRequest {
    var request: ServiceRequest<Command>
    /// In listening time, so that a process that was stopped or busy reads its input before the request fails.
    var deadline: MonotonicTime
    /// Number of times that the request was sent.
    var sendCount = 0
    /// True if the request was sent on the current connection, and the service has not reported that the
    /// request had no effect.
    var isSent = false
    /// True if the request was sent on an earlier connection, which ended without an answer.
    var wasLost = false
    var completion: Completion

    /// True if the request may have taken effect without an answer.
    var isInDoubt: Bool { request.command.changesSomething && (isSent || wasLost) }

    /// Records that the connection on which the request was sent has ended.
    mutating func markLost() {
      wasLost = wasLost || isSent
      isSent = false
    }
  }

  /// Pause after the first failure to connect.
  private static var initialRetryDelay: TimeSpan { .milliseconds(10) }
  /// Longest pause after a failure to connect.
  private static var maximumRetryDelay: TimeSpan { .milliseconds(250) }
  /// Maximum number of times that a long query is sent, because it may be the query that crashes the service.
  private static var maximumLongSends: Int { 2 }
  /// Limit in bytes of the pending output to a service that does not read.
  private static var backlogLimit: Int { 64 << 20 }

  /// A client that connects when it has its first request or subscription.
  ///
  /// - Parameter helloTimeout: time limit for the service's welcome.
  public init(
    socket path: String, loop: EventLoop, build: String = BuildIdentity.current,
    helloTimeout: TimeSpan = .seconds(10)
  ) {
    (self.path, self.loop, self.build, self.helloTimeout) = (path, loop, build, helloTimeout)
  }

  /// Drops requests without an answer, because the objects that their completions use may have been released.
  deinit {
    channel?.onMessage = nil
    channel?.onEnd = nil
    channel?.close()
  }

  // MARK: - Requests

  /// Sends a request; `order` names a change, so that it can be sent again. `completion` receives the answer or the
  /// error after this function has returned. Only an error of connecting is passed to `completion` before.
  ///
  /// - Parameters:
  ///   - order: order name, with which the caller can repeat a change even after the caller has crashed; nil to
  ///     generate one.
  ///   - deadline: until this time the client sends the request again when it has reconnected, a long query with a
  ///     limit.
  public func ask(
    _ command: Command, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ completion: @escaping Completion
  ) {
    lastNumber &+= 1
    let name = order ?? (command.changesSomething ? names.next() : nil)
    let request = ServiceRequest(number: lastNumber, order: name, command: command)
    // Update the listening time first, because the time since the caller last ran the loop must not count
    // against this deadline.
    let now = SystemClock.monotonic()
    loop.trackListening(until: now)
    let timeout = deadline.since(now)
    open[lastNumber] = OpenRequest(
      request: request, deadline: loop.listeningTime.now + timeout, completion: completion)
    if isConnected { send(lastNumber) } else { connectIfDue() }
  }

  /// Subscribes to the service from the state `seen`, instead of the previous subscription. The client renews
  /// the subscription after a lost connection.
  public func follow(_ seen: Command.Cursor, _ hear: @escaping (Update) -> Void) {
    lastNumber &+= 1
    view = (lastNumber, seen, hear)
    if isConnected { sendSubscription() } else { connectIfDue() }
  }

  /// Sends a request, and runs the loop until the answer arrives.
  ///
  /// Do not call it from within a handler of the loop.
  /// - Throws: `tryLater` if no answer arrives in time; the same order may be sent again. `notPermitted`,
  ///   `otherVersion` or `system` if the client cannot connect or the loop fails.
  public func call(
    _ command: Command, as order: OrderID? = nil, within timeout: TimeSpan
  ) throws(RequestError) -> Answer {
    var outcome: Result<Answer, RequestError>?
    let deadline = SystemClock.monotonic() + timeout
    ask(command, as: order, until: deadline) { outcome = $0 }
    while outcome == nil { try runIteration(until: nil) }
    return try (outcome ?? .failure(.tryLater(detail: lastError, isInDoubt: true))).get()
  }

  /// Runs one loop iteration, which waits at most until the deadline.
  public func runIteration(until deadline: MonotonicTime?) throws(RequestError) {
    finishIteration()
    do throws(SystemError) { try loop.runOnce(until: .earliest(nextDeadline, deadline)) } catch {
      throw .system(error)
    }
    finishIteration()
  }

  // MARK: - Loop iterations

  /// Time of the next useful ``finishIteration()``; nil if only input of the loop requires one.
  public var nextDeadline: MonotonicTime? {
    // A key path here would prevent the compiler from specializing this function.
    var deadline: MonotonicTime?
    for request in open.values { deadline = min(deadline ?? request.deadline, request.deadline) }
    var earliest = deadline.map { loop.listeningTime.wakeTime(for: $0) }
    let own =
      channel == nil
      ? wantsConnection ? retryAt : nil
      : isConnected ? nil : loop.listeningTime.wakeTime(for: connectedAt + helloTimeout)
    if let own { earliest = min(earliest ?? own, own) }
    return earliest
  }

  /// Sends queued requests, reconnects if the pause has ended, and fails requests whose deadline has passed.
  public func finishIteration() {
    channel?.flush()
    loop.trackListening(until: SystemClock.monotonic())
    let now = loop.listeningTime.now
    // Before any request fails, handle the input that arrived while the loop was not running.
    if isOverdue(now) { while channel?.receiveNow() == true {} }
    if channel != nil, !isConnected, now.since(connectedAt) >= helloTimeout {
      channel?.close()
      lastError = MessageDetail(.noAnswer)
    }
    connectIfDue()
    guard open.values.contains(where: { $0.deadline <= now }) else { return }
    // Sorted, so that the order does not depend on a hash table.
    for number in open.keys.sorted() {
      guard let request = open[number], request.deadline <= now else { continue }
      open[number] = nil
      request.completion(.failure(.tryLater(detail: lastError, isInDoubt: request.isInDoubt)))
    }
  }

  /// True if the time limit for the welcome or for an answer has passed.
  private func isOverdue(_ now: MonotonicTime) -> Bool {
    channel != nil
      && (!isConnected && now.since(connectedAt) >= helloTimeout
        || open.values.contains { $0.deadline <= now })
  }

  /// Ends the connection and the subscription. Completions of open requests are not called.
  public func close() {
    view = nil
    open.removeAll()
    channel?.close()
  }

  // MARK: - The connection

  /// True if there is a request or a subscription. Without either, `retryAt` must not be a deadline of the
  /// caller's loop, because it would stay in the past and the loop would spin.
  private var wantsConnection: Bool { !open.isEmpty || view != nil }

  /// Connects if there is a request or a subscription, no connection, and no pause.
  private func connectIfDue() {
    guard channel == nil, wantsConnection else { return }
    let now = SystemClock.monotonic()
    if let retryAt, retryAt > now { return }
    do throws(SystemError) {
      switch try UnixSocket.connect(path: path, nonBlocking: true) {
      case .connected(let socket): try greet(socket)
      case .noSuchFile: tryLater(MessageDetail(.noSocket, path))
      case .refused: tryLater(MessageDetail(.noListener, path))
      case .busy: tryLater(MessageDetail(.listenerBusy, path))
      case .permissionDenied: fail(.notPermitted(socket: path))
      }
    } catch {
      // A shortage, such as of descriptors, is temporary. Any other error would recur.
      if error.isShortage {
        tryLater(MessageDetail(quoting: error.description))
      } else {
        fail(.system(error))
      }
    }
  }

  /// Sends the hello on a new connection.
  private func greet(_ socket: consuming FileDescriptor) throws(SystemError) {
    let channel = try Channel(
      descriptor: socket, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: Self.backlogLimit)
    self.channel = channel
    loop.trackListening(until: SystemClock.monotonic())
    connectedAt = loop.listeningTime.now
    lastError = MessageDetail(.noAnswer)
    channel.onMessage = { [unowned self] in handle($0) }
    channel.onEnd = { [unowned self] end in
      self.channel = nil
      isConnected = false
      for number in open.keys { open[number]?.markLost() }
      tryLater(end.messageDetail)
    }
    channel.send(.hello(Hello(build: build, role: .client)))
    channel.flush()
  }

  /// Sends a request, for the first time or again. A long query fails instead if it was already sent
  /// ``maximumLongSends`` times.
  private func send(_ number: UInt32) {
    guard let request = open[number] else { return }
    guard !request.request.command.isLong || request.sendCount < Self.maximumLongSends else {
      open[number] = nil
      let detail = MessageDetail(.exitedMeanwhile, request.sendCount)
      return request.completion(.failure(.tryLater(detail: detail, isInDoubt: request.isInDoubt)))
    }
    open[number]?.sendCount += 1
    open[number]?.isSent = true
    channel?.send(.request(request.request))
  }

  /// Records why the connection failed, and starts the pause before the next attempt.
  private func tryLater(_ reason: MessageDetail) {
    lastError = reason
    retryAt = SystemClock.monotonic() + pause
    pause = min(pause * 2, Self.maximumRetryDelay)
  }

  /// Fails all requests, because no answer can arrive. If there is a subscription or a later request, the client
  /// connects again after a pause.
  private func fail(_ error: RequestError) {
    channel?.close()
    tryLater(MessageDetail(quoting: "\(error)"))
    let waiting = open
    open.removeAll()
    for number in waiting.keys.sorted() { waiting[number]?.completion(.failure(error)) }
  }

  /// Handles a message of the service. After the welcome, sends all open requests.
  private func handle(_ message: ServiceServerMessage<Answer>) {
    switch message {
    case .welcome(let welcome) where welcome.version == protocolVersion:
      isConnected = true
      connectionCount += 1
      (retryAt, pause) = (nil, Self.initialRetryDelay)
      for number in open.keys.sorted() { send(number) }
      if connectionCount == 1 || !Mutant.viewIsNotResubscribed.isActive { sendSubscription() }
      channel?.flush()
    case .welcome(let welcome): fail(.otherVersion(theirs: welcome.version, build: welcome.build))
    case .refused(let refusal) where refusal.reason == .version:
      fail(.otherVersion(theirs: refusal.version, build: refusal.build))
    case .refused(let refusal):
      if refusal.reason == .closing { for number in open.keys { open[number]?.isSent = false } }
      // The text of the refusal explains more than the end of the connection.
      channel?.close()
      lastError = MessageDetail(quoting: refusal.detail)
    case .reply(let reply): handle(reply)
    }
  }

  /// Passes an answer to the subscription or to the completion of its request.
  private func handle(_ reply: NumberedReply<Answer>) {
    if reply.number == view?.number { return handleUpdate(reply.result) }
    guard !reply.more,
      let request = Mutant.answersAgainAtDeadline.isActive
        ? open[reply.number] : open.removeValue(forKey: reply.number)
    else { return }
    request.completion(.success(reply.result))
  }

  // MARK: - The subscription

  /// Sends the request of the subscription, if there is one.
  private func sendSubscription() {
    guard let view else { return }
    channel?.send(.request(ServiceRequest(number: view.number, command: view.state.request)))
  }

  /// Passes an answer to the subscriber's state, and the news to the subscriber.
  private func handleUpdate(_ answer: Answer) {
    switch view?.state.handle(answer) {
    case .news(let news): view?.hear(news)
    case .resubscribe: sendSubscription()
    case .nothing, nil: break
    }
  }
}
