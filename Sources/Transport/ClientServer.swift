// A listening socket and its clients: which users may connect, the number of clients, their time limits for
// hello and for a message, and the flushing of output. The server disconnects a client that exceeds one of these
// limits.
// Invariant: at the socket's file, the server accepts only processes of its user and of root, unless the limits
// admit other users. Errors: SystemError if the socket cannot be created. An action of a client is not an error.
import Glibc
import Posix
import Time
import Wire

/// A listening socket and its clients. A subclass handles the requests. Not Sendable: everything happens on
/// the loop's thread.
open class ClientServer<
  Question: FrameMessage, Answer: RefusingMessage, Session: ClientSession<Question, Answer>
> {
  /// Called after the connection of a client has ended.
  public final var onEnd: ((Session) -> Void)?
  /// Called when the kernel has accepted the rest of a client's output, after a flush at which it did not accept
  /// everything.
  public final var onDrained: ((Session) -> Void)?
  /// Connected clients by session number.
  public private(set) final var sessions: [UInt64: Session] = [:]
  package final let loop: EventLoop
  /// Limits on the clients.
  package final let limits: ServiceLimits
  /// Identity of this build, which the welcome and refusals contain.
  package final let build: String
  private final var listener: Listener?
  /// False after ``stopReceiving()``.
  private final var isReceiving = true
  /// Maximum number of clients; lower than wanted if there are few file descriptors.
  private final var maximumClients: Int
  /// Number of the newest session; 0 before the first one.
  private final var lastID: UInt64 = 0
  /// Time of the next check for silent clients, in listening time; nil if no client needs a check.
  package private(set) final var nextCheck: MonotonicTime?
  /// Clients with queued messages.
  private final var unflushed: [Session] = []

  /// A server that does not listen yet.
  public init(
    loop: EventLoop, limits: ServiceLimits = ServiceLimits(), build: String = BuildIdentity.current
  ) {
    self.loop = loop
    self.limits = limits
    maximumClients = limits.sessions
    self.build = build
  }

  /// Starts to listen, and replaces a stale socket file. The caller must hold a lock that excludes other servers of
  /// this path.
  public final func listen(at path: String) throws(SystemError) {
    maximumClients = Listener.maximumClients(for: limits.sessions)
    let refusal = Refusal(reason: .crowded, build: build, detail: "there are no file descriptors left")
    // If lines are allowed, a client that has sent nothing yet gets its refusal as a line.
    let refusalFrame =
      limits.line.map { Session.Channel.line(of: .refused(refusal), limit: $0) }
      ?? Session.Channel.frame(of: .refused(refusal), limit: limits.frame)
    let listener = try Listener(path: path, backlog: limits.backlog, loop: loop, refusalFrame: refusalFrame)
    listener.onConnection = { [unowned self] in admit($0) }
    self.listener = listener
  }

  /// Stops accepting clients. Connected clients stay connected.
  public final func stopListening() {
    listener?.stop()
    listener = nil
  }

  /// Stops accepting clients and requests. Messages that arrive later are ignored.
  public final func stopReceiving() {
    stopListening()
    isReceiving = false
  }

  /// The clients in order of arrival, so that nothing depends on the order of a hash table.
  package final var present: [Session] { sessions.values.sorted { $0.id < $1.id } }

  // MARK: Overridden by a server

  /// Handles a message of a client. An override passes a hello to ``greet(_:_:)``, and handles a request only
  /// if ``isGreeted(_:)`` returns true. The parameter is the whole message, because extracting the request
  /// before the call would copy it.
  open func handle(_ message: Question, from session: Session) {}
  /// Called after output for a client was written. Some output may still be pending if the client reads slowly.
  open func didFlush(_ session: Session) {}
  /// Called when the connection of a client has ended, before ``onEnd``.
  open func didDisconnect(_ session: Session) {}

  // MARK: Output

  /// Queues a message for a client. The next ``writeAll()`` sends it.
  package final func send(_ message: Answer, to session: Session) {
    guard session.channel.isOpen else { return }
    session.channel.send(message)
    flushLater(session)
  }

  /// Includes a client in the next ``writeAll()``.
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
        session.isUnflushed = Mutant.sendsFirstIterationOnly.isActive
        session.channel.flush()
        didFlush(session)
      }
    }
  }

  /// Limit in bytes of one client's backlog, from which on its further requests and answers should wait. It is lower
  /// if there are many clients.
  package final var share: Int {
    min(limits.requestBacklogLimit, max(16 << 10, limits.totalBacklogLimit / max(1, sessions.count)))
  }

  /// Sends a refusal to a client, and ends the connection as soon as all output is written.
  package final func refuse(_ session: Session, _ reason: Refusal.Reason, _ detail: String) {
    session.channel.send(.refused(Refusal(reason: reason, build: build, detail: detail)))
    session.channel.closeAfterFlush()
  }

  // MARK: Time

  /// Time at which the listener accepts again after it ran out of descriptors, by the monotonic clock; nil
  /// while it accepts.
  package final var nextAccept: MonotonicTime? { listener?.nextDeadline }

  /// Refuses clients that sent no hello in time, or stopped in the middle of a message. Accepts connections
  /// again after a pause of the listener.
  ///
  /// - Parameters:
  ///   - moment: now, by the monotonic clock.
  ///   - now: the same moment in listening time, which excludes the time in which this process did not run its
  ///     loop.
  package final func runTimers(_ moment: MonotonicTime, listeningTime now: MonotonicTime) {
    listener?.runTimers(moment)
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
        let silenceLimit = limits.midFrame.milliseconds
        refuse(session, .malformed, "no data for \(silenceLimit) ms in the middle of a frame")
      }
    }
    nextCheck = hasSuspects ? now + limits.check : nil
  }

  /// Starts the checks for silent clients, unless they are running.
  private final func checkLater() {
    if nextCheck == nil { nextCheck = loop.listeningTime.now + limits.check }
  }

  // MARK: Connections

  /// Adds an accepted connection as a client, or closes it if its user may not connect.
  private final func admit(_ descriptor: consuming FileDescriptor) {
    // The connection is closed if its peer cannot be identified or belongs to another user, or if the loop
    // cannot watch it.
    guard let peer = try? UnixSocket.peer(of: descriptor),
      limits.acceptsOtherUsers || peer.uid == CurrentProcess.uid || peer.uid == 0,
      let session = try? adopt(descriptor)
    else { return }
    if sessions.count > maximumClients {
      refuse(session, .crowded, "\(maximumClients) clients are connected already")
    }
  }

  /// Adds a connection as a client, without checking the user of its peer.
  @discardableResult
  package final func adopt(_ descriptor: consuming FileDescriptor) throws(SystemError) -> Session {
    let channel = try Session.Channel(
      descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread,
      lineLimit: limits.line)
    lastID += 1
    let session = Session(id: lastID, channel: channel)
    sessions[session.id] = session
    checkLater()
    channel.onPartialMessage = { [unowned self] in checkLater() }
    channel.onMessage = { [unowned self, weak session] in if let session { dispatch($0, from: session) } }
    let build = build
    channel.finalMessage = { .refused(Refusal(reason: .malformed, build: build, detail: "\($0)")) }
    channel.onDrained = { [unowned self, weak session] in
      guard let session else { return }
      didFlush(session)
      onDrained?(session)
    }
    channel.onEnd = { [unowned self, weak session] _ in
      guard let session else { return }
      sessions[session.id] = nil
      didDisconnect(session)
      listener?.descriptorFreed()
      onEnd?(session)
    }
    return session
  }

  /// Handles a message, or ignores it after ``stopReceiving()``.
  private final func dispatch(_ message: Question, from session: Session) {
    if isReceiving { handle(message, from: session) }
  }

  /// Returns true if the client has sent its hello. Refuses the client and returns false if it has not.
  package final func isGreeted(_ session: Session) -> Bool {
    if !session.isGreeted { refuse(session, .hello, "a request before the hello") }
    return session.isGreeted
  }

}

extension ClientServer where Answer: AnswerMessage {
  /// Accepts a client's hello. A client of another build is accepted if it uses the same protocol version. If
  /// builds had to be equal, a bank could not be stopped after its programs were replaced.
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
