// Owns the socket of a service: who may connect, how many, how long a client may take to say hello or to finish a frame.
// It knows no request. A client that breaks a limit loses its connection, and nobody else notices.
// Invariant: only the owner of the process and root get in; a client that does not read is not heard either, so what
// waits for it is bounded, and what waits for all of them together.
// Failure: SystemError where the socket cannot be made; nothing that a client does is one.

import Glibc
import Posix
import Wire

/// The limits on the clients of a service.
public struct ServiceLimits: Sendable {
  /// Clients at the same time.
  public var sessions = 1_000
  /// Connections that wait to be accepted.
  public var backlog: CInt = 512
  /// How long a client may take to say hello.
  public var hello: Duration = .seconds(5)
  /// How long a client may be silent in the middle of a frame.
  public var midFrame: Duration = .seconds(10)
  /// How often the two are looked at, while there are clients.
  public var check: Duration = .seconds(2)
  /// The longest body of a frame, in either direction.
  public var frame = FrameLimits.control
  /// Bytes that may wait for a client that does not read.
  public var unread = 8 << 20
  /// Whether whoever may open the socket's file is let in, and not its owner and root alone.
  public var admitsOthers = false
  /// Bytes that may wait for a client when its next request is heard; fewer where many are connected.
  public var heardWhileUnread = 256 << 10
  /// Bytes that may wait for all clients together, before those who read least are let go.
  public var unreadInAll = 24 << 20
  /// Requests of one client that may be without an answer; with so many it is not heard.
  public var openRequests = 64
  /// Those of them that follow. Another one shows nothing that the first does not.
  public var openViews = 4

  /// The defaults.
  public init() {}
}

/// A listening socket and its clients. Not Sendable: everything happens on the loop's thread.
public final class ServiceSocket<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> {
  /// A client.
  public typealias Session = ServiceSession<Request, Result>

  /// Called with every request.
  public var onRequest: ((Session, Request) -> Void)?
  /// Called once when a client has left.
  public var onEnd: ((Session) -> Void)?
  /// Called when a client has taken everything that waited for it.
  public var onDrained: ((Session) -> Void)?
  /// The clients that are connected.
  public private(set) var sessions: [UInt64: Session] = [:]

  private let loop: EventLoop
  private let limits: ServiceLimits
  private let build: String
  private var listener: Listener?
  private var isHearing = true
  private var room: Int
  private var lastID: UInt64 = 0
  private var nextCheck: MonotonicInstant?
  private var unflushed: [Session] = []
  /// Clients for whom something waited after the last flush.
  private var behind: [UInt64: Session] = [:]

  /// A socket that nobody can connect to yet.
  public init(
    loop: EventLoop, limits: ServiceLimits = ServiceLimits(), build: String = BuildIdentity.current
  ) {
    self.loop = loop
    self.limits = limits
    room = limits.sessions
    self.build = build
  }

  /// Begins to listen. The caller holds a lock on what is served, so a socket that is there is a leftover.
  public func listen(at path: String) throws(SystemError) {
    room = Listener.room(for: limits.sessions)
    let refusal = Refusal(reason: .crowded, build: build, detail: "there are no file descriptors left")
    let listener = try Listener(
      path: path, backlog: limits.backlog, loop: loop,
      farewell: Session.Channel.frame(of: .refused(refusal), limit: limits.frame))
    listener.onConnection = { [unowned self] in admit($0) }
    self.listener = listener
  }

  /// Takes no more clients; those who are there stay.
  public func stopListening() {
    listener?.stop()
    listener = nil
  }

  /// Takes no more clients and hears no more requests: whatever is heard from now on is as if it had not come.
  public func stopHearing() {
    stopListening()
    isHearing = false
  }

  /// Answers a client's request; it leaves with the next ``flush()``.
  public func answer(_ session: Session, _ number: UInt32, _ result: Result, more: Bool = false) {
    if !more, session.openRequests > 0 { session.openRequests -= 1 }
    send(.reply(NumberedReply(number: number, result: result, more: more)), to: session)
  }

  private func send(_ message: ServiceAnswer<Result>, to session: Session) {
    guard session.channel.isOpen else { return }
    session.channel.send(message)
    flushLater(session)
  }

  private func flushLater(_ session: Session) {
    guard !session.isUnflushed else { return }
    session.isUnflushed = true
    unflushed.append(session)
  }

  /// Whether a client reads, so that there is room for another long answer. Whoever has none is asked again at the end
  /// of a later turn: room comes with the loop.
  public func hasRoom(for session: Session) -> Bool {
    session.channel.isOpen && session.channel.backlog < share
  }

  /// The same after a try to write what is there already: for those who are told without having asked.
  func makesRoom(for session: Session) -> Bool {
    if session.channel.isOpen, session.channel.backlog >= share { session.channel.flush() }
    return hasRoom(for: session)
  }

  /// How many requests of one client may follow.
  public var viewsOfOne: Int { limits.openViews }

  /// Writes frames that were made before.
  func send(frames: [UInt8], to session: Session) {
    session.channel.send(frames: frames)
    session.channel.flush()
    if session.channel.hasUnflushedOutput { flushLater(session) }
  }

  /// The same for one answer, of which all but the number of the request was made before.
  ///
  /// - Returns: whether it fits a frame.
  func send(_ tail: [UInt8], to session: Session, _ number: UInt32) -> Bool {
    var frame: [UInt8] = []
    guard (try? AnswerTail.appendFrame(to: number, tail[...], to: &frame, limit: limits.frame)) != nil else {
      return false
    }
    send(frames: frame, to: session)
    return true
  }

  /// What may wait for one client: the same for everybody, and together no more than for all.
  private var share: Int {
    min(limits.heardWhileUnread, max(16 << 10, limits.unreadInAll / max(1, sessions.count)))
  }

  /// Writes everything that was said since the last time. A client who has not read so much of it, or of whom so much is
  /// unanswered, is not heard until it has; one who has caught up is heard again, from within this call.
  public func flush() {
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for session in waiting {
        session.isUnflushed = false
        session.channel.flush()
        behind[session.id] = session.channel.hasUnflushedOutput ? session : nil
        hearOrNot(session)
      }
    }
    letGoWhoReadsLeast()
  }

  private func hearOrNot(_ session: Session) {
    let channel = session.channel
    if channel.backlog >= share || session.openRequests >= limits.openRequests {
      channel.pauseReading()
    } else if channel.isReadingPaused, !channel.hasUnflushedOutput,
      session.openRequests <= limits.openRequests / 2, !Kernel.makes("neverResumesReading")
    {
      channel.resumeReading()
    }
  }

  /// Answers that were under way when their clients were no longer heard may be more than there is room for.
  private func letGoWhoReadsLeast() {
    guard !behind.isEmpty else { return }
    var sum = behind.values.reduce(0) { $0 + $1.channel.backlog }
    guard sum > limits.unreadInAll else { return }
    for session in behind.values.sorted(by: { ($0.channel.backlog, $1.id) > ($1.channel.backlog, $0.id) }) {
      guard sum > limits.unreadInAll else { return }
      sum -= session.channel.backlog
      session.channel.close()
    }
  }

  /// The clients in the order in which they came, so that nothing depends on where a table keeps them.
  private var present: [Session] { sessions.values.sorted { $0.id < $1.id } }

  /// Ends every connection as soon as everything that was said is written, after ``stopHearing()``. The last word says that
  /// of what was not answered nothing was changed; whoever has asked for something that goes on without this process is told nothing.
  public func closeAfterFlush() {
    for session in present {
      let isAnswered = session.openRequests <= session.views
      if isAnswered, session.channel.isOpen {
        let detail = "this service ends; what it has not answered was not done"
        session.channel.send(.refused(Refusal(reason: .closing, build: build, detail: detail)))
      }
      session.channel.closeAfterFlush()
    }
  }

  // MARK: Time

  /// When ``keepTime(_:)`` wants to be called; nil while there are no clients and everybody can come in.
  public var nextDeadline: MonotonicInstant? {
    .earliest(listener?.nextDeadline, nextCheck.map { loop.attended.wake(for: $0) })
  }

  /// Sends those away who connected and say nothing, or stopped in the middle of a frame. Time in which nobody was
  /// heard counts for nothing.
  ///
  /// - Parameter moment: now, by the steady clock.
  public func keepTime(_ moment: MonotonicInstant) {
    listener?.keepTime(moment)
    loop.attend(until: moment)
    let now = Kernel.makes("servicesBlameClients") ? moment : loop.attended.now
    guard let due = nextCheck, due <= now else { return }
    for session in present {
      let silence = session.silence(until: now)
      if !session.isGreeted, now - session.connectedAt >= limits.hello {
        refuse(session, .hello, "no hello within \(limits.hello.wholeMilliseconds) ms")
      } else if session.channel.isMidFrame, !session.channel.isReadingPaused,
        silence >= limits.midFrame
      {
        let patience = limits.midFrame.wholeMilliseconds
        refuse(session, .malformed, "silent in the middle of a frame for \(patience) ms")
      }
    }
    nextCheck = sessions.isEmpty ? nil : now + limits.check
  }

  // MARK: Connections

  private func admit(_ descriptor: consuming FileDescriptor) {
    // A client that cannot be asked who it is, or not be listened to, has gone or is let go.
    guard let peer = try? UnixSocket.peer(of: descriptor),
      limits.admitsOthers || peer.uid == CurrentProcess.uid || peer.uid == 0,
      let channel = try? Session.Channel(
        descriptor: descriptor, loop: loop, incomingLimit: limits.frame, backlogLimit: limits.unread)
    else { return }
    lastID += 1
    let session = Session(id: lastID, channel: channel)
    sessions[session.id] = session
    if nextCheck == nil { nextCheck = session.connectedAt + limits.check }
    attend(to: session)
    if sessions.count > room { refuse(session, .crowded, "\(room) clients are connected already") }
  }

  private func attend(to session: Session) {
    session.channel.onMessage = { [unowned self, weak session] in if let session { hear($0, from: session) } }
    let build = build
    session.channel.lastWord = { .refused(Refusal(reason: .malformed, build: build, detail: "\($0)")) }
    session.channel.onDrained = { [unowned self, weak session] in
      guard let session else { return }
      behind[session.id] = nil
      hearOrNot(session)
      onDrained?(session)
    }
    session.channel.onEnd = { [unowned self, weak session] _ in
      guard let session else { return }
      sessions[session.id] = nil
      behind[session.id] = nil
      listener?.someoneLeft()
      onEnd?(session)
    }
  }

  private func hear(_ message: ServiceQuestion<Request>, from session: Session) {
    guard isHearing else { return }
    switch message {
    case .hello(let hello) where !session.isGreeted: greet(hello, session)
    case .request(let request) where session.isGreeted:
      session.openRequests += 1
      onRequest?(session, request)
      // One read can bring thousands of requests: the next one waits until there is room for its answer.
      if session.channel.backlog >= share || session.openRequests >= limits.openRequests {
        session.channel.pauseReading()
      }
    case .hello: refuse(session, .malformed, "a second hello")
    case .request: refuse(session, .hello, "a request before the hello")
    }
  }

  /// A client of another build may speak, as long as it speaks the same version.
  private func greet(_ hello: Hello, _ session: Session) {
    guard hello.version == protocolVersion else {
      let words = "version \(hello.version) was spoken, version \(protocolVersion) is understood"
      return refuse(session, .version, words)
    }
    guard hello.role == .client else { return refuse(session, .hello, "only clients are received here") }
    session.isGreeted = true
    send(.welcome(Welcome(build: build)), to: session)
  }

  private func refuse(_ session: Session, _ reason: Refusal.Reason, _ detail: String) {
    session.channel.send(.refused(Refusal(reason: reason, build: build, detail: detail)))
    session.channel.closeAfterFlush()
  }
}
