// Owns a command's conversation with a coordinator: questions, and answers that are no refusals.
// It must not know what a command makes of an answer.
// Invariant: a refusal never comes out as an answer; an answer of another kind than asked for is an error.
// Failure: CommandError.
import BankModel
import ControlClient
import Posix
import Wire

/// A conversation with a coordinator.
final class Desk {
  let connection: ControlConnection
  /// Kept where the coordinator was started only to answer: it ends with the conversation.
  private let inspector: LaunchedBank?
  /// Whether anything was answered that a command may have passed on.
  private var hasAnswered = false

  /// How long a question may take that is answered at once.
  static let promptly = Duration.seconds(60)
  /// How long a lost coordinator is waited for: a guardian brings it back well within.
  static let reunion = Duration.seconds(10)
  /// How long a coordinator that was started only to answer may take to end.
  private static let farewell = Duration.seconds(10)

  init(_ connection: ControlConnection, inspector: LaunchedBank? = nil) {
    self.connection = connection
    self.inspector = inspector
  }

  /// How long a guardian is given to open a bank again before it counts as not open.
  static let recovery = Duration.seconds(2)

  /// Goes to the bank that is open, or is being opened again by its guardian.
  static func open(_ session: Session) throws(CommandError) -> Desk {
    try open(session, until: SystemClock.monotonic() + recovery)
  }

  private static func open(_ session: Session, until deadline: MonotonicInstant) throws(CommandError) -> Desk
  {
    while true {
      do throws(ControlError) {
        return Desk(try session.home.connect())
      } catch {
        // Nothing was asked yet, so a coordinator that died before its welcome is as good as one that was not there.
        guard error.isAbsence, session.home.isGuarded, SystemClock.monotonic() < deadline else {
          throw .control(error)
        }
        Pause.momentarily()
      }
    }
  }

  /// Asks the bank that is open for its picture, once more where the coordinator died over the question.
  static func picture(_ session: Session) throws(CommandError) -> StatusReport {
    let deadline = SystemClock.monotonic() + recovery
    while true {
      do throws(CommandError) {
        return try open(session, until: deadline).status(.status)
      } catch {
        guard error.isLoss, session.home.isGuarded, SystemClock.monotonic() < deadline else { throw error }
      }
    }
  }

  /// Waits for a coordinator that was lost, as long as it may take to come back.
  static func reopen(
    _ session: Session, until deadline: MonotonicInstant = SystemClock.monotonic() + reunion
  ) throws(CommandError) -> Desk {
    while true {
      do throws(ControlError) {
        return Desk(try session.home.connect())
      } catch {
        guard SystemClock.monotonic() < deadline, error.mayPass else { throw .control(error) }
        Pause.briefly()
      }
    }
  }

  /// Asks the bank that is open, or the books of one that is not: for questions that change nothing.
  ///
  /// - Parameter conversation: Begun again where the bank was opened or closed at this very moment, which shows
  /// before the first answer.
  static func consult(
    _ session: Session, _ conversation: (Desk) throws(CommandError) -> Void
  ) throws(CommandError) {
    let deadline = SystemClock.monotonic() + reunion
    while true {
      var desk: Desk?
      defer { desk?.leave() }
      do throws(CommandError) {
        let found = try openOrInspect(session)
        desk = found
        return try conversation(found)
      } catch {
        guard isPassing(error, at: desk), SystemClock.monotonic() < deadline else { throw error }
        Pause.briefly()
      }
    }
  }

  /// Whether a conversation failed only because the bank was being opened or closed.
  private static func isPassing(_ error: CommandError, at desk: Desk?) -> Bool {
    if case .failure(let failure) = error, [.alreadyOpen, .inspected].contains(failure.code) {
      return desk?.inspector != nil
    }
    return error.isLoss && desk?.hasAnswered != true
  }

  /// Ends a conversation. Whoever was started only for it holds the lock of the home, so its end is waited for: the
  /// next command may be `start`.
  private func leave() {
    guard let inspector else { return }
    connection.hangUp()
    _ = inspector.awaitExit(until: SystemClock.monotonic() + Self.farewell)
  }

  private static func openOrInspect(_ session: Session) throws(CommandError) -> Desk {
    do throws(ControlError) {
      return Desk(try session.home.connect())
    } catch {
      guard case .notOpen = error else { throw .control(error) }
    }
    do throws(ControlError) {
      let order = LaunchOrder(.inspect, home: session.home)
      let launched = try session.surroundings.launcher().launch(order, standardError: .inherit)
      return Desk(launched.connection, inspector: launched)
    } catch {
      throw .control(error)
    }
  }
}

extension Desk {
  /// Asks and receives the answers, one or page after page.
  ///
  /// - Parameter patience: How long each may take; nil for as long as the coordinator lives.
  func ask(
    _ command: ControlCommand, within patience: Duration? = promptly,
    _ take: (ControlAnswer) throws(CommandError) -> Void
  ) throws(CommandError) {
    let number = try send(command)
    while true {
      let deadline = patience.map { SystemClock.monotonic() + $0 }
      guard let reply = try next(until: deadline) else { throw .control(.timedOut(what: "an answer")) }
      guard reply.number == number else { continue }
      try take(reply.answer)
      if !reply.more { return }
    }
  }

  /// Asks for a picture of the bank.
  func status(_ command: ControlCommand, within patience: Duration? = promptly) throws(CommandError)
    -> StatusReport
  {
    var report: StatusReport?
    try ask(command, within: patience) { answer throws(CommandError) in
      report = try answer.status
    }
    guard let report else { throw .control(.unexpected(detail: "nothing")) }
    return report
  }

  /// Sends a question without waiting for its answer.
  ///
  /// - Parameter continued: The number of the question that this one is a further part of.
  @discardableResult
  func send(
    _ command: ControlCommand, continuing continued: UInt32? = nil
  ) throws(CommandError) -> UInt32 {
    do throws(ControlError) { return try connection.send(command, continuing: continued) } catch {
      throw .control(explain(error))
    }
  }

  /// The next answer, or nil at the deadline. A refusal is thrown.
  func next(until deadline: MonotonicInstant?) throws(CommandError) -> ControlReply? {
    let reply: ControlReply?
    do throws(ControlError) {
      reply = try connection.next(until: deadline)
    } catch {
      throw .control(explain(error))
    }
    if case .failure(let failure)? = reply?.answer { throw .failure(failure) }
    if reply != nil { hasAnswered = true }
    return reply
  }

  private func explain(_ error: ControlError) -> ControlError { inspector?.explain(error) ?? error }
}

extension ControlError {
  /// Whether there is nobody, or nobody any more.
  fileprivate var isAbsence: Bool {
    switch self {
    case .notOpen, .lost: true
    default: false
    }
  }

  /// Whether a coordinator that comes back may make it go away.
  var mayPass: Bool {
    switch self {
    case .notOpen, .lost, .busy, .timedOut: true
    default: false
    }
  }
}

extension ControlAnswer {
  /// The picture of a bank, where that is what was asked for.
  var status: StatusReport {
    get throws(CommandError) {
      guard case .status(let report) = self else { throw unexpected }
      return report
    }
  }

  /// What to say of an answer to another question.
  var unexpected: CommandError {
    let name =
      switch self {
      case .failure: "failure"
      case .status: "status"
      case .enqueued: "enqueued"
      case .tickets: "tickets"
      case .ticket: "ticket"
      case .receipts: "receipts"
      case .event: "event"
      case .ended: "ended"
      case .requeued: "requeued"
      case .progress: "progress"
      case .stopped: "stopped"
      case .audit: "audit"
      case .ledger: "ledger"
      case .account: "account"
      }
    return .control(.unexpected(detail: name))
  }
}
