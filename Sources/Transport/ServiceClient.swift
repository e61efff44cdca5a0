// Owns the way to a service: connecting, asking with several requests in flight, following every change, and trying again
// while the service is being restarted. It knows no service (ServiceCommand says what there is to know) and not what is done
// with an answer.
// Invariant: every request is answered exactly once, by the service or by its deadline. Whatever changes something has a
// name, drawn here where the caller gave none, so asking again after a lost connection does nothing twice.
// Failure: ServiceClientError. A service that is not there is not one before the deadline has come.
import BankModel
import Posix
import Time
import Wire

/// A client of a service, on an ``EventLoop`` of the caller's. Not Sendable.
///
/// A caller with a loop of its own calls ``endTurn()`` at the end of each turn, and wakes by ``nextDeadline``. A caller
/// without one uses ``call(_:as:within:)`` and ``turn(until:)``.
public final class ServiceClient<Command: ServiceCommand> {
  /// What the service answers.
  public typealias Answer = Command.Answer
  /// Why it does not.
  public typealias Trouble = ServiceClientError<Command>
  /// What somebody who follows it is told.
  public typealias News = Command.View.News
  /// What hears the answer to a request.
  public typealias Listener = (Result<Answer, Trouble>) -> Void

  private typealias Channel = MessageChannel<ServiceAnswer<Answer>, ServiceQuestion<ServiceRequest<Command>>>

  /// Whether the service has said welcome and has not gone since.
  public private(set) var isConnected = false
  /// How often a service has said welcome. Behind each time there may be another process, with another configuration.
  public private(set) var welcomes = 0
  private let path: String
  private let loop: EventLoop
  private let build: String
  private let helloPatience: TimeSpan
  private var names = OrderNames(seed: RandomSeed.fromSystem())
  private var channel: Channel?
  private var connectedAt = MonotonicTime(nanoseconds: 0)
  private var retryAt: MonotonicTime?
  private var pause = ServiceClient.firstPause
  private var lastNumber: UInt32 = 0
  private var open: [UInt32: OpenRequest] = [:]
  private var view: (number: UInt32, state: Command.View, hear: (News) -> Void)?
  private(set) var lastTrouble = Remark(.nobodyListensYet)
  /// Whether a change that was asked for may have been made although no answer has come.
  public var isInDoubt: Bool { open.values.contains(where: \.isInDoubt) }

  private struct OpenRequest {
    var request: ServiceRequest<Command>
    /// In the time that was attended: whoever was stopped, or did something else for long, listens before it despairs.
    var deadline: MonotonicTime
    var sendings = 0
    /// Whether it is with the service that is there now.
    var isSent = false
    /// Whether a service was sent it and has gone without a word about it.
    var wasLost = false
    var listener: Listener

    /// Whether what it asks for may have been done without an answer.
    var isInDoubt: Bool { request.command.changesSomething && (isSent || wasLost) }

    /// The service that had it is gone.
    mutating func lose() {
      wasLost = wasLost || isSent
      isSent = false
    }
  }

  private static var firstPause: TimeSpan { .milliseconds(10) }
  private static var longestPause: TimeSpan { .milliseconds(250) }
  /// How often a question that may take minutes is sent: a service that ends over it each time would never be at work.
  private static var longSendings: Int { 2 }
  /// Bytes that may wait for a service that does not read.
  private static var backlogLimit: Int { 64 << 20 }

  /// A client that connects when it is first asked.
  ///
  /// - Parameter helloPatience: How long the service may take to say welcome; a large audit takes its time.
  public init(
    socket path: String, loop: EventLoop, build: String = BuildIdentity.current,
    helloPatience: TimeSpan = .seconds(10)
  ) {
    (self.path, self.loop, self.build, self.helloPatience) = (path, loop, build, helloPatience)
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
    _ command: Command, as order: OrderID? = nil, until deadline: MonotonicTime,
    _ listener: @escaping Listener
  ) {
    lastNumber &+= 1
    let name = order ?? (command.changesSomething ? names.next() : nil)
    let request = ServiceRequest(number: lastNumber, order: name, command: command)
    // Brought up to now first: what passed since the caller last listened is not taken from the patience for this answer.
    let now = SystemClock.monotonic()
    loop.attend(until: now)
    let patience = deadline.since(now)
    open[lastNumber] = OpenRequest(
      request: request, deadline: loop.attended.now + patience, listener: listener)
    if isConnected { send(lastNumber) } else { connectIfDue() }
  }

  /// Follows the service over lost connections, too, from what was seen before on. Another view takes its place.
  public func follow(_ seen: Command.View, _ hear: @escaping (News) -> Void) {
    lastNumber &+= 1
    view = (lastNumber, seen, hear)
    if isConnected { sendView() } else { connectIfDue() }
  }

  /// Asks, and runs the loop until the answer is there.
  ///
  /// Not from within a handler of the loop.
  /// - Throws: `tryLater` where no answer came in time; the same order may be asked again.
  public func call(
    _ command: Command, as order: OrderID? = nil, within patience: TimeSpan
  ) throws(Trouble) -> Answer {
    var outcome: Result<Answer, Trouble>?
    let deadline = SystemClock.monotonic() + patience
    ask(command, as: order, until: deadline) { outcome = $0 }
    while outcome == nil { try turn(until: nil) }
    return try (outcome ?? .failure(.tryLater(detail: lastTrouble, isInDoubt: true))).get()
  }

  /// Waits for the next thing to happen, no longer than until the deadline, and does what there is to do.
  public func turn(until deadline: MonotonicTime?) throws(Trouble) {
    endTurn()
    do throws(SystemError) { try loop.runOnce(until: .earliest(nextDeadline, deadline)) } catch {
      throw .system(error)
    }
    endTurn()
  }

  // MARK: - Turns

  /// When ``endTurn()`` has something to do by itself; nil for never.
  public var nextDeadline: MonotonicTime? {
    // Without a key path, which keeps the compiler from making this for one service alone: with it a question costs a
    // quarter more instructions.
    var deadline: MonotonicTime?
    for request in open.values { deadline = min(deadline ?? request.deadline, request.deadline) }
    var earliest = deadline.map { loop.attended.wake(for: $0) }
    let own =
      channel == nil
      ? wantsConnection ? retryAt : nil
      : isConnected ? nil : loop.attended.wake(for: connectedAt + helloPatience)
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
    if channel != nil, !isConnected, now.since(connectedAt) >= helloPatience {
      channel?.close()
      lastTrouble = Remark(.noAnswer)
    }
    connectIfDue()
    guard open.values.contains(where: { $0.deadline <= now }) else { return }
    // In the order in which they were asked, so that nothing depends on where a table keeps them.
    for number in open.keys.sorted() {
      guard let request = open[number], request.deadline <= now else { continue }
      open[number] = nil
      request.listener(.failure(.tryLater(detail: lastTrouble, isInDoubt: request.isInDoubt)))
    }
  }

  private func isOverdue(_ now: MonotonicTime) -> Bool {
    channel != nil
      && (!isConnected && now.since(connectedAt) >= helloPatience
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
    let channel = try Channel(
      descriptor: socket, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: Self.backlogLimit)
    self.channel = channel
    loop.attend(until: SystemClock.monotonic())
    connectedAt = loop.attended.now
    lastTrouble = Remark(.noAnswer)
    channel.onMessage = { [unowned self] in hear($0) }
    channel.onEnd = { [unowned self] end in
      self.channel = nil
      isConnected = false
      for number in open.keys { open[number]?.lose() }
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
      return request.listener(.failure(.tryLater(detail: detail, isInDoubt: request.isInDoubt)))
    }
    open[number]?.sendings += 1
    open[number]?.isSent = true
    channel?.send(.request(request.request))
  }

  private func tryLater(_ trouble: Remark) {
    lastTrouble = trouble
    retryAt = SystemClock.monotonic() + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// There is no hope of an answer; a later request tries anew.
  private func fail(_ error: Trouble) {
    channel?.close()
    tryLater(Remark(quoting: "\(error)"))
    let waiting = open
    open.removeAll()
    for number in waiting.keys.sorted() { waiting[number]?.listener(.failure(error)) }
  }

  private func hear(_ message: ServiceAnswer<Answer>) {
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
    case .refused(let refusal):
      if refusal.reason == .closing { for number in open.keys { open[number]?.isSent = false } }
      // What the service says of the end says more than the end.
      channel?.close()
      lastTrouble = Remark(quoting: refusal.detail)
    case .reply(let reply): hear(reply)
    }
  }

  private func hear(_ reply: NumberedReply<Answer>) {
    if reply.number == view?.number { return hearNews(reply.result) }
    guard !reply.more,
      let request = Kernel.makes("hearsTwice") ? open[reply.number] : open.removeValue(forKey: reply.number)
    else { return }
    request.listener(.success(reply.result))
  }

  // MARK: - The view

  private func sendView() {
    guard let view else { return }
    channel?.send(.request(ServiceRequest(number: view.number, command: view.state.question)))
  }

  private func hearNews(_ answer: Answer) {
    switch view?.state.hear(answer) {
    case .news(let news): view?.hear(news)
    case .askAgain: sendView()
    case .nothing, nil: break
    }
  }
}
