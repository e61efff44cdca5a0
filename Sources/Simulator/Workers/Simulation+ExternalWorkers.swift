// External workers of the simulated world: their starts, their reconnections, their faults, and the check of each
// customer sent to them.
// Invariant: draws come from a separate generator, so that histories without external workers do not change.
import BankModel
import Glibc
import Posix
import QueueCore
import Time

extension Simulation {
  var hasForeignWorkers: Bool { plan.externalWorkers.isEnabled }

  /// Schedules the first outside workers, and creates the program file for those that are started at windows.
  func scheduleExternalWorkers() {
    guard hasForeignWorkers else { return }
    host.files.makeDirectories(Paths.directory(of: ExternalWorkerPlan.program))
    _ = host.files.make(ExternalWorkerPlan.program, isDirectory: false, mode: 0o755)
    for number in plan.externalWorkers.offers.indices {
      eventQueue.add(
        .externalWorkerConnects(number), at: clock.now + .milliseconds(externalWorkers.chance.draw(0...300)))
    }
    planExternalWorkerFault()
  }

  /// Starts an outside worker, which then connects to the bank.
  func foreignerComes(_ number: Int) {
    let seed = externalWorkers.chance.next()
    host.start { [unowned self] process in
      begin(process, window: nil, number, plan.externalWorkers.offers[number], seed: seed)
    }
  }

  /// Returns a closure that creates the program at the workers' path; nil in a history without external workers.
  func externalWorkerProgram() -> ((SimulatedProcess) -> (any SimulatedProgram)?)? {
    guard hasForeignWorkers else { return nil }
    let seed = externalWorkers.chance.next()
    return { [unowned self] process in
      let window = process.environment["BANK_WINDOW"]
      if window == nil { violate(.protocolViolation, "a worker is started without the name of its window") }
      return begin(process, window: window, 0, [], seed: seed)
    }
  }

  /// Makes the program of a worker, and adds it to the running workers.
  private func begin(
    _ process: SimulatedProcess, window: String?, _ number: Int, _ services: [ServiceName], seed: UInt64
  ) -> (any SimulatedProgram)? {
    externalWorkers.pids.insert(process.pid)
    guard
      let worker = try? ExternalWorker(process, window: window, services: services, seed: seed, in: self)
    else { return nil }
    externalWorkers.workers.append(ExternalWorkerHandle(worker, of: process, window: window, number: number))
    return worker
  }

  /// Handles the exit of a worker. An outside worker is started again after a pause.
  func externalWorkerEnded(_ process: SimulatedProcess) {
    guard let place = externalWorkers.workers.firstIndex(where: { $0.process === process }) else { return }
    let worker = externalWorkers.workers.remove(at: place)
    trace.line(clock.now, "worker \(process.pid) (\(worker.window ?? "outside")) ends")
    guard worker.window == nil else { return }
    eventQueue.add(
      .externalWorkerConnects(worker.number),
      at: clock.now + .milliseconds(externalWorkers.chance.draw(5...800)))
  }

  /// Checks a customer that a worker has received: its payload, and the same key in every attempt.
  func checkOrder(_ order: ExternalAssignment) {
    let name = TicketID(day: order.day, ticket: order.lease.ticket)
    if let known = externalWorkers.keys.updateValue(order.key, forKey: name), known != order.key {
      violate(.protocolViolation, "ticket \(name.ticket) has the key \(order.key), but had \(known)")
    }
    recordStart(name)
    guard checker.view.day == order.day, let customer = checker.view.customers[name.ticket],
      let expected = ServiceName(order.service).map({
        SimulatedPayload.of($0, customer.account, customer.itemName)
      })
    else { return }
    if expected ?? [] != order.payload {
      violate(
        .payload, "a worker gets ticket \(name.ticket) with \(order.payload.count) bytes, not its payload"
      )
    }
  }

  // MARK: - Faults

  func planExternalWorkerFault() {
    if hasForeignWorkers { planFault(.externalWorkerFault, &externalWorkers.chance) { $0 / 3...$0 * 2 } }
  }

  /// Injects a drawn fault into a drawn worker, and plans the next one.
  func injectExternalWorkerFault() {
    guard !isFaultFree else { return }
    planExternalWorkerFault()
    guard let worker = some(ofForeign: externalWorkers.workers) else { return }
    let process = worker.process
    let lease = plan.policy.lease.nanoseconds
    let drawn = externalWorkers.chance.draw(0...12)
    guard drawn < 2 || !process.isStalled(at: clock.now) else { return }
    trace.line(clock.now, "fault \(drawn) in worker \(process.pid)")
    switch drawn {
    case 0...1:
      // Prefer a worker that holds customers, because its kill tests more.
      let victim = externalWorkers.workers.first { $0.worker?.holdsCustomers == true } ?? worker
      statistics.note(.workerKilled)
      victim.process.kill()
    case 2: process.callsUntilKill = Int(externalWorkers.chance.draw(0...20))
    case 3:
      let bytes = worker.worker?.sampleAnswerBytes() ?? [0, 0]
      statistics.note(.workerKilled)
      worker.worker?.send(
        raw: Array(bytes.prefix(Int(externalWorkers.chance.draw(1...Int64(bytes.count - 1))))))
      process.kill()
    case 4...5: if worker.worker?.hang() == true { statistics.note(.workerHung) }
    case 6:
      statistics.note(.workerStopped)
      process.stop()
      // The bank does not kill an outside worker, so the world resumes it after a while.
      eventQueue.add(
        .descriptorsRestored(pid: process.pid),
        at: clock.now + .milliseconds(externalWorkers.chance.draw(10...3_000)))
    case 7:
      statistics.note(.workerStopped)
      process.stall(
        until: clock.now + TimeSpan(nanoseconds: externalWorkers.chance.draw(lease / 4...lease * 3)))
    case 8: if worker.worker?.repeatAnswer() == true { statistics.note(.workerSentFalseAnswer) }
    case 9:
      // Choose the lease of another worker, because an answer for the worker's own lease would be valid.
      let others = checker.holders.filter {
        $0.window.service.isForForeigners && $0.window.isOutside != (worker.window == nil)
      }
      let other =
        others.isEmpty || externalWorkers.chance.draw(0...1) == 0
        ? Lease(ticket: 1_000_000, attempt: 1, generation: 1)
        : others[Int(externalWorkers.chance.draw(0...Int64(others.count - 1)))].lease
      if worker.worker?.sendFalseAnswer(about: other) == true { statistics.note(.workerSentFalseAnswer) }
    case 10:
      statistics.note(.workerSentGarbage)
      let bytes = worker.worker?.sampleAnswerBytes() ?? []
      let unknown = Array("{\"sing\":{\"song\":1}}\n".utf8)
      let isHalf = externalWorkers.chance.draw(0...1) == 0 || worker.worker?.speaksFrames == true
      worker.worker?.send(raw: isHalf ? Array(bytes.dropLast(2)) : unknown)
    default:
      guard worker.window == nil else { return }
      statistics.note(.workerLeft)
      worker.worker?.disconnect(for: .milliseconds(externalWorkers.chance.draw(1...600)))
    }
  }

  /// Draws one of the workers; nil if there are none.
  private func some(ofForeign workers: [ExternalWorkerHandle]) -> ExternalWorkerHandle? {
    guard !workers.isEmpty else { return nil }
    return workers[Int(externalWorkers.chance.draw(0...Int64(workers.count) - 1))]
  }

  /// Ends the faults of the external workers, except stalls.
  func endExternalWorkerFaults() {
    for worker in externalWorkers.workers {
      worker.process.callsUntilKill = nil
      worker.process.resume()
      worker.worker?.calm()
    }
  }

  /// True if every remaining customer of these services is a dead letter. A closing bank does not wait for customers
  /// that only outside workers serve.
  var areForeignersServed: Bool {
    guard hasForeignWorkers else { return true }
    return checker.view.customers.values.allSatisfy {
      !$0.service.isForForeigners || checker.view.states[$0.ticket] == .dead
    }
  }

  /// True for a connection between the bank and an external worker.
  func isExternalWorkerConnection(_ end: StreamEnd) -> Bool { externalWorkers.pids.contains(end.creator) }
}

extension Service {
  /// True if external workers serve this service, in a history with them.
  var isForForeigners: Bool {
    (ServiceName.branch.count..<ServiceName.branch.count + ExternalWorkerPlan.services.count).contains(index)
  }
}
