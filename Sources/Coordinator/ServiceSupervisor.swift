// Owns the processes behind the windows, such as the stock: starting them, noticing every way in which they end or
// stand still, and starting their successors. It knows no queue and nothing of what they do; the bank goes on
// without them. Invariant: a process is reaped before its successor starts, so two never have the same database.

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
  /// The rules of starting again; they may change while the bank is open.
  var policy: RestartPolicy { didSet { for post in posts { post.history.adopt(policy) } } }
  /// How often a process is asked for a sign of life, and how long it may take to give it before it is looked at.
  var standstill: TimeSpan
  private var chance: SeededGenerator

  /// How long a process may take until it is ready: a large database is looked at first.
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

  /// Starts a process that shall run as long as the bank is open.
  /// - Parameter hasDatabase: whether it has worked with a database under the coordinator before this one.
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

  /// Ends a process for good, as far as nobody brings it back.
  func dismiss(_ post: SupervisedService, at now: Moment) {
    (post.isWanted, post.restartAt, post.isReplaced) = (false, nil, false)
    if post.child != nil { leave(post, at: now) }
    onChange?()
  }

  /// Starts a process of the present specification, as soon as the one that is there has made way.
  func bringBack(_ post: SupervisedService, at now: Moment) {
    post.history.forgive()
    (post.isWanted, post.isGivenUp, post.restartAt) = (true, false, nil)
    guard post.child != nil else { return start(post, at: now) }
    if post.phase != .leaving { leave(post, at: now) }
    post.readyBy = nil
    post.isReplaced = true
  }

  /// Tries at once what was given up, or waits for its next attempt, or is about to fail once more.
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

  /// Has a process make way for another one, because what it was started with or told is not true any more. What was
  /// asked of it is answered first.
  func replace(_ post: SupervisedService, at now: Moment) {
    guard post.isWanted, !post.isReplaced else { return }
    post.history.forgive()
    guard post.child != nil else {
      // The next one is of the new kind anyway; nothing stands in its way any more.
      return (post.isGivenUp, post.restartAt) = (false, now.monotonic)
    }
    post.isReplaced = true
    post.isReplaced = true
    post.readyBy = nil
    leave(post, at: now)
    write("replaced", about: post, at: now) {
      $0.field("child", post.pid)
      $0.field("child_gen", post.generation)
    }
  }

  /// Whether nothing has still to be waited for when a bank opens: everything is at work, or will not be soon.
  var isSettled: Bool {
    posts.allSatisfy { $0.phase == .ready || $0.isGivenUp || !$0.isReplaced && $0.history.deathsInARow > 0 }
  }

  /// Whether no stock service comes any more by itself.
  var isStockGivenUp: Bool { posts.contains { $0.specification.workerRole == .stock && $0.isGivenUp } }
  package var count: Int { posts.count { $0.child != nil } }

  /// Everyone shall go: what was asked of them is answered first.
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

  // MARK: - Time

  package var nextDeadline: MonotonicTime? { nextDeadline(of: posts) }
  /// When somebody is judged next by what it has said, in the time that was attended.
  package var nextJudgement: MonotonicTime? { nextJudgement(of: posts) }

  /// Does what is due. Everything that was said has been heard before.
  package func keepTime(_ now: Moment) {
    let heard = Kernel.makes("blamesServicesForItsOwnPause") ? now.monotonic : now.attended
    for post in posts {
      restartIfDue(post, at: now)
      if let due = post.readyBy, due <= heard {
        // Whoever waits for a disk cannot report how it goes on.
        let isExcused = post.sight == .excused
        post.readyBy = isExcused ? now.attended + Self.patience : nil
        if !isExcused { abort(post, reason: "was not ready in time", at: now) }
      }
      endOverdue(post, heard: heard)
      if let due = post.silence?.lookAt, due <= heard,
        post.silence?.seen(post.sight, at: heard) == true || Kernel.makes("judgesBySilence")
      {
        abort(post, reason: "stands still", at: now)
      }
      if let due = post.checkAt, due <= now.monotonic { check(post, at: now) }
    }
  }

  /// Asks for a sign of life, which is given by the loop that does the work, or by a long work as it goes on. Whether one
  /// that gives none is stuck depends on what it is seen doing; see ``Standstill``.
  private func check(_ post: SupervisedService, at now: Moment) {
    post.checkAt = Kernel.makes("checksOnce") ? nil : now.monotonic + standstill
    guard post.unanswered == nil else { return }
    post.checks += 1
    post.unanswered = post.checks
    post.silence = Standstill(patience: standstill, at: now.attended)
    say(.check(post.checks), to: post)
  }

  /// Ends a process that is of no use any more: SIGABRT, so that a core may tell why, and SIGKILL soon after.
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

// MARK: - The life of a process

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
      // The process ends by itself; this is why.
      post.failure = failure
      post.lastEnd = Self.remark(on: failure)
      post.hasExplained = true
      write("failed", .error, about: post) {
        $0.field("code", failure.code.rawValue)
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
    // Whoever has ended is judged no more by what it said before: of what it was asked nothing is known any more.
    default:
      if post.exitStatus == nil || Kernel.makes("killsTheSuccessor") {
        abort(post, reason: "spoke out of turn", at: loop.moment())
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

  /// Without a channel nobody can tell it to go; a process that is going anyway is given the time to.
  func channelEnded(_ post: SupervisedService, _ end: ChannelEnd) {
    guard post.child != nil else { return }
    post.phase = .leaving
    post.endChecks()
    if post.killAt == nil { post.killAt = loop.moment().attended + Self.leaveGrace }
  }

  func ended(_ post: SupervisedService, _ status: ExitStatus) {
    // Where it has said itself why it cannot begin, the code says less.
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
    // What was removed does not come back by itself, and what is damaged does not heal.
    if let code = post.failure?.code, [.removed, .damaged, .newerSchema].contains(code) {
      return giveUp(post, at: now)
    }
    succeed(post, at: now)
  }

  func gaveUp(_ post: SupervisedService) {}

  /// Why a process cannot work, in a few words.
  private static func remark(on failure: Failure) -> Remark {
    if failure.code == .damaged { return Remark(.fileDamaged, failure.subject, failure.detail) }
    return failure.remark ?? Remark(quoting: failure.detail.isEmpty ? failure.code.rawValue : failure.detail)
  }
}

/// One process behind the windows as the coordinator sees it: the stock, or the vending machine.
package final class SupervisedService: SupervisedProcess<WorkerMessage, SupervisorMessage> {
  package struct Specification {
    /// The worker's name in reports and logs: `stock`.
    package var name: String
    var peerRole: PeerRole
    var workerRole: WorkerRole
    var program: String
    var arguments: [String]
  }

  package var specification: Specification
  /// Since a process was asked for a sign of life that it has not given; nil while it has given all.
  var silence: Standstill?
  var checkAt: MonotonicTime?
  /// The number of the check that was not answered yet.
  var unanswered: Int64?
  var checks: Int64 = 0
  /// What the present process was told when it came; nil before.
  var told: WorkerOrders?
  /// Whether the present process was told to go because another one shall take its place.
  var isReplaced = false
  /// What the last process said of it itself; nil where it said nothing, or its successor works.
  var failure: Failure?
  /// Whether there is a database with which a process has worked since the bank was opened: its successors make no new one
  /// in its place.
  var hasDatabase = false
  /// What is wrong between its database and the bank's; nil where nothing is, or the operator goes on with it.
  var mismatch: DatabaseMismatch?
  /// Whether the operator goes on with the database that is there.
  var isAccepted = false
  /// Whether the present process has said itself why it cannot begin.
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
    // A slow disk, or a debugger, cannot be helped by ending it.
    case .waitingForDisk, .traced, .ended: .excused
    }
  }

  func endChecks() { (checkAt, silence, unanswered) = (nil, nil, nil) }
}
