// Owns a command's conversation with a coordinator: questions, and answers that are no refusals.
// Invariant: a refusal never comes out as an answer; an answer of another kind than asked for is an error.
import BankModel
import ControlClient
import Posix
import Time
import Wire

package final class CoordinatorClient {
  package let connection: ControlConnection
  /// Kept where the coordinator was started only to answer: it ends with the conversation.
  private let inspector: LaunchedBank?
  /// Whether anything was answered that a command may have passed on.
  private var hasAnswered = false
  /// Whether anything was asked: a question that was not sent as a whole is not one.
  private(set) var hasAsked = false

  /// How long a question may take that is answered at once.
  static let promptly = TimeSpan.seconds(60)
  /// How long a lost coordinator is waited for: a guardian brings it back well within.
  static let reunion = TimeSpan.seconds(10)
  /// How long a question that changes nothing is repeated where many others open, close or look into the bank.
  private static let passage = TimeSpan.seconds(60)
  /// How long a coordinator that was started only to answer may take to end.
  private static let farewell = TimeSpan.seconds(10)

  /// Whether nobody works with the books, and they are only read.
  package var isInspector: Bool { inspector != nil }

  init(_ connection: ControlConnection, inspector: LaunchedBank? = nil) {
    self.connection = connection
    self.inspector = inspector
  }

  /// Has somebody look into the books in the home, who has the home for himself meanwhile.
  static func inspect(_ session: Session) throws(CommandError) -> CoordinatorClient {
    let launched = try fromControl(
      session.surroundings.launcher().launch(
        LaunchOrder(.inspect, home: session.home), standardError: .inherit))
    return CoordinatorClient(launched.connection, inspector: launched)
  }

  /// Goes to the bank that is open, or is being opened again by its guardian.
  static func open(_ session: Session) throws(CommandError) -> CoordinatorClient {
    try open(session, until: SystemClock.monotonic() + reunion)
  }

  private static func open(
    _ session: Session, until deadline: MonotonicTime
  ) throws(CommandError) -> CoordinatorClient {
    while true {
      do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
        // Nothing was asked yet, so a coordinator that ended before its welcome is as good as one that was not there;
        // the next look tells.
        let isComingBack = error.isAbsence && session.home.isGuarded
        guard error == .lost || isComingBack else { throw .control(error) }
        // While a guardian is at work the bank is not closed, however long it takes to open it again.
        guard SystemClock.monotonic() < deadline else { throw .control(isComingBack ? .notGreeted : error) }
        Pause.momentarily()
      }
    }
  }

  static func picture(_ session: Session) throws(CommandError) -> StatusReport {
    try converse(session) { coordinator throws(CommandError) in try coordinator.status(.status) }
  }

  /// Has a conversation with the bank that is open, and begins it again where the coordinator was lost over it: a bank
  /// that has closed is then not open, and one that a guardian brings back answers. Asking twice must be as good as once.
  static func converse<Result>(
    _ session: Session, within patience: TimeSpan = reunion,
    _ conversation: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    var coordinator = try open(session)
    var deadline: MonotonicTime?
    while true {
      do throws(CommandError) { return try conversation(coordinator) } catch {
        guard error.isLoss else { throw error }
        // However long it was waited for an answer, as of one that stood still: only from the first loss on is it counted.
        let limit = deadline ?? SystemClock.monotonic() + patience
        deadline = limit
        guard SystemClock.monotonic() < limit else { throw error }
        Pause.momentarily()
        coordinator = try open(session, until: limit)
      }
    }
  }

  /// Waits for a coordinator that was lost, as long as it may take to come back.
  package static func reopen(
    _ session: Session, until deadline: MonotonicTime = SystemClock.monotonic() + reunion
  ) throws(CommandError) -> CoordinatorClient {
    while true {
      do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
        guard SystemClock.monotonic() < deadline, error.mayPass else { throw .control(error) }
        Pause.briefly()
      }
    }
  }

  /// Asks the bank that is open, and again whenever it was lost over that, until the answers end or nothing more is wanted.
  static func follow(
    _ session: Session, _ question: @autoclosure () -> ControlCommand, isOver: () -> Bool = { false },
    _ take: (ControlAnswer) throws(CommandError) -> Void
  ) throws(CommandError) {
    var coordinator = try open(session)
    while true {
      do throws(CommandError) { return try coordinator.ask(question(), within: nil, nil, take) } catch {
        guard error.isLoss else { throw error }
        if isOver() { return }
        coordinator = try reopen(session)
      }
    }
  }

  /// Asks the bank that is open, or the books of one that is not: for questions that change nothing.
  /// Where the bank is opened or closed at this very moment the conversation is begun again with whoever is there then.
  /// - Parameter goesOn: Whether that is possible also after a part of the answer was passed on.
  package static func consult<Result>(
    _ session: Session, goesOn: Bool = false,
    _ conversation: (CoordinatorClient) throws(CommandError) -> Result
  ) throws(CommandError) -> Result {
    var deadline: MonotonicTime?
    var losses = 0
    while true {
      var coordinator: CoordinatorClient?
      defer { coordinator?.leave() }
      do throws(CommandError) {
        let found = try openOrInspect(session)
        coordinator = found
        return try conversation(found)
      } catch {
        guard isPassing(error, at: coordinator, goesOn: goesOn, &losses) else { throw error }
        // However long the question itself takes, only from the first failure on is it counted.
        let limit = deadline ?? SystemClock.monotonic() + passage
        deadline = limit
        guard SystemClock.monotonic() < limit else { throw error }
        Pause.briefly()
      }
    }
  }

  /// Whether a conversation failed only because the bank was being opened or closed.
  private static func isPassing(
    _ error: CommandError, at coordinator: CoordinatorClient?, goesOn: Bool, _ losses: inout Int
  ) -> Bool {
    switch error {
    case .failure(let failure) where [.alreadyOpen, .inspected].contains(failure.code):
      return coordinator?.inspector != nil
    // The last word of a bank that has just closed.
    case .failure(let failure) where failure.code == .notOpen: return coordinator?.inspector == nil
    case .control(.coordinatorEnded):
      // One that was started only to answer may meet its end among those who come and go; one that cannot be started
      // ends every time.
      losses += 1
      return losses <= 3 && (goesOn || coordinator?.hasAnswered != true)
    default: return error.isLoss && (goesOn || coordinator?.hasAnswered != true)
    }
  }

  /// Ends a conversation. Whoever was started only for it holds the lock of the home, so its end is waited for: the
  /// next command may be `start`.
  func leave() {
    guard let inspector else { return }
    connection.hangUp()
    _ = inspector.awaitExit(until: SystemClock.monotonic() + Self.farewell)
  }

  private static func openOrInspect(_ session: Session) throws(CommandError) -> CoordinatorClient {
    do throws(ControlError) { return CoordinatorClient(try session.home.connect()) } catch {
      guard case .notOpen = error else { throw .control(error) }
    }
    var order = LaunchOrder(.inspect, home: session.home)
    order.store = try session.inspectedStore()
    let launched = try fromControl(session.surroundings.launcher().launch(order, standardError: .inherit))
    return CoordinatorClient(launched.connection, inspector: launched)
  }
}

extension CoordinatorClient {
  /// Asks and receives the answers, one or page after page. Each may take so long; nil for as long as the coordinator lives.
  package func ask(
    _ command: ControlCommand, within patience: TimeSpan? = promptly, _ task: TaskProgress? = nil,
    _ take: (ControlAnswer) throws(CommandError) -> Void
  ) throws(CommandError) {
    let number = try send(command, tellsProgress: task?.isToldHowFar)
    defer { task?.meter.finish() }
    while true {
      let deadline = patience.map { SystemClock.monotonic() + $0 }
      guard let reply = try next(until: deadline, task) else { throw .control(.timedOut(what: "an answer")) }
      guard reply.number == number else { continue }
      if let task, case .progress(let report) = reply.answer, reply.more {
        task.hear(report)
        continue
      }
      task?.meter.finish()
      try take(reply.answer)
      if !reply.more { return }
    }
  }

  /// The next answer, or nil at the deadline; meanwhile it is shown how long it lasts.
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

  /// The business day that a ticket's number means where nobody has said which.
  func presentDay() throws(CommandError) -> Int64 { try status(.status).day }

  package func status(
    _ command: ControlCommand, within patience: TimeSpan? = promptly, _ task: TaskProgress? = nil
  ) throws(CommandError) -> StatusReport { try answer(to: command, within: patience, task).status }

  func answer(
    to command: ControlCommand, within patience: TimeSpan? = promptly, _ task: TaskProgress? = nil
  ) throws(CommandError) -> ControlAnswer {
    var last: ControlAnswer?
    try ask(command, within: patience, task) { last = $0 }
    guard let last else { throw .control(.unexpected(detail: Remark(.nothingAnswered))) }
    return last
  }

  /// Sends a question without waiting for its answer.
  /// - Parameter continued: The number of the question that this one is a further part of.
  @discardableResult
  func send(
    _ command: ControlCommand, continuing continued: UInt32? = nil, tellsProgress: Bool? = nil,
    leavesDelayed: Bool? = nil
  ) throws(CommandError) -> UInt32 {
    do throws(ControlError) {
      let number = try connection.send(
        command, continuing: continued, tellsProgress: tellsProgress, leavesDelayed: leavesDelayed)
      if command.isWhole { hasAsked = true }
      return number
    } catch {
      throw .control(explain(error))
    }
  }

  /// The next answer, or nil at the deadline. A refusal is thrown.
  func next(until deadline: MonotonicTime?) throws(CommandError) -> ControlReply? {
    let reply: ControlReply?
    do throws(ControlError) { reply = try connection.next(until: deadline) } catch {
      throw .control(explain(error))
    }
    if case .failure(let failure)? = reply?.answer { throw .failure(failure) }
    if reply != nil { hasAnswered = true }
    return reply
  }

  private func explain(_ error: ControlError) -> ControlError { inspector?.explain(error) ?? error }
}

extension ControlCommand {
  /// Whether nothing of the question is missing any more: a list that has not come as a whole asks for nothing.
  fileprivate var isWhole: Bool {
    if case .enqueueList(let part) = self { part.isLast } else { true }
  }
}

extension ControlError {
  fileprivate var isAbsence: Bool { if case .notOpen = self { true } else { self == .lost } }

  /// Whether a coordinator that comes back may make it go away.
  var mayPass: Bool {
    switch self {
    case .notOpen, .lost, .busy, .notGreeted, .timedOut: true
    default: false
    }
  }
}

extension Session {
  /// Whether the bank has closed, and nobody brings it back.
  var isBankClosed: Bool {
    guard !home.isGuarded else { return false }
    do throws(ControlError) { _ = try home.connect() } catch {
      if case .notOpen = error { return true }
    }
    return false
  }

  /// Whether a bank is open, or closing, and answers.
  var isBankAnswering: Bool { (try? home.connect()) != nil }

  /// Waits for a bank that is just going: its guardian is still there, and nobody answers. For whoever opens the next one.
  func letBankGo() {
    let deadline = SystemClock.monotonic() + CoordinatorClient.reunion
    while home.isGuarded, !isBankAnswering, SystemClock.monotonic() < deadline { Pause.briefly() }
  }
}
