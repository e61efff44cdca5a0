// Injection of each fault into the simulated world.
// Invariant: a fault of a process or a connection is counted only if the process or connection exists: a coordinator
// that has exited cannot be killed. A fault that waits for a later event may be counted when it is planned or when it
// happens.
import BankModel
import Glibc
import QueueCore
import Storage
import Time
import Wire

extension Simulation {
  /// Schedules the next fault, unless the history has none or they have ended. `chance` draws the delay from the range
  /// that `range` makes of the plan's interval.
  ///
  /// - Parameter range: the range of the delay in nanoseconds, computed from the plan's interval in
  ///   nanoseconds.
  func planFault(
    _ fault: ScheduledEvent, _ chance: inout SeededGenerator, within range: (Int64) -> ClosedRange<Int64>
  ) {
    guard !isFaultFree, plan.faultIntensity != .calm else { return }
    eventQueue.add(
      fault, at: clock.now + TimeSpan(nanoseconds: chance.draw(range(plan.interval.nanoseconds))))
  }

  /// Injects a fault of a random kind, and plans the next one.
  func injectFault() {
    guard !isFaultFree else { return }
    planFault(.fault, &chance) { $0 / 4...$0 * 2 }
    guard var kind = plan.draw(&chance) else { return }
    // Few histories run on a disk that can lose unsynced data, so they get more disk failures.
    if disk.volume != nil, chance.draw(0...11) == 0 { kind = .diskFailed }
    trace.line(clock.now, "fault: \(kind.name)")
    switch kind {
    case .coordinatorKilled:
      coordinator?.process.callsUntilKill = Int(chance.draw(0...(chance.draw(0...2) == 0 ? 400 : 60)))
    case .coordinatorStalled:
      let span = plan.policy.lease.nanoseconds
      hit(coordinator, kind) {
        $0.process.stall(until: clock.now + TimeSpan(nanoseconds: chance.draw(span / 8...span * 2)))
      }
    case .connectionLost:
      let client = clients[Int(chance.draw(0...Int64(clients.count) - 1))]
      guard client.state != .away else { return }
      statistics.note(kind)
      trace.line(clock.now, "client \(client.number) loses its connection")
      statistics.note(.messageLost, client.line.breakConnection(on: host))
    case .clientStoppedReading:
      let process = clients[Int(chance.draw(0...Int64(clients.count) - 1))].line.process
      statistics.note(kind)
      process.stop()
      eventQueue.add(
        .descriptorsRestored(pid: process.pid), at: clock.now + .milliseconds(chance.draw(1...3_000)))
    case .coordinatorOutOfDescriptors: hit(coordinator, kind) { exhaustDescriptors($0.process) }
    case .commitSlow:
      statistics.note(kind)
      slowCommit = slowCommitDuration()
    case .windowsScaled: hit(clients.first { $0.state == .ready }, kind) { $0.reopenWindows() }
    case .configurationChanged:
      hit(responsiveCoordinator, kind) {
        writeConfiguration(isChanged: chance.draw(0...3) > 0)
        $0.process.handle(signal: SIGHUP)
      }
    case .coordinatorSignalled:
      hit(responsiveCoordinator, kind) {
        $0.process.handle(signal: chance.draw(0...1) == 0 ? SIGINT : SIGTERM)
      }
    case .foregroundProcessKilled: hit(responsiveCoordinator, kind) { $0.foregroundProcessKilled() }
    case .diskFull:
      statistics.note(kind)
      fullUntil = clock.now + .milliseconds(chance.draw(1...700))
      host.diskFullUntil = fullUntil
    case .diskFailed:
      // On a disk that can lose unsynced data, usually the sync fails, and not the write.
      failingCommit = chance.draw(0...(disk.volume == nil ? 1 : 3)) == 0 ? .commit : .commitThenFail
    case .clockJumped:
      statistics.note(kind)
      let jump = chance.draw(-100_000_000...100_000_000)
      clock.jump(byMilliseconds: jump)
      host.calendarOrigin += jump * 1_000_000
    case .tellerKilledBeforeReady: tellersToKillEarly += Int(chance.draw(1...4))
    case .tellerLate: workersToDelay += Int(chance.draw(1...2))
    case .commitLost, .messageLost: break
    case _ where kind.isOfTheStock: injectStockFault(kind)
    case _ where kind.isOfTheMachine: injectVendingFault(kind)
    default: injectWorkerFault(kind)
    }
  }

  /// The coordinator, unless it is stalled.
  private var responsiveCoordinator: CoordinatorProgram? {
    coordinator.flatMap { $0.process.isStalled(at: clock.now) ? nil : $0 }
  }

  /// Makes a call of the coordinator's store fail if a fault of the disk is due.
  func applyDiskFault(_ call: MemoryStore.Call) {
    disk.isFull = fullUntil > clock.now
    if call == .commit, let failing = failingCommit, disk.hasStagedChanges {
      failingCommit = nil
      statistics.note(.diskFailed)
      disk.fail(failing, with: .failed(path: "disk", detail: "the fsync has failed"))
      // On a simulated volume the coordinator is killed soon after the failure, perhaps before it retries.
      if disk.volume != nil { coordinator?.process.callsUntilKill = Int(chance.draw(0...12)) }
    }
    guard fullUntil > clock.now else { return }
    // After a full disk, the store reports a shortage of space for longer than the disk is full.
    disk.isLowOnSpace = true
    let full = StoreError.diskFull(detail: "no space left")
    switch call {
    case .commit: disk.fail(.commit, with: full)
    case .stage: if chance.draw(0...5) == 0 { disk.fail(.stage, with: full) }
    case .read: if chance.draw(0...9) == 0 { disk.fail(.read, with: full) }
    case .commitThenFail: break
    }
  }

  /// Updates whether the disk is full or short of space; a shortage ends some time after the full disk.
  func refreshDiskSpace() {
    disk.isFull = fullUntil > clock.now
    if fullUntil + .milliseconds(500) <= clock.now { disk.isLowOnSpace = false }
  }

  /// Duration of the next commit. Resets a planned delay.
  func commitDuration() -> TimeSpan {
    defer { slowCommit = nil }
    return slowCommit ?? TimeSpan(nanoseconds: chance.draw(10_000...200_000))
  }

  /// Duration of the next commit, if it is delayed; nil otherwise. Resets the delay.
  func takeSlowCommit() -> TimeSpan? {
    defer { slowCommit = nil }
    return slowCommit
  }

  /// Duration of a delayed commit; sometimes longer than most timeouts.
  func slowCommitDuration() -> TimeSpan {
    .milliseconds(chance.draw(0...2) == 0 ? chance.draw(5_000...20_000) : chance.draw(20...5_000))
  }

  /// Writes the configuration file, with drawn settings if `isChanged`.
  func writeConfiguration(isChanged: Bool) {
    var policy = plan.policy
    if let bug, bug.isOfTheCore { policy = MutantQueue(bug).corrupt(policy) }
    var (windows, work, gather) = (plan.windows, plan.workMicroseconds, plan.gather)
    if isChanged {
      for service in ServiceName.branch where windows[service] ?? 0 > 0 {
        windows[service] = Int32(chance.draw(1...3))
      }
      work = chance.draw(0...1) == 0 ? work : chance.draw(0...work)
      gather = .milliseconds(chance.draw(0...3))
    }
    let writer = ConfigurationWriter(
      policy: policy, keepsLogs: keepsLogs, services: serviceSettings)
    let text = writer.text(
      windows: windows, workMicroseconds: work, gather: gather, watchdogTimeout: .seconds(chance.draw(1...10))
    )
    host.files.write(Array(text.utf8), to: ConfigurationWriter.path)
  }

  /// Sometimes kills a service soon after the coordinator has sent it a health check.
  func serviceProbed(_ service: SimulatedProcess) {
    guard !isFaultFree, plan.faultIntensity != .calm, chance.draw(0...3) == 0 else { return }
    service.callsUntilKill = Int(chance.draw(2...14))
  }

  /// Settings of the services for commands, or else for external workers, as JSON.
  var serviceSettings: String {
    hasCommands ? plan.commandServices.settings : plan.externalWorkers.settings
  }

  /// Encodes a message as a frame; returns nil and reports a violation if that fails.
  func encode(_ message: some Encodable, limit: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    do {
      try FrameEncoder().append(message, to: &bytes, limit: limit)
    } catch {
      violate(.protocolViolation, "a message cannot be encoded: \(error)")
      return nil
    }
    return bytes
  }
}

/// The configuration file of the simulated bank, written before the bank opens or while it is open.
/// Invariant: the queue settings in a written file are those of the history.
struct ConfigurationWriter {
  static let path = "/bank/bank.json"
  let policy: QueuePolicy
  let keepsLogs: Bool
  /// Settings of the services for commands or for external workers, as JSON.
  let services: String

  /// Returns the content of the configuration file with these settings.
  func text(
    windows: [ServiceName: Int32], workMicroseconds: Int64, gather: TimeSpan, watchdogTimeout: TimeSpan
  )
    -> String
  {
    let services = ServiceName.branch
    let counts = services.map { "\"\($0)\": \(windows[$0] ?? 0)" }.joined(separator: ", ")
    let work = services.map { "\"\($0)\": \"\(workMicroseconds)us\"" }.joined(separator: ", ")
    return """
      {
        "windows": {\(counts)},
        "work": {\(work)},
        "services": \(self.services),
        "lang": "en",
        "max_waiting": \(policy.maxWaiting),
        "lease": "\(policy.lease.milliseconds)ms",
        "prefetch": \(policy.prefetch),
        "max_crashes": \(policy.maxCrashes),
        "max_failures": \(policy.maxFailures),
        "retry_initial_delay": "\(policy.retryInitialDelay.milliseconds)ms",
        "retry_max_delay": "\(policy.retryMaxDelay.milliseconds)ms",
        "watchdog_timeout": "\(watchdogTimeout.milliseconds)ms",
        "commit_delay": "\(gather.milliseconds)ms",
        "log": {"customer_events": \(keepsLogs), "rotate_bytes": 4096, "keep_files": 2}
      }
      """
  }
}
