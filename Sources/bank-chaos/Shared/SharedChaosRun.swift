// Chaos over several branches: one loop with clients of all branches, faults, and measurements of the time
// until customers are served again.
// Invariant: a coordinator is killed alone only if a guardian is at work, and no single process of a branch is
// killed before it is ready. By design the bank does not restart a process that has exited too often before it was
// ready.
// Errors: a bank that completes no customer for too long, or a server that does not start again, ends the chaos,
// and `recovered` is false.
import BankModel
import Glibc
import Posix
import Time

final class SharedChaosRun {
  /// A running measurement of the time from a fault until customers are served again.
  private struct RecoveryMeasurement {
    let fault: SharedFault
    let since: MonotonicTime
    /// If not empty, the start or the completion of one of these customers at another branch ends the measurement. If
    /// empty, a completion at the branch that was hit ends it, or any completion if the server was hit.
    var customers: Set<ChaosTicket> = []
    /// The branch that was hit; nil for the server.
    let branch: Int?
  }

  /// Number of injected faults, and the measured times after them.
  private(set) var counts: [SharedFault: Int64] = [:]
  private(set) var gaps: [SharedFault: [TimeSpan]] = [:]
  /// False if no customer was completed for too long, or the server did not start again.
  private(set) var recovered = true
  let traffic: ChaosTraffic
  let branches: [SharedChaosBranch]
  let snapshot: ChaosSnapshot
  private let server: ChaosServer
  private let loop: EventLoop
  private let limits: ChaosRun.Limits
  private var plan: SharedPlan
  /// The next fault, and the time when it is injected.
  private var step: (plan: SharedPlan.Step, at: MonotonicTime)
  private var waiting: [RecoveryMeasurement] = []
  /// Number of received SIGINT and SIGTERM.
  private var interruptions = 0
  private var signals: SignalSource?
  private var lastMessageAt: MonotonicTime
  /// Time of the next query that checks whether all branches have joined.
  private var nextCheckAt = MonotonicTime(nanoseconds: 0)
  /// Pause between two queries that check whether all branches have joined.
  private static let checkInterval = TimeSpan.milliseconds(200)
  private static let tick = TimeSpan.milliseconds(2)
  /// Pause before a fault that cannot be injected now is tried again.
  private static let pollInterval = TimeSpan.milliseconds(20)
  /// Longest time without a completion: allows for a lease, a retry delay, and a busy machine.
  private static let timeout = TimeSpan.seconds(90)
  /// Longest time of a measurement. Longer ones are dropped, such as that of a partition shorter than a lease.
  private static let measured = TimeSpan.seconds(30)

  init(
    _ branches: [SharedChaosBranch], _ server: ChaosServer, on loop: EventLoop, plan: SharedPlan,
    traffic: ChaosTraffic, limits: ChaosRun.Limits
  ) throws(SystemError) {
    (self.branches, self.server, self.loop, self.plan, self.limits) = (branches, server, loop, plan, limits)
    self.traffic = traffic
    snapshot = ChaosSnapshot(at: server)
    let now = SystemClock.monotonic()
    lastMessageAt = now
    let first = self.plan.next()
    step = (first, now + first.after)
    signals = try SignalSource([SIGINT, SIGTERM], on: loop) { [unowned self] _ in interruptions += 1 }
    for branch in branches {
      branch.onEvent = { [unowned self] in handleEvent($0, isCompleted: $1, at: branch.number) }
    }
  }

  deinit {
    signals = nil
    try? Signals.unblock([SIGINT, SIGTERM])
  }

  var faultCount: Int64 { counts.values.reduce(0, +) }
  var completions: Int64 { branches.reduce(0) { $0 + $1.monitor.completions } }

  /// Waits until every branch is open with all its tellers, and runs until a limit is reached or a signal interrupts
  /// it. Then waits until every branch is open with all its tellers and a lease, and every request has been answered.
  func run(_ progress: () -> Void) throws(SystemError) {
    try runIteration(until: { branches.allSatisfy(\.isHealthy) }, progress)
    let now = SystemClock.monotonic()
    step.at = now + step.plan.after
    let end = now + limits.time
    while interruptions == 0, recovered, faultCount < limits.kills, SystemClock.monotonic() < end,
      !traffic.isExhausted
    {
      try runIteration(wantsMore: true)
      if SystemClock.monotonic() >= step.at { attempt() }
      progress()
    }
    for branch in branches {
      branch.bank.resume(nil)
      branch.reconnect()
    }
    try runIteration(until: { branches.allSatisfy(\.isHealthy) && traffic.isSettled && areJoined }, progress)
    traffic.disconnect()
    for branch in branches { branch.monitor.disconnect() }
  }

  /// True if all branches have a lease: a branch that rejoined after the bank has closed would open the next day.
  /// The server is queried after each `checkInterval`, and the value is false in between.
  private var areJoined: Bool {
    let now = SystemClock.monotonic()
    guard now >= nextCheckAt else { return false }
    nextCheckAt = now + Self.checkInterval
    return server.sql(
      "SELECT count(*) FROM bank.branch WHERE lease_expires_at > clock_timestamp() AND NOT closed")
      == "\(branches.count)"
  }

  /// Runs without new customers until the condition holds, the bank fails or a second signal arrives.
  private func runIteration(until isDone: () -> Bool, _ progress: () -> Void) throws(SystemError) {
    lastMessageAt = SystemClock.monotonic()
    while recovered, interruptions < 2, !isDone() {
      try runIteration(wantsMore: false)
      progress()
    }
  }

  /// Runs the loop once. The clients send new orders if `wantsMore` is true and few customers wait.
  private func runIteration(wantsMore: Bool) throws(SystemError) {
    _ = try loop.runOnce(until: SystemClock.monotonic() + Self.tick)
    let now = SystemClock.monotonic()
    for branch in branches { branch.runIteration(now) }
    snapshot.runIteration(now)
    // The counts of the healthy branch with the most waiting customers. A branch that is cut off reports old ones.
    let queue = branches.filter(\.isHealthy).compactMap { $0.monitor.snapshot?.queue }.max {
      $0.waiting < $1.waiting
    }
    let crowd = queue.map { $0.waiting + $0.delayed } ?? 0
    traffic.runIteration(now, wantsMore: wantsMore && crowd < ChaosTraffic.crowd * Int64(branches.count))
    waiting.removeAll { now.since($0.since) > Self.measured }
    if now.since(lastMessageAt) > Self.timeout { recovered = false }
  }

  // MARK: - Measuring

  /// Ends the measurements that the start or the completion of a customer ends.
  private func handleEvent(_ ticket: ChaosTicket, isCompleted: Bool, at branch: Int) {
    let now = SystemClock.monotonic()
    if isCompleted { lastMessageAt = now }
    waiting.removeAll { gap in
      let isOver =
        gap.customers.isEmpty
        ? isCompleted && (gap.branch ?? branch) == branch
        : branch != gap.branch && gap.customers.contains(ticket)
      if isOver { gaps[gap.fault, default: []].append(now.since(gap.since)) }
      return isOver
    }
  }

  /// Starts a measurement after a fault; `branch` is nil for a fault of the server.
  private func measure(_ fault: SharedFault, _ branch: SharedChaosBranch?, _ customers: Set<ChaosTicket> = [])
  {
    waiting.append(
      RecoveryMeasurement(
        fault: fault, since: SystemClock.monotonic(), customers: customers, branch: branch?.number))
  }

  // MARK: - Faults

  /// Injects the planned fault and draws the next one. If the fault is not possible now, it is tried again later.
  private func attempt() {
    let wanted = step.plan
    let isDone =
      switch wanted.fault {
      case .stop, .server: endServer(wanted)
      case .backend: killBackend(wanted)
      default: attempt(wanted)
      }
    if isDone {
      counts[wanted.fault, default: 0] += 1
      let next = plan.next()
      step = (next, SystemClock.monotonic() + next.after)
    } else {
      step.at = SystemClock.monotonic() + Self.pollInterval
    }
  }

  /// Injects the fault into a healthy branch; a long fault requires that another one is healthy. Returns false if
  /// that is not possible now.
  private func attempt(_ wanted: SharedPlan.Step) -> Bool {
    let well = branches.filter(\.isHealthy)
    let isLong = [.branch, .partition, .zombie].contains(wanted.fault)
    guard well.count > (isLong ? 1 : 0) else { return false }
    let branch = well[Int(wanted.pick % UInt64(well.count))]
    let until = SystemClock.monotonic() + wanted.length
    switch wanted.fault {
    case .teller: return killTeller(of: branch, wanted.pick >> 8)
    case .coordinator: return killCoordinator(of: branch)
    case .branch:
      let customers = branch.takeAtWindows()
      branch.kill(until: until)
      if !customers.isEmpty { measure(.branch, branch, customers) }
    case .session:
      guard let pid = server.backend(of: branch.application, pick: wanted.pick >> 8),
        server.sql("SELECT pg_terminate_backend(\(pid))") == "t"
      else { return false }
      measure(.session, branch)
    case .partition:
      let customers = branch.servingCustomers
      guard branch.cut(until: until) else {
        // This branch cannot be cut off: count the fault as done.
        return true
      }
      if !customers.isEmpty { measure(.partition, branch, customers) }
    case .zombie:
      guard let coordinator = branch.bank.census().first(where: { $0.kind == .coordinator }) else {
        return false
      }
      let customers = branch.takeAtWindows()
      guard branch.bank.stop(coordinator, until: until) else { return false }
      // A guardian would soon replace a coordinator that is silent for so long. The guardian is therefore stopped too,
      // as on a suspended machine.
      if wanted.length >= SharedPlan.sleep,
        let guardian = branch.bank.census().first(where: { $0.kind == .guardian })
      {
        _ = branch.bank.stop(guardian, until: until)
      }
      branch.monitor.coordinatorStopped()
      if !customers.isEmpty { measure(.zombie, branch, customers) }
    case .backend, .stop, .server: break
    }
    return true
  }

  /// Kills a ready teller. Returns false if there is none.
  private func killTeller(of branch: SharedChaosBranch, _ pick: UInt64) -> Bool {
    let ready =
      branch.monitor.snapshot?.workers.filter { $0.state == .serving || $0.state == .idle }.map(\.pid) ?? []
    let tellers = branch.bank.census().filter { $0.kind == .teller && ready.contains($0.pid) }
    guard !tellers.isEmpty else { return false }
    let victim = tellers[Int(pick % UInt64(tellers.count))]
    let now = SystemClock.monotonic()
    guard branch.bank.kill(victim) else { return false }
    if let window = victim.window { branch.monitor.tellerKilled(window: window, at: now) }
    return true
  }

  /// Kills a coordinator that has a guardian at work. Returns false if it has none.
  private func killCoordinator(of branch: SharedChaosBranch) -> Bool {
    let people = branch.bank.census()
    guard branch.bank.home.isGuarded, let snapshot = branch.monitor.snapshot,
      let victim = people.first(where: { $0.kind == .coordinator && $0.pid == snapshot.pid }),
      people.contains(where: { $0.kind == .guardian && $0.pid == snapshot.guardianPid })
    else { return false }
    let now = SystemClock.monotonic()
    guard branch.bank.kill(victim) else { return false }
    branch.monitor.coordinatorKilled(at: now)
    return true
  }

  /// Kills a process of the server that serves a branch. Returns false if there is none.
  private func killBackend(_ wanted: SharedPlan.Step) -> Bool {
    let branch = branches[Int(wanted.pick % UInt64(branches.count))]
    guard let pid = server.backend(of: branch.application, pick: wanted.pick >> 8), server.kill(backend: pid)
    else {
      return false
    }
    measure(.backend, nil)
    return true
  }

  /// Ends the server by the signal of the fault, and starts it again. Always returns true: if it does not start, the
  /// run ends.
  private func endServer(_ wanted: SharedPlan.Step) -> Bool {
    server.end(wanted.fault == .stop ? SIGQUIT : SIGKILL)
    guard server.start() else {
      recovered = false
      return true
    }
    measure(wanted.fault, nil)
    return true
  }
}
