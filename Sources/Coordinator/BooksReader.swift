// Queries of clients to a shared database: the coordinator passes them to its reader processes, and forwards the
// answers.
//
// A list is queried in parts. The next part is queried only while fewer than `ClientServer.share` bytes of the
// client's output are unsent, so a slow client occupies little memory and delays no other client. Queries over all
// rows, such as an audit, use a second process, so that a query about one ticket does not wait for them.
// Invariant: every request gets exactly one final answer, unless its client disconnects or closes its reading side.
// The exception is a follower's request, which ends without one when the bank closes.

import BankModel
import Posix
import Supervision
import Time
import Transport
import Wire

final class BooksReader {
  /// Changes an answer before it is sent, for example by adding the attempt in progress at a local window.
  var decorate: (ControlAnswer) -> ControlAnswer = { $0 }
  /// Called with events of the processes, for the log.
  var onEvent: ((_ event: StaticString, _ pid: Int32, _ words: String) -> Void)? {
    didSet { for reader in readers { reader.onEvent = onEvent } }
  }
  /// Process ids of the readers.
  var pids: [Int32] { readers.compactMap(\.pid) }

  private let server: ControlServer
  /// Process for queries about a few rows.
  private let quick: ReaderProcess
  /// Process for queries about all rows.
  private let thorough: ReaderProcess
  private var readers: [ReaderProcess] { [quick, thorough] }
  private var passages: [ReaderPassage] = []

  /// Timeouts for a part of a list, and for a query over all rows.
  private static let patience = TimeSpan.minutes(3)
  private static let longPatience = TimeSpan.minutes(60)
  /// Query interval of followers that have received everything, and interval while the database cannot be
  /// read.
  private static let followPause = TimeSpan.milliseconds(100)
  static let troublePause = TimeSpan.seconds(1)

  /// - Parameter arguments: Arguments of the inspector, such as `--inspect --store URL`. The inspector exits
  ///   when this process exits.
  init(
    program: String, arguments: [String], environment: Variables, loop: EventLoop,
    server: ControlServer, policy: RestartPolicy = RestartPolicy(), seed: UInt64
  ) {
    self.server = server
    let program = ReaderProcess.Program(
      path: program, arguments: arguments + ["--opener", "\(CurrentProcess.pid)"], environment: environment)
    quick = ReaderProcess(program, loop: loop, policy: policy, seed: seed)
    thorough = ReaderProcess(program, loop: loop, policy: policy, seed: seed &+ 1)
  }

  // MARK: - Requests

  /// True if a request needs the reader.
  static func reads(_ command: ControlCommand) -> Bool {
    switch command {
    case .receipts, .tickets, .ticket, .ledger, .account, .audit: true
    default: false
    }
  }

  /// Answers a request from the database. A request for which ``reads(_:)`` is false is refused.
  func pass(_ command: ControlCommand, _ seat: Seat) {
    do throws(Failure) {
      let passage = try ReaderPassage(command, seat)
      passages.append(passage)
      ask(passage)
    } catch { server.answer(seat, .failure(error)) }
  }

  /// Sends a query of the coordinator itself, about a few rows.
  func look(_ command: ControlCommand, _ hear: @escaping (ControlAnswer) -> Void) {
    quick.ask(
      ReaderQuestion(command, patience: Self.patience, onePart: false) { answer, more in
        if !more { hear(answer) }
      })
  }

  /// Number of a client's open requests.
  func count(of session: ControlSession) -> Int { passages.count { $0.seat.session === session } }

  /// Number of a client's requests that follow future receipts.
  func followers(of session: ControlSession) -> Int {
    passages.count { $0.seat.session === session && $0.follows }
  }

  /// Withdraws the requests of a client that has disconnected.
  func forget(_ session: ControlSession) {
    for passage in passages where passage.seat.session === session { withdraw(passage) }
  }

  private func withdraw(_ passage: ReaderPassage) {
    passages.removeAll { $0 === passage }
    guard let question = passage.question else { return }
    passage.question = nil
    reader(for: passage).withdraw(question, endsWork: passage.isThorough)
  }

  private func reader(for passage: ReaderPassage) -> ReaderProcess { passage.isThorough ? thorough : quick }

  // MARK: - Answers

  private func ask(_ passage: ReaderPassage) {
    guard let command = passage.next else { return finish(passage, .tickets([])) }
    let patience = passage.isThorough ? Self.longPatience : Self.patience
    let question = ReaderQuestion(command, patience: patience, onePart: passage.isList) {
      [weak self, weak passage] answer, more in
      if let self, let passage { self.hear(answer, more, for: passage) }
    }
    passage.question = question
    reader(for: passage).ask(question)
  }

  private func hear(_ answer: ControlAnswer, _ more: Bool, for passage: ReaderPassage) {
    // The request was withdrawn while the reader was working on it.
    guard passage.question != nil else { return }
    if !more || passage.isList { passage.question = nil }
    if passage.follows { return hear(answer, more, forFollower: passage) }
    let goesOn = passage.take(answer, more: more)
    guard goesOn else { return finish(passage, answer) }
    if !answer.showsNothing { server.answer(passage.seat, decorate(answer), more: true) }
    if passage.question == nil { goOn(passage) }
  }

  /// Handles an answer for a follower. Its query is repeated for future receipts, and while the database cannot
  /// be read.
  private func hear(_ answer: ControlAnswer, _ more: Bool, forFollower passage: ReaderPassage) {
    let now = SystemClock.monotonic()
    if case .failure(let failure) = answer {
      guard failure.code == .system else { return finish(passage, answer) }
      passage.dueAt = now + Self.troublePause
      return
    }
    guard passage.take(answer, more: more) else { return finish(passage, answer) }
    if !answer.showsNothing { server.answer(passage.seat, decorate(answer), more: true) }
    if more { goOn(passage) } else { passage.dueAt = now + Self.followPause }
  }

  private func finish(_ passage: ReaderPassage, _ answer: ControlAnswer) {
    passages.removeAll { $0 === passage }
    server.answer(passage.seat, decorate(answer))
  }

  private func goOn(_ passage: ReaderPassage) {
    let session = passage.seat.session
    // The channel drops output to a peer that does not read any more, so its backlog never fills. Withdraw its
    // request.
    guard session.isOpen, !session.channel.isPeerDeaf else { return withdraw(passage) }
    passage.isParked = session.channel.backlog >= server.share
    if !passage.isParked { ask(passage) }
  }

  // MARK: - Loop iteration

  /// Latest time for the next call of ``endTurn()``.
  var nextDeadline: MonotonicTime? {
    .earliest(
      .earliest(quick.nextDeadline, thorough.nextDeadline),
      passages.compactMap(\.dueAt).min { $0.nanoseconds < $1.nanoseconds })
  }

  /// Continues lists whose clients have read enough, repeats queries of followers that are due, starts processes
  /// that are due, and gives up processes that do not answer.
  func endTurn() {
    for passage in passages where passage.isParked { goOn(passage) }
    let now = SystemClock.monotonic()
    for passage in passages where passage.dueAt.map({ $0 <= now }) == true {
      passage.dueAt = nil
      goOn(passage)
    }
    for reader in readers { reader.keepTime() }
  }

  /// Ends the reader processes. Open requests are answered with a failure, except those of followers, whose
  /// lists have no end.
  func close() {
    for passage in passages where passage.follows { passage.question = nil }
    passages.removeAll(where: \.follows)
    for reader in readers { reader.close() }
  }
}
