// Owns the control socket: who may connect, how many, how long a client may take to say hello or to finish a frame.
// It knows no command, and takes its limits from `ClientLimits`. A client that breaks one loses its connection, and
// nobody else notices.

import BankModel
import Glibc
import Posix
import Transport
import Wire

/// The control socket and its clients.
package final class ControlServer {
  /// Called with every request of a client that was greeted.
  package var onCommand: ((ControlSession, ControlRequest) -> Void)?
  /// Called when a client has gone.
  package var onEnd: ((ControlSession) -> Void)?
  /// Whether everything that the store shows is on disk, so that it may be told.
  var mayQuote: () -> Bool = { true }
  /// Those who are connected.
  package private(set) var sessions: [UInt64: ControlSession] = [:]

  private let loop: EventLoop
  private let build: String
  private var listener: Listener?
  private var room = ClientLimits.sessions
  private var lastID: UInt64 = 0
  private var nextCheck: MonotonicTime?
  private var unflushed: [ControlSession] = []
  private var turnedAway: Set<Asked> = []

  /// A server that does not listen.
  package init(loop: EventLoop, build: String) {
    self.loop = loop
    self.build = build
  }

  /// Begins to listen. The caller holds the lock of the home, so a socket that is there is a leftover.
  package func listen(at path: String) throws(SystemError) {
    room = Listener.room(for: ClientLimits.sessions)
    let refusal = Refusal(reason: .crowded, build: build, detail: "there are no file descriptors left")
    let listener = try Listener(
      path: path, backlog: ClientLimits.backlog, loop: loop,
      farewell: ClientChannel.frame(of: .refused(refusal), limit: ClientLimits.frame))
    listener.onConnection = { [unowned self] in admit($0) }
    self.listener = listener
  }

  /// Takes no more clients; those who are there stay.
  func stopListening() {
    listener?.stop()
    listener = nil
  }

  /// Ends every conversation. What was asked and not heard before the end is answered now: nothing of it was done; what
  /// is asked after this fails at whoever asks. So nobody is in doubt about what became of a request.
  ///
  /// - Parameter refusal: Why nothing of it was done.
  package func close(saying refusal: Failure = Failure(.notOpen)) {
    turnEverybodyAway(saying: refusal)
    for session in inOrder { session.channel.hearOut() }
    flush()
    for session in inOrder { session.channel.closeAfterFlush() }
  }

  /// Does nothing more of what is asked, and says why to whoever asks.
  func turnEverybodyAway(saying refusal: Failure) {
    onCommand = { [unowned self] session, request in turnAway(request, of: session, saying: refusal) }
  }

  /// Answers a request of which nothing is done, because the bank has ended.
  func turnAway(
    _ request: ControlRequest, of session: ControlSession, saying refusal: Failure = Failure(.notOpen)
  ) {
    // A withdrawal has no answer of its own, and a list has one for all of its parts.
    if case .withdraw = request.command { return }
    let isFirst = turnedAway.insert(Asked(session: session.id, number: request.number)).inserted
    guard isFirst || Kernel.makes("answersEveryPart") else { return }
    answer(session, request.number, .failure(refusal))
  }

  /// A request, among those of everybody.
  private struct Asked: Hashable {
    let session: UInt64
    let number: UInt32
  }

  /// Takes a connection over as a client: the one on descriptor 3.
  @discardableResult
  func adopt(_ descriptor: consuming FileDescriptor) throws(SystemError) -> ControlSession {
    let channel = try ClientChannel(
      descriptor: descriptor, loop: loop, incomingLimit: ClientLimits.frame, backlogLimit: ClientLimits.unread
    )
    lastID += 1
    let now = loop.moment()
    let session = ControlSession(id: lastID, channel: channel, connectedAt: now.attended)
    sessions[session.id] = session
    if nextCheck == nil { nextCheck = now.attended + ClientLimits.check }
    channel.onMessage = { [unowned self, weak session] message in
      if let session { hear(message, from: session) }
    }
    let build = build
    channel.lastWord = { .refused(Refusal(reason: .malformed, build: build, detail: "\($0)")) }
    channel.onEnd = { [unowned self, weak session] _ in
      guard let session else { return }
      sessions[session.id] = nil
      onEnd?(session)
    }
    return session
  }

  /// Answers a request; it leaves at the end of the turn.
  ///
  /// Every answer passes here, so this is where it is made sure that none tells what may be gone after a crash.
  package func answer(
    _ session: ControlSession, _ number: UInt32, _ answer: ControlAnswer, more: Bool = false
  ) {
    precondition(!answer.quotesWhatIsKept || mayQuote(), "a client is told only what is on disk")
    send(.reply(ControlReply(number: number, answer: answer, more: more)), to: session)
  }

  /// Writes everything that was sent in this turn.
  package func flush() {
    while !unflushed.isEmpty {
      let waiting = unflushed
      unflushed.removeAll(keepingCapacity: true)
      for session in waiting {
        session.isUnflushed = Kernel.makes("speaksOnce")
        session.channel.flush()
      }
    }
  }

  /// Bytes that may wait for one client before it is not heard and no further page is made for it: the same for everybody,
  /// and together no more than for all.
  var share: Int {
    min(ClientLimits.heardWhileUnread, max(16 << 10, ClientLimits.unreadInAll / max(1, sessions.count)))
  }

  // MARK: - Time

  /// When the listener, for which there was no descriptor left, is to be heard again.
  package var nextDeadline: MonotonicTime? {
    listener?.nextDeadline.map { MonotonicTime(nanoseconds: $0.nanoseconds) }
  }

  /// When somebody is judged next by what was heard, in the time that was attended.
  package var nextJudgement: MonotonicTime? { nextCheck }

  /// Sends those away who connected and say nothing, or stopped in the middle of a frame.
  package func keepTime(_ now: Moment) {
    listener?.keepTime(MonotonicInstant(now.monotonic))
    let heard = Kernel.makes("blamesClientsForItsOwnPause") ? now.monotonic : now.attended
    guard let due = nextCheck, due <= heard else { return }
    for session in inOrder {
      let silence = session.silence(until: now)
      if !session.isGreeted, heard.since(session.connectedAt) >= ClientLimits.hello {
        refuse(session, .hello, "no hello within \(ClientLimits.hello.milliseconds) ms")
      } else if session.channel.isMidFrame, !session.channel.isReadingPaused {
        if silence >= ClientLimits.midFrame {
          refuse(
            session, .malformed,
            "silent in the middle of a frame for \(ClientLimits.midFrame.milliseconds) ms")
        }
      }
    }
    nextCheck = sessions.isEmpty ? nil : now.attended + ClientLimits.check
  }

  // MARK: - Connections

  /// Those who are connected, in the order in which they came.
  private var inOrder: [ControlSession] { sessions.values.sorted { $0.id < $1.id } }

  private func admit(_ descriptor: consuming FileDescriptor) {
    // A client that cannot be asked who it is, or not be listened to, has gone or is let go.
    guard let peer = try? UnixSocket.peer(of: descriptor), peer.uid == CurrentProcess.uid || peer.uid == 0,
      let session = try? adopt(descriptor)
    else { return }
    if sessions.count > room {
      refuse(session, .crowded, "\(room) clients are connected already")
    }
  }

  /// Somebody has left, so there is room again for those outside.
  package func someoneLeft() { listener?.someoneLeft() }

  private func hear(_ message: ClientMessage, from session: ControlSession) {
    switch message {
    case .hello(let hello) where !session.isGreeted: greet(hello, session)
    case .request(let request) where session.isGreeted: onCommand?(session, request)
    case .hello: refuse(session, .malformed, "a second hello")
    case .request: refuse(session, .hello, "a request before the hello")
    }
  }

  /// A client of another build may speak, as long as it speaks the same version: otherwise a bank could not be
  /// stopped after its programs were replaced.
  private func greet(_ hello: Hello, _ session: ControlSession) {
    guard hello.version == protocolVersion else {
      refuse(
        session, .version, "version \(hello.version) was spoken, version \(protocolVersion) is understood")
      return
    }
    guard hello.role == .client else {
      refuse(session, .hello, "only clients are received here")
      return
    }
    session.isGreeted = true
    send(.welcome(Welcome(build: build)), to: session)
  }

  func refuse(_ session: ControlSession, _ reason: Refusal.Reason, _ detail: String) {
    session.channel.send(.refused(Refusal(reason: reason, build: build, detail: detail)))
    session.channel.closeAfterFlush()
  }

  private func send(_ message: BankMessage, to session: ControlSession) {
    guard session.isOpen else { return }
    session.channel.send(message)
    if !session.isUnflushed {
      session.isUnflushed = true
      unflushed.append(session)
    }
  }
}
