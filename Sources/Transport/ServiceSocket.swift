// Owns which clients of a service are heard, and what waits for those who do not read.
// It knows no request. Invariant: a client that does not read is not heard either, so what waits for it is bounded, and what
// waits for all of them together.
import Posix
import Wire

/// One client of a ``ServiceSocket``.
public typealias ServiceSession<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> = ClientSession<ServiceQuestion<Request>, ServiceAnswer<Result>>

/// The socket of a service, and its clients.
public final class ServiceSocket<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
>: ClientServer<ServiceQuestion<Request>, ServiceAnswer<Result>, ServiceSession<Request, Result>> {
  /// A client.
  public typealias Session = ServiceSession<Request, Result>

  /// Called with every request.
  public var onRequest: ((Session, Request) -> Void)?
  /// Clients for whom something waited after the last flush.
  private var behind: [UInt64: Session] = [:]

  override public func hear(_ message: ServiceQuestion<Request>, from session: Session) {
    switch message {
    case .hello(let hello): greet(hello, session)
    case .request(let request):
      guard isGreeted(session) else { return }
      session.openRequests += 1
      onRequest?(session, request)
      // One read can bring thousands of requests: the next one waits until there is room for its answer.
      if isOwedTooMuch(session) { session.channel.pauseReading() }
    }
  }

  /// Answers a client's request; it leaves with the next ``flush()``.
  public func answer(_ session: Session, _ number: UInt32, _ result: Result, more: Bool = false) {
    if !more, session.openRequests > 0 { session.openRequests -= 1 }
    send(.reply(NumberedReply(number: number, result: result, more: more)), to: session)
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

  /// Writes everything that was said since the last time. A client who has not read so much of it, or of whom so much is
  /// unanswered, is not heard until it has; one who has caught up is heard again, from within this call.
  public func flush() {
    writeAll()
    letGoWhoReadsLeast()
  }

  override public func hasFlushed(_ session: Session) {
    let channel = session.channel
    behind[session.id] = channel.hasUnflushedOutput ? session : nil
    if isOwedTooMuch(session) {
      channel.pauseReading()
    } else if channel.isReadingPaused, !channel.hasUnflushedOutput,
      session.openRequests <= limits.openRequests / 2, !Kernel.makes("neverResumesReading")
    {
      channel.resumeReading()
    }
  }

  override public func hasLeft(_ session: Session) { behind[session.id] = nil }

  private func isOwedTooMuch(_ session: Session) -> Bool {
    session.channel.backlog >= share || session.openRequests >= limits.openRequests
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

  /// When ``keepTime(_:)`` wants to be called; nil while there are no clients and everybody can come in.
  public var nextDeadline: MonotonicInstant? {
    .earliest(nextListening, nextCheck.map { loop.attended.wake(for: $0) })
  }

  /// Sends those away who connected and say nothing, or stopped in the middle of a frame.
  ///
  /// - Parameter moment: now, by the steady clock.
  public func keepTime(_ moment: MonotonicInstant) {
    loop.attend(until: moment)
    keepTime(moment, attended: Kernel.makes("servicesBlameClients") ? moment : loop.attended.now)
  }
}
