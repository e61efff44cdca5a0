// Socket of a service process with flow control for its clients. Invariant: the service reads no further input from a
// client that has too much pending output or too many open requests, and disconnects the clients with the most
// pending output while all clients together have too much.
import Posix
import Time
import Wire

/// Connection of one client to a ``ServiceSocket``.
public typealias ServiceSession<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
> = ClientSession<ServiceClientMessage<Request>, ServiceServerMessage<Result>>

/// The socket of a service process, and its clients.
public final class ServiceSocket<
  Request: Codable & Sendable & Equatable, Result: Codable & Sendable & Equatable
>: ClientServer<ServiceClientMessage<Request>, ServiceServerMessage<Result>, ServiceSession<Request, Result>>
{
  /// Session type of the clients.
  public typealias Session = ServiceSession<Request, Result>

  /// Called with a request of a client that has sent its hello, until ``ClientServer/stopReceiving()``.
  public var onRequest: ((Session, Request) -> Void)?
  /// Clients with pending output after the last flush.
  private var slowSessions: [UInt64: Session] = [:]

  override public func handle(_ message: ServiceClientMessage<Request>, from session: Session) {
    switch message {
    case .hello(let hello): greet(hello, session)
    case .request(let request):
      guard isGreeted(session) else { return }
      session.openRequests += 1
      onRequest?(session, request)
      // One read can return many requests. The next request waits until there is space for its answer.
      if exceedsBacklog(session) { session.channel.pauseReading() }
    }
  }

  /// Answers a client's request; the next ``flush()`` sends the answer. `more` is true if further answers to the
  /// request follow.
  public func answer(_ session: Session, _ number: UInt32, _ result: Result, more: Bool = false) {
    if !more, session.openRequests > 0 { session.openRequests -= 1 }
    send(.reply(NumberedReply(number: number, result: result, more: more)), to: session)
  }

  /// True if there is space for another long answer to this client. If not, the caller checks again at the end
  /// of a later iteration, after the loop has written pending output.
  public func hasRoom(for session: Session) -> Bool {
    session.channel.isOpen && session.channel.backlog < share
  }

  /// True if there is space for a message to a subscriber. Writes pending output first if there is too much.
  func flushesAndHasRoom(for session: Session) -> Bool {
    if session.channel.isOpen, session.channel.backlog >= share { session.channel.flush() }
    return hasRoom(for: session)
  }

  /// Maximum number of subscriptions of one client.
  public var subscriptionsPerClient: Int { limits.openSubscriptions }

  /// Queues and writes frames that are already encoded.
  func send(frames: [UInt8], to session: Session) {
    session.channel.send(frames: frames)
    session.channel.flush()
    if session.channel.hasUnflushedOutput { flushLater(session) }
  }

  /// Sends one answer that is already encoded, except for the request number. Returns false if it does not fit into a
  /// frame.
  func send(_ tail: [UInt8], to session: Session, _ number: UInt32) -> Bool {
    var frame: [UInt8] = []
    guard (try? AnswerTail.appendFrame(to: number, tail[...], to: &frame, limit: limits.frame)) != nil else {
      return false
    }
    send(frames: frame, to: session)
    return true
  }

  /// Writes all queued messages. The service stops reading from a client with too much pending output or too
  /// many open requests. Reading resumes when the kernel has accepted all output for the client, and at most
  /// half of the maximum number of requests is open.
  public func flush() {
    writeAll()
    dropSlowestReader()
  }

  override public func didFlush(_ session: Session) {
    let channel = session.channel
    slowSessions[session.id] = channel.hasUnflushedOutput ? session : nil
    if exceedsBacklog(session) {
      channel.pauseReading()
    } else if channel.isReadingPaused, !channel.hasUnflushedOutput,
      session.openRequests <= limits.openRequests / 2, !Mutant.neverResumesReading.isActive
    {
      channel.resumeReading()
    }
  }

  override public func didDisconnect(_ session: Session) { slowSessions[session.id] = nil }

  /// True if a client has too much pending output or too many open requests.
  private func exceedsBacklog(_ session: Session) -> Bool {
    session.channel.backlog >= share || session.openRequests >= limits.openRequests
  }

  /// Disconnects the clients with the most pending output while the total limit is exceeded. Answers that were
  /// in progress when reading stopped can exceed it.
  private func dropSlowestReader() {
    guard !slowSessions.isEmpty else { return }
    var sum = slowSessions.values.reduce(0) { $0 + $1.channel.backlog }
    guard sum > limits.totalBacklogLimit else { return }
    for session in slowSessions.values.sorted(by: {
      ($0.channel.backlog, $1.id) > ($1.channel.backlog, $0.id)
    }) {
      guard sum > limits.totalBacklogLimit else { return }
      sum -= session.channel.backlog
      session.channel.close()
    }
  }

  /// Ends the connections as soon as their output is written. Call ``stopReceiving()`` before. The last message to a
  /// client states that its unanswered requests have changed nothing. A client with an open request other than a
  /// subscription does not receive this message, because the request may still take effect.
  public func closeAfterFlush() {
    for session in present {
      let isAnswered = session.openRequests <= session.views
      if isAnswered, session.channel.isOpen {
        let detail = "this service is stopping; a request without a response had no effect"
        session.channel.send(.refused(Refusal(reason: .closing, build: build, detail: detail)))
      }
      session.channel.closeAfterFlush()
    }
  }

  /// Time of the next ``runTimers(_:)``; nil if neither the clients nor the listener need one.
  public var nextDeadline: MonotonicTime? {
    .earliest(nextAccept, nextCheck.map { loop.listeningTime.wakeTime(for: $0) })
  }

  /// Refuses clients that sent no hello in time, or stopped in the middle of a message. Accepts connections
  /// again after a pause of the listener.
  ///
  /// - Parameter moment: now, by the monotonic clock.
  public func runTimers(_ moment: MonotonicTime) {
    loop.trackListening(until: moment)
    runTimers(
      moment,
      listeningTime: Mutant.servicesCountStallAgainstClients.isActive
        ? moment : loop.listeningTime.now)
  }
}
