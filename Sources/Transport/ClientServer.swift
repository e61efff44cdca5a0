// Owns a listening socket and those who are connected: who may connect, how many, how long a client may take
// to say hello or to finish a frame, and when what was said to them is written. It knows no request. A client
// that breaks a limit loses its connection, and nobody else notices. Invariant: only the owner of the process
// and root get in, unless the limits say otherwise; no request is heard before the hello. Failure:
// SystemError where the socket cannot be made; nothing that a client does is one.
import Glibc
import Posix
import Time
import Wire

/// A listening socket and its clients. Whoever serves them inherits it and says what becomes of a request. Not Sendable:
/// everything happens on the loop's thread.
open class ClientServer<
  Question: FrameMessage, Answer: RefusingMessage, Session: ClientSession<Question, Answer>
> {
  /// Called once when a client has left.
  public final var onEnd: ((Session) -> Void)?
  /// Called when a client has taken everything that waited for it.
  public final var onDrained: ((Session) -> Void)?
  /// The clients that are connected.
  public private(set) final var sessions: [UInt64: Session] = [:]
  package final let loop: EventLoop
  package final let limits: ServiceLimits
  package final let build: String
  private final var listener: Listener?
  private final var isHearing = true
  private final var room: Int
  private final var lastID: UInt64 = 0
  /// The next check for silent clients, in attended time; nil while every client has sent its hello and whole messages. A
  /// server with quiet clients alone therefore has no timer.
  package private(set) final var nextCheck: MonotonicTime?
  private final var unflushed: [Session] = []

  /// A server that nobody can connect to yet.
  public init(
    loop: EventLoop, limits: ServiceLimits = ServiceLimits(), build: String = BuildIdentity.current
  ) {
    self.loop = loop
    self.limits = limits
    room = limits.sessions
    self.build = build
  }

  /// Begins to listen. The caller holds a lock on what is served, so a socket that is there is a leftover.
  public final func listen(at path: String) throws(SystemError) {
    room = Listener.room(for: limits.sessions)
    let refusal = Refusal(reason: .crowded, build: build, detail: "there are no file descriptors left")
    // Where lines may be spoken whoever has said nothing is told in one.
    let farewell =
      limits.line.map { Session.Channel.line(of: .refused(refusal), limit: $0) }
      ?? Session.Channel.frame(of: .refused(refusal), limit: limits.frame)
    let listener = try Listener(path: path, backlog: limits.backlog, loop: loop, farewell: farewell)
    listener.onConnection = { [unowned self] in admit($0) }
    self.listener = listener
  }

  /// Takes no more clients; those who are there stay.
  public final func stopListening() {
    listener?.stop()
    listener = nil
  }

  /// Takes no more clients and hears no more requests: whatever is heard from now on is as if it had not come.
  public final func stopHearing() {
    stopListening()
    isHearing = false
  }

  /// The clients in the order in which they came, so that nothing depends on where a table keeps them.
  package final var present: [Session] { sessions.values.sorted { $0.id < $1.id } }

  // MARK: What a server adds

  /// Hears a message of a client: a hello is for ``greet(_:_:)``, and a request is served if ``isGreeted(_:)``. The message
  /// goes to the server as a whole: a request that is taken out of it here would be copied for every customer.
  open func hear(_ message: Question, from session: Session) {}
  /// What was said to a client was written, as far as it reads.
  open func hasFlushed(_ session: Session) {}
  /// A client has left; ``onEnd`` is called next.
  open func hasLeft(_ session: Session) {}

  // MARK: What is said

  /// Says something to a client; it leaves with the next ``writeAll()``.
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

  /// Writes everything that was said since the last time.
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

  /// Bytes that may wait for one client before it is not heard and no further page is made for it: the same for everybody,
  /// and together no more than for all.
  package final var share: Int {
    min(limits.heardWhileUnread, max(16 << 10, limits.unreadInAll / max(1, sessions.count)))
  }

  package final func refuse(_ session: Session, _ reason: Refusal.Reason, _ detail: String) {
    session.channel.send(.refused(Refusal(reason: reason, build: build, detail: detail)))
    session.channel.closeAfterFlush()
  }

  // MARK: Time

  /// When the listener, for which there was no descriptor left, is to be heard again, by the steady clock.
  package final var nextListening: MonotonicTime? { listener?.nextDeadline }

  /// Sends those away who connected and say nothing, or stopped in the middle of a frame.
  ///
  /// - Parameters:
  ///   - moment: now, by the steady clock.
  ///   - now: the same in the time that was attended; time in which nobody was heard counts for nothing.
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
        refuse(session, .malformed, "silent in the middle of a frame for \(patience) ms")
      }
    }
    nextCheck = hasSuspects ? now + limits.check : nil
  }

  private final func checkLater() {
    if nextCheck == nil { nextCheck = loop.attended.now + limits.check }
  }

  // MARK: Connections

  private final func admit(_ descriptor: consuming FileDescriptor) {
    // A client that cannot be asked who it is, or not be listened to, has gone or is let go.
    guard let peer = try? UnixSocket.peer(of: descriptor),
      limits.admitsOthers || peer.uid == CurrentProcess.uid || peer.uid == 0,
      let session = try? adopt(descriptor)
    else { return }
    if sessions.count > room { refuse(session, .crowded, "\(room) clients are connected already") }
  }

  /// Takes a connection over as a client, such as the one on descriptor 3, without asking whose it is.
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

  /// Whether a client that asks for something has said hello; it is sent away otherwise.
  package final func isGreeted(_ session: Session) -> Bool {
    if !session.isGreeted { refuse(session, .hello, "a request before the hello") }
    return session.isGreeted
  }

}

extension ClientServer where Answer: AnswerMessage {
  /// A client of another build may speak, as long as it speaks the same version: otherwise a bank could not be
  /// stopped after its programs were replaced.
  package final func greet(_ hello: Hello, _ session: Session) {
    guard !session.isGreeted else { return refuse(session, .malformed, "a second hello") }
    guard hello.version == protocolVersion else {
      return refuse(session, .version, hello.otherVersion)
    }
    guard hello.role == .client else { return refuse(session, .hello, "only clients are received here") }
    session.isGreeted = true
    send(.welcome(Welcome(build: build)), to: session)
  }
}
