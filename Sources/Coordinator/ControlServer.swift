// Server of the control socket.
// Invariants: no answer quotes facts of the store that a crash could undo; counts in status and progress reports may
// be ahead of the disk. Every request but a withdrawal is answered, or the client finds its connection closed.

import BankModel
import Posix
import Time
import Transport
import Wire

package final class ControlServer: ClientServer<ClientMessage, BankMessage, ControlSession> {
  package var onCommand: ((ControlSession, ControlRequest) -> Void)?
  /// True if answers may quote the store, because what they quote is on disk.
  var mayQuote: () -> Bool = { true }
  private var turnedAway: Set<Asked> = []

  package init(loop: EventLoop, build: String) {
    super.init(loop: loop, limits: ClientLimits.ofSocket, build: build)
  }

  override package func hear(_ message: ClientMessage, from session: ControlSession) {
    switch message {
    case .hello(let hello): greet(hello, session)
    case .request(let request): if isGreeted(session) { onCommand?(session, request) }
    }
  }

  /// Ends all connections. Requests that have arrived but were not handled are refused, and have caused no
  /// work. For a later request the client finds its connection closed. So no client is uncertain about a
  /// request.
  package func close(saying refusal: Failure = Failure(.notOpen)) {
    turnEverybodyAway(saying: refusal)
    for session in present { session.channel.hearOut() }
    flush()
    for session in present { session.channel.closeAfterFlush() }
  }

  /// Refuses all further requests for this reason.
  func turnEverybodyAway(saying refusal: Failure) {
    onCommand = { [unowned self] session, request in turnAway(request, of: session, saying: refusal) }
  }

  /// Refuses a request that the bank does not handle any more.
  func turnAway(
    _ request: ControlRequest, of session: ControlSession, saying refusal: Failure = Failure(.notOpen)
  ) {
    // A withdrawal gets no answer, and a list gets one for all its parts.
    if case .withdraw = request.command { return }
    let isFirst = turnedAway.insert(Asked(session: session.id, number: request.number)).inserted
    guard isFirst || Kernel.makes("answersEveryPart") else { return }
    answer(session, request.number, .failure(refusal))
  }

  private struct Asked: Hashable {
    let session: UInt64
    let number: UInt32
  }

  /// Answers a request. The answer is sent at the end of the iteration, or by an earlier ``flush()``.
  ///
  /// All answers except the pieces of subscriptions pass through this function, so it checks that none quotes facts
  /// of the store that a crash could undo.
  package func answer(
    _ session: ControlSession, _ number: UInt32, _ answer: ControlAnswer, more: Bool = false
  ) {
    precondition(!answer.quotesWhatIsKept || mayQuote(), "a client receives only data that is on disk")
    send(.reply(ControlReply(number: number, answer: answer, more: more)), to: session)
  }

  func answer(_ seat: Seat, _ answer: ControlAnswer, more: Bool = false) {
    self.answer(seat.session, seat.number, answer, more: more)
  }

  package func flush() { writeAll() }

  /// Time at which the server accepts connections again, after the process had no free descriptor.
  package var nextDeadline: MonotonicTime? { nextListening }

  /// Next timeout of a silent client, in attended time; see `AttendedTime`.
  package var nextJudgement: MonotonicTime? { nextCheck.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }

  package func keepTime(_ now: Moment) {
    let attended = Kernel.makes("blamesClientsForItsOwnPause") ? now.monotonic : now.attended
    keepTime(now.monotonic, attended: attended)
  }
}

/// State of one client of the control socket: its list in progress and its open answers.
package final class ControlSession: ClientSession<ClientMessage, BankMessage> {
  /// List of customers that is still being received.
  var list: ListSpool?
  /// Long answers being sent page by page, by request.
  var streams: [UInt32: AnswerStream] = [:]
  /// Requests waiting in `Followers`, including subscriptions.
  var seats = 0
  /// Queries waiting until the store contains only what is on disk.
  var openReadings = 0
  /// Payload bytes of requests that are not admitted yet.
  var payloadBytes = 0

  /// True if the server may resume reading a client that it had stopped reading.
  func canBeHeard(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && openReadings < ClientLimits.openReadings / 2
      && payloadBytes < PayloadRoom.ofClient / 2 && channel.backlog < share
  }
}

struct Seat {
  var session: ControlSession
  var number: UInt32
}

/// Final messages of a bank that has ended, for clients that read slowly.
/// Invariant: no new work is started, and the wait is at most one second, which is enough for a client that reads.
package final class Farewell {
  private static let patience = TimeSpan.seconds(1)

  private let server: ControlServer
  private let loop: EventLoop
  private let until: MonotonicTime

  /// Ends all connections; see ``ControlServer/close(saying:)``.
  package init(_ server: ControlServer, _ loop: EventLoop) {
    self.server = server
    self.loop = loop
    until = SystemClock.monotonic() + Self.patience
    server.close()
  }

  /// Waits for the next event.
  /// - Returns: True if everything was sent, or the time is over.
  package func turn() throws(SystemError) -> Bool {
    guard !server.sessions.isEmpty, SystemClock.monotonic() < until else { return true }
    try loop.runOnce(until: until)
    return false
  }
}
