// A listening socket and its clients: who may connect, how many, their time limits for hello and for a frame,
// and the flushing of output. A client that exceeds a limit loses its connection, without effect on the
// others.
// Invariant: only the owner of the process and root can connect, unless the limits allow others. No request
// is handled before the hello. Errors: SystemError if the socket cannot be made; no action of a client is an
// error.
import Glibc
import Posix
import Time
import Wire

/// A listening socket and its clients. A subclass handles the requests. Not Sendable: everything happens on
/// the loop's thread.
open class ClientServer<
  Question: FrameMessage, Answer: RefusingMessage, Session: ClientSession<Question, Answer>
> {
  /// Called once after a client has left.
  public final var onEnd: ((Session) -> Void)?
  /// Called after a client has read everything that waited for it.
  public final var onDrained: ((Session) -> Void)?
  /// Connected clients by session number.
  public private(set) final var sessions: [UInt64: Session] = [:]
  package final let loop: EventLoop
  package final let limits: ServiceLimits
  package final let build: String
  private final var listener: Listener?
  private final var isHearing = true
  private final var room: Int
  private final var lastID: UInt64 = 0
  /// Time of the next check for silent clients, in attended time; nil while every client has sent its hello
  /// and only whole messages. So a server with quiet clients has no timer.
  package private(set) final var nextCheck: MonotonicTime?
  private final var unflushed: [Session] = []

  /// A server that does not listen yet.
  public init(
    loop: EventLoop, limits: ServiceLimits = ServiceLimits(), build: String = BuildIdentity.current
  ) {
    self.loop = loop
    self.limits = limits
    room = limits.sessions
    self.build = build
  }

  /// Starts to listen. The caller holds a lock on the served data, so an existing socket file is stale.
  public final func listen(at path: String) throws(SystemError) {
    room = Listener.room(for: limits.sessions)
    let refusal = Refusal(reason: .crowded, build: build, detail: "there are no file descriptors left")
    // If lines are allowed, a client that has sent nothing yet gets its refusal as a line.
    let farewell =
      limits.line.map { Session.Channel.line(of: .refused(refusal), limit: $0) }
      ?? Session.Channel.frame(of: .refused(refusal), limit: limits.frame)
    let listener = try Listener(path: path, backlog: limits.backlog, loop: loop, farewell: farewell)
    listener.onConnection = { [unowned self] in admit($0) }
    self.listener = listener
  }

  /// Accepts no more clients; connected ones stay.
  public final func stopListening() {
    listener?.stop()
    listener = nil
  }

  /// Accepts no more clients and no more requests: input that arrives later is ignored.
  public final func stopHearing() {
    stopListening()
    isHearing = false
  }

  /// The clients in order of arrival, so that nothing depends on the order of a hash table.
  package final var present: [Session] { sessions.values.sorted { $0.id < $1.id } }

  // MARK: Overridden by a server

  /// Handles a message of a client. Pass a hello to ``greet(_:_:)``, and serve a request only if
  /// ``isGreeted(_:)``. The message is passed as a whole, because a request extracted here would be copied
  /// for every customer.
  open func hear(_ message: Question, from session: Session) {}
  /// Called after the output for a client was written, as far as the client reads.
  open func hasFlushed(_ session: Session) {}
  /// Called when a client has left, before ``onEnd``.
  open func hasLeft(_ session: Session) {}

  // MARK: Output

  /// Queues a message for a client, which the next ``writeAll()`` sends.
  package final func send(_ message: Answer, to session: Session) {
    guard session.channel.isOpen else { return }
    session.channel.send(message)
    flushLater(session)
  }

  final func flushLater(_ session: Session) {
    guard !session.isUnflushed else { return }
    session.isUnflushed = true
    unflushed.append(session)
  }

  /// Writes all queued messages.
  package final func writeAll() {
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for session in waiting {
        session.isUnflushed = Kernel.makes("speaksOnce")
        session.channel.flush()
        hasFlushed(session)
      }
    }
  }

  /// Limit in bytes of one client's backlog. Above it, the client's requests are not handled and no further
  /// page is made for it. It is the same for all clients, and their sum is limited, too.
  package final var share: Int {
    min(limits.heardWhileUnread, max(16 << 10, limits.unreadInAll / max(1, sessions.count)))
  }

  package final func refuse(_ session: Session, _ reason: Refusal.Reason, _ detail: String) {
    session.channel.send(.refused(Refusal(reason: reason, build: build, detail: detail)))
    session.channel.closeAfterFlush()
  }

  // MARK: Time

  /// Time at which the listener continues after it ran out of descriptors, by the monotonic clock.
  package final var nextListening: MonotonicTime? { listener?.nextDeadline }

  /// Refuses clients that sent no hello in time, or stopped in the middle of a frame.
  ///
  /// - Parameters:
  ///   - moment: now, by the monotonic clock.
  ///   - now: the same in attended time, which excludes the time in which this process was not listening.
  package final func keepTime(_ moment: MonotonicTime, attended now: MonotonicTime) {
    listener?.keepTime(moment)
    guard let due = nextCheck, due <= now else { return }
    var hasSuspects = false
    for session in present {
      let silence = session.silence(until: now)
      hasSuspects = hasSuspects || !session.isGreeted || session.channel.isMidFrame
      if !session.isGreeted, now.since(session.connectedAt) >= limits.hello {
        refuse(session, .hello, "no hello within \(limits.hello.milliseconds) ms")
      } else if session.channel.isMidFrame, !session.channel.isReadingPaused,
        silence >= limits.midFrame
      {
        let patience = limits.midFrame.milliseconds
        refuse(session, .malformed, "no data for \(patience) ms in the middle of a frame")
      }
    }
    nextCheck = hasSuspects ? now + limits.check : nil
  }

  private final func checkLater() {
    if nextCheck == nil { nextCheck = loop.attended.now + limits.check }
  }

  // MARK: Connections

  private final func admit(_ descriptor: consuming FileDescriptor) {
    // A client whose identity cannot be read, or whose socket cannot be watched, has gone or is dropped.
    guard let peer = try? UnixSocket.peer(of: descriptor),
      limits.admitsOthers || peer.uid == CurrentProcess.uid || peer.uid == 0,
      let session = try? adopt(descriptor)
    else { return }
    if sessions.count > room { refuse(session, .crowded, "\(room) clients are connected already") }
  }

  /// Adopts a connection as a client, such as the one on descriptor 3, without checking its owner.
  @discardableResult
  package final func adopt(_ descriptor: consuming FileDescriptor) throws(SystemError) -> Session {
    let channel = try Session.Channel(
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread,
      lineLimit: limits.line)
    lastID += 1
    let session = Session(id: lastID, channel: channel)
    sessions[session.id] = session
    checkLater()
    channel.onPart = { [unowned self] in checkLater() }
    channel.onMessage = { [unowned self, weak session] in if let session { take($0, from: session) } }
    let build = build
    channel.lastWord = { .refused(Refusal(reason: .malformed, build: build, detail: "\($0)")) }
    channel.onDrained = { [unowned self, weak session] in
      guard let session else { return }
      hasFlushed(session)
      onDrained?(session)
    }
    channel.onEnd = { [unowned self, weak session] _ in
      guard let session else { return }
      sessions[session.id] = nil
      hasLeft(session)
      listener?.someoneLeft()
      onEnd?(session)
    }
    return session
  }

  private final func take(_ message: Question, from session: Session) {
    if isHearing { hear(message, from: session) }
  }

  /// True if a client has sent its hello; otherwise it is refused.
  package final func isGreeted(_ session: Session) -> Bool {
    if !session.isGreeted { refuse(session, .hello, "a request before the hello") }
    return session.isGreeted
  }

}

extension ClientServer where Answer: AnswerMessage {
  /// Accepts a client's hello. Another build is accepted if it uses the same protocol version: otherwise a bank
  /// could not be stopped after its programs were replaced.
  package final func greet(_ hello: Hello, _ session: Session) {
    guard !session.isGreeted else { return refuse(session, .malformed, "a second hello") }
    guard hello.version == protocolVersion else {
      return refuse(session, .version, hello.otherVersion)
    }
    guard hello.role == .client else { return refuse(session, .hello, "only clients can connect here") }
    session.isGreeted = true
    send(.welcome(Welcome(build: build)), to: session)
  }
}
