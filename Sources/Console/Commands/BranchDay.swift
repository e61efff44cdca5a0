// One business day in the foreground, from the first customer to the closing message.
// Invariant: if the day ends, the closing message is the last line of the output. No bank continues to run after the
// command.
import BankModel
import Posix
import Time
import Wire

final class BranchDay {
  private let session: Session
  private let bank: ForegroundBank
  private let customers: EnqueueOrder
  private var stopped: StoppedReport?
  private var trouble: CommandError?
  private var isOpen = false
  private var counter: CoordinatorClient?
  private var isWindowSideOpen = true
  private var isCounterOpen = false
  private var isEndedAtOnce = false
  private var wasInterrupted = false

  private init(_ session: Session, _ bank: ForegroundBank, _ customers: EnqueueOrder) {
    self.session = session
    self.bank = bank
    self.customers = customers
  }

  static func run(_ session: Session, customers: EnqueueOrder) throws(CommandError) -> ProgramExit {
    let day = BranchDay(session, try ForegroundBank.begin(session), customers)
    do throws(CommandError) { try day.live() } catch {
      day.bank.end(within: .zero)
      throw error
    }
    let status = day.bank.end(within: day.isEndedAtOnce ? .zero : .seconds(30))
    return try day.close(status)
  }

  /// Runs the day over two connections. The first connection follows the windows and is open before they are,
  /// so that no start is missed. Requests use the second connection. The coordinator may close the first one
  /// if the reader of the output is slower than the bank, and the bank must still close properly.
  private func live() throws(CommandError) {
    try bank.send(.follow)
    try bank.send(.awaitOpen)
    while isWindowSideOpen || isCounterOpen {
      switch try bank.next() {
      case .reply(let reply), .news(let reply): try take(reply.answer)
      case .interrupted(let count): try interrupt(count)
      case .ended: isWindowSideOpen = false
      case .newsEnded: isCounterOpen = false
      }
      if isEndedAtOnce { return }
    }
  }

  private func take(_ answer: ControlAnswer) throws(CommandError) {
    switch answer {
    case .failure(let failure) where failure.code == .tooSlow:
      // The reader of the output was too slow for the events. The day continues without them.
      session.note(session.words.sentence(failure, home: session.home.path))
    case .failure(let failure):
      guard isOpen else { throw .failure(failure) }
      try giveUp(.failure(failure))
    case .status:
      isOpen = true
      try letCustomersIn()
    case .event(let event): try show(event)
    case .enqueued: try stop(now: false)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  private func letCustomersIn() throws(CommandError) {
    guard !wasInterrupted else { return }
    do throws(CommandError) {
      let coordinator = try CoordinatorClient.open(session)
      try bank.listen(to: coordinator.connection)
      counter = coordinator
      isCounterOpen = true
      try coordinator.send(.enqueue(customers))
    } catch {
      try giveUp(error)
    }
  }

  private func show(_ event: BranchEvent) throws(CommandError) {
    guard trouble == nil else { return }
    do throws(CommandError) { try session.show(.event(event), or: [line(event)]) } catch { try giveUp(error) }
  }

  private func line(_ event: BranchEvent) -> String {
    let phrases = session.words.phrases
    let text =
      switch event.happening {
      case .started: phrases.started(ticket: event.ticket, priority: event.priority, service: event.service)
      case .completed:
        phrases.completed(ticket: event.ticket, priority: event.priority, service: event.service)
      case .interrupted: session.words.interrupted(event)
      }
    return session.output.palette.paint(text, of: event.service)
  }

  private func interrupt(_ count: Int) throws(CommandError) {
    wasInterrupted = true
    switch count {
    case 1:
      // `open` requests the drain as soon as its customers have tickets. The first Ctrl-C therefore requests
      // the next step of the drain.
      session.note(session.words.closingEarly)
      try stop(now: true)
    case 2:
      session.note(session.words.hurried(to: .kill))
      try stop(now: true, step: .kill)
    default: isEndedAtOnce = true
    }
  }

  private func giveUp(_ error: CommandError) throws(CommandError) {
    guard trouble == nil else { return }
    trouble = error
    try stop(now: true)
  }

  private func stop(now: Bool, step: DrainStep? = nil) throws(CommandError) {
    let command = ControlCommand.stop(StopOrder(now: now, timeoutMilliseconds: nil, step: step))
    guard let counter, isCounterOpen else { return try bank.send(command) }
    do throws(CommandError) { try counter.send(command) } catch {
      // A lost connection is reported as an event, after all messages that were received before it.
      guard error.isLoss else { throw error }
    }
  }

  private func close(_ status: ExitStatus) throws(CommandError) -> ProgramExit {
    // If the connection was lost because the coordinator exited, report its exit status instead.
    if let trouble, !(trouble.isLoss && stopped == nil) { throw trouble }
    if isEndedAtOnce {
      session.note(session.words.endedAtOnce)
      return .failed
    }
    guard let stopped else {
      throw .complaint(.coordinatorExited, session.words.coordinatorDied(Remark(status)))
    }
    try session.show(.stopped(stopped), or: session.words.stopped(stopped))
    return wasInterrupted ? .failed : .done
  }
}
