// Server of the control socket.
// Invariant: no answer quotes facts of the store that a crash could undo; counts in snapshots, status and progress
// reports may be ahead of the disk.

import BankModel
import Posix
import Time
import Transport
import Wire

package final class ControlServer: ClientServer<ClientMessage, BankMessage, ControlSession> {
  /// Called with each request of a client that has sent its hello.
  package var onCommand: ((ControlSession, ControlRequest) -> Void)?
  /// True if an answer of this origin may quote the store now, because what it quotes is on disk. The default is for a
  /// closed bank, where nothing is staged.
  var mayQuote: (AnswerOrigin) -> Bool = { $0 != .memory }
  /// Requests that were refused, so that a list of several parts gets one answer.
  private var refusedRequests: Set<ClientRequestID> = []

  package init(loop: EventLoop, build: String) {
    super.init(loop: loop, limits: ClientLimits.ofSocket, build: build)
  }

  override package func handle(_ message: ClientMessage, from session: ControlSession) {
    switch message {
    case .hello(let hello): greet(hello, session)
    case .request(let request): if isGreeted(session) { onCommand?(session, request) }
    }
  }

  /// Ends all connections. Requests that have arrived but were not handled are refused, and have caused no work.
  package func close(reason refusal: Failure = Failure(.notOpen)) {
    refuseAllRequests(reason: refusal)
    for session in present { session.channel.drainInput() }
    flush()
    for session in present { session.channel.closeAfterFlush() }
  }

  func refuseAllRequests(reason refusal: Failure) {
    onCommand = { [unowned self] session, request in refusePending(request, of: session, reason: refusal) }
  }

  /// Refuses a request that the bank does not handle any more.
  func refusePending(
    _ request: ControlRequest, of session: ControlSession, reason refusal: Failure = Failure(.notOpen)
  ) {
    // A withdrawal gets no answer, and a list gets one for all its parts.
    if case .withdraw = request.command { return }
    let isFirst = refusedRequests.insert(ClientRequestID(session: session.id, number: request.number))
      .inserted
    guard isFirst || Mutant.answersEachListPart.isActive else { return }
    answer(session, request.number, .failure(refusal))
  }

  /// Key of a request in a table: the client's session, and the number that the client gave to the request.
  private struct ClientRequestID: Hashable {
    let session: UInt64
    let number: UInt32
  }

  /// Answers a request, or sends a part of the answer if `more` is true: further parts follow. Traps if the answer
  /// quotes facts of the store that a crash could undo.
  ///
  /// - Parameter origin: where the facts of the answer come from.
  package func answer(
    _ session: ControlSession, _ number: UInt32, _ answer: ControlAnswer, from origin: AnswerOrigin = .memory,
    more: Bool = false
  ) {
    precondition(
      !answer.quotesDurableState || mayQuote(origin), "a client receives only data that is on disk")
    send(.reply(ControlReply(number: number, answer: answer, more: more)), to: session)
  }

  func answer(
    _ requester: RequestHandle, _ answer: ControlAnswer, from origin: AnswerOrigin = .memory,
    more: Bool = false
  ) {
    self.answer(requester.session, requester.number, answer, from: origin, more: more)
  }

  /// Sends the queued messages of all clients.
  package func flush() { writeAll() }

  /// Time at which the server accepts connections again, after the process had no free descriptor.
  package var nextDeadline: MonotonicTime? { nextAccept }

  /// Next timeout of a silent client, in listening time; see `ListeningClock`.
  package var nextJudgement: MonotonicTime? { nextCheck.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }

  /// Disconnects clients whose hello, or the rest of a message, is overdue.
  package func runTimers(_ now: Moment) {
    let listeningTime =
      Mutant.countsOwnStallAgainstClients.isActive ? now.monotonic : now.listeningTime
    runTimers(now.monotonic, listeningTime: listeningTime)
  }
}

/// State of one client of the control socket: its list in progress and its open answers.
package final class ControlSession: ClientSession<ClientMessage, BankMessage> {
  /// List of customers that is still being received.
  var list: EnqueueListSpool?
  /// Long answers being sent in parts, by request.
  var streams: [UInt32: ResultStream] = [:]
  /// Number of requests that wait in `Subscriptions`, including the subscriptions themselves.
  var requesters = 0
  /// Number of queries that wait until the store contains only what is on disk.
  var openReads = 0
  /// Payload bytes in memory for requests that are not admitted yet.
  var payloadBytes = 0

  /// True if the server may resume reading a client that it had stopped reading. `share` limits the bytes of its unsent
  /// answers.
  func canBeRead(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && openReads < ClientLimits.openReads / 2
      && payloadBytes < PayloadMemoryLimiter.ofClient / 2 && channel.backlog < share
  }
}

/// A client's request: its session, and the number that each of its answers contains.
struct RequestHandle {
  var session: ControlSession
  var number: UInt32
}

/// Final messages of a bank that has ended, for clients that read slowly.
/// Invariant: no new work is started, and the wait has a limit.
package final class FinalFlush {
  private static let patience = TimeSpan.seconds(1)

  private let server: ControlServer
  private let loop: EventLoop
  private let until: MonotonicTime

  /// Ends all connections; see ``ControlServer/close(reason:)``.
  package init(_ server: ControlServer, _ loop: EventLoop) {
    self.server = server
    self.loop = loop
    until = SystemClock.monotonic() + Self.patience
    server.close()
  }

  /// Waits for the next event. Returns true if everything was sent, or the time is over.
  package func runIteration() throws(SystemError) -> Bool {
    guard !server.sessions.isEmpty, SystemClock.monotonic() < until else { return true }
    try loop.runOnce(until: until)
    return false
  }
}
