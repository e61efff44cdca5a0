// Link between tellers and the queue: the settings that a teller receives, the queue events for its messages, and its
// replacement after a number of customers or above a memory limit.

import BankModel
import Posix
import QueueCore
import Supervision
import Time
import Wire

final class TellerEventHandler: CoordinatorComponent {
  /// Called when a window was given up, with the exit of the last teller or the reason why none could start.
  var onGivenUp: (Window, MessageDetail) -> Void = { _, _ in }

  /// Windows whose tellers are to be replaced because of a limit, one window at a time.
  private var recycling = RecycleQueue<Window>()

  /// Sets the functions that the supervisor calls.
  func listen() {
    tellerSupervisor.orders = { [unowned self] window, generation in orders(for: window, generation) }
    tellerSupervisor.onEvent = { [unowned self] window, generation, event in
      handle(event, from: window, generation)
    }
    tellerSupervisor.workerAt = { [unowned self] window throws(SystemError) in try worker(at: window) }
    tellerSupervisor.onOutput = { [unowned self] window, generation, pid, output in
      queue.workerLog.note(output, at: window, generation, pid: pid)
    }
    tellerSupervisor.workerTerms = { [unowned self] window in
      context.configuration.workerTerms(of: [context.services.directory[window.service]])
    }
  }

  /// Ignores all further events of tellers.
  func stopListening() { tellerSupervisor.onEvent = nil }

  private func handle(_ event: TellerSupervisor.WindowEvent, from window: Window, _ generation: Generation) {
    switch event {
    case .ready(let pid): becameReady(.tellerReady(window, generation, pid: pid), at: window, generation, pid)
    case .workerReady(let pid, let inFlight):
      let name = context.services.directory[window.service]
      let room = context.configuration.workerCapacity(of: [name], offering: inFlight)
      queue.workerLog.open([window], generation, pid: pid)
      becameReady(
        .workerReady(window, generation, pid: pid, inFlight: room), at: window, generation, pid)
    case .message(let message):
      handle(message, from: window, generation)
      // Send the next assignment before the next teller is handled: waiting for the end of the iteration
      // would leave a core idle. A teller with several messages in one read gets all answers together.
      if tellerSupervisor.slots[window]?.channel?.isMidFrame != true, !context.isHalted {
        tellerSupervisor.flush()
      }
    case .ended(let end):
      context.updateTime()
      // Without a customer, exit code 0 is the requested exit, and not a failure.
      let ticket = queue.machine.numbers(of: window)?.lease?.ticket
      if end != .code(0) || ticket != nil {
        subscriptions.noteDeath(
          at: window, generation, pid: tellerSupervisor.slots[window]?.lastPid ?? 0, end, ticket: ticket,
          at: context.now.wall)
      }
      queue.process(.tellerLost(window, generation, end))
      if let slot = tellerSupervisor.slots[window], slot.kind == .worker {
        queue.workerLog.close([window], slot.lastExitReason?.description ?? "")
      }
      subscriptions.changed = true
    case .givenUp(let lastExitReason): onGivenUp(window, lastExitReason)
    }
  }

  /// Logs that a window has a ready teller, and passes this event to the queue.
  private func becameReady(
    _ event: QueueEvent, at window: Window, _ generation: Generation, _ pid: Int32
  ) {
    context.write(event: "window_open") {
      $0.field("window", context.name(of: window))
      $0.field("child", pid)
      $0.field("child_gen", generation)
    }
    queue.process(event)
    // The settings have changed after this teller received them, and before it was ready.
    if tellerSupervisor.slots[window]?.isOutdated == true { queue.process(.replace(window)) }
    subscriptions.changed = true
  }

  private func handle(_ message: TellerMessage, from window: Window, _ generation: Generation) {
    switch message {
    case .done(let lease): answered(lease, .done, window, generation)
    case .outOfStock(let lease, let missing): answered(lease, .outOfStock(missing), window, generation)
    case .worked(let lease, let result):
      answered(lease, context.answer(result, at: window), window, generation)
    case .failed(let lease, let failure): answered(lease, .failed(failure), window, generation)
    case .returned(let lease): queue.process(.tellerAnswered(window, generation, lease, .returned))
    case .beat(let lease): queue.process(.tellerProgressed(window, generation, lease))
    case .progressed(let lease, let progress):
      queue.process(.tellerProgressed(window, generation, lease))
      queue.note(progress, of: lease, at: window)
    case .hello, .ready: break
    }
  }

  /// Counts an answer of a teller, and passes it to the queue.
  private func answered(_ lease: Lease, _ answer: TellerAnswer, _ window: Window, _ generation: Generation) {
    recycleIfDue(window)
    queue.process(.tellerAnswered(window, generation, lease, answer))
  }

  /// Settings that a teller receives with its welcome.
  private func orders(for window: Window, _ generation: Generation) -> TellerSettings {
    let configuration = context.configuration
    let service = context.services.directory[window.service]
    let work = configuration.scaledWork(service)
    let lease = configuration[service].lease ?? configuration.lease
    let name = context.name(of: window)
    return TellerSettings(
      name: name, service: window.service, generation: generation,
      workMicroseconds: work.nanoseconds / 1_000, beatMicroseconds: lease.nanoseconds / 4_000,
      language: configuration.language ?? .english, logPath: context.home.log(of: name),
      logLimit: configuration.log.rotateBytes, logKeep: configuration.log.keep,
      logsCustomers: configuration.log.customers,
      stockSocket: window.service.usesStock ? context.home.stockSocket : nil,
      command: configuration.commandOrders(of: service, outputDirectory: context.home.output))
  }

  /// Program at a window that is served by a configured worker program.
  private func worker(at window: Window) throws(SystemError) -> ChildProcess.Program {
    let name = context.services.directory[window.service]
    return try context.configuration.worker(
      of: name, window: context.name(of: window), key: context.bankID.prefix + "worker",
      home: context.home)
  }

  /// Replaces all tellers, each when it is idle, because their settings have changed.
  func replaceAll() {
    for slot in tellerSupervisor.slots.values {
      slot.isOutdated = true
      queue.process(.replace(slot.window))
    }
  }

  /// Counts an answer, and replaces the teller if it has reached a limit. Called before the queue handles the answer:
  /// afterwards the teller would already hold its next customer.
  private func recycleIfDue(_ window: Window) {
    guard let slot = tellerSupervisor.slots[window] else { return }
    slot.customers += 1
    if !context.isEnding, !context.configuration.recycling.isOff, isDue(slot) != nil,
      recycling.requestTurn(of: window)
    {
      recycle(slot)
    }
  }

  /// Continues with the next window, unless the previous one is still to get its new teller.
  func continueRecycling() {
    while let window = recycling.current, !context.isEnding {
      if let slot = tellerSupervisor.slots[window], slot.isWanted, !slot.isGivenUp,
        slot.phase != .ready || slot.generation == slot.recycledGeneration
      {
        return
      }
      guard let next = recycling.finishCurrent() else { return }
      // The teller of the next window may have exited while it waited; its successor need not be replaced.
      if let slot = tellerSupervisor.slots[next], slot.phase == .ready, isDue(slot) != nil { recycle(slot) }
    }
  }

  /// Limit (customers or memory) that a teller has reached, so that it is to be replaced; nil if it has reached none.
  private func isDue(_ slot: SupervisedTeller) -> RecyclePolicy.Reason? {
    let policy = context.configuration.recycling
    var resident: Int64?
    if policy.aboveBytes > 0 {
      if context.now.monotonic.since(slot.measuredAt) >= RecyclePolicy.measurePause {
        slot.measuredAt = context.now.monotonic
        slot.residentBytes = ProcessMemory.residentBytes(pid: slot.pid)
      }
      resident = slot.residentBytes
    }
    return policy.reason(customers: slot.customers, residentBytes: resident)
  }

  /// Requests the replacement of a teller that has reached a limit.
  private func recycle(_ slot: SupervisedTeller) {
    slot.recycledGeneration = slot.generation
    context.write(event: "recycling") {
      $0.field("window", context.name(of: slot.window))
      $0.field("child", slot.pid)
      $0.field("child_gen", slot.generation)
      $0.field("reason", isDue(slot)?.rawValue)
      $0.field("customers", slot.customers)
      if let resident = slot.residentBytes { $0.field("rss_kb", resident / 1024) }
    }
    queue.process(.replace(slot.window))
  }
}
