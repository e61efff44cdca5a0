// Owns what is told on the control socket, and how it closes: no answer tells what may be gone after a crash, and every
// request that was sent is answered, or fails at whoever sends it. It knows no command.

import BankModel
import Posix
import Time
import Transport
import Wire

package final class ControlServer: ClientServer<ClientMessage, BankMessage, ControlSession> {
  package var onCommand: ((ControlSession, ControlRequest) -> Void)?
  /// Whether everything that the store shows is on disk, so that it may be told.
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

  /// Ends every conversation. What was asked and not heard before the end is answered now: nothing of it was done; what
  /// is asked after this fails at whoever asks. So nobody is in doubt about what became of a request.
  package func close(saying refusal: Failure = Failure(.notOpen)) {
    turnEverybodyAway(saying: refusal)
    for session in present { session.channel.hearOut() }
    flush()
    for session in present { session.channel.closeAfterFlush() }
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

  private struct Asked: Hashable {
    let session: UInt64
    let number: UInt32
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

  func answer(_ seat: Seat, _ answer: ControlAnswer, more: Bool = false) {
    self.answer(seat.session, seat.number, answer, more: more)
  }

  package func flush() { writeAll() }

  /// When the listener, for which there was no descriptor left, is to be heard again.
  package var nextDeadline: MonotonicTime? { nextListening }

  /// When somebody is judged next by what was heard, in the time that was attended.
  package var nextJudgement: MonotonicTime? { nextCheck.map { MonotonicTime(nanoseconds: $0.nanoseconds) } }

  package func keepTime(_ now: Moment) {
    let attended = Kernel.makes("blamesClientsForItsOwnPause") ? now.monotonic : now.attended
    keepTime(now.monotonic, attended: attended)
  }
}

/// What the coordinator knows of one client of the control socket: what it is in the middle of, and what it is owed.
package final class ControlSession: ClientSession<ClientMessage, BankMessage> {
  /// A list of customers that is still coming.
  var list: ListSpool?
  /// Long answers that are being sent page by page, by request.
  var streams: [UInt32: AnswerStream] = [:]
  /// Requests that wait among the followers, these too.
  var seats = 0
  /// Questions that wait until what they ask for is on disk.
  var openReadings = 0
  /// Bytes of payloads of requests that are not taken in yet.
  var payloadBytes = 0

  /// Whether a client that was not heard for a while can be heard again.
  func canBeHeard(within share: Int) -> Bool {
    openRequests < ClientLimits.openRequests / 2 && openReadings < ClientLimits.openReadings / 2
      && payloadBytes < PayloadRoom.ofClient / 2 && channel.backlog < share
  }
}

struct Seat {
  var session: ControlSession
  var number: UInt32
}

/// The last words of a bank that has ended, on their way to clients that read slowly.
/// Invariant: nothing is begun any more, and nobody is waited for longer than a second, which is enough for any that
/// reads.
package final class Farewell {
  private static let patience = TimeSpan.seconds(1)

  private let server: ControlServer
  private let loop: EventLoop
  private let until: MonotonicTime

  /// Ends every conversation; see ``ControlServer/close(saying:)``.
  package init(_ server: ControlServer, _ loop: EventLoop) {
    self.server = server
    self.loop = loop
    until = SystemClock.monotonic() + Self.patience
    server.close()
  }

  /// Waits until somebody has read something.
  /// - Returns: whether everything was said, or nobody is waited for any more.
  package func turn() throws(SystemError) -> Bool {
    guard !server.sessions.isEmpty, SystemClock.monotonic() < until else { return true }
    try loop.runOnce(until: until)
    return false
  }
}
