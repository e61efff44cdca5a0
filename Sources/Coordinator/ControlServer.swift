// Owns what is told on the control socket, and how it closes: no answer tells what may be gone after a crash, and every
// request that was sent is answered, or fails at whoever sends it. It knows no command.

import BankModel
import Posix
import Time
import Transport
import Wire

/// The control socket and its clients.
package final class ControlServer: ClientServer<ClientMessage, BankMessage, ControlSession> {
  /// Called with every request of a client that was greeted.
  package var onCommand: ((ControlSession, ControlRequest) -> Void)?
  /// Whether everything that the store shows is on disk, so that it may be told.
  var mayQuote: () -> Bool = { true }
  private var turnedAway: Set<Asked> = []

  /// A server that does not listen.
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
  ///
  /// - Parameter refusal: Why nothing of it was done.
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

  /// A request, among those of everybody.
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

  /// Writes everything that was sent in this turn.
  package func flush() { writeAll() }

  /// When the listener, for which there was no descriptor left, is to be heard again.
  package var nextDeadline: MonotonicTime? { nextListening }

  /// When somebody is judged next by what was heard, in the time that was attended.
  package var nextJudgement: MonotonicTime? { nextCheck }

  /// Sends those away who connected and say nothing, or stopped in the middle of a frame.
  package func keepTime(_ now: Moment) {
    let attended = Kernel.makes("blamesClientsForItsOwnPause") ? now.monotonic : now.attended
    keepTime(now.monotonic, attended: attended)
  }
}
