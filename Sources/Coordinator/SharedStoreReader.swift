// Queries of clients to a shared database: the coordinator passes them to its reader processes, and forwards the
// answers.
//
// A list is queried in parts. The next part is queried only while fewer than `ClientServer.share` bytes of the
// client's output are unsent, so a slow client occupies little memory and delays no other client. Queries over all
// rows, such as an audit, use a second process, so that a query about one ticket does not wait for them.
// Invariant: a request gets one final answer, unless its client disconnects or closes its reading side. The exception
// is a follower's request, which ends without one when the bank closes.

import BankModel
import Posix
import Supervision
import Time
import Transport
import Wire

final class SharedStoreReader {
  /// Changes an answer before it is sent, for example by adding the attempt in progress at a local window.
  var decorate: (ControlAnswer) -> ControlAnswer = { $0 }
  /// Called with events of the processes, for the log.
  var onEvent: ((_ event: StaticString, _ pid: Int32, _ words: String) -> Void)? {
    didSet { for reader in readers { reader.onEvent = onEvent } }
  }
  var pids: [Int32] { readers.compactMap(\.pid) }

  private let server: ControlServer
  /// Process for queries about a few rows.
  private let quickReader: ReaderProcess
  /// Process for queries about all rows.
  private let fullScanReader: ReaderProcess
  private var readers: [ReaderProcess] { [quickReader, fullScanReader] }
  private var streamedQueries: [StreamedQuery] = []

  /// Timeouts for a query about a few rows or a part of a list, and for a query over all rows.
  private static let patience = TimeSpan.minutes(3)
  private static let longPatience = TimeSpan.minutes(60)
  /// Query interval of followers that have received everything, and interval while the database cannot be
  /// read.
  private static let followPause = TimeSpan.milliseconds(100)
  static let databaseRetryPause = TimeSpan.seconds(1)

  /// - Parameter arguments: Arguments of the inspector, such as `--inspect --store URL`. The inspector exits
  ///   when this process exits.
  init(
    program: String, arguments: [String], environment: EnvironmentVariables, loop: EventLoop,
    server: ControlServer, policy: RestartPolicy = RestartPolicy(), seed: UInt64
  ) {
    self.server = server
    let program = ReaderProcess.Program(
      path: program, arguments: arguments + ["--opener", "\(CurrentProcess.pid)"], environment: environment)
    quickReader = ReaderProcess(program, loop: loop, policy: policy, seed: seed)
    fullScanReader = ReaderProcess(program, loop: loop, policy: policy, seed: seed &+ 1)
  }

  // MARK: - Requests

  /// True if a request reads rows of the shared database, so that a reader process has to answer it.
  static func reads(_ command: ControlCommand) -> Bool {
    switch command {
    case .receipts, .tickets, .ticket, .ledger, .account, .audit: true
    default: false
    }
  }

  /// Lets a reader process answer a client's request. A request for which ``reads(_:)`` is false is refused.
  func pass(_ command: ControlCommand, _ requester: RequestHandle) {
    do throws(Failure) {
      let streamedQuery = try StreamedQuery(command, requester)
      streamedQueries.append(streamedQuery)
      ask(streamedQuery)
    } catch { server.answer(requester, .failure(error)) }
  }

  /// Sends a query of the coordinator itself, about a few rows.
  func poll(_ command: ControlCommand, _ handle: @escaping (ControlAnswer) -> Void) {
    quickReader.ask(
      ReaderQuery(command, patience: Self.patience, onePart: false) { answer, more in
        if !more { handle(answer) }
      })
  }

  /// Number of a client's open requests.
  func count(of session: ControlSession) -> Int { streamedQueries.count { $0.requester.session === session } }

  /// Number of a client's requests that follow future receipts.
  func subscriptions(of session: ControlSession) -> Int {
    streamedQueries.count { $0.requester.session === session && $0.follows }
  }

  /// Withdraws the requests of a client that has disconnected.
  func forget(_ session: ControlSession) {
    for streamedQuery in streamedQueries where streamedQuery.requester.session === session {
      withdraw(streamedQuery)
    }
  }

  /// Ends a request without an answer.
  private func withdraw(_ streamedQuery: StreamedQuery) {
    streamedQueries.removeAll { $0 === streamedQuery }
    guard let question = streamedQuery.question else { return }
    streamedQuery.question = nil
    reader(for: streamedQuery).withdraw(question, killsProcess: streamedQuery.readsAllRows)
  }

  /// Process that answers the queries of a request.
  private func reader(for streamedQuery: StreamedQuery) -> ReaderProcess {
    streamedQuery.readsAllRows ? fullScanReader : quickReader
  }

  // MARK: - Answers

  private func ask(_ streamedQuery: StreamedQuery) {
    guard let command = streamedQuery.next else { return finish(streamedQuery, .tickets([])) }
    let patience = streamedQuery.readsAllRows ? Self.longPatience : Self.patience
    let question = ReaderQuery(command, patience: patience, onePart: streamedQuery.isList) {
      [weak self, weak streamedQuery] answer, more in
      if let self, let streamedQuery { self.handle(answer, more, for: streamedQuery) }
    }
    streamedQuery.question = question
    reader(for: streamedQuery).ask(question)
  }

  /// Forwards a part of an answer to the client, and queries the next part.
  private func handle(_ answer: ControlAnswer, _ more: Bool, for streamedQuery: StreamedQuery) {
    // The request was withdrawn while the reader was working on it.
    guard streamedQuery.question != nil else { return }
    if !more || streamedQuery.isList { streamedQuery.question = nil }
    if streamedQuery.follows { return handle(answer, more, forFollower: streamedQuery) }
    let continues = streamedQuery.record(answer, more: more)
    guard continues else { return finish(streamedQuery, answer) }
    if !answer.showsNothing {
      server.answer(streamedQuery.requester, decorate(answer), from: .reader, more: true)
    }
    if streamedQuery.question == nil { continueQuery(streamedQuery) }
  }

  /// Handles an answer for a follower. Its query is repeated for future receipts, and while the database cannot
  /// be read.
  private func handle(_ answer: ControlAnswer, _ more: Bool, forFollower streamedQuery: StreamedQuery) {
    let now = SystemClock.monotonic()
    if case .failure(let failure) = answer {
      guard failure.code == .system else { return finish(streamedQuery, answer) }
      streamedQuery.dueAt = now + Self.databaseRetryPause
      return
    }
    guard streamedQuery.record(answer, more: more) else { return finish(streamedQuery, answer) }
    if !answer.showsNothing {
      server.answer(streamedQuery.requester, decorate(answer), from: .reader, more: true)
    }
    if more { continueQuery(streamedQuery) } else { streamedQuery.dueAt = now + Self.followPause }
  }

  /// Sends the final answer to the client.
  private func finish(_ streamedQuery: StreamedQuery, _ answer: ControlAnswer) {
    streamedQueries.removeAll { $0 === streamedQuery }
    server.answer(streamedQuery.requester, decorate(answer), from: .reader)
  }

  /// Queries the next part, unless the client has too much unread output. Withdraws the request of a lost client.
  private func continueQuery(_ streamedQuery: StreamedQuery) {
    let session = streamedQuery.requester.session
    // The channel drops output to a peer that does not read any more, so its backlog never fills. Withdraw its
    // request.
    guard session.isOpen, !session.channel.isPeerReadClosed else { return withdraw(streamedQuery) }
    streamedQuery.isWaitingForReader = session.channel.backlog >= server.share
    if !streamedQuery.isWaitingForReader { ask(streamedQuery) }
  }

  // MARK: - Loop iteration

  /// Latest time for the next call of ``finishIteration()``.
  var nextDeadline: MonotonicTime? {
    .earliest(
      .earliest(quickReader.nextDeadline, fullScanReader.nextDeadline),
      streamedQueries.compactMap(\.dueAt).min { $0.nanoseconds < $1.nanoseconds })
  }

  /// Continues lists whose clients have read enough, repeats queries of followers that are due, starts processes
  /// that are due, and kills processes that do not answer in time.
  func finishIteration() {
    for streamedQuery in streamedQueries where streamedQuery.isWaitingForReader {
      continueQuery(streamedQuery)
    }
    let now = SystemClock.monotonic()
    for streamedQuery in streamedQueries where streamedQuery.dueAt.map({ $0 <= now }) == true {
      streamedQuery.dueAt = nil
      continueQuery(streamedQuery)
    }
    for reader in readers { reader.runTimers() }
  }

  /// Ends the reader processes. Open requests are answered with a failure, except those of followers, whose
  /// lists have no end.
  func close() {
    for streamedQuery in streamedQueries where streamedQuery.follows { streamedQuery.question = nil }
    streamedQueries.removeAll(where: \.follows)
    for reader in readers { reader.close() }
  }
}
