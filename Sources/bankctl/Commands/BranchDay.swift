// Owns one business day in the foreground, from the first customer to the closing message.
// It must not know how customers are served.
// Invariant: the closing message is the last line, and whatever happens no bank is left running.
// Failure: CommandError, after the bank has ended.
import BankModel
import ControlClient
import Posix
import Wire

/// One business day.
final class BranchDay {
  private let session: Session
  private let bank: ForegroundBank
  private let customers: EnqueueOrder
  private var stopped: StoppedReport?
  private var trouble: CommandError?
  private var isOpen = false
  private var isDeskOpen = true
  private var isNewsOpen = false
  private var isEndedAtOnce = false
  private var wasInterrupted = false

  private init(_ session: Session, _ bank: ForegroundBank, _ customers: EnqueueOrder) {
    self.session = session
    self.bank = bank
    self.customers = customers
  }

  /// Lives through a day.
  static func run(_ session: Session, customers: EnqueueOrder) throws(CommandError) -> ProgramExit {
    let day = BranchDay(session, try ForegroundBank.begin(session), customers)
    do throws(CommandError) {
      try day.live()
    } catch {
      day.bank.end(within: .zero)
      throw error
    }
    let status = day.bank.end(within: day.isEndedAtOnce ? .zero : .seconds(30))
    return try day.close(status)
  }

  private func live() throws(CommandError) {
    try bank.send(.awaitOpen)
    while isDeskOpen || isNewsOpen {
      switch try bank.next() {
      case .reply(let reply): try take(reply.answer)
      case .news(let reply): try takeNews(reply.answer)
      case .interrupted(let count): try interrupt(count)
      case .ended: isDeskOpen = false
      case .newsEnded: isNewsOpen = false
      }
      if isEndedAtOnce { return }
    }
  }

  private func take(_ answer: ControlAnswer) throws(CommandError) {
    switch answer {
    case .failure(let failure):
      guard isOpen else { throw .failure(failure) }
      try giveUp(.failure(failure))
    case .status:
      isOpen = true
      try follow()
    case .enqueued: try stop(now: false)
    case .stopped(let report): stopped = report
    default: break
    }
  }

  /// Watches the windows on a conversation of its own. The status behind it is the sign that it has begun, so that no
  /// start can be missed.
  private func follow() throws(CommandError) {
    do throws(CommandError) {
      let desk = try Desk.open(session)
      try desk.send(.follow)
      try desk.send(.status)
      try bank.listen(to: desk.connection)
      isNewsOpen = true
    } catch {
      try giveUp(error)
    }
  }

  private func takeNews(_ answer: ControlAnswer) throws(CommandError) {
    switch answer {
    case .status: if !wasInterrupted { try bank.send(.enqueue(customers)) }
    case .event(let event): try show(event)
    case .failure(let failure): try giveUp(.failure(failure))
    default: break
    }
  }

  private func show(_ event: BranchEvent) throws(CommandError) {
    guard trouble == nil else { return }
    do throws(CommandError) {
      try session.show(.event(event), or: [line(event)])
    } catch {
      try giveUp(error)
    }
  }

  private func line(_ event: BranchEvent) -> String {
    let phrases = session.words.phrases
    let text =
      switch event.happening {
      case .started: phrases.started(ticket: event.ticket, grade: event.grade, service: event.service)
      case .completed: phrases.completed(ticket: event.ticket, grade: event.grade, service: event.service)
      case .interrupted: session.words.interrupted(event)
      }
    return session.output.palette.paint(text, of: event.service)
  }

  private func interrupt(_ count: Int) throws(CommandError) {
    wasInterrupted = true
    if count == 1 {
      session.note(session.words.closingEarly)
      try stop(now: true)
    } else {
      isEndedAtOnce = true
    }
  }

  /// Ends the day early, because of something that has gone wrong.
  private func giveUp(_ error: CommandError) throws(CommandError) {
    guard trouble == nil else { return }
    trouble = error
    try stop(now: true)
  }

  private func stop(now: Bool) throws(CommandError) {
    try bank.send(.stop(StopOrder(now: now, timeoutMilliseconds: nil)))
  }

  private func close(_ status: ExitStatus) throws(CommandError) -> ProgramExit {
    // A conversation that was lost because the coordinator died is explained by how it died.
    if let trouble, !(trouble.isLoss && stopped == nil) { throw trouble }
    if isEndedAtOnce {
      session.note(session.words.endedAtOnce)
      return .failed
    }
    guard let stopped else {
      let message = session.words.coordinatorDied(status)
      throw .complaint(Complaint(code: "coordinator_ended", exit: .failed, message: message))
    }
    try session.show(.stopped(stopped), or: session.words.stopped(stopped))
    return wasInterrupted ? .failed : .done
  }
}
