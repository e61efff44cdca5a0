// Owns what clients ask of shared books, which wait for a server far away: the coordinator has them read by processes of its own,
// and passes on what they say. It reads nothing itself and knows no database.
//
// A list is asked for part by part, each when its client has read what was said before: so a client that reads slowly, or not
// at all, costs nobody memory and holds nobody up, and every client gets its turn. What goes over all books, such as an audit,
// has a process of its own, so that a question about one ticket does not wait for it.
// Invariant: every request that is passed is answered once with a last answer, unless its client leaves.

import BankModel
import Posix
import Supervision
import Time
import Transport
import Wire

final class BooksReader {
  /// What may be changed in an answer before it is told, such as who is at a window here and now.
  var decorate: (ControlAnswer) -> ControlAnswer = { $0 }
  /// What has become of the processes, for the log.
  var onEvent: ((_ event: String, _ pid: Int32, _ words: String) -> Void)? {
    didSet { for reader in readers { reader.onEvent = onEvent } }
  }
  /// The processes that there are.
  var pids: [Int32] { readers.compactMap(\.pid) }

  private let server: ControlServer
  /// For questions about a few rows.
  private let quick: ReaderProcess
  /// For those about all rows.
  private let thorough: ReaderProcess
  private var readers: [ReaderProcess] { [quick, thorough] }
  private var passages: [ReaderPassage] = []

  /// How long a part of a list may take, and what goes over all books.
  private static let patience = TimeSpan.minutes(3)
  private static let longPatience = TimeSpan.minutes(60)
  /// Followers who have seen everything are looked after so often; and so often while the books cannot be read.
  private static let followPause = TimeSpan.milliseconds(100)
  static let troublePause = TimeSpan.seconds(1)

  /// - Parameter arguments: of the inspector, such as `--inspect --store URL`. It ends with this process.
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

  /// Whether a request is about books.
  static func reads(_ command: ControlCommand) -> Bool {
    switch command {
    case .receipts, .tickets, .ticket, .ledger, .account, .audit: true
    default: false
    }
  }

  /// Has a request answered from the books; one that ``reads(_:)`` is false of is refused.
  func pass(_ command: ControlCommand, _ seat: Seat) {
    do throws(Failure) {
      let passage = try ReaderPassage(command, seat)
      passages.append(passage)
      ask(passage)
    } catch { server.answer(seat, .failure(error)) }
  }

  /// Asks the books for the coordinator itself, about a few rows.
  func look(_ command: ControlCommand, _ hear: @escaping (ControlAnswer) -> Void) {
    quick.ask(
      ReaderQuestion(command, patience: Self.patience, onePart: false) { answer, more in
        if !more { hear(answer) }
      })
  }

  /// How many requests of a client are open.
  func count(of session: ControlSession) -> Int { passages.count { $0.seat.session === session } }

  /// How many requests of a client go on with what is still to come.
  func followers(of session: ControlSession) -> Int {
    passages.count { $0.seat.session === session && $0.follows }
  }

  /// A client has left, and waits for nothing.
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
    // Nobody asks for it any more.
    guard passage.question != nil else { return }
    if !more || passage.isList { passage.question = nil }
    if passage.follows { return hear(answer, more, forFollower: passage) }
    let goesOn = passage.take(answer, more: more)
    guard goesOn else { return finish(passage, answer) }
    if !answer.showsNothing { server.answer(passage.seat, decorate(answer), more: true) }
    if passage.question == nil { goOn(passage) }
  }

  /// A follower waits for what is still to come, and for books that cannot be read at the moment.
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
    // Nothing would ever be too much for a client that has gone and is still being read.
    guard session.isOpen, !session.channel.isPeerDeaf else { return withdraw(passage) }
    passage.isParked = session.channel.backlog >= server.share
    if !passage.isParked { ask(passage) }
  }

  // MARK: - The turn of the loop

  /// When to call ``endTurn()`` at the latest.
  var nextDeadline: MonotonicTime? {
    .earliest(
      .earliest(quick.nextDeadline, thorough.nextDeadline),
      passages.compactMap(\.dueAt).min { $0.nanoseconds < $1.nanoseconds })
  }

  /// Goes on with the lists whose clients have read what was said before, starts processes whose time has come, and gives up
  /// those that say nothing.
  func endTurn() {
    for passage in passages where passage.isParked { goOn(passage) }
    let now = SystemClock.monotonic()
    for passage in passages where passage.dueAt.map({ $0 <= now }) == true {
      passage.dueAt = nil
      goOn(passage)
    }
    for reader in readers { reader.keepTime() }
  }

  /// Ends the processes. Whoever waits is told so; followers are not, for their list has no end.
  func close() {
    for passage in passages where passage.follows { passage.question = nil }
    passages.removeAll(where: \.follows)
    for reader in readers { reader.close() }
  }
}
