// The workers of the simulated world: the program at each path, and the faults of workers.
// Invariant: the list contains the running workers in the order in which they started.
import BankModel
import Glibc
import Posix
import Time
import Wire

extension Simulation {
  /// Returns a function that starts the program at a path; nil if this history has no such program.
  func program(at path: String, _ arguments: [String]) -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    switch Paths.lastPart(of: path) {
    case "bank-stockd": return stockProgram()
    case "bank-vending": return vendingProgram()
    case "bank-guardian": return guardState.isEnabled ? guardianProgram(arguments) : nil
    case "bankd": return guardState.isEnabled ? coordinatorProgram(arguments) : nil
    case Paths.lastPart(of: ExternalWorkerPlan.program): return externalWorkerProgram()
    case Paths.lastPart(of: CommandServicesPlan.program): return commandProgram(arguments)
    default: break
    }
    guard ["bank-teller", "bank-juice", "bank-runner"].contains(Paths.lastPart(of: path)),
      arguments.count == 4,
      let window = disk.services.window(named: arguments[0]), let generation = Generation(arguments[1])
    else { return nil }
    return { [unowned self] process in
      begin(SimulatedWorker(process, window, generation), home: arguments[3])
    }
  }

  /// Starts the program of a window's worker, unless a planned fault kills it. Another fault may delay it.
  private func begin(_ worker: SimulatedWorker, home: String) -> (any SimulatedProgram)? {
    workers.append(worker)
    if tellersToKillEarly > 0 {
      tellersToKillEarly -= 1
      statistics.note(.tellerKilledBeforeReady)
      worker.process.kill(by: SIGSEGV)
      return nil
    }
    if workersToDelay > 0 {
      workersToDelay -= 1
      statistics.note(.tellerLate)
      if chance.draw(0...3) == 0 {
        worker.process.hangForever()
      } else {
        worker.process.stall(until: clock.now + .milliseconds(chance.draw(50...12_000)))
      }
    }
    if worker.window.service.isForCommands { return try? RunnerProgram(home) }
    return try? WorkerProgram(worker, in: self)
  }

  /// Removes a worker that has exited from the list.
  func workerEnded(_ process: SimulatedProcess) {
    guard let place = workers.firstIndex(where: { $0.process === process }) else { return }
    let worker = workers.remove(at: place)
    trace.mix(Int64(process.pid))
    trace.line(
      clock.now,
      "worker \(process.pid) at \(worker.window) ends: \(process.ending.map { "\($0.status)" } ?? "")")
  }

  func injectWorkerFault(_ kind: FaultKind) {
    guard let worker = some(of: workers) else { return }
    let process = worker.process
    let lease = plan.policy.lease.nanoseconds
    switch kind {
    case .tellerKilled:
      statistics.note(kind)
      guard chance.draw(0...1) == 0 else { return process.callsUntilKill = Int(chance.draw(0...12)) }
      // The last message of the worker may be lost with its connection.
      if chance.draw(0...1) == 0, let stream = worker.stream { cut(stream) }
      process.kill()
    case .messageLate:
      delayedMessages += 1
      process.callsUntilKill = Int(chance.draw(1...8))
    case .networkSlow: hit(worker.stream, kind) { $0.slow(by: chance.draw(20...400)) }
    case .tellerStuck:
      statistics.note(kind)
      let isStuck = chance.draw(0...1) == 0
      // If a command has no time limit, the coordinator cannot detect that its runner hangs. So stall it only
      // for a while.
      if isPatient(with: worker) {
        return process.stall(until: clock.now + .milliseconds(1_000))
      }
      if isStuck { process.hangForever() } else { process.stop() }
    case .tellerSlow:
      statistics.note(kind)
      process.stall(until: clock.now + TimeSpan(nanoseconds: chance.draw(lease / 4...lease * 3)))
    case .tellerFailed:
      // Only a worker with a provider can fail in this way.
      some(of: workers.filter { $0.provider != nil })?.provider?.failsNext = true
    case .tellerMisbehaved:
      statistics.note(kind)
      sendFalseAnswer(worker)
    case .tellerSentGarbage:
      statistics.note(kind)
      var bytes: [UInt8] = [0, 0, 0, UInt8(chance.draw(0...9))]
      for _ in 0..<chance.draw(1...24) { bytes.append(UInt8(chance.draw(0...255))) }
      send(bytes, by: worker)
    default: break
    }
  }

  /// True for a runner whose commands have no time limit, so that its lease is long.
  private func isPatient(with worker: SimulatedWorker) -> Bool {
    worker.window.service.isForCommands && plan.policy[worker.window.service.index].lease > .seconds(60)
  }

  /// Sends a message that this worker must not send.
  private func sendFalseAnswer(_ worker: SimulatedWorker) {
    // A station or runner must not report by chance that its own customer is done, which no check could detect.
    let isKnown = worker.window.service.usesStock || worker.window.service.isForCommands
    let away: TicketNumber = isKnown ? 1_000_000 : 0
    let other = Lease(
      ticket: away + chance.draw(1...30), attempt: Int32(chance.draw(1...3)), generation: worker.generation)
    let holders = checker.holders
    let message: TellerMessage =
      switch chance.draw(0...6) {
      case 0: .done(other)
      case 1: .beat(other)
      case 2: .failed(other, WorkFailure("customer is not assigned"))
      case 3: .returned(holders.first { $0.window == worker.window }?.lease ?? other)
      case 4: .ready
      case 5:
        // The lease of a customer at another window.
        .done(holders.first { $0.window != worker.window }?.lease ?? other)
      default: .hello(Hello(build: Self.build, role: .teller))
      }
    if let bytes = encode(message, limit: FrameLimits.teller) { send(bytes, by: worker) }
  }

  /// Writes bytes to the coordinator as if the worker had sent them.
  private func send(_ bytes: [UInt8], by worker: SimulatedWorker) {
    // If a runner hangs before it is ready, a forged `ready` would make the coordinator wait for it forever.
    guard let stream = worker.stream, !(worker.process.isStuck && isPatient(with: worker)) else { return }
    trace.mix(bytes)
    stream.send(bytes, at: clock.now, on: host)
  }

  /// Cancels the planned faults of workers.
  func endWorkerFaults() {
    (tellersToKillEarly, workersToDelay, delayedMessages) = (0, 0, 0)
    for worker in workers {
      worker.process.callsUntilKill = nil
      worker.provider?.failsNext = false
      worker.stream?.slow(by: 1)
    }
  }
}
