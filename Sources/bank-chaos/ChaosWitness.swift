// Owns the view that a chaos run has of the bank while it goes on: its latest picture, and how long after a kill
// customers were served again, told by the stream of starts and completions.
// Invariant: a time is measured only from a kill to a start that came after it: starts that a dead coordinator had
// announced before are dropped with its connection.
// Failure: a lost connection is opened again for as long as it takes; what was being measured over it is given up.
import BankModel
import ControlClient
import Posix
import Time
import Wire

final class ChaosWitness {
  private(set) var picture: StatusReport?
  private(set) var lastSign: MonotonicTime
  private(set) var reserveTimes: [TimeSpan] = []
  /// From the kill of the coordinator until somebody was being served again.
  private(set) var recoverTimes: [TimeSpan] = []
  private(set) var completions: Int64 = 0
  /// The latest coordinator that was seen with a teller at work at every window. Its guardian knows by then that the
  /// bank is open.
  private(set) var opened: Int32?
  /// The most windows that were open, by service.
  private(set) var windows: [ServiceName: Int64] = [:]
  /// Told of each customer with whom somebody begins.
  var onStarted: (ChaosTicket) -> Void = { _ in }
  /// Told of each customer who has been served.
  var onCompleted: (ChaosTicket) -> Void = { _ in }
  private let home: BankHome
  private let loop: EventLoop
  private var line: ChaosLine?
  private var nextAttempt = MonotonicTime(nanoseconds: 0)
  private var statusAt: MonotonicTime?
  private var killedWindows: [String: MonotonicTime] = [:]
  private var interrupted: [ChaosTicket: (at: MonotonicTime, window: String)] = [:]
  private var coordinatorDied: MonotonicTime?
  private static let rest = TimeSpan.milliseconds(2)
  private static let statusPause = TimeSpan.milliseconds(20)

  init(_ home: BankHome, on loop: EventLoop) {
    (self.home, self.loop) = (home, loop)
    lastSign = SystemClock.monotonic()
  }

  func tellerKilled(window: String, at now: MonotonicTime) { killedWindows[window] = now }

  /// A teller was killed before it was ready. Its own successor comes after a pause, as it shall, and whoever still waits
  /// for it is not measured.
  func successorKilled(window: String) {
    killedWindows[window] = nil
    interrupted = interrupted.filter { $0.value.window != window }
  }

  func coordinatorKilled(at now: MonotonicTime) {
    drop()
    coordinatorDied = coordinatorDied ?? now
  }

  /// The coordinator stands still, and with it everything that is being measured.
  func coordinatorStopped() {
    killedWindows.removeAll()
    interrupted.removeAll()
  }

  /// Hangs up. Nobody hears it any more, so the coordinator must not have to wait until it has read the last word.
  func leave() { drop() }

  private func drop() {
    line = nil
    picture = nil
    statusAt = nil
    coordinatorStopped()
  }

  func turn(_ now: MonotonicTime) {
    if line == nil, now >= nextAttempt {
      nextAttempt = now + Self.rest
      line = ChaosLine(to: home, on: loop)
      _ = line?.send(.follow)
      _ = line?.send(.status)
    }
    guard let line else { return }
    for reply in line.take() {
      lastSign = now
      switch reply.answer {
      case .event(let event): hear(event, now)
      case .status(let report): look(report, now)
      // It is begun anew, as after a lost connection.
      case .failure(let failure) where failure.code == .tooSlow: return drop()
      default: break
      }
    }
    guard line.isOpen else { return drop() }
    if let statusAt, now >= statusAt {
      self.statusAt = nil
      _ = line.send(.status)
    }
  }

  private func look(_ report: StatusReport, _ now: MonotonicTime) {
    picture = report
    // Those who serve commands and workers' customers have nothing to do with it, and are seldom all there.
    let own = report.workers.filter { $0.service.map { ServiceName.branch.contains($0) } ?? true }
    if report.state == .open, own.allSatisfy({ $0.state == .idle || $0.state == .serving }) {
      opened = report.pid
    }
    statusAt = now + Self.statusPause
    for service in report.services {
      windows[service.service] = max(windows[service.service] ?? 0, service.windows)
    }
  }

  private func hear(_ event: BranchEvent, _ now: MonotonicTime) {
    let ticket = ChaosTicket(day: event.day, number: event.ticket)
    switch event.happening {
    case .interrupted:
      if let killed = killedWindows.removeValue(forKey: event.window) {
        interrupted[ticket] = (killed, event.window)
      }
    case .started:
      onStarted(ticket)
      if let killed = interrupted.removeValue(forKey: ticket) { reserveTimes.append(now.since(killed.at)) }
      if let died = coordinatorDied {
        recoverTimes.append(now.since(died))
        coordinatorDied = nil
      }
    case .completed:
      completions += 1
      onCompleted(ticket)
      interrupted[ticket] = nil
    }
  }
}
