// Owns a command's questions to a service of the open bank: each is bounded, and a service that is not there
// is waited for as long as patience lasts, and no longer than the bank is there.
// Invariant: a refusal never comes out as an answer, nor a change that may have been made as one that was
// not.
// Failure: CommandError, exit code 75 where no answer came in time, and 3 where the bank has closed.
import BankModel
import Posix
import StockClient
import Time
import Transport
import VendingClient

/// What people and scripts are told of a service, beyond what its clients know.
protocol PresentableCommand: ServiceCommand {
  static var role: WorkerRole { get }
  /// The code that scripts see in JSON if the service does not answer.
  static var absence: ErrorCode { get }

  /// What people read where nobody answers.
  /// - Parameter isInDoubt: Whether the service was sent a change, and may have made it.
  static func silence(_ why: String, isInDoubt: Bool, _ words: MessageCatalog) -> String
  static func complaint(about answer: Answer, _ words: MessageCatalog) -> Complaint?
}

final class ServiceRequests<Command: PresentableCommand> {
  let loop: EventLoop
  let client: ServiceClient<Command>
  private let session: Session
  private let deadline: MonotonicTime

  /// Goes to a service at once; whether the bank is open was asked before. The patience is for all questions together, and
  /// the loop that of a screen, where there is one already.
  init(
    _ session: Session, at socket: String, within patience: TimeSpan, on loop: EventLoop? = nil
  ) throws(CommandError) {
    self.session = session
    deadline = SystemClock.monotonic() + patience
    if let loop { self.loop = loop } else { self.loop = try fromSystem(EventLoop()) }
    client = ServiceClient(socket: socket, loop: self.loop)
  }

  func ask(_ command: Command) throws(CommandError) -> Command.Answer {
    let answer = try wait(for: command)
    if let complaint = Command.complaint(about: answer, session.words) { throw .complaint(complaint) }
    return answer
  }

  var trouble: String? { session.trouble(of: Command.role) }

  func refusal(_ error: ServiceClientError<Command>) -> CommandError {
    session.words.refusal(error, trouble: trouble)
  }

  func turn(until deadline: MonotonicTime?) throws(CommandError) {
    do throws(ServiceClientError<Command>) { try client.turn(until: deadline) } catch { throw refusal(error) }
  }

  static var unexpected: CommandError {
    .control(.unexpected(detail: Remark(.strangeAnswer).of(Command.role == .stock ? .stock : .machine)))
  }

  /// Waits for an answer. It is waited until the deadline for a service that is away; one that is there is heard even when
  /// time is up: the question itself is quick. Nobody starts the service again for a bank that has closed.
  private func wait(for command: Command) throws(CommandError) -> Command.Answer {
    let limit = max(deadline, SystemClock.monotonic() + .milliseconds(100))
    var outcome: Result<Command.Answer, ServiceClientError<Command>>?
    client.ask(command, until: limit) { outcome = $0 }
    while true {
      if let outcome {
        do throws(ServiceClientError<Command>) { return try outcome.get() } catch { throw refusal(error) }
      }
      try turn(until: min(limit, SystemClock.monotonic() + serviceLook))
      guard outcome == nil, !client.isConnected else { continue }
      let isInDoubt = client.isInDoubt
      if !isInDoubt, let reason = session.whyNobodyComes(to: Command.role) {
        client.close()
        throw .complaint(Command.absence, reason)
      }
      guard session.isBankClosed else { continue }
      client.close()
      guard isInDoubt else { throw .control(.notOpen(socket: session.home.socket, stale: false)) }
      throw .complaint(as: .notOpen, session.words.closedMeanwhile(home: session.home.path))
    }
  }
}

extension MessageCatalog {
  /// Why there was no answer from a service; the trouble is why it does not work, where the coordinator knows.
  func refusal<Command: PresentableCommand>(
    _ error: ServiceClientError<Command>, trouble: String?
  ) -> CommandError {
    switch error {
    case .tryLater(let detail, let isInDoubt):
      let message = Command.silence(trouble ?? particular(detail), isInDoubt: isInDoubt, self)
      return .complaint(Command.absence, message)
    case .notPermitted(let socket): return .control(.notPermitted(socket: socket))
    case .otherVersion(let theirs, let build): return .control(.otherVersion(theirs: theirs, build: build))
    case .system(let error): return .system(error)
    }
  }
}

/// How often it is looked whether the bank of a service that is not there is still open.
private let serviceLook = TimeSpan.milliseconds(500)

extension Session {
  /// Why a service will not be there however long it is waited for, and what to type; nil where it may come.
  fileprivate func whyNobodyComes(to role: WorkerRole) -> String? {
    guard let connection = try? home.connect(),
      let report = try? CoordinatorClient(connection).status(.status),
      let worker = report.workers.first(where: { $0.role == role })
    else { return nil }
    let isLasting = [.damaged, .removed, .newerSchema].contains(worker.failure?.code)
    guard isLasting || worker.isFailed == true else { return nil }
    return words.outOfWork(worker)
  }

  /// Why the stock of the open bank has not answered a client.
  package func refusal(_ error: StockClientError) -> CommandError {
    words.refusal(error, trouble: trouble(of: .stock))
  }

  /// Why the vending machine of the open bank has not answered a client.
  package func refusal(_ error: VendingClientError) -> CommandError {
    words.refusal(error, trouble: trouble(of: .vending))
  }

  /// Why a service does not work, as the coordinator knows it; nil where it does, or where nobody can tell.
  func trouble(of role: WorkerRole) -> String? {
    guard let report = try? CoordinatorClient.picture(self) else { return nil }
    return report.workers.first { $0.role == role }.flatMap { words.trouble(of: $0) }
  }
}
