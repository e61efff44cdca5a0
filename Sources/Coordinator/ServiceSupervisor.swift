// Supervisor of the bank's service processes, such as the stock: starts them, detects exits and hangs, and starts
// successors. The bank continues without them.
// Invariant: a process is reaped before its successor starts, so that two processes do not use the same database.

import BankModel
import Glibc
import Logging
import Posix
import Supervision
import Time
import Transport
import Wire

package final class ServiceSupervisor {
  /// Called when the state of a service process has changed.
  package var onChange: (() -> Void)?
  /// Returns the settings that a process receives with its welcome.
  package var orders: ((SupervisedService) -> ServiceProcessSettings)?
  /// Called when a process has reported the identity of its database.
  var onDatabase: ((SupervisedService, DatabaseIdentity) -> Void)?
  private(set) var slots: [SupervisedService] = []

  let loop: EventLoop
  let log: LogFile
  let environment: EnvironmentVariables
  var inProcessWorkers: InProcessWorkerFactory?
  /// Restart rules; they may change while the bank is open.
  var policy: RestartPolicy { didSet { for slot in slots { slot.history.adopt(policy) } } }
  /// Interval of health checks, and time for an answer before the process is examined.
  var watchdogTimeout: TimeSpan
  private var chance: SeededGenerator

  /// Timeout for becoming ready: a large database is checked first.
  static let patience = TimeSpan.seconds(60)
  /// Time for an exit after a request to exit; then the process is killed.
  static let exitGrace = TimeSpan.seconds(3)
  package init(
    loop: EventLoop, log: LogFile, policy: RestartPolicy, watchdogTimeout: TimeSpan = StallDetector.patience,
    seed: UInt64
  ) {
    self.loop = loop
    self.log = log
    self.policy = policy
    self.watchdogTimeout = watchdogTimeout
    chance = SeededGenerator(seed: seed)
    environment = ServiceNotifier.strip(Environment.all())
  }

  /// Starts a process that runs until the bank closes or ``dismiss(_:at:)`` stops it.
  /// - Parameter hasDatabase: True if the service used a database under the previous coordinator.
  @discardableResult
  package func open(
    _ specification: SupervisedService.Specification, hasDatabase: Bool = false, at now: Moment
  ) -> SupervisedService {
    let slot = SupervisedService(specification, history: RestartHistory(policy: policy, seed: chance.next()))
    slot.hasDatabase = hasDatabase
    slots.append(slot)
    start(slot, at: now)
    return slot
  }

  /// Stops a process until `bringBack` starts it again.
  func dismiss(_ slot: SupervisedService, at now: Moment) {
    (slot.isWanted, slot.restartAt, slot.isReplaced) = (false, nil, false)
    if slot.child != nil { askToExit(slot, at: now) }
    onChange?()
  }

  /// Starts a process of the present specification, after the running process has exited.
  func bringBack(_ slot: SupervisedService, at now: Moment) {
    slot.history.clearHistory()
    (slot.isWanted, slot.isGivenUp, slot.restartAt) = (true, false, nil)
    guard slot.child != nil else { return start(slot, at: now) }
    if slot.phase != .leaving { askToExit(slot, at: now) }
    slot.readyDeadline = nil
    slot.isReplaced = true
  }

  /// Restarts the processes that were given up, wait for their next start, or have exited before they were ready. A
  /// running process is first asked to exit.
  package func retryFailing(at now: Moment) {
    for slot in slots where slot.isWanted && !slot.isReplaced && slot.phase != .ready {
      guard slot.isGivenUp || slot.restartAt != nil || slot.history.deathsBeforeReady > 0 else { continue }
      if slot.child != nil {
        replace(slot, at: now)
      } else {
        (slot.isGivenUp, slot.restartAt) = (false, nil)
        slot.history.clearHistory()
        start(slot, at: now)
      }
    }
  }

  /// Replaces a process, for example because its program or settings have changed.
  func replace(_ slot: SupervisedService, at now: Moment) {
    guard slot.isWanted, !slot.isReplaced else { return }
    slot.history.clearHistory()
    guard slot.child != nil else {
      // The next process uses the new specification anyway, so start it now.
      return (slot.isGivenUp, slot.restartAt) = (false, now.monotonic)
    }
    slot.isReplaced = true
    slot.readyDeadline = nil
    askToExit(slot, at: now)
    write("replaced", about: slot, at: now) {
      $0.field("child", slot.pid)
      $0.field("child_gen", slot.generation)
    }
  }

  /// True if the opening of the bank need not wait for any process: each is ready, or has failed.
  var isSettled: Bool {
    slots.allSatisfy {
      $0.phase == .ready || $0.isGivenUp || !$0.isReplaced && $0.history.consecutiveDeaths > 0
    }
  }

  var isStockGivenUp: Bool { slots.contains { $0.specification.workerRole == .stock && $0.isGivenUp } }
  /// Number of processes whose exit was not reported yet.
  package var count: Int { slots.count { $0.child != nil } }

  /// Asks all processes to exit.
  package func closeAll(at now: Moment) {
    for slot in slots {
      (slot.isWanted, slot.restartAt) = (false, nil)
      if slot.child != nil { askToExit(slot, at: now) } else { slot.endChecks() }
    }
  }

  /// Asks a process to exit, and sets the time at which it is killed otherwise.
  private func askToExit(_ slot: SupervisedService, at now: Moment) {
    slot.phase = .leaving
    slot.endChecks()
    slot.killAt = now.listeningTime + Self.exitGrace
    send(.close, to: slot)
  }

  /// Kills all service processes.
  package func killAll() { for slot in slots { slot.child?.kill(SIGKILL) } }

  // MARK: - Deadlines

  package var nextDeadline: MonotonicTime? { nextDeadline(of: slots) }
  /// Next timeout, in listening time; see `ListeningClock`.
  package var nextJudgement: MonotonicTime? { nextSilenceTimeout(of: slots) }

  /// Applies deadlines that have passed. Call after the received messages were handled.
  package func runTimers(_ now: Moment) {
    let heard = Mutant.countsOwnStallAgainstServices.isActive ? now.monotonic : now.listeningTime
    for slot in slots {
      restartIfDue(slot, at: now)
      if let due = slot.readyDeadline, due <= heard {
        // A process that waits for a disk cannot report progress.
        let isExempt = slot.observation == .excused
        slot.readyDeadline = isExempt ? now.listeningTime + Self.patience : nil
        if !isExempt { abort(slot, reason: "was not ready in time", at: now) }
      }
      enforceDeadlines(slot, heard: heard)
      if let due = slot.stallDetector?.nextCheckAt, due <= heard,
        slot.stallDetector?.isHung(slot.observation, at: heard) == true
          || Mutant.killsBusyServices.isActive
      {
        abort(slot, reason: "is stuck", at: now)
      }
      if let due = slot.checkAt, due <= now.monotonic { check(slot, at: now) }
    }
  }

  /// Sends a health check. The process answers it from the loop that does the work, or during long work. A
  /// process that does not answer is examined before it counts as stuck; see ``StallDetector``.
  private func check(_ slot: SupervisedService, at now: Moment) {
    slot.checkAt = Mutant.probesOnce.isActive ? nil : now.monotonic + watchdogTimeout
    guard slot.unanswered == nil else { return }
    slot.checks += 1
    slot.unanswered = slot.checks
    slot.stallDetector = StallDetector(patience: watchdogTimeout, at: now.listeningTime)
    send(.check(slot.checks), to: slot)
  }

  /// Kills a process: SIGABRT first, so that a core dump shows the cause, and SIGKILL soon after.
  func abort(_ slot: SupervisedService, reason: String, at now: Moment) {
    write("stuck", .warn, about: slot, at: now) {
      $0.field("child", slot.pid)
      $0.field("child_gen", slot.generation)
      $0.field("msg", "\(slot.specification.name) \(reason)")
    }
    slot.endChecks()
    abort(slot, at: now)
  }
}

// MARK: - Process life cycle

extension ServiceSupervisor: ProcessSupervisor {
  typealias Incoming = ServiceProcessMessage
  typealias Outgoing = SupervisorMessage
  typealias Slot = SupervisedService

  static let limits = ProcessLimits(unread: 1 << 16)

  func name(of slot: SupervisedService) -> (key: StaticString, value: String) {
    ("worker_name", slot.specification.name)
  }

  /// Program of a service and its arguments; `--existing` is added if it must already have a database.
  func command(for slot: SupervisedService) -> (program: String, arguments: [String]) {
    (slot.specification.program, slot.specification.arguments + (slot.hasDatabase ? ["--existing"] : []))
  }

  func nextGeneration(at slot: SupervisedService) -> Generation { slot.generation + 1 }

  /// Sets the time by which a started process must be ready.
  func began(_ slot: SupervisedService, at now: Moment) {
    slot.readyDeadline = now.listeningTime + Self.patience
    onChange?()
  }

  /// Handles a message of a service process; one that is not allowed in the present phase kills the process.
  func handle(_ message: ServiceProcessMessage, from slot: SupervisedService) {
    switch (slot.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: slot)
    case (.welcomed, .ready): becomeReady(slot)
    case (.welcomed, .failed(let failure)), (.ready, .failed(let failure)):
      // The process is about to exit, for this reason.
      slot.failure = failure
      slot.lastExitReason = Self.messageDetail(on: failure)
      slot.hasReportedFailure = true
      write("failed", .error, about: slot) {
        $0.field("code", failure.code.name)
        $0.field("subject", failure.subject)
        $0.field("msg", failure.detail)
      }
    case (.starting, .beat(ServiceProcessMessage.progress)),
      (.welcomed, .beat(ServiceProcessMessage.progress)):
      slot.readyDeadline = loop.moment().listeningTime + Self.patience
    case (.ready, .beat(ServiceProcessMessage.progress)):
      if !Mutant.ignoresProgress.isActive {
        slot.stallDetector?.heard(at: loop.moment().listeningTime)
      }
    case (.ready, .beat(ServiceProcessMessage.worked)): slot.history.didWork()
    case (.ready, .beat(let number)) where number == slot.unanswered:
      (slot.unanswered, slot.stallDetector) = (nil, nil)
      slot.history.didWork()
    case (.welcomed, .database(let mark)), (.ready, .database(let mark)): onDatabase?(slot, mark)
    case (.leaving, _): break
    // An exited process is not aborted: its answer to a health check matches no case, because its checks have ended.
    default:
      if slot.exitStatus == nil || Mutant.killsTheSuccessor.isActive {
        abort(slot, reason: "sent a message out of turn", at: loop.moment())
      }
    }
  }

  /// Checks the hello of a process, and sends its settings or a refusal.
  private func greet(_ hello: Hello, at slot: SupervisedService) {
    guard slot.channel != nil, let orders = orders?(slot) else { return }
    if let reason = objection(to: hello, as: slot.specification.peerRole) {
      let detail = MessageDetail(.otherBuild, slot.specification.name, hello.version, hello.build)
      slot.lastExitReason = detail
      let build = BuildIdentity.current
      return refuse(slot, .refused(Refusal(reason: reason, build: build, detail: detail.description)))
    }
    slot.phase = .welcomed
    slot.sentOrders = orders
    send(.welcome(orders), to: slot)
  }

  /// Records that a process is ready, and starts its health checks.
  private func becomeReady(_ slot: SupervisedService) {
    let now = loop.moment()
    slot.phase = .ready
    (slot.readyDeadline, slot.lastExitReason, slot.failure) = (nil, nil, nil)
    slot.hasDatabase = true
    slot.endChecks()
    slot.checkAt = now.monotonic + watchdogTimeout
    slot.history.becameReady(at: now.monotonic)
    write("service_open", about: slot, at: now) {
      $0.field("child", slot.pid)
      $0.field("child_gen", slot.generation)
    }
    onChange?()
  }

  /// Gives a process that has closed its channel time to exit by itself, because it cannot be asked to exit any more.
  func channelEnded(_ slot: SupervisedService, _ end: CloseReason) {
    guard slot.child != nil else { return }
    slot.phase = .leaving
    slot.endChecks()
    if slot.killAt == nil { slot.killAt = loop.moment().listeningTime + Self.exitGrace }
  }

  func ended(_ slot: SupervisedService, _ status: ExitStatus) {
    // A reason reported by the process itself is more precise than its exit code.
    if !slot.hasReportedFailure { (slot.lastExitReason, slot.failure) = (MessageDetail(status), nil) }
    slot.hasReportedFailure = false
  }

  /// Starts a successor, gives the slot up, or leaves it empty if no process is wanted.
  func decide(_ slot: SupervisedService, at now: Moment, couldNotStart: Bool) {
    defer { onChange?() }
    guard slot.isWanted else { return }
    if slot.isReplaced {
      slot.isReplaced = false
      slot.history.clearHistory()
      return start(slot, at: now)
    }
    // Without the operator, removed or damaged data does not recover, and data of a newer build stays unreadable.
    if let code = slot.failure?.code, [.removed, .damaged, .newerSchema].contains(code) {
      return giveUp(slot, at: now)
    }
    startSuccessor(slot, at: now)
  }

  /// Does nothing: the bank continues without a service that was given up.
  func gaveUp(_ slot: SupervisedService) {}

  private static func messageDetail(on failure: Failure) -> MessageDetail {
    if failure.code == .damaged { return MessageDetail(.fileDamaged, failure.subject, failure.detail) }
    return failure.messageDetail
      ?? MessageDetail(quoting: failure.detail.isEmpty ? failure.code.name : failure.detail)
  }
}

/// Slot of one service process.
package final class SupervisedService: SupervisedProcess<ServiceProcessMessage, SupervisorMessage> {
  /// What is started in a slot: program, arguments, and roles.
  package struct Specification {
    /// Name in reports and logs, for example `stock`.
    package var name: String
    var peerRole: PeerRole
    var workerRole: WorkerRole
    var program: String
    var arguments: [String]
  }

  package var specification: Specification
  /// Examination of a process that has not answered a health check; nil if all are answered.
  var stallDetector: StallDetector?
  /// Time of the next health check; nil while the process is not ready.
  var checkAt: MonotonicTime?
  /// Number of the unanswered health check.
  var unanswered: Int64?
  /// Number of health checks sent to processes at this slot.
  var checks: Int64 = 0
  /// Settings that were last sent to a process at this slot; nil if none were sent.
  var sentOrders: ServiceProcessSettings?
  /// True if the present process was asked to exit so that a successor replaces it.
  var isReplaced = false
  /// Failure reported by the last process; nil if it reported none, or its successor works.
  var failure: Failure?
  /// True if a process has used a database since the bank was opened, also under an earlier coordinator: successors
  /// must not create a new one.
  var hasDatabase = false
  /// Mismatch between the service's database and the bank's record of it; nil if there is none or the operator
  /// has accepted it.
  var mismatch: DatabaseMismatch?
  /// Identity of the last database that a process at this slot has reported; nil before the first report.
  var reportedIdentity: Int64?
  /// Identity of the database that the operator has accepted; nil if none was.
  var acceptedIdentity: Int64?
  /// True if the present process has reported why it cannot work.
  var hasReportedFailure = false

  init(_ specification: Specification, history: RestartHistory) {
    self.specification = specification
    super.init(history: history)
  }

  override var nextDeadline: MonotonicTime? { .earlier(super.nextDeadline, checkAt) }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, stallDetector?.nextCheckAt) }

  override func clearDeadlines() {
    super.clearDeadlines()
    endChecks()
  }

  /// What the process is doing, for the decision whether it hangs.
  var observation: StallDetector.Observation {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    return switch activity.state {
    case .stopped: .stopped
    case .sleeping: .asleep(processorTicks: activity.processorTicks)
    case .running: .running(processorTicks: activity.processorTicks)
    // Killing does not help a process that waits for a slow disk or is being debugged.
    case .waitingForDisk, .traced, .ended: .excused
    }
  }

  /// Stops the health checks, because the process is exiting.
  func endChecks() { (checkAt, stallDetector, unanswered) = (nil, nil, nil) }
}
