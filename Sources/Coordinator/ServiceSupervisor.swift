// Supervisor of the bank's service processes, such as the stock: starts them, detects exits and hangs, and starts
// successors. The bank continues without them.
// Invariant: a process is reaped before its successor starts, so two processes never use the same database.

import BankModel
import Glibc
import Logbook
import Posix
import Supervision
import Time
import Transport
import Wire

package final class ServiceSupervisor {
  package var onChange: (() -> Void)?
  package var orders: ((SupervisedService) -> WorkerOrders)?
  var onDatabase: ((SupervisedService, DatabaseMark) -> Void)?
  private(set) var posts: [SupervisedService] = []

  let loop: EventLoop
  let log: LogFile
  let environment: Variables
  var residents: ResidentWorkers?
  /// Restart rules; they may change while the bank is open.
  var policy: RestartPolicy { didSet { for post in posts { post.history.adopt(policy) } } }
  /// Interval of health checks, and time for an answer before the process is examined.
  var standstill: TimeSpan
  private var chance: SeededGenerator

  /// Timeout for becoming ready: a large database is checked first.
  static let patience = TimeSpan.seconds(60)
  static let leaveGrace = TimeSpan.seconds(3)
  package init(
    loop: EventLoop, log: LogFile, policy: RestartPolicy, standstill: TimeSpan = Standstill.patience,
    seed: UInt64
  ) {
    self.loop = loop
    self.log = log
    self.policy = policy
    self.standstill = standstill
    chance = SeededGenerator(seed: seed)
    environment = ServiceNotifier.strip(Environment.all())
  }

  /// Starts a process that runs until the bank closes or ``dismiss(_:at:)`` stops it.
  /// - Parameter hasDatabase: True if the service used a database under the previous coordinator.
  @discardableResult
  package func open(
    _ specification: SupervisedService.Specification, hasDatabase: Bool = false, at now: Moment
  ) -> SupervisedService {
    let post = SupervisedService(specification, history: RestartHistory(policy: policy, seed: chance.next()))
    post.hasDatabase = hasDatabase
    posts.append(post)
    start(post, at: now)
    return post
  }

  /// Stops a process until `bringBack` starts it again.
  func dismiss(_ post: SupervisedService, at now: Moment) {
    (post.isWanted, post.restartAt, post.isReplaced) = (false, nil, false)
    if post.child != nil { leave(post, at: now) }
    onChange?()
  }

  /// Starts a process of the present specification, after the running process has exited.
  func bringBack(_ post: SupervisedService, at now: Moment) {
    post.history.forgive()
    (post.isWanted, post.isGivenUp, post.restartAt) = (true, false, nil)
    guard post.child != nil else { return start(post, at: now) }
    if post.phase != .leaving { leave(post, at: now) }
    post.readyBy = nil
    post.isReplaced = true
  }

  /// Restarts the processes that were given up, wait for their next start, or failed recently. A running process is
  /// first asked to exit.
  package func retryFailing(at now: Moment) {
    for post in posts where post.isWanted && !post.isReplaced && post.phase != .ready {
      guard post.isGivenUp || post.restartAt != nil || post.history.earlyDeaths > 0 else { continue }
      if post.child != nil {
        replace(post, at: now)
      } else {
        (post.isGivenUp, post.restartAt) = (false, nil)
        post.history.forgive()
        start(post, at: now)
      }
    }
  }

  /// Replaces a process, for example because its specification or orders have changed. The running process answers its
  /// open requests first.
  func replace(_ post: SupervisedService, at now: Moment) {
    guard post.isWanted, !post.isReplaced else { return }
    post.history.forgive()
    guard post.child != nil else {
      // The next process uses the new specification anyway, so start it now.
      return (post.isGivenUp, post.restartAt) = (false, now.monotonic)
    }
    post.isReplaced = true
    post.readyBy = nil
    leave(post, at: now)
    write("replaced", about: post, at: now) {
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
    }
  }

  /// True if the opening of the bank need not wait for any process: each is ready, or has failed.
  var isSettled: Bool {
    posts.allSatisfy { $0.phase == .ready || $0.isGivenUp || !$0.isReplaced && $0.history.deathsInARow > 0 }
  }

  /// True if the stock service was given up.
  var isStockGivenUp: Bool { posts.contains { $0.specification.workerRole == .stock && $0.isGivenUp } }
  package var count: Int { posts.count { $0.child != nil } }

  /// Asks all processes to exit; they answer their open requests first.
  package func closeAll(at now: Moment) {
    for post in posts {
      (post.isWanted, post.restartAt) = (false, nil)
      if post.child != nil { leave(post, at: now) } else { post.endChecks() }
    }
  }

  private func leave(_ post: SupervisedService, at now: Moment) {
    post.phase = .leaving
    post.endChecks()
    post.killAt = now.attended + Self.leaveGrace
    say(.close, to: post)
  }

  package func killAll() { for post in posts { post.child?.kill(SIGKILL) } }

  // MARK: - Deadlines

  package var nextDeadline: MonotonicTime? { nextDeadline(of: posts) }
  /// Next timeout, in attended time; see `AttendedTime`.
  package var nextJudgement: MonotonicTime? { nextJudgement(of: posts) }

  /// Applies deadlines that have passed. The caller has handled all received messages before.
  package func keepTime(_ now: Moment) {
    let heard = Kernel.makes("blamesServicesForItsOwnPause") ? now.monotonic : now.attended
    for post in posts {
      restartIfDue(post, at: now)
      if let due = post.readyBy, due <= heard {
        // A process that waits for a disk cannot report progress.
        let isExcused = post.sight == .excused
        post.readyBy = isExcused ? now.attended + Self.patience : nil
        if !isExcused { abort(post, reason: "was not ready in time", at: now) }
      }
      endOverdue(post, heard: heard)
      if let due = post.silence?.lookAt, due <= heard,
        post.silence?.seen(post.sight, at: heard) == true || Kernel.makes("judgesBySilence")
      {
        abort(post, reason: "is stuck", at: now)
      }
      if let due = post.checkAt, due <= now.monotonic { check(post, at: now) }
    }
  }

  /// Sends a health check. The process answers it from the loop that does the work, or during long work. A
  /// process that does not answer is examined before it counts as stuck; see ``Standstill``.
  private func check(_ post: SupervisedService, at now: Moment) {
    post.checkAt = Kernel.makes("checksOnce") ? nil : now.monotonic + standstill
    guard post.unanswered == nil else { return }
    post.checks += 1
    post.unanswered = post.checks
    post.silence = Standstill(patience: standstill, at: now.attended)
    say(.check(post.checks), to: post)
  }

  /// Kills a process: SIGABRT first, so that a core dump shows the cause, and SIGKILL soon after.
  func abort(_ post: SupervisedService, reason: String, at now: Moment) {
    write("stuck", .warn, about: post, at: now) {
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
      $0.field("msg", "\(post.specification.name) \(reason)")
    }
    post.endChecks()
    abort(post, at: now)
  }
}

// MARK: - Process life cycle

extension ServiceSupervisor: ProcessSupervisor {
  typealias Incoming = WorkerMessage
  typealias Outgoing = SupervisorMessage
  typealias Post = SupervisedService

  static let limits = ProcessLimits(unread: 1 << 16)

  func name(of post: SupervisedService) -> (key: StaticString, value: String) {
    ("worker_name", post.specification.name)
  }

  func command(for post: SupervisedService) -> (program: String, arguments: [String]) {
    (post.specification.program, post.specification.arguments + (post.hasDatabase ? ["--existing"] : []))
  }

  func nextGeneration(at post: SupervisedService) -> Generation { post.generation + 1 }

  func began(_ post: SupervisedService, at now: Moment) {
    post.readyBy = now.attended + Self.patience
    onChange?()
  }

  func hear(_ message: WorkerMessage, from post: SupervisedService) {
    switch (post.phase, message) {
    case (.starting, .hello(let hello)): greet(hello, at: post)
    case (.welcomed, .ready): becomeReady(post)
    case (.welcomed, .failed(let failure)), (.ready, .failed(let failure)):
      // The process is about to exit, for this reason.
      post.failure = failure
      post.lastEnd = Self.remark(on: failure)
      post.hasExplained = true
      write("failed", .error, about: post) {
        $0.field("code", failure.code.name)
        $0.field("subject", failure.subject)
        $0.field("msg", failure.detail)
      }
    case (.starting, .beat(WorkerMessage.progress)), (.welcomed, .beat(WorkerMessage.progress)):
      post.readyBy = loop.moment().attended + Self.patience
    case (.ready, .beat(WorkerMessage.progress)):
      if !Kernel.makes("isDeafToProgress") { post.silence?.heard(at: loop.moment().attended) }
    case (.ready, .beat(WorkerMessage.worked)): post.history.didWork()
    case (.ready, .beat(let number)) where number == post.unanswered:
      (post.unanswered, post.silence) = (nil, nil)
      post.history.didWork()
    case (.welcomed, .database(let mark)), (.ready, .database(let mark)): onDatabase?(post, mark)
    case (.leaving, _): break
    // An exited process is not aborted for earlier messages: the state of its requests is no longer known.
    default:
      if post.exitStatus == nil || Kernel.makes("killsTheSuccessor") {
        abort(post, reason: "sent a message out of turn", at: loop.moment())
      }
    }
  }

  private func greet(_ hello: Hello, at post: SupervisedService) {
    guard post.channel != nil, let orders = orders?(post) else { return }
    if let reason = objection(to: hello, as: post.specification.peerRole) {
      let detail = Remark(.otherBuild, post.specification.name, hello.version, hello.build)
      post.lastEnd = detail
      let build = BuildIdentity.current
      return refuse(post, .refused(Refusal(reason: reason, build: build, detail: detail.description)))
    }
    post.phase = .welcomed
    post.told = orders
    say(.welcome(orders), to: post)
  }

  private func becomeReady(_ post: SupervisedService) {
    let now = loop.moment()
    post.phase = .ready
    (post.readyBy, post.lastEnd, post.failure) = (nil, nil, nil)
    post.hasDatabase = true
    post.endChecks()
    post.checkAt = now.monotonic + standstill
    post.history.becameReady(at: now.monotonic)
    write("service_open", about: post, at: now) {
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
    }
    onChange?()
  }

  /// A process without a channel cannot be asked to exit; it gets time to exit by itself.
  func channelEnded(_ post: SupervisedService, _ end: ChannelEnd) {
    guard post.child != nil else { return }
    post.phase = .leaving
    post.endChecks()
    if post.killAt == nil { post.killAt = loop.moment().attended + Self.leaveGrace }
  }

  func ended(_ post: SupervisedService, _ status: ExitStatus) {
    // A reason reported by the process itself is more precise than its exit code.
    if !post.hasExplained { (post.lastEnd, post.failure) = (Remark(status), nil) }
    post.hasExplained = false
  }

  func decide(_ post: SupervisedService, at now: Moment, couldNotStart: Bool) {
    defer { onChange?() }
    guard post.isWanted else { return }
    if post.isReplaced {
      post.isReplaced = false
      post.history.forgive()
      return start(post, at: now)
    }
    // Without the operator, removed or damaged data does not recover, and data of a newer build stays unreadable.
    if let code = post.failure?.code, [.removed, .damaged, .newerSchema].contains(code) {
      return giveUp(post, at: now)
    }
    succeed(post, at: now)
  }

  func gaveUp(_ post: SupervisedService) {}

  /// Reason of a failure, in a few words.
  private static func remark(on failure: Failure) -> Remark {
    if failure.code == .damaged { return Remark(.fileDamaged, failure.subject, failure.detail) }
    return failure.remark ?? Remark(quoting: failure.detail.isEmpty ? failure.code.name : failure.detail)
  }
}

/// Post of one service process: the stock, the vending machine or the web server.
package final class SupervisedService: SupervisedProcess<WorkerMessage, SupervisorMessage> {
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
  var silence: Standstill?
  var checkAt: MonotonicTime?
  /// Number of the unanswered health check.
  var unanswered: Int64?
  var checks: Int64 = 0
  /// Orders that were last sent to a process at this post; nil if none were sent.
  var told: WorkerOrders?
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
  /// True if the operator has accepted the present database.
  var isAccepted = false
  /// True if the present process has reported why it cannot work.
  var hasExplained = false

  init(_ specification: Specification, history: RestartHistory) {
    self.specification = specification
    super.init(history: history)
  }

  override var nextDeadline: MonotonicTime? { .earlier(super.nextDeadline, checkAt) }
  override var nextJudgement: MonotonicTime? { .earlier(super.nextJudgement, silence?.lookAt) }

  override func expectNothing() {
    super.expectNothing()
    endChecks()
  }

  var sight: Standstill.Sight {
    guard let activity = ProcessTable.activity(of: pid) else { return .excused }
    return switch activity.state {
    case .stopped: .stopped
    case .sleeping: .asleep(processorTicks: activity.processorTicks)
    case .running: .running(processorTicks: activity.processorTicks)
    // Killing does not help a process that waits for a slow disk or is being debugged.
    case .waitingForDisk, .traced, .ended: .excused
    }
  }

  func endChecks() { (checkAt, silence, unanswered) = (nil, nil, nil) }
}
