// Process that reads a shared database for the coordinator: its start at the first query, its exit and its successors.
// One query is in flight at a time; the others wait in this object.
// Invariant: every query ends with an answer or an error unless it is withdrawn. If the process exits before a query
// has any answer, the query is retried once on the next process. A query that has timed out is not retried. A process
// is reaped before its successor starts.

import BankModel
import Glibc
import Posix
import Supervision
import Time
import Transport
import Wire

final class ReaderQuery {
  let command: ControlCommand
  /// Timeout from the moment at which the query is sent.
  let patience: TimeSpan
  /// True to request one part of a list; the answer's `more` flag is set if more follows.
  let onePart: Bool
  /// Called with each part of the answer, and with true if more parts follow.
  fileprivate let onAnswer: (ControlAnswer, Bool) -> Void
  fileprivate var isAnswered = false
  /// Number of exits and timeouts of a process while it worked on this query.
  fileprivate var deaths = 0

  init(
    _ command: ControlCommand, patience: TimeSpan, onePart: Bool,
    onAnswer: @escaping (ControlAnswer, Bool) -> Void
  ) {
    (self.command, self.patience, self.onePart, self.onAnswer) = (command, patience, onePart, onAnswer)
  }
}

/// Process that answers queries to a shared database, one at a time.
final class ReaderProcess {
  private typealias Channel = MessageChannel<BankMessage, ClientMessage>

  struct Program {
    var path: String
    var arguments: [String]
    var environment: EnvironmentVariables
  }

  /// Called with events of the process, for the log.
  var onEvent: ((_ event: StaticString, _ pid: Int32, _ words: String) -> Void)?
  /// Process id, until the process is reaped.
  var pid: Int32? { child?.pid }

  private let program: Program
  private let loop: EventLoop
  private let policy: RestartPolicy
  private var history: RestartHistory
  private var child: ChildProcess?
  private var registration: Registration?
  private var channel: Channel?
  /// Queries that are not sent yet, in order.
  private var waiting: [ReaderQuery] = []
  /// Query in flight, with its request number and the time of its timeout; nil if there is none.
  private var current: (question: ReaderQuery, number: UInt32, until: MonotonicTime)?
  private var lastNumber: UInt32 = 0
  /// Earliest start time of a successor.
  private var restartAt: MonotonicTime?
  /// Reason of the last failure. Clients receive it while no process can be started.
  private var unavailableReason = ""
  /// True if this object has killed the process because its query was withdrawn, or in ``close()``.
  private var isEnding = false
  private var isClosed = false

  /// Longest wait of a query for a successor; a query that would wait longer fails at once.
  private static let longestWait = TimeSpan.seconds(2)
  private static let backlogLimit = 1 << 20

  init(_ program: Program, loop: EventLoop, policy: RestartPolicy, seed: UInt64) {
    (self.program, self.loop, self.policy) = (program, loop, policy)
    history = RestartHistory(policy: policy, seed: seed)
  }

  // MARK: - Queries

  /// Queues a query. The query fails at once if no process can be started soon.
  func ask(_ question: ReaderQuery) {
    guard !isClosed else { return fail(question, MessageDetail(.readerExited)) }
    if let restartAt, restartAt > SystemClock.monotonic() + Self.longestWait {
      return fail(question, MessageDetail(.readerUnavailable, unavailableReason))
    }
    waiting.append(question)
    continueWork()
  }

  /// Withdraws a query. With `killsProcess` the process that works on the query is killed, because it would keep other
  /// queries waiting and the database server busy. Without it, a query in flight still receives its answer.
  func withdraw(_ question: ReaderQuery, killsProcess: Bool) {
    waiting.removeAll { $0 === question }
    guard killsProcess, current?.question === question else { return }
    current = nil
    end("reader_ended", isWanted: false)
  }

  /// Sends the next query if none is in flight. Starts the process if it is not running.
  private func continueWork() {
    guard current == nil, !waiting.isEmpty else { return }
    guard let channel else { return start() }
    let question = waiting.removeFirst()
    lastNumber &+= 1
    current = (question, lastNumber, SystemClock.monotonic() + question.patience)
    channel.send(
      .request(
        ControlRequest(
          number: lastNumber, command: question.command, onePart: question.onePart ? true : nil)))
    channel.flush()
  }

  private func handle(_ message: BankMessage) {
    switch message {
    case .welcome: history.becameReady(at: SystemClock.monotonic())
    case .refused(let refusal):
      unavailableReason = refusal.detail.isEmpty ? "\(refusal.reason)" : refusal.detail
      end("reader_lost")
    case .reply(let reply):
      guard let current, current.number == reply.number else { return }
      current.question.isAnswered = true
      if case .failure(let failure) = reply.answer {
        unavailableReason = failure.detail
      } else {
        history.didWork()
      }
      if !reply.more || current.question.onePart { self.current = nil }
      current.question.onAnswer(reply.answer, reply.more)
      continueWork()
    }
  }

  private func fail(_ question: ReaderQuery, _ messageDetail: MessageDetail) {
    question.onAnswer(.failure(Failure(.system, messageDetail: messageDetail)), false)
  }

  // MARK: - Process

  /// Starts the process, unless it is running or its pause is not over.
  private func start() {
    guard child == nil, !isClosed else { return }
    if let restartAt, restartAt > SystemClock.monotonic() { return }
    (restartAt, isEnding) = (nil, false)
    do throws(SystemError) {
      try ChildProcess.spawn(
        executable: program.path, arguments: program.arguments, environment: program.environment
      ) { child, descriptor throws(SystemError) in try watch(child, descriptor) }
    } catch {
      unavailableReason = error.description
      onEvent?("reader_spawn_failed", 0, unavailableReason)
      return died()
    }
    onEvent?("reader_started", child?.pid ?? 0, "")
    channel?.send(.hello(Hello(build: BuildIdentity.current, role: .client)))
    channel?.flush()
    continueWork()
  }

  private func watch(_ child: ChildProcess, _ descriptor: consuming FileDescriptor) throws(SystemError) {
    let channel = try Channel(
      descriptor: descriptor, loop: loop, incomingLimit: FrameLimits.control, backlogLimit: Self.backlogLimit)
    channel.onMessage = { [weak self] in self?.handle($0) }
    channel.onEnd = { [weak self] reason in
      self?.unavailableReason = "\(reason)"
      self?.end("reader_lost")
    }
    // This closure retains the object until the process is reaped.
    registration = try loop.register(fd: child.fd, interest: .read) { [self] _ in reapChild() }
    self.child = child
    self.channel = channel
  }

  /// Stops reading from the process, kills it and reports `event` for the log. A query in flight stays for the
  /// successor. `isWanted` is false if the coordinator ends the process on purpose.
  private func end(_ event: StaticString, isWanted: Bool = true) {
    guard let channel else { return }
    self.channel = nil
    isEnding = !isWanted
    channel.onEnd = nil
    channel.close()
    child?.kill(SIGKILL)
    onEvent?(event, child?.pid ?? 0, isWanted ? unavailableReason : "")
  }

  /// Reaps the exited process and handles its last messages.
  private func reapChild() {
    guard let status = child?.reap(), let registration else { return }
    loop.deregister(registration)
    // The last messages of the process may be unread.
    while channel?.receiveNow() == true {}
    if channel != nil { unavailableReason = "\(MessageDetail(status))" }
    end("reader_lost")
    (self.registration, child) = (nil, nil)
    if isEnding { continueWork() } else { died() }
  }

  /// Sets the time of the next start, and retries or fails the query in flight.
  private func died() {
    let now = SystemClock.monotonic()
    switch history.died(at: now) {
    case .atOnce: restartAt = nil
    case .after(let pause): restartAt = now + pause
    case .giveUp:
      // The first query after this pause starts the process again.
      restartAt = now + policy.longestPause
      history.clearHistory()
    }
    if let question = current?.question {
      current = nil
      question.deaths += 1
      if question.isAnswered || question.deaths > 1 || isClosed {
        fail(question, MessageDetail(.readerExited))
      } else {
        waiting.insert(question, at: 0)
      }
    }
    if isClosed || (restartAt ?? now) > now + Self.longestWait {
      let failed = waiting
      waiting = []
      for question in failed { fail(question, MessageDetail(.readerUnavailable, unavailableReason)) }
    }
    continueWork()
  }

  /// Ends the process; open queries fail.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    let open = (current.map { [$0.question] } ?? []) + waiting
    (current, waiting) = (nil, [])
    end("reader_ended", isWanted: false)
    for question in open { fail(question, MessageDetail(.readerExited)) }
  }

  // MARK: - Deadlines

  var nextDeadline: MonotonicTime? {
    MonotonicTime.earliest(waiting.isEmpty || channel != nil ? nil : restartAt, current?.until)
  }

  /// Starts a successor that is due, and kills a process that does not answer in time.
  func runTimers() {
    let now = SystemClock.monotonic()
    if let current, current.until <= now, channel != nil {
      unavailableReason = "\(MessageDetail(.noAnswer))"
      current.question.deaths += 1
      end("reader_lost")
    }
    if let restartAt, restartAt <= now, !waiting.isEmpty { start() }
  }
}
