// A command's connection to a coordinator: requests and answers.
// Invariant: a refusal is thrown and not returned.
import BankModel
import ControlClient
import Posix
import Time
import Wire

/// Connection of a command to a coordinator, with requests and their answers.
package final class CoordinatorClient {
  package let connection: ControlConnection
  /// Coordinator that was launched to inspect or move a closed bank. It exits when the connection closes. Nil for an
  /// open bank.
  private let inspector: LaunchedBank?
  /// True after the first answer, which the command may already have printed.
  private var hasAnswered = false
  /// True after the first request that was sent completely. An incomplete list has no effect.
  private(set) var hasSentRequest = false

  /// Default timeout of an answer.
  static let replyTimeout = TimeSpan.seconds(60)
  /// Default time for which a command waits for the restart of a coordinator.
  static let reconnectTimeout = TimeSpan.seconds(10)
  /// Time for which a read-only request is retried while other processes open, close or inspect the bank.
  private static let transitionTimeout = TimeSpan.seconds(60)
  /// Time that a coordinator launched for an inspection may take to exit.
  private static let exitTimeout = TimeSpan.seconds(10)

  /// True if the bank is closed and this program has launched the coordinator to inspect or move it.
  package var isInspector: Bool { inspector != nil }

  init(_ connection: ControlConnection, inspector: LaunchedBank? = nil) {
    self.connection = connection
    self.inspector = inspector
  }

  /// Launches a coordinator that reads or moves the database of a closed bank. This coordinator holds the lock of the
  /// home until it exits.
  static func inspect(_ session: Session) throws(CommandError) -> CoordinatorClient {
    let launched = try fromControl(
      session.environment.launcher().launch(
        LaunchSettings(.inspect, home: session.home), standardError: .inherit))
    return CoordinatorClient(launched.connection, inspector: launched)
  }

  /// Connects to the open bank; waits while the guardian restarts the coordinator.
  static func open(_ session: Session) throws(CommandError) -> CoordinatorClient {
    try open(session, until: SystemClock.monotonic() + reconnectTimeout)
  }

  /// Connects to the open bank, and tries again until the deadline while the guardian restarts the coordinator.
  private static func open(
    _ session: Session, until deadline: MonotonicTime
  ) throws(CommandError) -> CoordinatorClient {
    while true {
      do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
        // No request was sent yet, so a coordinator that exited before its greeting is treated as absent, and the
        // connection is tried again.
        let isComingBack = error.isAbsence && session.home.isGuarded
        guard error == .lost || isComingBack else { throw .control(error) }
        // While a guardian runs, the bank counts as opening, not as closed.
        guard SystemClock.monotonic() < deadline else { throw .control(isComingBack ? .noWelcome : error) }
        Pause.momentarily()
      }
    }
  }

  /// Connects to the open bank and requests a status report.
  static func picture(_ session: Session) throws(CommandError) -> StatusReport {
    try withOpenBank(session) { coordinator throws(CommandError) in try coordinator.status(.status) }
  }

  /// Runs a conversation with the open bank. If the connection is lost, the conversation runs again from its start,
  /// so it must be idempotent.
  static func withOpenBank<Result>(
    _ session: Session, within timeout: TimeSpan = reconnectTimeout,
    _ conversation: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    var coordinator = try open(session)
    var deadline: MonotonicTime?
    while true {
      do throws(CommandError) { return try conversation(coordinator) } catch {
        guard error.isLoss else { throw error }
        // The timeout counts from the first loss, not from the first request, because a hung coordinator may take
        // long to answer or exit.
        let limit = deadline ?? SystemClock.monotonic() + timeout
        deadline = limit
        guard SystemClock.monotonic() < limit else { throw error }
        Pause.momentarily()
        coordinator = try open(session, until: limit)
      }
    }
  }

  /// Waits until a lost coordinator accepts connections again, at most until the deadline.
  package static func reopen(
    _ session: Session, until deadline: MonotonicTime = SystemClock.monotonic() + reconnectTimeout
  ) throws(CommandError) -> CoordinatorClient {
    while true {
      do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
        guard SystemClock.monotonic() < deadline, error.isTransient else { throw .control(error) }
        Pause.briefly()
      }
    }
  }

  /// Sends a request that has many answers, and repeats the request after a loss of the connection. Returns when the
  /// answers end, or when the connection is lost and `isOver` returns true.
  static func follow(
    _ session: Session, _ question: @autoclosure () -> ControlCommand, isOver: () -> Bool = { false },
    _ handle: (ControlAnswer) throws(CommandError) -> Void
  ) throws(CommandError) {
    var coordinator = try open(session)
    while true {
      do throws(CommandError) { return try coordinator.ask(question(), within: nil, nil, handle) } catch {
        guard error.isLoss else { throw error }
        if isOver() { return }
        coordinator = try reopen(session)
      }
    }
  }

  /// Runs a read-only conversation with the open bank, or with an inspector of the closed one. Retries if
  /// the bank is opened or closed at this moment.
  /// - Parameter resumes: True to retry even if a part of the answer was already passed on.
  package static func withReadableBank<Result>(
    _ session: Session, resumes: Bool = false,
    _ conversation: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    var deadline: MonotonicTime?
    var losses = 0
    while true {
      var coordinator: CoordinatorClient?
      defer { coordinator?.disconnect() }
      do throws(CommandError) {
        let found = try openOrInspect(session)
        coordinator = found
        return try conversation(found)
      } catch {
        guard isTransition(error, at: coordinator, resumes: resumes, &losses) else { throw error }
        // The limit counts from the first failure, however long the request itself takes.
        let limit = deadline ?? SystemClock.monotonic() + transitionTimeout
        deadline = limit
        guard SystemClock.monotonic() < limit else { throw error }
        Pause.briefly()
      }
    }
  }

  /// True if another process that opens, closes or inspects the bank may have caused the error.
  private static func isTransition(
    _ error: CommandError, at coordinator: CoordinatorClient?, resumes: Bool, _ losses: inout Int
  ) -> Bool {
    switch error {
    case .failure(let failure) where [.alreadyOpen, .inspected].contains(failure.code):
      return coordinator?.inspector != nil
    // The last message of a bank that has just closed.
    case .failure(let failure) where failure.code == .notOpen: return coordinator?.inspector == nil
    case .control(.coordinatorEnded):
      // A launched inspector may lose a race with other processes that open the bank, so a few exits are retried.
      losses += 1
      return losses <= 3 && (resumes || coordinator?.hasAnswered != true)
    default: return error.isLoss && (resumes || coordinator?.hasAnswered != true)
    }
  }

  /// Ends a launched inspector and waits for its exit, because it holds the lock of the home and the next command may
  /// be `start`. Does nothing for an open bank.
  func disconnect() {
    guard let inspector else { return }
    connection.hangUp()
    _ = inspector.awaitExit(until: SystemClock.monotonic() + Self.exitTimeout)
  }

  /// Connects to the open bank; launches an inspector if the bank is closed.
  private static func openOrInspect(_ session: Session) throws(CommandError) -> CoordinatorClient {
    do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
      guard case .notOpen = error else { throw .control(error) }
    }
    var order = LaunchSettings(.inspect, home: session.home)
    order.store = try session.inspectedStore()
    let launched = try fromControl(session.environment.launcher().launch(order, standardError: .inherit))
    return CoordinatorClient(launched.connection, inspector: launched)
  }
}

extension CoordinatorClient {
  /// Sends a request and receives its answer or answers. `timeout` applies to each answer; nil
  /// waits as long as the coordinator runs.
  package func ask(
    _ command: ControlCommand, within timeout: TimeSpan? = replyTimeout, _ task: TaskProgress? = nil,
    _ handle: (ControlAnswer) throws(CommandError) -> Void
  ) throws(CommandError) {
    let number = try send(command, reportsProgress: task?.requestsProgress)
    defer { task?.meter.finish() }
    while true {
      let deadline = timeout.map { SystemClock.monotonic() + $0 }
      guard let reply = try next(until: deadline, task) else { throw .control(.timedOut(what: "a response")) }
      guard reply.number == number else { continue }
      if let task, case .progress(let report) = reply.answer, reply.more {
        task.handle(report)
        continue
      }
      task?.meter.finish()
      try handle(reply.answer)
      if !reply.more { return }
    }
  }

  /// Returns the next answer, or nil at the deadline; shows the progress of `task` meanwhile.
  private func next(
    until deadline: MonotonicTime?, _ task: TaskProgress?
  ) throws(CommandError) -> ControlReply? {
    guard let task else { return try next(until: deadline) }
    while true {
      if let reply = try next(until: MonotonicTime.earlier(deadline, task.nextDue)) { return reply }
      if let deadline, SystemClock.monotonic() >= deadline { return nil }
      task.pass()
    }
  }

  /// The present business day, which is the default for a ticket number.
  func presentDay() throws(CommandError) -> Int64 { try status(.status).day }

  /// Sends a request whose answer is a status report, and returns the report.
  package func status(
    _ command: ControlCommand, within timeout: TimeSpan? = replyTimeout, _ task: TaskProgress? = nil
  ) throws(CommandError) -> StatusReport { try answer(to: command, within: timeout, task).status }

  /// Sends a request and returns its last answer.
  func answer(
    to command: ControlCommand, within timeout: TimeSpan? = replyTimeout, _ task: TaskProgress? = nil
  ) throws(CommandError) -> ControlAnswer {
    var last: ControlAnswer?
    try ask(command, within: timeout, task) { last = $0 }
    guard let last else { throw .control(.unexpected(detail: MessageDetail(.noReply))) }
    return last
  }

  /// Sends a request without waiting for its answer, and returns its number, by which the answer is recognised.
  /// - Parameter continued: Number of the request that this one continues.
  @discardableResult
  func send(
    _ command: ControlCommand, continuing continued: UInt32? = nil, reportsProgress: Bool? = nil,
    leavesDelayed: Bool? = nil
  ) throws(CommandError) -> UInt32 {
    do throws(ControlError) {
      let number = try connection.send(
        command, continuing: continued, reportsProgress: reportsProgress, leavesDelayed: leavesDelayed)
      if command.isWhole { hasSentRequest = true }
      return number
    } catch {
      throw .control(explain(error))
    }
  }

  /// Waits for the next answer to any request and returns it, or nil at the deadline. Throws an answer that is a
  /// refusal.
  func next(until deadline: MonotonicTime?) throws(CommandError) -> ControlReply? {
    let reply: ControlReply?
    do throws(ControlError) { reply = try connection.next(until: deadline) } catch {
      throw .control(explain(error))
    }
    if case .failure(let failure)? = reply?.answer { throw .failure(failure) }
    if reply != nil { hasAnswered = true }
    return reply
  }

  /// Replaces a lost connection by the exit status of the inspector if there is one.
  private func explain(_ error: ControlError) -> ControlError { inspector?.explain(error) ?? error }
}

extension ControlCommand {
  /// True if no further part of the request follows. The coordinator ignores a list until its last part has arrived.
  fileprivate var isWhole: Bool {
    if case .enqueueList(let part) = self { part.isLast } else { true }
  }
}

extension ControlError {
  /// True if no coordinator listens, or the connection was lost.
  fileprivate var isAbsence: Bool { if case .notOpen = self { true } else { self == .lost } }

  /// True if the error can disappear when the coordinator has restarted.
  var isTransient: Bool {
    switch self {
    case .notOpen, .lost, .busy, .noWelcome, .timedOut: true
    default: false
    }
  }
}

extension Session {
  /// True if the bank is closed and no guardian will restart it.
  var isBankClosed: Bool {
    guard !home.isGuarded else { return false }
    do throws(ControlError) { _ = try home.connect() } catch {
      if case .notOpen = error { return true }
    }
    return false
  }

  /// True if a coordinator accepts connections, even if it is closing.
  var isBankAnswering: Bool { (try? home.connect()) != nil }

  /// Waits for the exit of the guardian of this home if its coordinator does not answer any more.
  func awaitGuardianExit() {
    let deadline = SystemClock.monotonic() + CoordinatorClient.reconnectTimeout
    while home.isGuarded, !isBankAnswering, SystemClock.monotonic() < deadline { Pause.briefly() }
  }
}
