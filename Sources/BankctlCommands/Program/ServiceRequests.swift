// A command's requests to a service of the open bank. Each request is bounded in time. If the service is not
// running, a request waits for it until the timeout, but not after the bank has closed.
// Invariant: a refusal is not returned as an answer. A change that may have happened is not reported as not done.
// Errors: `CommandError`; exit code 75 without an answer in time, 3 if the bank has closed.
import BankModel
import Posix
import StockClient
import Time
import Transport
import VendingClient

/// Request type of the stock or of the vending machine, with the texts and codes for errors of that service.
protocol PresentableCommand: ServiceCommand {
  /// Role of the service process.
  static var role: WorkerRole { get }
  /// Error code in JSON if the service does not answer.
  static var absence: ErrorCode { get }

  /// Message for users if the service does not answer, with the reason `why`. `isInDoubt`: a sent change may have been
  /// made.
  static func silence(_ why: String, isInDoubt: Bool, _ messages: MessageCatalog) -> String
  /// Error for an answer that is a refusal; nil for any other answer.
  static func commandFailure(about answer: Answer, _ messages: MessageCatalog) -> CommandFailure?
}

/// Requests of one command to one service, with a common time limit.
final class ServiceRequests<Command: PresentableCommand> {
  let loop: EventLoop
  let client: ServiceClient<Command>
  private let session: Session
  private let deadline: MonotonicTime

  /// Prepares requests to a service; the first request connects. The timeout covers all requests together.
  init(
    _ session: Session, at socket: String, within timeout: TimeSpan, on loop: EventLoop? = nil
  ) throws(CommandError) {
    self.session = session
    deadline = SystemClock.monotonic() + timeout
    if let loop { self.loop = loop } else { self.loop = try fromSystem(EventLoop()) }
    client = ServiceClient(socket: socket, loop: self.loop)
  }

  /// Sends a request and returns its answer; throws if the answer is a refusal.
  func ask(_ command: Command) throws(CommandError) -> Command.Answer {
    let answer = try wait(for: command)
    if let commandFailure = Command.commandFailure(about: answer, session.messages) {
      throw .commandFailure(commandFailure)
    }
    return answer
  }

  /// The coordinator's reason why this service does not work; nil if it works or the coordinator does not answer.
  var trouble: String? { session.trouble(of: Command.role) }

  /// Error of the command for a request without an answer.
  func refusal(_ error: ServiceClientError<Command>) -> CommandError {
    session.messages.refusal(error, trouble: trouble)
  }

  /// Runs one iteration of the loop, which waits at most until the deadline.
  func runIteration(until deadline: MonotonicTime?) throws(CommandError) {
    do throws(ServiceClientError<Command>) { try client.runIteration(until: deadline) } catch {
      throw refusal(error)
    }
  }

  /// Error for an answer of another kind than requested.
  static var unexpected: CommandError {
    .control(
      .unexpected(detail: MessageDetail(.unexpectedReply).of(Command.role == .stock ? .stock : .machine)))
  }

  /// Sends a request and waits for its answer until the deadline. A request gets a short time even after the
  /// deadline, because a running service answers quickly. The wait ends if the bank has closed, because the service
  /// is not restarted then.
  private func wait(for command: Command) throws(CommandError) -> Command.Answer {
    let limit = max(deadline, SystemClock.monotonic() + .milliseconds(100))
    var outcome: Result<Command.Answer, ServiceClientError<Command>>?
    client.ask(command, until: limit) { outcome = $0 }
    while true {
      if let outcome {
        do throws(ServiceClientError<Command>) { return try outcome.get() } catch { throw refusal(error) }
      }
      try runIteration(until: min(limit, SystemClock.monotonic() + serviceCheckInterval))
      guard outcome == nil, !client.isConnected else { continue }
      let isInDoubt = client.isInDoubt
      if !isInDoubt, let reason = session.serviceUnavailableReason(to: Command.role) {
        client.close()
        throw .commandFailure(Command.absence, reason)
      }
      guard session.isBankClosed else { continue }
      client.close()
      guard isInDoubt else { throw .control(.notOpen(socket: session.home.socket, stale: false)) }
      throw .commandFailure(as: .notOpen, session.messages.closedMeanwhile(home: session.home.path))
    }
  }
}

extension MessageCatalog {
  /// Error for a request without an answer. `trouble`: why the service does not work, if the coordinator reports it.
  func refusal<Command: PresentableCommand>(
    _ error: ServiceClientError<Command>, trouble: String?
  ) -> CommandError {
    switch error {
    case .tryLater(let detail, let isInDoubt):
      let message = Command.silence(trouble ?? localizedDetail(detail), isInDoubt: isInDoubt, self)
      return .commandFailure(Command.absence, message)
    case .notPermitted(let socket): return .control(.notPermitted(socket: socket))
    case .otherVersion(let theirs, let build): return .control(.otherVersion(theirs: theirs, build: build))
    case .system(let error): return .system(error)
    }
  }
}

/// Interval of the checks whether the bank is still open while the service is not connected.
private let serviceCheckInterval = TimeSpan.milliseconds(500)

extension Session {
  /// Reason why a service will not start again, and the remedy; nil if the service may start, or if no reason is known.
  fileprivate func serviceUnavailableReason(to role: WorkerRole) -> String? {
    guard let connection = try? home.connect(),
      let report = try? CoordinatorClient(connection).status(.status),
      let worker = report.workers.first(where: { $0.role == role })
    else { return nil }
    let isLasting = [.damaged, .removed, .newerSchema].contains(worker.failure?.code)
    guard isLasting || worker.isFailed == true else { return nil }
    return messages.notWorking(worker)
  }

  /// Error that says why the stock of the open bank did not answer.
  package func refusal(_ error: StockClientError) -> CommandError {
    messages.refusal(error, trouble: trouble(of: .stock))
  }

  /// Error that says why the vending machine of the open bank did not answer.
  package func refusal(_ error: VendingClientError) -> CommandError {
    messages.refusal(error, trouble: trouble(of: .vending))
  }

  /// The coordinator's reason why a service does not work; nil if the service works or the coordinator does
  /// not answer.
  func trouble(of role: WorkerRole) -> String? {
    guard let report = try? CoordinatorClient.picture(self) else { return nil }
    return report.workers.first { $0.role == role }.flatMap { messages.trouble(of: $0) }
  }
}
