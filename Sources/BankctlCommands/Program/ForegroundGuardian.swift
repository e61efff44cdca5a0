// `start --foreground`: this program is the guardian of the bank, and a terminal, systemd or a container
// waits for it.
// Invariant: a refusal of the coordinator to open the bank decides the exit code; without one, the guardian's result
// decides it. Without a connection to the coordinator the bank is still guarded, and a signal still closes the bank.
import BankModel
import ControlClient
import Guardian
import Posix
import Time
import Wire

/// Guardian that runs in this program and reports the events of its bank to the user.
final class ForegroundGuardian {
  /// The connection to the coordinator, and its registration at the guardian's loop.
  private struct Line {
    let connection: ControlConnection
    let registration: Registration
  }

  private let session: Session
  private let guardian: Guardian
  private let signals: [SignalSource]
  /// Lazy, so that the reporter is created when the first drain starts: a reporter prints nothing for a while after
  /// its creation.
  private lazy var drain = DrainReporter(
    session.messages, FreeOptions(leaveDelayed: true, stepTimeout: true))
  private var line: Line?
  /// True if the bank was open at least once.
  private var isOpen = false
  /// True if the start of the drain was reported to the user.
  private var hasReportedDrain = false
  /// Refusal of the coordinator to open the bank.
  private var failure: Failure?
  /// The closing message of the coordinator; nil before.
  private var stopped: StoppedReport?

  /// Timeout for the greeting of a running coordinator. It is short because the guardian does not run during
  /// the greeting.
  private static let timeouts = ControlConnection.Timeouts(hello: .seconds(2))
  /// The first greeting may take longer, because the database is opened before it.
  private static let firstTimeouts = ControlConnection.Timeouts(hello: .seconds(60))

  private init(_ session: Session, _ guardian: Guardian) throws(SystemError) {
    self.session = session
    self.guardian = guardian
    signals = [try guardian.listenToSignals(), try guardian.reapOrphans()]
  }

  /// Opens the bank, guards it until it has closed, and returns the exit code.
  static func stay(_ session: Session) throws(CommandError) -> ProgramExit {
    session.awaitGuardianExit()
    let order = try session.openingOrder(juice: session.invocation.integer("juice"))
    let program = try fromControl(session.environment.launcher().program)
    let guarding = Guardian.Order(
      home: session.home.path, program: program, words: order.arguments,
      manager: ServiceNotifier(environment: Environment.all()), isForeground: true,
      endsOnHangUp: Terminal.isTerminal(StandardStreams.Stream.error.fd))
    return try fromSystem(ForegroundGuardian(session, Guardian(guarding))).live()
  }

  /// Runs the guardian, and returns the exit code of the command.
  private func live() throws(CommandError) -> ProgramExit {
    defer {
      drain.finish()
      // `unblock` fails only for invalid signal numbers.
      try? Signals.unblock(Guardian.signals + Guardian.childExitSignals)
    }
    guardian.onEvent = { [unowned self] event in handle(event) }
    guardian.forwardStopRequest = { [unowned self] count in passOnWish(count) }
    let end: GuardianOutcome
    do throws(SystemError) {
      let pair = try UnixSocket.pair()
      guardian.begin(channel: pair.second)
      withOpenBank(on: pair.first)
      end = try guardian.run()
    } catch {
      throw .system(error)
    }
    // Read the coordinator's last messages.
    if line != nil { listen() }
    return try finish(end)
  }

  /// Greets the first coordinator, and asks to be notified when the bank is open.
  private func withOpenBank(on socket: consuming FileDescriptor) {
    // If the coordinator has exited, the guardian detects that.
    guard let connection = try? ControlConnection.greet(socket, timeouts: Self.firstTimeouts),
      (try? connection.send(.awaitOpen)) != nil
    else { return }
    watch(connection)
  }

  /// Stores a connection, and reads its messages when they arrive.
  private func watch(_ connection: ControlConnection) {
    let registration = try? guardian.loop.register(fd: connection.fd, interest: .read) { [unowned self] _ in
      listen()
    }
    line = registration.map { Line(connection: connection, registration: $0) }
  }

  /// Handles all received messages; drops the connection if it has ended.
  private func listen() {
    guard let line else { return }
    do throws(ControlError) {
      while let reply = try line.connection.next(until: MonotonicTime(nanoseconds: 0)) {
        handle(reply.answer)
      }
    } catch {
      guardian.loop.deregister(line.registration)
      self.line = nil
    }
  }

  /// Prints or stores a message of the coordinator.
  private func handle(_ answer: ControlAnswer) {
    switch answer {
    case .failure(let failure):
      if isOpen { session.note(session.messages.sentence(failure, home: session.home.path)) }
      if !isOpen { self.failure = failure }
    case .status(let report) where !isOpen:
      isOpen = true
      // The bank continues even if standard output is closed.
      try? session.show(.status(report), or: StartCommand.lines(report, session))
      StartCommand.reportProblems(report, session)
    case .progress(let report): drain.handle(report)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  /// Reports an event of the guardian, and connects to a restarted coordinator.
  private func handle(_ event: Guardian.Event) {
    // Read the coordinator's last messages before its exit is reported.
    if case .ended = event { listen() }
    if isOpen, let sentence = session.messages.sentence(event) { session.note(sentence) }
    if case .opened = event, line == nil, reconnect() { isOpen = true }
  }

  /// Connects to the running coordinator. Returns true on success.
  private func reconnect() -> Bool {
    guard let connection = try? session.home.connect(timeouts: Self.timeouts) else { return false }
    watch(connection)
    return line != nil
  }

  /// Forwards the `count`-th stop signal to the coordinator as a request, whose answers contain progress and the
  /// result. Returns false if it was not sent; the guardian then sends a signal instead.
  private func passOnWish(_ count: Int) -> Bool {
    if count == 1, !hasReportedDrain {
      hasReportedDrain = true
      session.note(session.messages.draining)
    }
    // The signal may arrive after the next coordinator has started and before the guardian reports that the
    // bank is open again.
    guard line != nil || reconnect(), let line else { return false }
    var order = StopParameters(now: false, timeoutMilliseconds: nil)
    if count > 1 {
      guard let step = drain.goFurther() else { return true }
      order.step = step
    }
    return (try? line.connection.send(.stop(order))) != nil
  }

  /// Prints the closing message and returns the exit code; throws if the bank did not close properly.
  private func finish(_ end: GuardianOutcome) throws(CommandError) -> ProgramExit {
    switch end {
    case .closed:
      if let failure { throw .failure(failure) }
      if let stopped, !session.asJSON { try session.show([:], or: session.messages.stopped(stopped)) }
      return .done
    case .neverOpened(let end):
      if let failure { throw .failure(failure) }
      throw commandFailure(session.messages.coordinatorDied(MessageDetail(end)))
    case .diedWhileClosing(let end):
      throw commandFailure(session.messages.coordinatorDied(MessageDetail(end)))
    case .givenUp(let end): throw commandFailure(session.messages.reopeningFailed(end))
    }
  }

  /// Error with this message, and the code for an exited coordinator.
  private func commandFailure(_ message: String) -> CommandError {
    .commandFailure(.coordinatorExited, message)
  }
}
