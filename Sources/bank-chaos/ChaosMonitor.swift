// Observer of the bank during a chaos run: its latest status, and the time from a kill until customers were served
// again, measured from the stream of events.
// Invariant: a time is measured from a kill to a later start: starts that a dead coordinator had sent before are
// dropped with its connection.
// Errors: a lost connection is opened again as often as needed, and its running measurements are dropped, except that
// of a killed coordinator.
import BankModel
import ControlClient
import Posix
import Time
import Wire

final class ChaosMonitor {
  /// The latest status on this connection; nil if there is none.
  private(set) var snapshot: StatusReport?
  /// Time of the last message from the bank.
  private(set) var lastMessageAt: MonotonicTime
  /// Times from the kill of a ready teller or juice station until its customer was started again.
  private(set) var reserveTimes: [TimeSpan] = []
  /// Times from the coordinator's kill until a customer was started again.
  private(set) var recoverTimes: [TimeSpan] = []
  private(set) var completions: Int64 = 0
  /// Pid of the latest coordinator that has reported an open bank with all processes ready, except those of the run's
  /// own services.
  private(set) var opened: Int32?
  /// The maximum number of open windows, by service.
  private(set) var windows: [ServiceName: Int64] = [:]
  /// Called for each reported start.
  var onStarted: (ChaosTicket) -> Void = { _ in }
  /// Called for each reported completion.
  var onCompleted: (ChaosTicket) -> Void = { _ in }
  private let home: BankHome
  private let loop: EventLoop
  private var connection: ChaosConnection?
  private var nextAttempt = MonotonicTime(nanoseconds: 0)
  /// Time of the next request for the status; nil while the answer to one is awaited.
  private var statusAt: MonotonicTime?
  /// Time of the kill of the teller at each window, until its customer is reported as interrupted.
  private var killedWindows: [String: MonotonicTime] = [:]
  /// Customers of killed tellers that wait to be started again.
  private var interrupted: [ChaosTicket: (at: MonotonicTime, window: String)] = [:]
  /// Time of the coordinator's kill after which no customer has been started yet; nil if there is none.
  private var coordinatorWasKilled: MonotonicTime?
  private static let pollInterval = TimeSpan.milliseconds(2)
  private static let statusPause = TimeSpan.milliseconds(20)

  init(_ home: BankHome, on loop: EventLoop) {
    (self.home, self.loop) = (home, loop)
    lastMessageAt = SystemClock.monotonic()
  }

  /// Starts to measure the time until the customer at this window is started again.
  func tellerKilled(window: String, at now: MonotonicTime) { killedWindows[window] = now }

  /// A teller was killed before it was ready. Its replacement is started after a pause, by design, so customers who
  /// wait for it are not measured.
  func successorKilled(window: String) {
    killedWindows[window] = nil
    interrupted = interrupted.filter { $0.value.window != window }
  }

  /// Disconnects, and starts to measure the time until a customer is started again.
  func coordinatorKilled(at now: MonotonicTime) {
    drop()
    coordinatorWasKilled = coordinatorWasKilled ?? now
  }

  /// Drops the running measurements of killed tellers.
  func coordinatorStopped() {
    killedWindows.removeAll()
    interrupted.removeAll()
  }

  /// Disconnects, so that the coordinator does not wait for the last message to be read.
  func disconnect() { drop() }

  /// Closes the connection, and drops all running measurements but that of a killed coordinator.
  private func drop() {
    connection = nil
    snapshot = nil
    statusAt = nil
    coordinatorStopped()
  }

  /// Connects if necessary, reads all messages, and requests the status at regular times.
  func runIteration(_ now: MonotonicTime) {
    if connection == nil, now >= nextAttempt {
      nextAttempt = now + Self.pollInterval
      connection = ChaosConnection(to: home, on: loop)
      _ = connection?.send(.follow)
      _ = connection?.send(.status)
    }
    guard let connection else { return }
    for reply in connection.take() {
      lastMessageAt = now
      switch reply.answer {
      case .event(let event): handle(event, now)
      case .status(let report): update(report, now)
      // The subscription restarts, as after a lost connection.
      case .failure(let failure) where failure.code == .slowConsumer: return drop()
      default: break
      }
    }
    guard connection.isOpen else { return drop() }
    if let statusAt, now >= statusAt {
      self.statusAt = nil
      _ = connection.send(.status)
    }
  }

  private func update(_ report: StatusReport, _ now: MonotonicTime) {
    snapshot = report
    // Ignore the windows of the run's own services (commands and worker programs), whose processes are seldom all
    // present.
    let own = report.workers.filter { $0.service.map { ServiceName.branch.contains($0) } ?? true }
    if report.state == .open, own.allSatisfy({ $0.state == .idle || $0.state == .serving }) {
      opened = report.pid
    }
    statusAt = now + Self.statusPause
    for service in report.services {
      windows[service.service] = max(windows[service.service] ?? 0, service.windows)
    }
  }

  /// Counts a completion, and ends the measurements that a start ends.
  private func handle(_ event: AttemptEvent, _ now: MonotonicTime) {
    let ticket = ChaosTicket(day: event.day, number: event.ticket)
    switch event.phase {
    case .interrupted:
      if let killed = killedWindows.removeValue(forKey: event.window) {
        interrupted[ticket] = (killed, event.window)
      }
    case .started:
      onStarted(ticket)
      if let killed = interrupted.removeValue(forKey: ticket) { reserveTimes.append(now.since(killed.at)) }
      if let died = coordinatorWasKilled {
        recoverTimes.append(now.since(died))
        coordinatorWasKilled = nil
      }
    case .completed:
      completions += 1
      onCompleted(ticket)
      interrupted[ticket] = nil
    }
  }
}
