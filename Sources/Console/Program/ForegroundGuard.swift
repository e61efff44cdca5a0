// `start --foreground`: this program is the guardian of the bank, and a terminal, systemd or a container
// waits for it.
// Invariant: if the bank does not open, the coordinator's first message decides the exit code; later the
// guardian's result decides it. The connection only improves messages and progress. Without it the bank is
// still guarded, and a signal still closes it.
import BankModel
import ControlClient
import Guardian
import Posix
import Time
import Wire

final class ForegroundGuard {
  private struct Line {
    let connection: ControlConnection
    let registration: Registration
  }

  private let session: Session
  private let guardian: Guardian
  private let signals: [SignalSource]
  /// Created when the first drain starts, because a reporter prints nothing for one second after its
  /// creation.
  private lazy var drain = DrainReporter(
    session.words, FreeOptions(leaveDelayed: true, stepTimeout: true))
  private var line: Line?
  private var isOpen = false
  private var hasSaidDraining = false
  private var failure: Failure?
  private var stopped: StoppedReport?

  /// Timeout for the greeting of a running coordinator. It is short because the guardian does not run during
  /// the greeting.
  private static let patience = ControlConnection.Patience(hello: .seconds(2))
  /// The first greeting takes longer, because a large database is opened before it.
  private static let firstPatience = ControlConnection.Patience(hello: .seconds(60))

  private init(_ session: Session, _ guardian: Guardian) throws(SystemError) {
    self.session = session
    self.guardian = guardian
    signals = [try guardian.listenToSignals(), try guardian.collectOthers()]
  }

  static func stay(_ session: Session) throws(CommandError) -> ProgramExit {
    session.letBankGo()
    let order = try session.openingOrder(juice: session.invocation.integer("juice"))
    let program = try fromControl(session.surroundings.launcher().program)
    let guarding = Guardian.Order(
      home: session.home.path, program: program, words: order.arguments,
      manager: ServiceNotifier(environment: Environment.all()), isForeground: true,
      endsOnHangUp: Terminal.isTerminal(StandardStreams.Stream.error.fd))
    return try fromSystem(ForegroundGuard(session, Guardian(guarding))).live()
  }

  private func live() throws(CommandError) -> ProgramExit {
    defer {
      drain.finish()
      // `unblock` fails only for invalid signal numbers.
      try? Signals.unblock(Guardian.signals + Guardian.endsOfChildren)
    }
    guardian.onNews = { [unowned self] news in hear(news) }
    guardian.passOnWish = { [unowned self] count in passOnWish(count) }
    let end: GuardianEnd
    do throws(SystemError) {
      let pair = try UnixSocket.pair()
      guardian.begin(channel: pair.second)
      converse(on: pair.first)
      end = try guardian.run()
    } catch {
      throw .system(error)
    }
    // Read the coordinator's last messages.
    if line != nil { listen() }
    return try tell(end)
  }

  private func converse(on socket: consuming FileDescriptor) {
    // A coordinator that does not answer has exited or is about to exit. The guardian detects the exit.
    guard let connection = try? ControlConnection.greet(socket, patience: Self.firstPatience),
      (try? connection.send(.awaitOpen)) != nil
    else { return }
    watch(connection)
  }

  private func watch(_ connection: ControlConnection) {
    let registration = try? guardian.loop.register(fd: connection.fd, interest: .read) { [unowned self] _ in
      listen()
    }
    line = registration.map { Line(connection: connection, registration: $0) }
  }

  private func listen() {
    guard let line else { return }
    do throws(ControlError) {
      while let reply = try line.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        take(reply.answer)
      }
    } catch {
      guardian.loop.deregister(line.registration)
      self.line = nil
    }
  }

  private func take(_ answer: ControlAnswer) {
    switch answer {
    case .failure(let failure):
      if isOpen { session.note(session.words.sentence(failure, home: session.home.path)) }
      if !isOpen { self.failure = failure }
    case .status(let report) where !isOpen:
      isOpen = true
      // The bank continues even if standard output is closed.
      try? session.show(.status(report), or: StartCommand.lines(report, session))
      StartCommand.tellTroubles(report, session)
    case .progress(let report): drain.hear(report)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  private func hear(_ news: Guardian.News) {
    // Read the coordinator's last messages before its exit is reported.
    if case .ended = news { listen() }
    if isOpen, let sentence = session.words.sentence(news) { session.note(sentence) }
    if case .opened = news, line == nil, reconnect() { isOpen = true }
  }

  private func reconnect() -> Bool {
    guard let connection = try? session.home.connect(patience: Self.patience) else { return false }
    watch(connection)
    return line != nil
  }

  /// Forwards a stop signal over the connection if there is one. Unlike a signal, the connection also
  /// returns progress and the closing message.
  private func passOnWish(_ count: Int) -> Bool {
    if count == 1, !hasSaidDraining {
      hasSaidDraining = true
      session.note(session.words.draining)
    }
    // The signal may arrive after the next coordinator has started and before the guardian reports that the
    // bank is open again.
    guard line != nil || reconnect(), let line else { return false }
    var order = StopOrder(now: false, timeoutMilliseconds: nil)
    if count > 1 {
      guard let step = drain.goFurther() else { return true }
      order.step = step
    }
    return (try? line.connection.send(.stop(order))) != nil
  }

  private func tell(_ end: GuardianEnd) throws(CommandError) -> ProgramExit {
    switch end {
    case .closed:
      if let failure { throw .failure(failure) }
      if let stopped, !session.asJSON { try session.show([:], or: session.words.stopped(stopped)) }
      return .done
    case .neverOpened(let end):
      if let failure { throw .failure(failure) }
      throw complaint(session.words.coordinatorDied(Remark(end)))
    case .diedWhileClosing(let end): throw complaint(session.words.coordinatorDied(Remark(end)))
    case .givenUp(let end): throw complaint(session.words.reopeningFailed(end))
    }
  }

  private func complaint(_ message: String) -> CommandError {
    .complaint(.coordinatorExited, message)
  }
}
