// One business day in the foreground, from the first customer to the closing message.
// Invariant: if the day ends, the closing message is the last line of the output.
import BankModel
import Posix
import Time
import Wire

/// A business day in the foreground: opens the bank, adds customers, prints events, closes the bank.
final class ForegroundDay {
  private let session: Session
  private let bank: ForegroundBank
  private let customers: EnqueueParameters
  private var stopped: StoppedReport?
  /// The first error of the day, after which the bank is closed; nil without one.
  private var trouble: CommandError?
  private var isOpen = false
  private var requestConnection: CoordinatorClient?
  /// True while the first connection, which receives the events, is open.
  private var isWindowSideOpen = true
  /// True while the second connection, which carries the requests, is open.
  private var isRequestSideOpen = false
  /// True after the third signal.
  private var isEndedAtOnce = false
  private var wasInterrupted = false

  private init(_ session: Session, _ bank: ForegroundBank, _ customers: EnqueueParameters) {
    self.session = session
    self.bank = bank
    self.customers = customers
  }

  /// Runs one day with these customers. Returns the exit code.
  static func run(_ session: Session, customers: EnqueueParameters) throws(CommandError) -> ProgramExit {
    let day = ForegroundDay(session, try ForegroundBank.begin(session), customers)
    do throws(CommandError) { try day.live() } catch {
      day.bank.end(within: .zero)
      throw error
    }
    let status = day.bank.end(within: day.isEndedAtOnce ? .zero : .seconds(30))
    return try day.close(status)
  }

  /// Runs the day over two connections. The first connection receives the events of the windows. It is open before
  /// the windows are, so that no start is missed. Requests use the second connection, because the coordinator may
  /// close the first one if the reader of the output is slower than the bank.
  private func live() throws(CommandError) {
    try bank.send(.follow)
    try bank.send(.awaitOpen)
    while isWindowSideOpen || isRequestSideOpen {
      switch try bank.next() {
      case .reply(let reply), .eventMessage(let reply): try handle(reply.answer)
      case .interrupted(let count): try interrupt(count)
      case .ended: isWindowSideOpen = false
      case .eventsEnded: isRequestSideOpen = false
      }
      if isEndedAtOnce { return }
    }
  }

  /// Handles a message of the coordinator from either connection.
  private func handle(_ answer: ControlAnswer) throws(CommandError) {
    switch answer {
    case .failure(let failure) where failure.code == .slowConsumer:
      // The reader of the output was too slow for the events. The day continues without them.
      session.note(session.messages.sentence(failure, home: session.home.path))
    case .failure(let failure):
      guard isOpen else { throw .failure(failure) }
      try giveUp(.failure(failure))
    case .status:
      isOpen = true
      try enqueueCustomers()
    case .event(let event): try show(event)
    case .enqueued: try stop(now: false)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  /// Opens the second connection, and requests the tickets of the day.
  private func enqueueCustomers() throws(CommandError) {
    guard !wasInterrupted else { return }
    do throws(CommandError) {
      let coordinator = try CoordinatorClient.open(session)
      try bank.listen(to: coordinator.connection)
      requestConnection = coordinator
      isRequestSideOpen = true
      try coordinator.send(.enqueue(customers))
    } catch {
      try giveUp(error)
    }
  }

  /// Prints the start or the end of an attempt.
  private func show(_ event: AttemptEvent) throws(CommandError) {
    guard trouble == nil else { return }
    do throws(CommandError) { try session.show(.event(event), or: [line(event)]) } catch { try giveUp(error) }
  }

  /// The line about an event, in the colour of its service.
  private func line(_ event: AttemptEvent) -> String {
    let phrases = session.messages.phrases
    let text =
      switch event.phase {
      case .started: phrases.started(ticket: event.ticket, priority: event.priority, service: event.service)
      case .completed:
        phrases.completed(ticket: event.ticket, priority: event.priority, service: event.service)
      case .interrupted: session.messages.interrupted(event)
      }
    return session.output.palette.paint(text, of: event.service)
  }

  /// Handles the n-th signal: finishes active customers, then kills the tellers, then ends at once.
  private func interrupt(_ count: Int) throws(CommandError) {
    wasInterrupted = true
    switch count {
    case 1:
      // `open` itself requests the drain as soon as its customers have tickets. The first Ctrl-C therefore requests
      // that waiting customers stay for the next start.
      session.note(session.messages.closingEarly)
      try stop(now: true)
    case 2:
      session.note(session.messages.advanced(to: .kill))
      try stop(now: true, step: .kill)
    default: isEndedAtOnce = true
    }
  }

  /// Stores the first error, and closes the bank without serving waiting customers.
  private func giveUp(_ error: CommandError) throws(CommandError) {
    guard trouble == nil else { return }
    trouble = error
    try stop(now: true)
  }

  /// Requests the end of the day over the second connection if it is open, otherwise over the first. With `now`,
  /// waiting customers stay for the next start; `step` is the step of the drain to proceed to.
  private func stop(now: Bool, step: DrainStep? = nil) throws(CommandError) {
    let command = ControlCommand.stop(StopParameters(now: now, timeoutMilliseconds: nil, step: step))
    guard let requestConnection, isRequestSideOpen else { return try bank.send(command) }
    do throws(CommandError) { try requestConnection.send(command) } catch {
      // A lost connection is reported as an event.
      guard error.isLoss else { throw error }
    }
  }

  /// Prints the closing message and returns the exit code; throws the error of the day if there was one.
  private func close(_ status: ExitStatus) throws(CommandError) -> ProgramExit {
    // If the connection was lost because the coordinator exited, the exit status is reported instead.
    if let trouble, !(trouble.isLoss && stopped == nil) { throw trouble }
    if isEndedAtOnce {
      session.note(session.messages.endedAtOnce)
      return .failed
    }
    guard let stopped else {
      throw .commandFailure(.coordinatorExited, session.messages.coordinatorDied(MessageDetail(status)))
    }
    try session.show(.stopped(stopped), or: session.messages.stopped(stopped))
    return wasInterrupted ? .failed : .done
  }
}
