// The chaos itself: one loop with clients, kills and observers.
// Invariant: the run does nothing that the bank must do by itself, and requires nothing that is not promised. It
// kills a coordinator only if a guardian is at work. It kills processes before they are ready only as often as the
// bank tolerates: after too many such exits in a row the bank does not restart a process.
// Errors: a bank that does not recover in time ends the chaos, and `recovered` is false.
import BankModel
import Glibc
import Posix
import Time

final class ChaosRun {
  /// Limits of a run: its time, its kills, and the customers that its clients add.
  struct Limits {
    var time: TimeSpan = .seconds(30)
    var kills = Int64.max
    var customers = Int64.max
  }

  private(set) var kills: [ChaosTarget: Int64] = [:]
  private(set) var stops: Int64 = 0
  private(set) var killTimes: [ChaosCheckResult.KillTime] = []
  /// Processes that ran for too long after the kill of their coordinator.
  private(set) var orphans: [ChaosProcess] = []
  /// False if the bank sent no message for too long.
  private(set) var recovered = true
  /// Number of received SIGINT and SIGTERM.
  private(set) var interruptions = 0
  let traffic: ChaosTraffic
  let stockLoad: ChaosStockLoad
  let vendingLoad: ChaosVendingLoad
  let monitor: ChaosMonitor
  /// Nil if the bank has no web page.
  let page: ChaosPage?
  private let work: ChaosWork?
  private let bank: ChaosBank
  private let limits: Limits
  private let loop: EventLoop
  private var plan: ChaosPlan
  private var signals: SignalSource?
  /// The next kill, stop and cut, each with its time; no stops and no cuts if the rules exclude them.
  private var kill: (plan: ChaosPlan.Kill, at: MonotonicTime)
  private var stop: (plan: ChaosPlan.Stop, at: MonotonicTime)?
  private var cut: (plan: ChaosPlan.Cut, at: MonotonicTime)?
  /// Children of killed coordinators, with the time when they count as orphans.
  private var orphanCandidates: [(children: [ChaosProcess], at: MonotonicTime)] = []
  /// All processes that this run has killed; the census leaves them out, because they may not have exited yet.
  private var killedProcesses: Set<ChaosProcess> = []
  /// Number of processes that were killed before they were ready, by `earlyKillKey`.
  private var earlyKills: [String: Int] = [:]
  /// Time at which the next kill was chosen.
  private var targetChosenAt: MonotonicTime
  /// Time when each guardian was first found.
  private var guardianFirstSeen: [ChaosProcess: MonotonicTime] = [:]
  /// Maximum number of processes that are killed before they are ready, per window or per guardian.
  private static let earlyKillLimit = 3
  /// Longest wait for a victim of a kind that may not exist, including the pause before the kill.
  private static let missingTargetTimeout = TimeSpan.milliseconds(300)
  /// The same for a kind that every bank has unless its windows were closed during the run. A coordinator may take
  /// seconds to start on a busy machine.
  private static let closedWindowTimeout = TimeSpan.seconds(30)
  private static let tick = TimeSpan.milliseconds(2)
  /// Pause between two searches for a victim.
  private static let pollInterval = TimeSpan.milliseconds(5)
  /// Longest time without a message from the bank.
  private static let timeout = TimeSpan.seconds(20)
  /// Longest time that a process may outlive its coordinator. A process that has just been started notices
  /// the exit only when it first runs, which takes long on a busy machine.
  private static let orphanTimeout = TimeSpan.seconds(10)
  /// Age from which a guardian may be killed. Longer than the time after which a coordinator regards it as
  /// working.
  private static let guardianStartTime = TimeSpan.milliseconds(1200)

  init(
    _ bank: ChaosBank, on loop: EventLoop, plan: ChaosPlan, stockLoad: ChaosStockLoad,
    vendingLoad: ChaosVendingLoad,
    work: ChaosWork?, page: ChaosPage?, hasStation: Bool, seed: UInt64, name: String, limits: Limits
  ) throws(SystemError) {
    (self.bank, self.plan, self.limits, self.loop) = (bank, plan, limits, loop)
    (self.stockLoad, self.vendingLoad, self.work, self.page) = (stockLoad, vendingLoad, work, page)
    let juices = hasStation ? stockLoad.assortment.juices.map(\.id.name) : []
    traffic = ChaosTraffic(
      bank.home, on: loop, seed: seed, name: name, limit: limits.customers, juices: juices,
      hasWork: work != nil)
    monitor = ChaosMonitor(bank.home, on: loop)
    if let work { monitor.onCompleted = { work.leakDetector.ended($0) } }
    let now = SystemClock.monotonic()
    let first = self.plan.nextKill()
    kill = (first, now + first.after)
    targetChosenAt = now
    if plan.rules.stops { plannedStop(now) }
    if plan.rules.cuts { plannedCut(now) }
    signals = try SignalSource([SIGINT, SIGTERM], on: loop) { [unowned self] _ in interruptions += 1 }
  }

  deinit {
    signals = nil
    try? Signals.unblock([SIGINT, SIGTERM])
  }

  var killCount: Int64 { kills.values.reduce(0, +) }

  /// Runs until a limit is reached, all customers are served or a signal interrupts it. Then waits until the orders and
  /// the requests to stock and vending machine are answered, the page has recovered, and the children of killed
  /// coordinators have exited or count as orphans. A second signal ends the wait.
  func run(_ progress: () -> Void) throws(SystemError) {
    let end = SystemClock.monotonic() + limits.time
    while interruptions == 0, recovered, killCount < limits.kills, !isServed {
      let now = try runIteration(wantsMore: true)
      guard now < end else { break }
      bank.resume(now)
      if now >= kill.at { attemptKill(now) }
      if let stop, now >= stop.at { attemptStop(stop.plan, now) }
      if let cut, now >= cut.at {
        traffic.cut(cut.plan)
        plannedCut(now)
      }
      progress()
    }
    bank.resume(nil)
    while recovered, interruptions < 2,
      !traffic.isSettled || !stockLoad.isSettled || !vendingLoad.isSettled || !orphanCandidates.isEmpty
        || page?.isSettled == false
    { _ = try runIteration(wantsMore: false) }
    work?.settle()
    traffic.disconnect()
    page?.disconnect()
    monitor.disconnect()
  }

  /// True if the clients have added all of their customers, and each one has a receipt or is a dead letter.
  private var isServed: Bool {
    guard traffic.isExhausted, traffic.isSettled, let queue = monitor.snapshot?.queue else { return false }
    return queue.waiting + queue.delayed + queue.serving == 0 && queue.issued >= traffic.ledger.acknowledged
  }

  /// Runs the loop once, with all clients. They send new requests only if `wantsMore` is true.
  private func runIteration(wantsMore: Bool) throws(SystemError) -> MonotonicTime {
    try loop.runOnce(until: SystemClock.monotonic() + Self.tick)
    let now = SystemClock.monotonic()
    monitor.runIteration(now)
    let queue = monitor.snapshot?.queue
    let workers =
      monitor.snapshot?.services.reduce(0) {
        ChaosServices.all.contains($1.service) ? $0 + $1.waiting + $1.serving : $0
      } ?? 0
    let crowd = queue.map { $0.waiting + $0.delayed - workers } ?? 0
    traffic.runIteration(
      now, wantsMore: wantsMore && crowd < ChaosTraffic.crowd,
      wantsWork: wantsMore && workers < ChaosTraffic.maxWaitingWork)
    work?.runIteration(now, monitor.snapshot, wantsMore: wantsMore)
    stockLoad.runIteration(now, wantsMore: wantsMore)
    vendingLoad.runIteration(now, wantsMore: wantsMore)
    page?.runIteration(now, coordinator: monitor.snapshot?.pid)
    countOrphans(now)
    if now.since(monitor.lastMessageAt) > Self.timeout { recovered = false }
    return now
  }

  /// Records the children of a killed coordinator that still run after the timeout as orphans.
  private func countOrphans(_ now: MonotonicTime) {
    while let first = orphanCandidates.first {
      let left = first.children.filter(\.isAlive)
      guard left.isEmpty || now >= first.at else { return }
      orphans += left
      orphanCandidates.removeFirst()
    }
  }

  /// Draws the next kill, and sets its time.
  private func plannedKill(_ now: MonotonicTime) {
    targetChosenAt = now
    let next = plan.nextKill()
    kill = (next, now + next.after)
  }

  /// Draws the next stop of a process, and sets its time.
  private func plannedStop(_ now: MonotonicTime) {
    let next = plan.nextStop()
    stop = (next, now + next.after)
  }

  /// Draws the next cut of a client's connection, and sets its time.
  private func plannedCut(_ now: MonotonicTime) {
    let next = plan.nextCut()
    cut = (next, now + next.after)
  }

  /// Kills the planned process if one can be killed now; if not, tries again later or draws another kill.
  private func attemptKill(_ now: MonotonicTime) {
    let processes = census(now)
    guard let victim = choose(kill.plan.target, kill.plan.pick, among: processes) else {
      // There may be no guardian that has worked for a while, no process for commands, or no window of the kind. In
      // these cases plan the next kill. A process of any other kind exists again soon.
      let target = kill.plan.target
      let timeout = target.mayBeMissing ? Self.missingTargetTimeout : Self.closedWindowTimeout
      if target == .guardian || now.since(targetChosenAt) > timeout {
        plannedKill(now)
      } else {
        kill.at = now + Self.pollInterval
      }
      return
    }
    if kill.plan.isPair { killCoordinator(processes, before: victim) }
    let wall = SystemClock.wall().milliseconds
    let instant = SystemClock.monotonic()
    guard bank.kill(victim) else { return }
    killedProcesses.insert(victim)
    kills[victim.kind, default: 0] += 1
    if !isReady(victim) { earlyKills[earlyKillKey(victim, processes), default: 0] += 1 }
    switch victim.kind {
    case .teller, .juice:
      if let window = victim.window, !bank.isStopped(.coordinator) {
        if isReady(victim) {
          monitor.tellerKilled(window: window, at: instant)
        } else {
          monitor.successorKilled(window: window)
        }
      }
    case .coordinator: coordinatorWasKilled(victim, processes, wall, instant)
    case .guardian, .stock, .vending, .runner, .command, .descendant, .worker, .outside, .web: break
    }
    if victim.kind.isOnThePage { page?.killed(at: instant) }
    plannedKill(now)
  }

  /// Kills the coordinator just before one of its children, so that no parent reaps the child.
  private func killCoordinator(_ processes: [ChaosProcess], before victim: ChaosProcess) {
    guard let coordinator = choose(.coordinator, 0, among: processes), coordinator.pid == victim.parent else {
      return
    }
    let (wall, instant) = (SystemClock.wall().milliseconds, SystemClock.monotonic())
    guard bank.kill(coordinator) else { return }
    killedProcesses.insert(coordinator)
    kills[.coordinator, default: 0] += 1
    if !isReady(coordinator) { earlyKills[earlyKillKey(coordinator, processes), default: 0] += 1 }
    coordinatorWasKilled(coordinator, processes, wall, instant)
    page?.killed(at: instant)
  }

  /// Records the kill of the coordinator, and starts to watch its children.
  private func coordinatorWasKilled(
    _ victim: ChaosProcess, _ processes: [ChaosProcess], _ wall: Int64, _ instant: MonotonicTime
  ) {
    // The coordinator may have run for another moment on another processor.
    killTimes.append(wall...(SystemClock.wall().milliseconds + 20))
    let children = processes.filter { $0.kind != .guardian && $0.parent == victim.pid }
    orphanCandidates.append((children, instant + Self.orphanTimeout))
    monitor.coordinatorKilled(at: instant)
  }

  /// Stops a ready process of the planned kind if there is one and the coordinator is not stopped. Draws the next stop.
  private func attemptStop(_ wanted: ChaosPlan.Stop, _ now: MonotonicTime) {
    let ready = census(now).filter { $0.kind == wanted.target && isReady($0) }
    plannedStop(now)
    guard !ready.isEmpty, !bank.isStopped(.coordinator) else { return }
    let victim = ready[Int(wanted.pick % UInt64(ready.count))]
    guard bank.stop(victim, until: now + wanted.length) else { return }
    stops += 1
    if victim.kind == .coordinator { monitor.coordinatorStopped() }
  }

  /// The running processes of the bank except killed ones, in the order of their pids.
  private func census(_ now: MonotonicTime) -> [ChaosProcess] {
    let processes = bank.census().filter { !killedProcesses.contains($0) }.sorted { $0.pid < $1.pid }
    for process in processes where process.kind == .guardian && guardianFirstSeen[process] == nil {
      guardianFirstSeen[process] = now
    }
    return processes
  }

  /// Chooses a process of this kind that may be killed now, by the random number `pick`; nil if there is none.
  private func choose(_ target: ChaosTarget, _ pick: UInt64, among processes: [ChaosProcess]) -> ChaosProcess?
  {
    let guardian = processes.first { $0.kind == .guardian }
    let eligible = processes.filter { $0.kind == target }.filter { process in
      switch target {
      case .teller, .juice, .stock, .vending, .runner, .worker, .web:
        return isReady(process) || mayBeKilledEarly(process, processes)
      case .command, .descendant, .outside: return true
      case .coordinator:
        return guardian != nil && bank.home.isGuarded
          && (isReady(process) || mayBeKilledEarly(process, processes))
      case .guardian:
        guard let seen = guardianFirstSeen[process], let snapshot = monitor.snapshot else { return false }
        return SystemClock.monotonic().since(seen) > Self.guardianStartTime
          && snapshot.guardianPid == process.pid
          && !bank.isStopped(.coordinator) && processes.contains { $0.kind == .coordinator && isReady($0) }
      }
    }
    return eligible.isEmpty ? nil : eligible[Int(pick % UInt64(eligible.count))]
  }

  /// True if there is a status and the bank has reported the process as ready. Commands, their descendants and outside
  /// workers count as ready.
  private func isReady(_ process: ChaosProcess) -> Bool {
    guard let snapshot = monitor.snapshot else { return false }
    switch process.kind {
    case .command, .descendant, .outside: return true
    case .teller, .juice, .stock, .vending, .runner, .worker, .web:
      return snapshot.workers.contains {
        $0.pid == process.pid && ($0.state == .idle || $0.state == .serving)
      }
    case .coordinator: return monitor.opened == process.pid
    case .guardian: return snapshot.guardianPid == process.pid
    }
  }

  /// True if the process may be killed before it is ready, because few processes with the same key were.
  private func mayBeKilledEarly(_ process: ChaosProcess, _ processes: [ChaosProcess]) -> Bool {
    earlyKills[earlyKillKey(process, processes), default: 0] < Self.earlyKillLimit
  }

  /// Key by which early kills are counted: the parent with the window or the kind; for a coordinator and a guardian,
  /// the guardian.
  private func earlyKillKey(_ process: ChaosProcess, _ processes: [ChaosProcess]) -> String {
    switch process.kind {
    case .teller, .juice, .stock, .vending, .runner, .worker, .command, .descendant, .outside, .web:
      "\(process.parent) \(process.window ?? process.kind.rawValue)"
    case .coordinator, .guardian: "guardian \(processes.first { $0.kind == .guardian }?.pid ?? 0)"
    }
  }
}
