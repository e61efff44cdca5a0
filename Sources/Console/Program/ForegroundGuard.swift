// Owns `start --foreground`: this program is the guardian, and a person, systemd or a container stays with it.
// Invariant: what the coordinator says first decides the exit code of a bank that does not open; afterwards the guardian's
// work does. The conversation only makes words and progress better: a bank is guarded, and closed by a signal, without.
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
  /// Made when the first drain begins: it is silent for a second from then on.
  private lazy var drain = DrainReporter(session.words)
  private var line: Line?
  private var isOpen = false
  private var hasSaidDraining = false
  private var failure: Failure?
  private var stopped: StoppedReport?

  /// How long a coordinator that is open may take to answer hello: meanwhile nobody is guarded.
  private static let patience = ControlConnection.Patience(hello: .seconds(2))
  /// Opening a large database takes its time before the first word.
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
      // It fails for what is no signal, and these are.
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
    // What the coordinator has said at the last moment.
    if line != nil { listen() }
    return try tell(end)
  }

  private func converse(on socket: consuming FileDescriptor) {
    // A coordinator that does not talk has ended, or will have; the guardian sees which.
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
      // Nobody has to read this for the bank to go on.
      try? session.show(.status(report), or: StartCommand.lines(report, session))
      StartCommand.tellTroubles(report, session)
    case .progress(let report): drain.hear(report)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  private func hear(_ news: Guardian.News) {
    // Its last words come before the news of its end.
    if case .ended = news { listen() }
    if isOpen, let sentence = session.words.sentence(news) { session.note(sentence) }
    if case .opened = news, line == nil, reconnect() { isOpen = true }
  }

  private func reconnect() -> Bool {
    guard let connection = try? session.home.connect(patience: Self.patience) else { return false }
    watch(connection)
    return line != nil
  }

  /// The conversation passes a wish on where there is one, because it also brings progress and the closing message.
  private func passOnWish(_ count: Int) -> Bool {
    if count == 1, !hasSaidDraining {
      hasSaidDraining = true
      session.note(session.words.draining)
    }
    // The wish may come between the start of the next coordinator and the news that the bank is open again.
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
    .complaint(.coordinatorEnded, message)
  }
}
